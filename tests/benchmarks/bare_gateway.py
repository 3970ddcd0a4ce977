"""A gateway in a process of its own that costs next to nothing: one answer, made beforehand, for every request.

For benchmarks that ask many times for a whole answer, and want to see what asking costs: the demo gateway takes as much
time for an answer as we do. ``asked`` counts the requests.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Final

from tests.benchmarks.child import Child, ready

_ANSWER: Final = {
    "id": "c-8f1c2d3e4a",
    "object": "chat.completion",
    "created": 1764664568,
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "It is warm."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 12, "completion_tokens": 4, "total_tokens": 16},
}
_BODY: Final = json.dumps(_ANSWER).encode()


def _reply(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


class BareGateway(Child):
    """The gateway's process. An answer takes ``seconds``."""

    def __init__(self, seconds: float = 0.0) -> None:
        super().__init__("tests.benchmarks.bare_gateway", str(seconds))

    @property
    def asked(self) -> int:
        """How many requests came."""
        self.tell()
        return int(self.told)


class _Peer(asyncio.Protocol):
    """One connection. Requests come one at a time, with a length and in any pieces."""

    seconds = 0.0
    asked = 0
    reply = _reply(_BODY)

    def __init__(self) -> None:
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        top, blank, rest = self._received.partition(b"\r\n\r\n")
        if not blank:
            return
        at = top.lower().find(b"content-length:")
        if at >= 0 and len(rest) < int(top[at + 15 :].split(b"\r\n", 1)[0]):
            return
        self._received = b""
        _Peer.asked += 1
        if self.seconds:
            asyncio.get_running_loop().call_later(self.seconds, self._transport.write, self.reply)
        else:
            self._transport.write(self.reply)


async def _serve(seconds: float) -> None:
    _Peer.seconds = seconds
    loop = asyncio.get_running_loop()
    server = await loop.create_server(_Peer, "127.0.0.1", 0, backlog=512)
    ready(server.sockets[0].getsockname()[1])
    while await asyncio.to_thread(sys.stdin.readline):
        print(_Peer.asked, flush=True)


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1])))
