"""A loopback gateway in a process of its own that keeps a pace: so many tokens a second, each an event of its own.

It does as little as it can, so that the process measured has its core to itself. The model's name says what is asked
for: ``paced-200-4000`` is 4,000 tokens at 200 a second, ``paced-0-4000`` the same as fast as they are taken.

Usage::

    with PacingServer() as gateway:
        ...                                     # gateway.url is a base URL for a profile
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from itertools import cycle

from tests.benchmarks.child import Child, ready

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n"
#: One round of what a model writes: a heading, prose, a list, code, a table. Cut into tokens of about four letters.
_ROUND = """## Reading a stream

A stream comes in **small pieces**, and every piece is kept as it was while the window draws what is new. Nobody waits
for the whole answer, because reading begins with the first word; what stands above it stays where it is. The rate is
the gateway's, and the picture is drawn at the pace of the screen, however many tokens there were in between.

1. Read what the socket holds, and stamp it.
2. Cut it into events, and fold them into the turn.
   - *text* goes to the end of the last paragraph,
   - `code` goes to the end of the block.
3. Draw what is new, at most once a frame.

```python
def fold(events: list[Event]) -> Turn:
    turn = Turn()
    for event in events:  # in the order they came
        turn = turn.with_event(event)
    return turn
```

| step | cost | what it is |
|---|---:|---|
| read | 4 µs | one system call |
| fold | 2 µs | a list that grows |
| draw | 900 µs | the last paragraph |

"""


def tokens(text: str) -> list[str]:
    """A text in the pieces a model would send: words with the space before them, long ones in two."""
    out: list[str] = []
    for word in text.replace("\n", " \n").split(" "):
        piece = word if word.startswith("\n") or not out else f" {word}"
        out += [piece[:6], piece[6:]] if len(piece) > 9 else [piece]
    return [piece for piece in out if piece]


def rounds(count: int) -> Iterator[str]:
    """``count`` tokens of a long answer."""
    for _, token in zip(range(count), cycle(tokens(_ROUND)), strict=False):
        yield token


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def _event(delta: dict[str, str], finish: str | None = None, **more: object) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    top = {"id": "chatcmpl-8f1c2d3e", "object": "chat.completion.chunk", "created": 1764664568, "model": "paced"}
    return _chunk(f"data: {json.dumps({**top, 'choices': [choice], **more}, ensure_ascii=False)}\n\n".encode())


async def _answer(model: str, writer: asyncio.StreamWriter) -> None:
    rate, count = (int(part) for part in model.split("-")[1:3])
    now = asyncio.get_running_loop().time
    events = [_event({"content": token}) for token in rounds(count)]
    writer.write(_HEAD % b"text/event-stream" + _event({"role": "assistant", "content": ""}))
    begun, sent = now(), 0
    while sent < count:
        due = min(int((now() - begun) * rate) + 1, count) if rate else min(sent + 64, count)
        writer.write(b"".join(events[sent:due]))
        sent = due
        await writer.drain()
        if rate and sent < count:
            await asyncio.sleep(max(begun + sent / rate - now(), 0))
    usage = {"prompt_tokens": 9, "completion_tokens": count, "total_tokens": count + 9}
    writer.write(_event({}, "stop", usage=usage) + _chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n")
    await writer.drain()


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:-2])
            body = await reader.readexactly(int(fields.get(b"content-length", b"0")))
            if head.startswith(b"POST"):
                await _answer(json.loads(body)["model"], writer)
            else:
                models = json.dumps({"object": "list", "data": [{"id": "paced-200-4000"}]}).encode()
                writer.write(_HEAD % b"application/json" + _chunk(models) + b"0\r\n\r\n")
                await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def _main() -> None:
    server = await asyncio.start_server(_serve, "127.0.0.1", 0)
    ready(server.sockets[0].getsockname()[1])
    await server.serve_forever()


class PacingServer(Child):
    """The server's process."""

    def __init__(self) -> None:
        super().__init__("tests.benchmarks.pacing")


if __name__ == "__main__":
    asyncio.run(_main())
