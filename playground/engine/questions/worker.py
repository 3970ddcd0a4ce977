"""The child process that answers costly questions, one after the other, until its input ends.

It also ends when an answer takes twice its time limit, because the parent may have been killed. Its memory is limited
and its priority low.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import pickle
import sys
from enum import StrEnum
from io import BufferedWriter
from pathlib import Path
from typing import Any, Final

ARGUMENT: Final = "--check-worker"  # of the command line
TIME_LIMIT: Final = 2.0  # seconds for one answer
_MEMORY_LIMIT: Final = 1 << 30  # bytes


class Message(StrEnum):
    """The kinds of messages to the parent, each a pickled pair of the kind and its content."""

    READY = "ready"  # None
    PARTIAL = "partial"  # an early result in words
    ANSWER = "answer"


def serve() -> int:
    """Answer pickled questions on standard input until it ends. Return the exit code."""
    from playground.engine.questions import kinds
    from playground.jsonkit import limits

    _limit_resources()
    with (
        open(0, "rb", closefd=False) as inbox,
        open(1, "wb", closefd=False) as outbox,
        Path(os.devnull).open("w") as null,
    ):
        limits.lift(lambda words: _send(outbox, Message.PARTIAL, words))
        _send(outbox, Message.READY, None)
        with contextlib.suppress(EOFError):
            while True:
                question = pickle.load(inbox)  # noqa: S301 - written by the parent process
                if not isinstance(question, kinds.Question):
                    return 2
                faulthandler.dump_traceback_later(2 * TIME_LIMIT, exit=True, file=null)
                try:
                    answer = question.answer()
                except (RecursionError, MemoryError, limits.TooCostlyError) as error:
                    answer = question.unanswered(str(error) or "it is nested too deeply", "")
                faulthandler.cancel_dump_traceback_later()
                _send(outbox, Message.ANSWER, answer)
    return 0


def _send(outbox: BufferedWriter, kind: Message, content: Any) -> None:
    outbox.write(pickle.dumps((kind, content)))
    outbox.flush()


def _limit_resources() -> None:
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_LIMIT, _MEMORY_LIMIT))
    with contextlib.suppress(AttributeError, OSError):
        os.nice(5)


if __name__ == "__main__":
    sys.exit(serve())
