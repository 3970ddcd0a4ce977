"""Hostile bytes, over a real socket and into every reader of what strangers wrote: no exception, no memory without end.

What is too much ends as a failure in words; what is only odd is kept and can be saved. The bombs are measured in a
process of their own, by the most memory it ever held.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import aclosing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from playground.domain.accumulator import Accumulator
from playground.domain.errors import FailureKind
from playground.domain.parts import Text
from playground.domain.request import Request
from playground.gateway.client import GatewayClient
from playground.gateway.connection import Connection, Timeouts
from playground.gateway.limits import read_limits
from playground.gateway.models import next_page, read_models
from playground.gateway.retry import read_retry_after
from playground.protocols import PROTOCOLS
from playground.protocols.errors import read_error
from playground.protocols.protocol import get_protocol
from tests.support.fault_server import FaultServer, head, hold, send, sse, text_chunk, whole
from tests.support.slow import slow_except

MEBIBYTE = 1024 * 1024
DEEP = "[" * 100_000
LONG = "9" * 5000
HALF = "\\ud83d"


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


def client_for(server: FaultServer, **more: Any) -> GatewayClient:
    more.setdefault("timeouts", Timeouts(connect=5, first=20, idle=20, settle=1))
    return GatewayClient(Connection(base_url=server.url, key=SecretStr("sk-hostile-0001"), **more))


async def answer(server: FaultServer, protocol: str = "chat", **more: Any) -> Accumulator:
    """One run, folded; its parts and its failure can be saved."""
    state = Accumulator()
    request = Request(protocol=protocol, model="m", turns=(), extra_body={"stream": True, "max_tokens": 9})
    async with client_for(server, **more) as client, aclosing(client.open(get_protocol(protocol), request)) as call:
        async for events in call:
            state.add_events(events)
    if state.failure is not None:
        assert state.failure.kind is not FailureKind.INTERNAL, state.failure.message
        state.failure.model_dump_json()
    for choice in state.choices.values():
        for part in choice.freeze():
            part.model_dump_json()
    return state


def text_in(state: Accumulator) -> str:
    return "".join(part.text for part in state.choices[0].freeze() if isinstance(part, Text))


# ---- odd values in every place

VALUES = {
    "nested brackets": DEEP,
    "nested and closed": DEEP + "]" * 100_000,
    "a long number": LONG,
    "a half": f'"{HALF}"',
}
PLACES = {
    "the event": "%s",
    "content": '{"choices":[{"index":0,"delta":{"content":%s}}]}',
    "index": '{"choices":[{"index":%s,"delta":{"content":"x"}}]}',
    "arguments": '{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":'
    '{"name":"f","arguments":%s}}]}}]}',
    "call index": '{"choices":[{"index":0,"delta":{"tool_calls":[{"index":%s,"id":"a","function":{"name":"f"}}]}}]}',
    "flat call": '{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"name":"f","arguments":%s}]}}]}',
    "arguments as JSON": '{"choices":[{"index":0,"delta":{"tool_calls":[{"name":"f","arguments":{"x":%s}}]}}]}',
    "older call": '{"choices":[{"index":0,"delta":{"function_call":{"name":"f","arguments":%s}}}]}',
    "usage": '{"choices":[],"usage":{"prompt_tokens":%s}}',
    "error": '{"error":{"message":%s,"code":%s}}',
    "native": '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%s}}',
    "native usage": '{"type":"message_delta","delta":{"stop_reason":%s},"usage":{"output_tokens":%s}}',
}


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("protocol", list(PROTOCOLS))
async def test_odd_values_in_a_stream(server: FaultServer, protocol: str, value: str) -> None:
    for place in PLACES.values():
        odd = place.replace("%s", VALUES[value])
        server.play(send(head()), send(sse(text_chunk("before"), odd, text_chunk("after", "stop"), "[DONE]")), hold())
        state = await answer(server, protocol)
        if protocol == "chat" and "error" not in place:
            assert text_in(state).startswith("before")
            assert text_in(state).endswith("after")


@pytest.mark.parametrize("value", VALUES)
async def test_odd_values_in_errors_bodies_and_lists(server: FaultServer, value: str) -> None:
    for place in (*PLACES.values(), '{"code":%s,"message":%s,"data":null}', '{"detail":[{"loc":[%s],"msg":%s}]}'):
        body = place.replace("%s", VALUES[value]).encode()
        for status in (200, 400):
            server.play(send(whole(status, "application/json", body)))
            state = await answer(server)
            assert state.failure is not None or state.choices or state.usage
    for place in ("%s", '{"data":[{"id":"a","x":%s}],"has_more":true,"last_id":%s}', '{"data":%s}'):
        server.play(send(whole(200, "application/json", place.replace("%s", VALUES[value]).encode())))
        async with client_for(server) as client:
            found = await client.list_models()
        assert found.failure is not None or found.ids == ("a",)


async def test_a_half_of_a_pair_is_replaced_and_a_pair_in_two_is_one(server: FaultServer) -> None:
    halves = [f'{{"choices":[{{"index":0,"delta":{{"content":"{half}"}}}}]}}' for half in (HALF, "\\ude00", HALF)]
    server.play(send(head()), send(sse(*halves, text_chunk("x", "stop"), "[DONE]")), hold())
    assert text_in(await answer(server)) == "😀\ufffdx"


# ---- much of it


@pytest.mark.slow
async def test_an_event_of_32_mebibytes_works(server: FaultServer) -> None:
    content = "0123456789abcdef" * (2 * MEBIBYTE)
    event = sse(text_chunk(content), text_chunk("", "stop"), "[DONE]")
    assert len(event) > 32 * MEBIBYTE
    server.play(send(head()), send(event), hold())
    state = await answer(server)
    assert state.failure is None
    assert state.complete
    assert text_in(state) == content


async def test_the_cap_of_an_event_is_the_connections(server: FaultServer) -> None:
    event = sse(text_chunk("x" * MEBIBYTE), text_chunk("", "stop"), "[DONE]")
    server.play(send(head()), send(sse(text_chunk("before"))), send(event), hold())
    state = await answer(server, max_event_bytes=MEBIBYTE // 2)
    assert state.failure is not None
    assert state.failure.kind is FailureKind.TOO_LARGE
    assert "524288 bytes" in state.failure.message
    assert text_in(state) == "before"
    assert text_in(await answer(server, max_event_bytes=2 * MEBIBYTE)) == "before" + "x" * MEBIBYTE


def bomb(begin: bytes, fill: bytes, mebibytes: int = 1024) -> bytes:
    """A gzip body that inflates to ``begin`` and that many mebibytes of ``fill``; made without holding them."""
    engine = zlib.compressobj(9, zlib.DEFLATED, -15)
    start = engine.compress(begin) + engine.flush(zlib.Z_FULL_FLUSH)
    engine = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = engine.compress(fill * (MEBIBYTE // len(fill))) + engine.flush(zlib.Z_FULL_FLUSH)
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + start + block * mebibytes + engine.flush()


#: Runs one request, or lists the models, and prints the failure's kind and by how many MiB the process ever grew.
CHILD = """
import asyncio, resource, sys
from playground.domain.events import Failed
from playground.domain.request import Request
from playground.gateway import transport
from playground.gateway.client import GatewayClient
from playground.gateway.connection import Connection
from playground.protocols.protocol import get_protocol

def most() -> float:
    kibibyte = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * kibibyte / 1048576

async def main(url: str, what: str, event: int, body: int) -> None:
    connection = Connection(base_url=url, max_event_bytes=event, max_body_bytes=body)
    protocol = get_protocol("chat")
    before, kinds = most(), []
    async with GatewayClient(connection) as client:
        if what == "models":
            failure = (await client.list_models()).failure
            kinds = [failure.kind] if failure else []
        else:
            async for events in client.open(protocol, Request(protocol="chat", model="m", turns=())):
                kinds += [event.failure.kind for event in events if isinstance(event, Failed)]
    print(*kinds, round(most() - before))

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
"""

BOMBS = {
    "one event without end": ("run", 200, "text/event-stream", b"data: ", b"a"),
    "nothing but zeros": ("run", 200, "text/event-stream", b"", b"\0"),
    "a text in JSON": ("run", 200, "application/json", b'{"a":"', b"a"),
    "small lists in JSON": ("run", 200, "application/json", b"[", b"[],\n"),
    "a page": ("run", 200, "text/html", b"<html>", b"<"),
    "a model list": ("models", 200, "application/json", b"[", b'"a",'),
}


@pytest.mark.skipif(sys.platform == "win32", reason="the most memory a process held is not known there")
@pytest.mark.parametrize("name", slow_except(["one event without end", "a model list"], BOMBS))
def test_a_bomb_of_one_gibibyte_is_bounded(server: FaultServer, name: str) -> None:
    what, status, content_type, begin, fill = BOMBS[name]
    body = bomb(begin, fill)
    assert len(body) < 2 * MEBIBYTE
    server.play(send(head(status, content_type, "Content-Encoding: gzip")), send(body), hold())
    event, whole_body = 16 * MEBIBYTE, 32 * MEBIBYTE
    command = [sys.executable, "-c", CHILD, server.url, what, str(event), str(whole_body)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    kind, grown = done.stdout.split()
    assert kind == FailureKind.TOO_LARGE
    assert int(grown) < 2 * whole_body / MEBIBYTE, f"grew by {grown} MiB"
    server.wait_closed()


async def test_a_bomb_in_an_error_does_not_hide_the_status(server: FaultServer) -> None:
    server.play(
        send(head(503, "application/json", "Content-Encoding: gzip")), send(bomb(b'{"message":"', b"a")), hold()
    )
    state = await answer(server)
    assert state.failure is not None
    assert (state.failure.kind, state.failure.status) == (FailureKind.HTTP, 503)
    assert len(state.failure.body) <= 64 * 1024


async def test_a_flood_leaves_the_clock_and_the_loop_their_turn(server: FaultServer) -> None:
    """Small events without content, very many in one read: the time-out comes in time and others are not held up."""
    flood = send(bomb(b": x\n\n", b": keep-alive\n\n", 64))
    server.play(send(head(200, "text/event-stream", "Content-Encoding: gzip")), flood, hold())
    longest, last, ticking = 0.0, time.thread_time(), True  # of the loop's own time, whatever else the machine does

    async def tick() -> None:
        nonlocal longest, last
        while ticking:
            now = time.thread_time()
            longest, last = max(longest, now - last), now
            await asyncio.sleep(0.01)

    beside = asyncio.get_running_loop().create_task(tick())
    before = time.monotonic()
    state = await answer(server, timeouts=Timeouts(connect=5, first=0.4))
    taken, ticking = time.monotonic() - before, False
    await beside
    assert state.failure is not None
    assert state.failure.kind is FailureKind.TIMEOUT_FIRST
    assert taken < 15
    assert longest < 0.5


# ---- anything at all

PIECES = st.sampled_from(
    [
        *(b"data: ", b"data:", b"event: error\n", b"event: message_start\n", b": ", b"[DONE]"),
        *(b"\n", b"\n\n", b"\r", b"\r\n", b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xe2\x80\xa8"),
        *(b"{", b"}", b"[", b"]", b'"', b",", b":", b"null", b"-", b"1e999", b"NaN", b"\\ud83d", b"\\"),
        *(b'"choices"', b'"delta"', b'"content"', b'"tool_calls"', b'"index"', b'"function"', b'"arguments"'),
        *(b'"error"', b'"message"', b'"type"', b'"content_block_delta"', b'"usage"', b"<html>", b"<title>"),
        b'{"choices":[{"delta":{"content":"x"}}]}',
    ]
)
BODIES = st.one_of(st.binary(max_size=200), st.lists(PIECES, max_size=40).map(b"".join))
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["error", "errors", "message", "detail", "code", "type", "status", "data", "models", "id", "loc", "msg"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@settings(max_examples=400, deadline=None)
@given(
    body=BODIES,
    cuts=st.lists(st.integers(1, 60), max_size=6),
    content_type=st.sampled_from([None, "text/event-stream", "application/json", "text/html"]),
)
def test_no_bytes_raise_in_a_decoder(body: bytes, cuts: list[int], content_type: str | None) -> None:
    for name in PROTOCOLS:
        decoder = get_protocol(name).decoder(content_type, 4096)
        state, rest = Accumulator(), body
        for cut in cuts:
            state.add_events(decoder.decode_bytes(rest[:cut]))
            rest = rest[cut:]
        state.add_events(decoder.decode_bytes(rest))
        state.add_events(decoder.close())
        assert decoder.close() == []
        for choice in state.choices.values():
            for part in choice.freeze():
                part.model_dump_json()
        if state.failure is not None:
            state.failure.model_dump_json()


@settings(max_examples=300, deadline=None)
@given(value=ANY_JSON, body=BODIES, status=st.sampled_from([None, 200, 401, 429, 599]), header=st.text(max_size=30))
def test_nothing_raises_where_errors_lists_and_headers_are_read(
    value: Any, body: bytes, status: int | None, header: str
) -> None:
    for one in (value, body, json.dumps(value).encode()):
        failure = read_error(one, status)
        assert failure.message
        failure.model_dump_json()
    read_models(value)
    next_page(value)
    names = ("Retry-After", "Retry-After-Ms", "Date", "Age", "X-RateLimit-Reset", "X-RateLimit-Limit")
    pairs = [(name, header) for name in names]
    read_limits(pairs, 1.7e9)
    wait = read_retry_after(pairs, 1.7e9)
    assert wait is None or 0 <= wait < float("inf")
