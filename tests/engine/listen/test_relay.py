"""Requests and answers pass the proxy unchanged, and its tape has a copy of them."""

from __future__ import annotations

import asyncio
import json

from playground.engine.listen.exchanges import EndedBy, Stage
from playground.engine.listen.server import ListenServer
from tests.engine.listen.conftest import GATEWAY_KEY, PROGRAM_KEY, MakeServer
from tests.support.eventually import eventually
from tests.support.fault_server import FaultServer, chunk, head, keep, send, sse, text_chunk, whole
from tests.support.raw_http import Answer, ask

REQUEST = b'{"model":"m",  "stream":true,"messages":[{"role":"user","content":"Hi"}]}'
STREAM = sse(text_chunk("Hello"), text_chunk(" there", "stop"), "[DONE]")


async def post(
    server: ListenServer, target: str = "/v1/chat/completions", body: bytes = REQUEST, *headers: tuple[str, str]
) -> Answer:
    path = server.base_url.partition("//")[2].partition("/")[2]
    given = [
        ("Host", "127.0.0.1"),
        ("Authorization", f"Bearer {PROGRAM_KEY}"),
        ("Content-Type", "application/json"),
        *headers,
    ]
    return await asyncio.to_thread(ask, server.base_url, "POST", f"/{path}{target}" if path else target, given, body)


async def test_stream_in_odd_pieces_arrives_byte_for_byte(listen: MakeServer, gateway: FaultServer) -> None:
    pieces = [STREAM[:7], STREAM[7:8], STREAM[8:101], STREAM[101:]]
    gateway.play(send(head(chunked=True)), *(send(chunk(piece)) for piece in pieces), send(chunk(b"")), keep())
    server = await listen()

    answer = await post(server)

    assert (answer.status, answer.body) == (200, STREAM)
    assert answer.headers["content-type"] == "text/event-stream"
    assert gateway.requests[0].body == REQUEST
    await eventually(lambda: server.exchanges[0].stage is Stage.ENDED)
    listened = server.exchanges[0]
    assert listened.exchange.body == STREAM
    assert listened.exchange.complete
    assert listened.exchange.protocol == "chat"
    assert json.loads(listened.exchange.request_body)["model"] == "m"
    assert listened.ended_by is EndedBy.UPSTREAM


async def test_stored_key_replaces_that_of_program(listen: MakeServer, gateway: FaultServer) -> None:
    gateway.play(send(whole(200, "application/json", b"{}")), keep())
    server = await listen()

    await post(server)

    assert gateway.requests[0].header("authorization") == f"Bearer {GATEWAY_KEY}"
    assert PROGRAM_KEY.encode() not in gateway.requests[0].raw
    for secret in (GATEWAY_KEY, PROGRAM_KEY):
        assert secret not in str(server.exchanges[0].exchange)


async def test_key_of_program_is_passed_on_without_stored_key(listen: MakeServer, gateway: FaultServer) -> None:
    gateway.play(send(whole(200, "application/json", b"{}")), keep())
    server = await listen(stored_key=False)

    await post(server)

    assert gateway.requests[0].header("authorization") == f"Bearer {PROGRAM_KEY}"
    assert PROGRAM_KEY not in str(server.exchanges[0].exchange)
