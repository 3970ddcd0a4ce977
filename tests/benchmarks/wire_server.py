"""A loopback gateway in its own process that answers every request with one stream, prepared before the first request.

Bodies are chunked; ``pace`` says how: "blocks" are ``BLOCK`` bytes cut without regard to events, as a socket delivers a
stream that has piled up; "singly" is one event a chunk, as most gateways write them. Kinds are "chat", "messages", and
"letters": a chat completion whose reasoning and content take turns after each letter, so that every event is a part.
"""

from __future__ import annotations

import itertools
import json
import socket
import sys
from collections.abc import Iterator
from typing import Final

from tests.benchmarks.child import Child, ready

BLOCK: Final = 16 * 1024
_HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
_WRITE: Final = 64 * 1024
#: Words, punctuation, line breaks, quotes, letters beyond ASCII, an emoji.
_WORDS: Final = """\
 The|re| are| three| ways| to| read| this|,| and| none| of| them| is| wrong|:|\n\n|-| **|first|**| “|quoted|”| naïve\
| café| 3|.|14| "|plain|"|\n|```|python|\n|def| f|(x|):|\n   | return| x|…| 🙂| Größe"""


def tokens(count: int) -> Iterator[str]:
    """Return the fragments of one answer; none is empty."""
    return itertools.islice(itertools.cycle(_WORDS.split("|")), count)


def _chat(delta: dict[str, object], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    top = {"id": "c-8f1c2d3e4a", "object": "chat.completion.chunk", "created": 1764664568}
    content = {**top, "model": "m-large", "choices": [choice]}
    chunk = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return f"data: {chunk}\n\n".encode()


def _chat_events(count: int) -> Iterator[bytes]:
    yield _chat({"role": "assistant", "content": ""})
    for token in tokens(count):
        yield _chat({"content": token})
    yield _chat({}, "stop")
    yield b"data: [DONE]\n\n"


def _message(kind: str, **rest: object) -> bytes:
    data = json.dumps({"type": kind, **rest}, ensure_ascii=False, separators=(",", ":"))
    return f"event: {kind}\ndata: {data}\n\n".encode()


def _message_events(count: int) -> Iterator[bytes]:
    message = {"id": "msg_01QC4g3HwBThD4Ba", "type": "message", "role": "assistant", "model": "m-large", "content": []}
    ends = {"stop_reason": None, "stop_sequence": None}
    yield _message("message_start", message={**message, **ends, "usage": {"input_tokens": 12, "output_tokens": 1}})
    yield _message("content_block_start", index=0, content_block={"type": "text", "text": ""})
    yield _message("ping")
    for token in tokens(count):
        yield _message("content_block_delta", index=0, delta={"type": "text_delta", "text": token})
    yield _message("content_block_stop", index=0)
    yield _message("message_delta", delta={**ends, "stop_reason": "end_turn"}, usage={"output_tokens": count})
    yield _message("message_stop")


def _letter_events(count: int) -> Iterator[bytes]:
    for field in itertools.islice(itertools.cycle(("content", "reasoning_content")), count):
        chunk = {"id": "x", "choices": [{"index": 0, "delta": {field: "x"}, "finish_reason": None}]}
        yield f"data: {json.dumps(chunk, separators=(',', ':'))}\n\n".encode()
    yield _chat({}, "stop")
    yield b"data: [DONE]\n\n"


_EVENTS: Final = {"chat": _chat_events, "messages": _message_events, "letters": _letter_events}


def body(kind: str, count: int, pace: str = "blocks") -> bytes:
    """Return the chunked body of a stream with ``count`` fragments."""
    events = list(_EVENTS[kind](count))
    if pace == "blocks":
        complete = b"".join(events)
        events = [complete[index : index + BLOCK] for index in range(0, len(complete), BLOCK)]
    return b"".join(b"%x\r\n%s\r\n" % (len(event), event) for event in events) + b"0\r\n\r\n"


class WireServer(Child):
    """The server's process."""

    def __init__(self, kind: str, count: int, pace: str = "blocks") -> None:
        super().__init__("tests.benchmarks.wire_server", kind, str(count), pace)
        self.count = count

    @property
    def text(self) -> str:
        """The text of one stream."""
        return "".join(tokens(self.count))


def serve(kind: str, count: int, pace: str) -> None:
    """Answer every request with the same stream, one at a time, until killed. Prints its base URL first."""
    answer = _HEAD + body(kind, count, pace)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        ready(listening.getsockname()[1])
        while True:
            peer, _ = listening.accept()
            with peer:
                peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                while _request(peer):
                    for index in range(0, len(answer), _WRITE):
                        peer.sendall(answer[index : index + _WRITE])


def _request(peer: socket.socket) -> bool:
    """Wait for a whole request; False when the peer closed instead."""
    received = b""
    while True:
        top, blank, rest = received.partition(b"\r\n\r\n")
        if blank:
            lengths = [line[15:] for line in top.lower().split(b"\r\n") if line.startswith(b"content-length:")]
            if len(rest) >= int(lengths[0] if lengths else 0):
                return True
        try:
            data = peer.recv(65536)
        except OSError:
            return False
        if not data:
            return False
        received += data


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), sys.argv[3])
