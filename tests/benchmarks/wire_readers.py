"""Readers of a stream: our client path, two vendors' SDKs, and a floor; each in a process of its own.

A reader requests one stream, reads it to its end and returns its text. Measured is the CPU time of its process
meanwhile; imports, the client and a first stream come before.
"""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from playground.domain.accumulator import Accumulator
    from playground.gateway.call import EventStream
    from tests.benchmarks.wire_server import WireServer

KEY: Final = "sk-benchmark-0123456789abcdef"
MODEL: Final = "m-large"
PROMPT: Final = "Say something long."

#: Reads one stream to its end, returns its text.
Read = Callable[[], Awaitable[str]]
Reader = Callable[[str], AbstractAsyncContextManager[Read]]


def cpu_per_event(name: str, server: WireServer, repeats: int) -> float:
    """Return the microseconds of CPU an event that reader ``name`` needs, the best of ``repeats`` streams.

    Raises RuntimeError when it failed or did not read what was sent.
    """
    command = [sys.executable, "-m", "tests.benchmarks.wire_readers", name, server.url, str(repeats)]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, encoding="utf-8", check=False)
    if ended.returncode != 0:
        raise RuntimeError(f"the reader {name} failed")
    seconds, text = json.loads(ended.stdout)
    if text != server.text:
        raise RuntimeError(f"the reader {name} read {len(text)} characters, not the {len(server.text)} sent")
    return float(seconds) / server.count * 1e6


async def measure(reader: Reader, url: str, repeats: int) -> tuple[float, str]:
    """Return the CPU seconds of the best of ``repeats`` streams after a first one, and the last text."""
    text, seconds = "", []
    async with reader(url) as read:
        await read()
        for _ in range(repeats):
            gc.collect()
            before = time.process_time()
            text = await read()
            seconds.append(time.process_time() - before)
    return min(seconds), text


@asynccontextmanager
async def calls(protocol_name: str, url: str) -> AsyncIterator[Callable[[], EventStream]]:
    """Provide our client, as the window uses it: a function that starts a run."""
    from pydantic import SecretStr

    from playground.domain.parts import Text
    from playground.domain.request import Request
    from playground.domain.transcript import Role, Turn
    from playground.gateway.client import GatewayClient
    from playground.gateway.connection import Connection
    from playground.protocols.protocol import get_protocol

    protocol = get_protocol(protocol_name)
    request = Request(
        protocol=protocol_name,
        model=MODEL,
        turns=(Turn(id="t1", role=Role.USER, parts=(Text(text=PROMPT),)),),
        parameters=protocol.parameters_type.model_validate({"stream": True}),
    )
    async with GatewayClient(Connection(base_url=url, key=SecretStr(KEY))) as client:
        yield lambda: client.open(protocol, request)


async def receive(call: EventStream) -> Accumulator:
    """Take one run through the whole path: read, stamp, redact, frame, decode, fold, tape."""
    from playground.domain.accumulator import Accumulator

    accumulator = Accumulator()
    async with aclosing(call) as batches:
        async for events in batches:
            accumulator.add_events(events)
    if accumulator.failure is not None or not call.exchange.complete:
        raise RuntimeError(f"the stream did not come whole: {accumulator.failure}")
    return accumulator


@asynccontextmanager
async def ours(protocol_name: str, url: str) -> AsyncIterator[Read]:
    """Read with our client."""
    async with calls(protocol_name, url) as make:

        async def read() -> str:
            accumulator = await receive(make())
            return "".join(part.text for part in accumulator.choice(0).parts)

        yield read


@asynccontextmanager
async def floor(url: str) -> AsyncIterator[Read]:
    """Read with httpx, a split, and pydantic into a small typed model."""
    import httpx
    from pydantic import BaseModel

    class Delta(BaseModel):
        content: str | None = None

    class Choice(BaseModel):
        index: int
        delta: Delta
        finish_reason: str | None = None

    class Chunk(BaseModel):
        id: str
        model: str
        choices: list[Choice]

    async def read() -> str:
        texts: list[str] = []
        rest = b""
        async with client.stream("POST", f"{url}/chat/completions", json={"model": MODEL, "stream": True}) as response:
            async for data in response.aiter_raw():
                *events, rest = (rest + data).split(b"\n\n")
                for event in events:
                    if event != b"data: [DONE]":
                        content = Chunk.model_validate_json(event[6:]).choices[0].delta.content
                        if content:
                            texts.append(content)
        return "".join(texts)

    async with httpx.AsyncClient(trust_env=False) as client:
        yield read


@asynccontextmanager
async def openai_sdk(url: str) -> AsyncIterator[Read]:
    """Read with the openai SDK as its manual says."""
    from openai import AsyncOpenAI

    async def read() -> str:
        texts: list[str] = []
        stream = await client.chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": PROMPT}], stream=True
        )
        async for chunk in stream:
            content = chunk.choices[0].delta.content
            if content:
                texts.append(content)
        return "".join(texts)

    async with AsyncOpenAI(base_url=url, api_key=KEY) as client:
        yield read


@asynccontextmanager
async def anthropic_sdk(url: str) -> AsyncIterator[Read]:
    """Read the plain stream of events of the anthropic SDK."""
    from anthropic import AsyncAnthropic

    async def read() -> str:
        texts: list[str] = []
        stream = await client.messages.create(
            model=MODEL, max_tokens=1024, messages=[{"role": "user", "content": PROMPT}], stream=True
        )
        async for event in stream:
            if event.type == "content_block_delta" and event.delta.type == "text_delta":
                texts.append(event.delta.text)
        return "".join(texts)

    async with AsyncAnthropic(base_url=url.removesuffix("/v1"), api_key=KEY) as client:
        yield read


READERS: Final[dict[str, Reader]] = {
    "ours chat": partial(ours, "chat"),
    "ours messages": partial(ours, "messages"),
    "floor": floor,
    "openai": openai_sdk,
    "anthropic": anthropic_sdk,
}


if __name__ == "__main__":
    result = asyncio.run(measure(READERS[sys.argv[1]], sys.argv[2], int(sys.argv[3])))
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]  # a real file here
    print(json.dumps(result, ensure_ascii=False))
