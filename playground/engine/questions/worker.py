"""The process that checks what may take too long: it answers one question after the other, and can be ended.

Questions come in and answers go out over standard input and output (``checking`` is at the other end). It ends
when its input does, and when an answer takes twice as long as it may: whoever started it may be gone by then. It has
little memory to use and steps back behind everything else that wants to run.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import pickle
import sys
from io import BufferedReader, BufferedWriter
from pathlib import Path
from typing import Final

ARGUMENT: Final = "--check-worker"  # of the command line
SECONDS: Final = 2.0  # for one answer
READY: Final = b"R"
KNOWN: Final = b"K"  # something is known already: UTF-8 words follow
ANSWER: Final = b"A"  # a pickled answer follows
_MEMORY: Final = 1 << 30
_SIZE: Final = 4  # bytes of a length


def serve() -> int:
    """Answer until there are no more questions."""
    from playground.engine.questions import kinds
    from playground.jsonkit import limits

    _be_modest()
    with (
        open(0, "rb", closefd=False) as inbox,
        open(1, "wb", closefd=False) as outbox,
        Path(os.devnull).open("w") as nowhere,
    ):
        limits.lift(lambda words: send(outbox, KNOWN, words.encode()))
        send(outbox, READY, b"")
        while (received := receive(inbox)) is not None:
            faulthandler.dump_traceback_later(2 * SECONDS, exit=True, file=nowhere)
            question = pickle.loads(received[1])  # noqa: S301 - from the process that started this one
            if not isinstance(question, kinds.Question):
                return 2
            try:
                answer = question.answer()
            except (RecursionError, MemoryError, limits.TooCostlyError) as error:
                answer = question.unanswered(str(error) or "it is nested too deeply", "")
            faulthandler.cancel_dump_traceback_later()
            send(outbox, ANSWER, pickle.dumps(answer))
    return 0


def send(to: BufferedWriter, kind: bytes, body: bytes) -> None:
    """Write one message: its kind, its length, and itself."""
    to.write(kind + len(body).to_bytes(_SIZE, "big") + body)
    to.flush()


def receive(of: BufferedReader) -> tuple[bytes, bytes] | None:
    """Read one message; None when the other end is gone."""
    head = of.read(1 + _SIZE)
    if len(head) <= _SIZE:
        return None
    size = int.from_bytes(head[1:], "big")
    body = of.read(size)
    return (head[:1], body) if len(body) == size else None


def _be_modest() -> None:
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    with contextlib.suppress(AttributeError, OSError):
        os.nice(5)


if __name__ == "__main__":
    sys.exit(serve())
