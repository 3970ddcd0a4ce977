"""The sockets below httpx and what is read off them past it: every byte, whatever is whole, cut, odd or late."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator

import httpcore
import pytest

from playground.domain.errors import FailureKind
from playground.gateway.network import Backend, _first
from playground.gateway.stream import Stream
from tests.gateway.conftest import MakeClient, failure_of, run, text_of
from tests.support.fault_server import FaultServer, chunk, drip, head, keep, reset, send, sleep, sse, text_chunk

WORDS = ("Hel", "lo, ", "w" * 300, "orld")
EVENTS = [sse(text_chunk(word)) for word in WORDS] + [sse(text_chunk("", "stop")), sse("[DONE]")]
BODY = b"".join(EVENTS)
CHUNKED = b"".join(map(chunk, EVENTS)) + chunk(b"")


@pytest.mark.parametrize("size", [1, 2, 3, 5, 17, 64, 301])
async def test_chunks_cut_anywhere(server: FaultServer, make_client: MakeClient, size: int) -> None:
    server.play(send(head(chunked=True)), drip(CHUNKED, size))
    call, events = await run(make_client())
    assert text_of(events) == "".join(WORDS)
    assert call.exchange.body in (BODY, BODY[:-1])  # the last line end is behind the end, where it came by itself
    assert call.exchange.failure is None


async def test_chunks_that_came_together_are_one_read(server: FaultServer, make_client: MakeClient) -> None:
    """A read is what one look at the socket brought: it has one stamp."""
    server.play(send(head(chunked=True), CHUNKED))
    call, _ = await run(make_client())
    assert [read.data for read in call.exchange.reads] == [BODY]


async def test_odd_chunks_are_left_to_the_parser(server: FaultServer, make_client: MakeClient) -> None:
    """One with an extension, capitals, zeros before its size, and what stands behind the last one."""
    odd = b"%X;name=value\r\n%s\r\n" % (len(EVENTS[1]), EVENTS[1])
    zeros = b"0000%X\r\n%s\r\n" % (len(EVENTS[2]), EVENTS[2])
    rest = b"".join(map(chunk, EVENTS[3:]))
    server.play(send(head(chunked=True), chunk(EVENTS[0]), odd, zeros, rest, b"0\r\nTrailer: here\r\n\r\n"), keep())
    call, events = await run(make_client())
    assert text_of(events) == "".join(WORDS)
    assert call.exchange.body == BODY


async def test_a_body_with_blank_lines_and_a_length_comes_in_one_read(
    server: FaultServer, make_client: MakeClient
) -> None:
    """Only of a head its end is looked for."""
    server.play(send(head(200, "text/event-stream", f"Content-Length: {len(BODY)}"), BODY))
    call, _ = await run(make_client())
    assert [read.data for read in call.exchange.reads] == [BODY]


@pytest.mark.parametrize("wrong", [b"xyz\r\n", b"-5\r\nhello\r\n", b"5\r\nhelloo\r\n", b"\r\n\r\n"])
async def test_what_is_no_chunk_is_told(server: FaultServer, make_client: MakeClient, wrong: bytes) -> None:
    server.play(send(head(chunked=True), chunk(EVENTS[0]), wrong, chunk(EVENTS[1])))
    call, events = await run(make_client())
    assert text_of(events).startswith("Hel")
    assert failure_of(events).kind is FailureKind.CONNECTION
    assert "chunk" in failure_of(events).message
    assert call.exchange.body.startswith(EVENTS[0])


async def test_a_reset_between_chunks(server: FaultServer, make_client: MakeClient) -> None:
    server.play(send(head(chunked=True), chunk(EVENTS[0])), reset())
    _, events = await run(make_client())
    assert text_of(events) in ("", "Hel")  # a reset may overtake what was sent before it
    assert "reset" in failure_of(events).message


async def test_a_reset_below_tls_is_told_as_one(secure: tuple[FaultServer, str], make_client: MakeClient) -> None:
    server, ca_file = secure
    server.play(send(head(chunked=True), chunk(EVENTS[0])), sleep(0.1), reset())
    _, events = await run(make_client(base_url=server.url, ca_file=ca_file))
    failure = failure_of(events)
    assert failure.kind is FailureKind.CONNECTION
    assert "in the middle of the answer (it was reset)" in failure.message


async def test_a_connection_is_used_again_after_chunks(server: FaultServer, make_client: MakeClient) -> None:
    unfinished = b"".join(map(chunk, EVENTS[:-1])) + chunk(b"")
    server.play(send(head(chunked=True), unfinished), keep(), send(head(chunked=True), unfinished))
    client = make_client()
    first, _ = await run(client)
    second, events = await run(client)
    assert first.exchange.connected is not None
    assert second.exchange.connected is None
    assert text_of(events) == "".join(WORDS)


@pytest.fixture
async def flood() -> AsyncIterator[tuple[int, list[int]]]:
    """A server that writes for as long as it is read: its port, and how many bytes went."""
    went = [0]

    async def write(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while went[0] < 1 << 30:
                writer.write(bytes(1 << 16))
                await writer.drain()
                went[0] += 1 << 16
        except ConnectionError:
            writer.close()

    serving = await asyncio.start_server(write, "127.0.0.1", 0)
    async with serving:
        yield serving.sockets[0].getsockname()[1], went


async def test_who_does_not_read_stops_the_server(flood: tuple[int, list[int]]) -> None:
    port, went = flood
    stream = await Backend().connect_tcp("127.0.0.1", port)
    before = -1
    while went[0] != before:
        before = went[0]
        await asyncio.sleep(0.2)
    assert before < 1 << 28  # what the system itself takes
    read = 0
    while read <= before:
        read += len(await stream.read(1 << 20))
    await stream.aclose()


async def test_a_read_that_is_given_up_loses_nothing() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(2)
        writer.write(b"HTTP")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as serving:
        stream = await Backend().connect_tcp("127.0.0.1", serving.sockets[0].getsockname()[1])
        with pytest.raises(httpcore.ReadTimeout):
            await stream.read(10, timeout=0.01)
        reading = asyncio.get_running_loop().create_task(stream.read(10))
        await asyncio.sleep(0)
        reading.cancel()
        await stream.write(b"GO")
        assert await stream.read(3) == b"HTT"
        assert await stream.read(10) == b"P"
        assert [await stream.read(10), await stream.read(10)] == [b"", b""]
        assert stream.get_extra_info("is_readable")
        await stream.aclose()


def _listening(backlog: int = 5) -> socket.socket:
    return socket.create_server(("127.0.0.1", 0), backlog=backlog)


def _closed() -> tuple[str, int]:
    with _listening() as sock:
        address: tuple[str, int] = sock.getsockname()
        return address


async def test_the_next_address_is_tried_when_one_refuses() -> None:
    with _listening() as here:
        address = here.getsockname()
        found = await _first([(socket.AF_INET, _closed()), (socket.AF_INET, address), (socket.AF_INET, _closed())])
        with found:
            assert found.getpeername() == address


async def test_an_address_that_says_nothing_holds_nobody_up() -> None:
    """Two listeners, of which one takes no more: the system lets connections to it wait."""
    with _listening(0) as full, _listening() as here:
        waiting = [socket.socket() for _ in range(3)]
        try:
            for one in waiting:
                one.setblocking(False)
                one.connect_ex(full.getsockname())
            addresses = [(socket.AF_INET, full.getsockname()), (socket.AF_INET, here.getsockname())]
            async with asyncio.timeout(5):
                (await _first(addresses)).close()
        finally:
            for one in waiting:
                one.close()


async def test_why_each_address_failed_is_kept() -> None:
    with pytest.raises(OSError, match="All connection attempts failed") as caught:
        await _first([(socket.AF_INET, _closed()), (socket.AF_INET, _closed())])
    assert isinstance(caught.value.__cause__, ExceptionGroup)
    assert all(isinstance(reason, ConnectionRefusedError) for reason in caught.value.__cause__.exceptions)
    assert len(caught.value.__cause__.exceptions) == 2


async def test_a_stream_of_nothing_gives_no_chunk() -> None:
    """What a connection is made of says how bytes come."""

    class Given(Stream):
        def __init__(self, *pieces: bytes) -> None:
            super().__init__()
            self.pieces = list(pieces)

        async def _more(self, *, together: bool = False) -> bytes:
            return self.pieces.pop(0) if self.pieces else b""

    ended = Given(b"HTTP/1.1 200 OK\r\nA: b\r", b"\n\r", b"\n5\r\nhello\r\n3\r", b"\nabc\r\n0\r\n\r\n")
    taken = b""
    while not taken.endswith(b"\r\n\r\n"):
        taken += await ended.read(1000)
    assert taken == b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n"
    ended.begin_body(200, {"transfer-encoding": "chunked"})
    assert [await ended.read_chunks(), await ended.read_chunks(), await ended.read_chunks()] == [b"hello", b"abc", None]
    assert await ended.read(1000) == b"0\r\n\r\n"
    assert await ended.read_chunks() is None
    assert await ended.read(1000) == b""


HEAD = b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n"


@pytest.mark.parametrize(
    ("writes", "sent"),
    [
        ([HEAD % 2, b"{}", b""], [HEAD % 2 + b"{}"]),
        ([HEAD % 0, b""], [HEAD % 0]),
        ([HEAD % 0], [HEAD % 0]),  # as a tunnel is asked for: somebody reads next
        ([HEAD % 2_000_000, b"x" * 2_000_000, b""], [HEAD % 2_000_000, b"x" * 2_000_000]),
    ],
    ids=["short body", "no body", "read next", "long body"],
)
async def test_a_head_goes_out_with_a_short_body(server: FaultServer, writes: list[bytes], sent: list[bytes]) -> None:
    server.play(send(head(200)), keep())
    went: list[bytes] = []
    stream = await Backend().connect_tcp("127.0.0.1", int(server.url.split(":")[2].split("/")[0]))
    send_on = stream._send

    async def noted(data: bytes) -> None:
        went.append(data)
        await send_on(data)

    stream._send = noted  # type: ignore[method-assign]
    try:
        for _ in range(2):  # the second request over the same connection does as the first
            went.clear()
            for one in writes:
                await stream.write(one)
            assert (await stream.read(65536)).startswith(b"HTTP/1.1 200")
            assert went == sent
    finally:
        await stream.aclose()
