"""What is taken off a connection past h11 against h11 itself: the same bytes, cut anywhere, are the same answer."""

from __future__ import annotations

import re
from itertools import pairwise

import httpcore
from hypothesis import example, given, settings
from hypothesis import strategies as st

from playground.gateway.stream import Stream

URL = "http://127.0.0.1/"
HEADS = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"HTTP/1.1 200 OK\ntransfer-encoding: Chunked \n\n",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 A\r\nB: c\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n",
    b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 12, 12\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\nContent-Length: 12\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n\r\n",
)
PIECES = (
    b"5\r\nhello\r\n",
    b"a\r\n0123456789\r\n",
    b"0000000B\r\nhello\r\nworl\r\n",
    b"00000000000000000003\r\nabc\r\n",
    b"000000000000000000003\r\nabc\r\n",
    b"3;name=value\r\nabc\r\n",
    b"3 \t\r\nabc\r\n",
    b" 3\r\nabc\r\n",
    b"3\nabc\n",
    b"3\rabc\r\n",
    b"+3\r\nabc\r\n",
    b"-3\r\nabc\r\n",
    b"0x3\r\nabc\r\n",
    b"3_\r\nabc\r\n",
    b"3\r\nabcd\r\n",
    b"3\r\nabc\n",
    b"xyz\r\n",
    b"\r\n",
    b"\n",
    b"ffffffff\r\nabc",
    b"100000000\r\nabc",
    b"8000000000000000\r\nabc",
    b"0\r\n\r\n",
    b"0\n\n",
    b"0;last\r\n\r\n",
    b"000\r\nTrailer: here\r\nOther: too\r\n\r\n",
    b"0\r\nno trailer\r\n\r\n",
    b"0\r\n\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong",
)


class Plain(httpcore.AsyncNetworkStream):
    """Gives pieces as they are."""

    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces = list(pieces)

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self.pieces.pop(0) if self.pieces else b""

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """There is nobody to have it."""

    async def aclose(self) -> None:
        """There is nothing to close."""


class Ours(Stream):
    """Gives the same as a connection does."""

    def __init__(self, pieces: list[bytes]) -> None:
        super().__init__()
        self.pieces = list(pieces)

    async def _more(self, *, together: bool = False) -> bytes:
        return self.pieces.pop(0) if self.pieces else b""

    async def _send(self, data: bytes) -> None:
        """There is nobody to have it."""

    async def aclose(self) -> None:
        """There is nothing to close."""


async def _answer(stream: httpcore.AsyncNetworkStream) -> tuple[int, bytes, str]:
    """Status, body and error (without the bytes that it quotes) of the one answer on ``stream``."""
    status, body = 0, b""
    request = httpcore.Request("POST", URL, headers=[("Host", "127.0.0.1")])
    connection = httpcore.AsyncHTTP11Connection(request.url.origin, stream)
    try:
        response = await connection.handle_async_request(request)
        status = response.status
        if isinstance(stream, Stream):
            names = {name.decode().lower(): value.decode() for name, value in response.headers}
            stream.begin_body(status, names)
        parts = aiter(response.stream)  # type: ignore[arg-type]
        while True:
            data = await stream.read_chunks() if isinstance(stream, Stream) else None
            body += await anext(parts) if data is None else data
    except StopAsyncIteration:
        return status, body, ""
    except httpcore.RemoteProtocolError as error:
        return status, body, re.sub(r"bytearray\(b.*", "", str(error), flags=re.DOTALL)


def _cut(data: bytes, places: list[int]) -> list[bytes]:
    bounds = [0, *sorted({place % len(data) for place in places} - {0}), len(data)]
    return [data[begin:end] for begin, end in pairwise(bounds)]


@settings(max_examples=600, deadline=None)
@given(
    st.sampled_from(HEADS),
    st.lists(st.sampled_from(PIECES) | st.binary(max_size=3), max_size=8),
    st.lists(st.integers(0, 1 << 16), max_size=8),
    st.none() | st.tuples(st.integers(0, 1 << 16), st.integers(0, 255)),
    st.booleans(),
)
@example(HEADS[0], [b"5\r\nhello\r\n", b"0\r\n\r\n", b"5\r\nhello\r\n"], [], None, False)
@example(HEADS[5], [b"5\r\nhello\r\n"], [], None, True)
@example(HEADS[0], [b"3\r\nabc\n", b"\x00", b"5\r\nhello\r\n"], [], None, False)
async def test_the_same_bytes_are_the_same_answer(
    head: bytes, pieces: list[bytes], places: list[int], other: tuple[int, int] | None, singly: bool
) -> None:
    data = bytearray(head + b"".join(pieces))
    if other is not None:
        data[other[0] % len(data)] = other[1]
    cut = _cut(bytes(data), list(range(len(data))) if singly else places)
    assert await _answer(Ours(cut)) == await _answer(Plain(cut))
