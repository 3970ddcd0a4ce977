"""The sockets below httpx and what is read off them past it: every byte, whatever is whole, cut, odd or late."""

from __future__ import annotations

import asyncio
import select
import socket
from collections.abc import AsyncIterator

import httpcore
import pytest

from playground.domain.errors import FailureKind
from playground.gateway.network import Backend
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


async def connect_first(monkeypatch: pytest.MonkeyPatch, *addresses: tuple[str, int]) -> tuple[str, int]:
    """Connect to a host name that the resolver leads to these addresses; the peer's address."""

    async def resolve(*_arguments: object, **_options: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 0, "", address) for address in addresses]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolve)
    stream = await Backend().connect_tcp("gateway.example", 80)
    peer: tuple[str, int] = stream.get_extra_info("socket").getpeername()
    await stream.aclose()
    return peer


async def test_next_address_is_tried_when_one_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    with _listening() as here:
        address = here.getsockname()
        assert await connect_first(monkeypatch, _closed(), address, _closed()) == address


async def test_silent_address_does_not_delay_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The backlog of one listener is full: the system lets connections to it wait."""
    with _listening(0) as full, _listening() as here:
        waiting = [socket.socket() for _ in range(3)]
        try:
            for sock in waiting:
                sock.setblocking(False)
                sock.connect_ex(full.getsockname())
            async with asyncio.timeout(5):
                await connect_first(monkeypatch, full.getsockname(), here.getsockname())
        finally:
            for sock in waiting:
                sock.close()


async def test_connect_error_names_the_failure_of_each_address(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(httpcore.ConnectError, match="All connection attempts failed") as caught:
        await connect_first(monkeypatch, _closed(), _closed())
    cause = caught.value.__cause__
    assert cause is not None
    assert isinstance(cause.__cause__, ExceptionGroup)
    reasons = cause.__cause__.exceptions
    assert [type(reason) for reason in reasons] == [ConnectionRefusedError] * 2


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
    ("writes", "arrivals"),
    [
        ([HEAD % 2, b"{}", b""], [b"", HEAD % 2 + b"{}", b""]),
        ([HEAD % 0, b""], [b"", HEAD % 0]),
        ([HEAD % 300_000, b"x" * 300_000, b""], [b"", HEAD % 300_000 + b"x" * 300_000, b""]),
    ],
    ids=["short body", "no body", "long body"],
)
async def test_head_is_sent_together_with_a_short_body(writes: list[bytes], arrivals: list[bytes]) -> None:
    with _listening() as listener:
        stream = await Backend().connect_tcp(*listener.getsockname())
        peer, _ = listener.accept()
        with peer:
            for _ in range(2):  # a second request over the same connection is sent in the same way
                for data, arrival in zip(writes, arrivals, strict=True):
                    reading = asyncio.get_running_loop().create_task(asyncio.to_thread(receive, peer, len(arrival)))
                    await stream.write(data)
                    assert await reading == arrival
                    assert not arrived(peer)
                peer.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                assert (await stream.read(65536)).startswith(b"HTTP/1.1 200")
        await stream.aclose()


async def test_head_without_a_body_is_sent_when_the_answer_is_read() -> None:
    with _listening() as listener:
        stream = await Backend().connect_tcp(*listener.getsockname())
        peer, _ = listener.accept()
        with peer:
            await stream.write(HEAD % 0)
            assert not arrived(peer)
            reading = asyncio.get_running_loop().create_task(stream.read(65536))
            assert await asyncio.to_thread(receive, peer, len(HEAD % 0)) == HEAD % 0
            peer.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            assert await reading
        await stream.aclose()


def receive(peer: socket.socket, size: int) -> bytes:
    """Receive so many bytes. Raises TimeoutError."""
    peer.settimeout(20)
    received = b""
    while len(received) < size:
        received += peer.recv(size - len(received))
    return received


def arrived(peer: socket.socket) -> bool:
    """Return whether there are bytes to receive."""
    return bool(select.select([peer], [], [], 0)[0])
