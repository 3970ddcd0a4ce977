"""Requests and answers pass the proxy unchanged, and its tape has a copy of them."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import struct
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

from playground.engine.listen.exchanges import EndedBy, Listened, Stage
from playground.engine.listen.server import ListenServer
from tests.engine.listen.conftest import GATEWAY_KEY, PROGRAM_KEY, REQUEST, STREAM, MakeServer, ended, path_of, post
from tests.support.eventually import eventually
from tests.support.fault_server import FaultServer, chunk, head, hold, keep, pause, reset, send, sse, text_chunk, whole
from tests.support.raw_http import ask, exchange

JSON_ANSWER = b'{"id":"x",  "object":"chat.completion","choices":[]}'
BROTLI_ANSWER = bytes.fromhex("8b03807b226f6b223a747275657d03")  # {"ok":true}, packed as brotli
ZSTD_FRAME = bytes.fromhex("28b52ffd") + b"\x20\x0b\x59\x00\x00" + b'{"ok":true}'


def connect(server: ListenServer) -> socket.socket:
    parts = urlsplit(server.base_url)
    return socket.create_connection((parts.hostname, parts.port), timeout=20)


def raw_request(server: ListenServer, target: str, body: bytes, *lines: str) -> bytes:
    given = [f"POST {path_of(server)}{target} HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}", *lines]
    return "\r\n".join([*given, "", ""]).encode("latin-1") + body


async def test_stream_in_odd_pieces_arrives_byte_for_byte(listen: MakeServer, gateway: FaultServer) -> None:
    pieces = [STREAM[:7], STREAM[7:8], STREAM[8:101], STREAM[101:]]
    gateway.play(send(head(chunked=True)), *(send(chunk(piece)) for piece in pieces), send(chunk(b"")), keep())
    server = await listen()

    answer = await post(server)

    assert (answer.status, answer.body) == (200, STREAM)
    assert answer.headers["content-type"] == "text/event-stream"
    assert gateway.requests[0].body == REQUEST
    listened = await ended(server)
    assert listened.exchange.body == STREAM
    assert listened.exchange.complete
    assert listened.exchange.protocol == "chat"
    assert json.loads(listened.exchange.request_body)["model"] == "m"
    assert listened.ended_by is EndedBy.UPSTREAM


async def test_each_read_of_a_stream_is_sent_on_before_the_next_one(listen: MakeServer, gateway: FaultServer) -> None:
    gateway.play(send(head(chunked=True)), pause(), send(chunk(b": ping\n\n")), pause(), send(chunk(b"")), keep())
    server = await listen()

    def read_in_steps() -> bytes:
        with connect(server) as connection:
            connection.sendall(raw_request(server, "/v1/chat/completions", REQUEST))
            received = b""
            while b"\r\n\r\n" not in received:  # status and headers come while the gateway has sent no body
                received += connection.recv(65536)
            gateway.go_on()
            while b": ping\n\n" not in received:
                received += connection.recv(65536)
            gateway.go_on()
            while b"0\r\n\r\n" not in received:
                received += connection.recv(65536)
            return received

    assert b"text/event-stream" in await asyncio.to_thread(read_in_steps)


async def test_stored_key_replaces_that_of_program(listen: MakeServer, gateway: FaultServer) -> None:
    gateway.play(send(whole(200, "application/json", b"{}")), keep())
    server = await listen()

    await post(
        server, "/v1/chat/completions?key=sk-in-the-query-5521&a=1", REQUEST, ("x-api-key", "sk-second-key-8812")
    )

    request = gateway.requests[0]
    assert request.header("authorization") == f"Bearer {GATEWAY_KEY}"
    assert request.header("x-api-key") is None
    assert request.target == "/v1/chat/completions?a=1"
    assert PROGRAM_KEY.encode() not in request.raw


async def test_stored_key_of_messages_keeps_version_of_program(listen: MakeServer, gateway: FaultServer) -> None:
    gateway.play(send(whole(200, "application/json", b"{}")), keep())
    server = await listen()

    await post(server, "/v1/messages?beta=true", REQUEST, ("anthropic-version", "2024-01-01"))
    await post(server, "/messages/count_tokens", REQUEST)

    first, second = gateway.requests
    assert first.target == "/v1/messages?beta=true"
    assert (first.header("x-api-key"), first.header("authorization")) == (GATEWAY_KEY, None)
    assert [value for name, value in first.headers if name.lower() == "anthropic-version"] == ["2024-01-01"]
    assert second.target == "/v1/messages/count_tokens"
    assert second.header("x-api-key") == GATEWAY_KEY
    assert second.header("anthropic-version") == "2023-06-01"
    assert [listened.exchange.protocol for listened in server.exchanges] == ["messages", ""]


async def test_key_of_program_is_passed_on_without_stored_key(listen: MakeServer, gateway: FaultServer) -> None:
    gateway.play(send(whole(200, "application/json", b"{}")), keep())
    server = await listen(stored_key=False)

    await post(server)

    assert gateway.requests[0].header("authorization") == f"Bearer {PROGRAM_KEY}"
    assert GATEWAY_KEY.encode() not in gateway.requests[0].raw


async def test_headers_of_one_connection_are_removed_and_others_kept(listen: MakeServer, gateway: FaultServer) -> None:
    own = (
        "Connection: keep-alive, X-Hop-Answer",
        "X-Hop-Answer: 1",
        "Keep-Alive: timeout=5",
        "Proxy-Authenticate: Basic",
    )
    passed = ("request-id: r-1", "Retry-After: 3", "Set-Cookie: a=1", "Set-Cookie: b=2", "x-ratelimit-remaining: 5")
    gateway.play(send(whole(200, "application/json", JSON_ANSWER, *own, *passed)), keep())
    server = await listen(stored_key=False)

    with_hops = [
        ("Connection", "keep-alive, X-Hop"),
        ("X-Hop", "1"),
        ("Keep-Alive", "timeout=5"),
        ("TE", "trailers"),
        ("Proxy-Authorization", "Basic cHJveHk6c2VjcmV0LTk5"),
        ("anthropic-beta", "first-1"),
        ("anthropic-beta", "second-2,third-3"),
        ("X-Stainless-Lang", "python"),
        ("User-Agent", "program/1.0"),
    ]
    raw = raw_request(server, "/v1/chat/completions", REQUEST, *(f"{name}: {value}" for name, value in with_hops))
    answer = await asyncio.to_thread(exchange, server.base_url, raw.replace(b"keep-alive, X-Hop", b"close, X-Hop"))

    sent = [(name.lower(), value) for name, value in gateway.requests[0].headers]
    names = [name for name, _ in sent]
    assert not {"connection", "x-hop", "keep-alive", "te", "proxy-authorization", "transfer-encoding"} & set(names)
    assert [value for name, value in sent if name == "anthropic-beta"] == ["first-1", "second-2,third-3"]
    assert ("x-stainless-lang", "python") in sent
    assert ("user-agent", "program/1.0") in sent
    assert dict(sent)["host"] == urlsplit(gateway.url).netloc
    assert names.count("content-length") == 1
    lines = answer.partition(b"\r\n\r\n")[0].decode().split("\r\n")
    assert all(line in lines for line in passed)
    assert not any("hop" in line.lower() or "proxy" in line.lower() for line in lines)


@pytest.mark.parametrize("status", [301, 307, 400, 404, 429, 500, 529])
async def test_error_and_redirect_pass_unmodified(listen: MakeServer, gateway: FaultServer, status: int) -> None:
    body = b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}, "x":1}'
    gateway.play(
        send(whole(status, "application/json", body, "Location: http://elsewhere.test/v1", "x-should-retry: true")),
        keep(),
    )
    server = await listen()

    answer = await post(server, "/v1/messages")

    assert (answer.status, answer.body) == (status, body)
    assert answer.headers["location"] == "http://elsewhere.test/v1"
    assert answer.headers["x-should-retry"] == "true"
    assert len(gateway.requests) == 1
    listened = await ended(server)
    assert listened.summary is not None
    assert listened.summary.status == status


async def test_gzip_stream_passes_packed_and_is_decoded_on_tape(listen: MakeServer, gateway: FaultServer) -> None:
    packed = gzip.compress(STREAM)
    gateway.play(
        send(head(200, "text/event-stream", "Content-Encoding: gzip", chunked=True)),
        send(chunk(packed[:11])),
        send(chunk(packed[11:])),
        send(chunk(b"")),
        keep(),
    )
    server = await listen()

    answer = await post(server, "/v1/chat/completions", REQUEST, ("Accept-Encoding", "gzip, deflate, br, zstd"))

    assert answer.headers["content-encoding"] == "gzip"
    assert answer.body == packed
    assert gateway.requests[0].header("accept-encoding") == "gzip, deflate"
    listened = await ended(server)
    assert listened.exchange.body == STREAM
    assert any("Accept-Encoding was changed" in note for note in listened.notes)


@pytest.mark.parametrize(("encoding", "packed"), [("br", BROTLI_ANSWER), ("zstd", ZSTD_FRAME)])
async def test_answer_of_unknown_encoding_passes_and_is_not_recorded(
    listen: MakeServer, gateway: FaultServer, encoding: str, packed: bytes
) -> None:
    gateway.play(send(whole(200, "application/json", packed, f"Content-Encoding: {encoding}")), keep())
    server = await listen()

    answer = await post(server)

    assert (answer.headers["content-encoding"], answer.body) == (encoding, packed)
    assert answer.headers["content-length"] == str(len(packed))
    listened = await ended(server)
    assert listened.exchange.body == b""
    assert any("compressed" in note and "not recorded" in note for note in listened.notes)


async def test_compressed_request_is_forwarded_as_received(listen: MakeServer, gateway: FaultServer) -> None:
    gateway.play(send(whole(200, "application/json", b"{}")), keep())
    server = await listen()
    packed = gzip.compress(REQUEST)

    await post(server, "/v1/responses", packed, ("Content-Encoding", "gzip"))
    await post(server, "/v1/responses", ZSTD_FRAME, ("Content-Encoding", "zstd"))

    assert [request.body for request in gateway.requests] == [packed, ZSTD_FRAME]
    assert gateway.requests[1].header("content-encoding") == "zstd"
    first, second = await ended(server, 0), await ended(server, 1)
    assert first.exchange.request_body == REQUEST
    assert second.exchange.request_body == b""
    assert any("compressed (zstd)" in note for note in second.notes)


async def test_upstream_that_breaks_breaks_connection_of_program(listen: MakeServer, gateway: FaultServer) -> None:
    gateway.play(send(head(chunked=True)), send(chunk(b"data: 1\n\n")), reset())
    server = await listen()

    received = await asyncio.to_thread(exchange, server.base_url, raw_request(server, "/v1/chat/completions", REQUEST))

    assert b"data: 1\n\n" in received
    assert not received.endswith(b"0\r\n\r\n")
    listened = await ended(server)
    assert not listened.exchange.complete
    assert listened.ended_by is EndedBy.UPSTREAM
    assert listened.exchange.failure is not None


async def test_answer_shorter_than_its_length_breaks_connection_of_program(
    listen: MakeServer, gateway: FaultServer
) -> None:
    gateway.play(send(head(200, "application/json", "Content-Length: 100"), b'{"cut":'))
    server = await listen()

    received = await asyncio.to_thread(exchange, server.base_url, raw_request(server, "/v1/chat/completions", REQUEST))

    assert received.endswith(b'{"cut":')
    assert b"content-length: 100" in received.lower()
    assert not (await ended(server)).exchange.complete


@pytest.mark.parametrize("status", [204, 304])
async def test_answer_without_a_body_passes(listen: MakeServer, gateway: FaultServer, status: int) -> None:
    gateway.play(send(head(status, None, "x-request-id: r-9")), keep())
    server = await listen()
    target, given = f"{path_of(server)}/v1/files/f-1", [("Host", "localhost"), ("Connection", "close")]

    answer = await asyncio.to_thread(ask, server.base_url, "DELETE", target, given)

    assert (answer.status, answer.body, answer.headers["x-request-id"]) == (status, b"", "r-9")
    assert (await ended(server)).exchange.complete


async def test_upstream_that_is_unreachable_is_answered_with_502(listen: MakeServer, closed_port: int) -> None:
    server = await listen(f"http://127.0.0.1:{closed_port}/v1")

    answer = await post(server, "/v1/messages")

    body = json.loads(answer.body)
    assert (answer.status, body["type"], body["error"]["type"]) == (502, "error", "recorder_error")
    assert "could not reach the gateway" in body["error"]["message"]
    listened = await ended(server)
    assert listened.exchange.failure is not None
    assert listened.exchange.status is None


async def test_program_that_leaves_cancels_upstream_at_once(listen: MakeServer, gateway: FaultServer) -> None:
    gateway.play(send(head(chunked=True)), send(chunk(b"data: 1\n\n")), hold())
    server = await listen()

    def read_and_leave() -> None:
        with connect(server) as connection:
            connection.sendall(raw_request(server, "/v1/chat/completions", REQUEST))
            received = b""
            while b"data: 1" not in received:
                received += connection.recv(65536)

    await asyncio.to_thread(read_and_leave)
    await asyncio.to_thread(gateway.wait_closed)

    listened = await ended(server)
    assert listened.ended_by is EndedBy.PROGRAM
    assert listened.exchange.body == b"data: 1\n\n"
    assert any("closed the connection after 9 bytes" in note for note in listened.notes)


async def test_program_that_leaves_before_an_answer_cancels_upstream(listen: MakeServer, gateway: FaultServer) -> None:
    gateway.play(hold())
    server = await listen()

    def ask_and_leave() -> None:
        connection = connect(server)
        connection.sendall(raw_request(server, "/v1/chat/completions", REQUEST))
        gateway.wait_requests(1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()  # as a process that was killed: with a reset

    await asyncio.to_thread(ask_and_leave)
    await asyncio.to_thread(gateway.wait_closed)

    assert (await ended(server)).ended_by is EndedBy.PROGRAM


async def test_slow_program_slows_upstream(listen: MakeServer, gateway: FaultServer) -> None:
    piece = b"data: " + b"x" * 65000 + b"\n\n"
    count = 800  # 52 MB: more than all buffers of sockets on the way
    gateway.play(
        send(head(200, "text/event-stream", f"Content-Length: {count * len(piece)}")), *[send(piece)] * count, keep()
    )
    server = await listen()
    connection = await asyncio.to_thread(connect, server)
    connection.sendall(raw_request(server, "/v1/files/f-1/content", b"{}"))
    await eventually(lambda: server.exchanges and server.exchanges[0].exchange.size > 0)
    sizes = [-1]

    def is_stalled() -> bool:
        sizes.append(server.exchanges[0].exchange.size)
        return sizes[-1] == sizes[-2]

    for _ in range(40):  # the size settles when the buffers are full
        await asyncio.sleep(0)
    await eventually(is_stalled)
    assert server.exchanges[0].exchange.size < count * len(piece)

    def read_all() -> int:
        total = 0
        with connection:
            while data := connection.recv(1 << 20):
                total += len(data)
                if total > count * len(piece):
                    break
        return total

    assert await asyncio.to_thread(read_all) > count * len(piece)
    assert (await ended(server)).exchange.complete


async def test_body_of_bytes_and_unknown_path_pass_unchanged(listen: MakeServer, gateway: FaultServer) -> None:
    gateway.play(send(whole(200, "audio/mpeg", b"\xff\xfb\x00")), keep())
    for path in ("/", "/api/hello"):
        gateway.play_at(path, send(head(200, None, "Content-Length: 3")), keep())
    server = await listen()
    multipart = b'--b\r\nContent-Disposition: form-data; name="file"\r\n\r\n\x00\xff\r\n--b--\r\n'

    first = await post(server, "/v1/audio/transcriptions", multipart)
    second = await post(server, "/v1beta/models/g:streamGenerateContent?alt=sse", b"{}")
    probe = await asyncio.to_thread(ask, server.base_url, "HEAD", path_of(server), [("Host", "localhost")])
    third = await asyncio.to_thread(
        ask, server.base_url, "HEAD", f"{path_of(server)}/api/hello", [("Host", "localhost")]
    )

    assert (first.body, second.status, third.status, third.body) == (b"\xff\xfb\x00", 200, 200, b"")
    assert gateway.requests[0].body == multipart
    targets = [request.target for request in gateway.requests]
    assert targets == ["/v1/audio/transcriptions", "/v1beta/models/g:streamGenerateContent?alt=sse", "/", "/api/hello"]
    notes = [" ".join((await ended(server, index)).notes) for index in range(4)]
    assert ["not understood" in words for words in notes] == [False, True, True, True]
    assert (probe.status, server.exchanges[2].path) == (200, "/")


async def test_doubled_version_is_sent_once_with_a_note(listen: MakeServer, gateway: FaultServer) -> None:
    gateway.play(send(whole(200, "application/json", b"{}")), keep())
    server = await listen()

    await post(server, "/v1/v1/chat/completions")
    await post(server, "/chat/completions")

    assert [request.target for request in gateway.requests] == ["/v1/chat/completions"] * 2
    assert "doubled the version" in server.exchanges[0].notes[0]
    assert not server.exchanges[1].notes


async def test_32_connections_at_once_are_kept_apart(listen: MakeServer, gateway: FaultServer) -> None:
    gateway.play(send(head(chunked=True)), pause(), send(chunk(STREAM)), send(chunk(b"")), keep())
    server = await listen()
    loop = asyncio.get_running_loop()
    target, given = f"{path_of(server)}/v1/chat/completions", [("Host", "localhost")]
    with ThreadPoolExecutor(32) as pool:
        requests = [
            loop.run_in_executor(pool, ask, server.base_url, "POST", target, given, b'{"n":%d}' % number)
            for number in range(32)
        ]
        await eventually(lambda: len(gateway.requests) == 32)
        assert len([listened for listened in server.exchanges if listened.stage is not Stage.ENDED]) == 32
        for _ in range(32):
            gateway.go_on()
        answers = await asyncio.gather(*requests)

    assert all(answer.body == STREAM for answer in answers)
    rows: list[Listened] = [await ended(server, index) for index in range(32)]
    assert {row.exchange.request_body for row in rows} == {b'{"n":%d}' % number for number in range(32)}


async def test_stop_ends_and_marks_running_exchanges(listen: MakeServer, gateway: FaultServer) -> None:
    gateway.play(send(head(chunked=True)), send(chunk(b"data: 1\n\n")), hold())
    server = await listen()
    request = raw_request(server, "/v1/chat/completions", REQUEST)
    requests = asyncio.get_running_loop().run_in_executor(None, exchange, server.base_url, request)
    await eventually(lambda: server.exchanges and server.exchanges[0].exchange.body)

    await server.aclose()

    assert not (await requests).endswith(b"0\r\n\r\n")
    await asyncio.to_thread(gateway.wait_closed)
    listened = server.exchanges[0]
    assert listened.ended_by is EndedBy.LISTENER
    assert listened.summary is not None
    assert any("Listen was stopped" in note for note in listened.notes)
    with pytest.raises(ConnectionRefusedError):
        connect(server)


async def test_chunked_request_after_expect_continue_is_forwarded(listen: MakeServer, gateway: FaultServer) -> None:
    gateway.play(send(whole(200, "application/json", b"{}")), keep())
    server = await listen()
    lines = [f"POST {path_of(server)}/v1/responses HTTP/1.1", "Host: localhost", "Expect: 100-continue"]
    lines += ["Transfer-Encoding: chunked", "Connection: close", "", ""]

    def send_when_asked() -> bytes:
        with connect(server) as connection:
            connection.sendall("\r\n".join(lines).encode())
            received = b""
            while b"100 Continue" not in received:
                received += connection.recv(65536)
            connection.sendall(b'9\r\n{"a":1,  \r\n7\r\n"b": 2}\r\n0\r\n\r\n')
            while piece := connection.recv(65536):
                received += piece
            return received

    received = await asyncio.to_thread(send_when_asked)

    assert b"HTTP/1.1 200" in received
    assert gateway.requests[0].body == b'{"a":1,  "b": 2}'
    assert gateway.requests[0].header("content-length") == "16"
    assert gateway.requests[0].header("expect") is None
    assert gateway.requests[0].header("transfer-encoding") is None


async def test_connection_to_the_gateway_is_used_again(listen: MakeServer, gateway: FaultServer) -> None:
    gateway.play(send(whole(200, "application/json", b"{}")), keep())
    server = await listen()

    for number in range(3):
        await post(server)
        await ended(server, number)

    assert len({request.connection for request in gateway.requests}) == 1


async def test_failed_request_that_is_repeated_counts_as_another_try(listen: MakeServer, gateway: FaultServer) -> None:
    gateway.play_next(send(whole(529, "application/json", b'{"error":{"message":"Overloaded"}}')), keep())
    gateway.play(send(head()), send(sse(text_chunk("Hi", "stop"), "[DONE]")))
    server = await listen()

    for _ in range(3):
        await post(server)
        await ended(server, len(server.exchanges) - 1)
    for count in ("2", "0"):
        await post(server, "/v1/chat/completions", b"{}", ("X-Stainless-Retry-Count", count))
        await ended(server, len(server.exchanges) - 1)

    assert [listened.retry for listened in server.exchanges] == [0, 1, 0, 2, 0]
