"""Those who read a stream side by side: our client path, two vendors' SDKs, and a floor. Each in a process of its own.

A reader asks the loopback server for one stream, reads it to its end and gives the text it was told. Measured is the
CPU time of its process while it does so, nothing else: imports, the client and a first stream come before.
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

#: Reads one stream whole, gives its text.
Read = Callable[[], Awaitable[str]]
Reader = Callable[[str], AbstractAsyncContextManager[Read]]


def cpu_per_chunk(name: str, server: WireServer, repeats: int) -> float:
    """Microseconds of CPU a chunk that reader ``name`` needs, best of ``repeats`` streams, in a process of its own.

    Raises RuntimeError when it failed or did not read what was sent.
    """
    command = [sys.executable, "-m", "tests.benchmarks.wire_readers", name, server.url, str(repeats)]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, encoding="utf-8", check=False)
    if ended.returncode != 0:
        raise RuntimeError(f"the reader {name} failed")
    found = json.loads(ended.stdout)
    if found["text"] != server.text:
        raise RuntimeError(f"the reader {name} read {len(found['text'])} characters, not the {len(server.text)} sent")
    return float(found["seconds"]) / server.count * 1e6


async def measure(reader: Reader, url: str, repeats: int) -> tuple[float, str]:
    """CPU seconds of the best of ``repeats`` streams after a first one, and the text read last."""
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
    """Our client, as the window uses it: makes one run after another."""
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
    """One run through the whole path: read, stamp, redact, frame, decode, fold, tape."""
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
    """Our client."""
    async with calls(protocol_name, url) as make:

        async def read() -> str:
            accumulator = await receive(make())
            return "".join(part.text for part in accumulator.choice(0).parts)

        yield read


@asynccontextmanager
async def floor(url: str) -> AsyncIterator[Read]:
    """The least that does the work in Python: httpx, a split, and pydantic into a small typed model."""
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
    """The vendor's SDK as its manual says."""
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
    """The vendor's SDK as its manual says: the plain stream of events."""
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


@asynccontextmanager
async def anthropic_folded(url: str) -> AsyncIterator[Read]:
    """The vendor's SDK, the stream that folds its events into a message."""
    from anthropic import AsyncAnthropic

    async def read() -> str:
        async with client.messages.stream(
            model=MODEL, max_tokens=1024, messages=[{"role": "user", "content": PROMPT}]
        ) as stream:
            return await stream.get_final_text()

    async with AsyncAnthropic(base_url=url.removesuffix("/v1"), api_key=KEY) as client:
        yield read


READERS: Final[dict[str, Reader]] = {
    "ours chat": partial(ours, "chat"),
    "ours messages": partial(ours, "messages"),
    "floor": floor,
    "openai": openai_sdk,
    "anthropic": anthropic_sdk,
    "anthropic folded": anthropic_folded,
}


if __name__ == "__main__":
    fastest, told = asyncio.run(measure(READERS[sys.argv[1]], sys.argv[2], int(sys.argv[3])))
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]  # a real file here
    print(json.dumps({"seconds": fastest, "text": told}, ensure_ascii=False))
