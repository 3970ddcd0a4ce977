"""An error as a report that may be shown, kept and handed on: where it happened, and nothing of what it was about.

Only names of functions and classes, files and lines. No values and no source text; of messages only those whose words
are ours or the operating system's, because any other may hold a prompt, an answer or a key. No Qt in here.
"""

from __future__ import annotations

import os
import threading
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType

from playground.system.log import versions
from playground.ui.shell.stack_text import short

FRAMES = 40  # of one error; the rest, in the middle, is counted
LINKS = 6  # errors of a chain, and members of a group

#: What part of the program a module belongs to, for people; the longest beginning that fits counts.
PARTS = {
    "playground/ui/features/conversation": "the conversation",
    "playground/ui/features/debugger": "the tool debugger",
    "playground/ui/features/inspector": "the inspector",
    "playground/ui/features/wire": "the inspector",
    "playground/ui/features/cassettes": "the cassettes",
    "playground/ui/features/parameters": "the parameters",
    "playground/ui/features/tools": "the tools",
    "playground/ui/features/gateways": "the gateway settings",
    "playground/ui/features/experiments": "the list of experiments",
    "playground/ui/features/code": "the code window",
    "playground/ui/features/help": "the help",
    "playground/ui": "the window",
    "playground/engine/library/store": "what keeps the experiments",
    "playground/engine": "the engine",
    "playground/protocols": "what reads a gateway's answer",
    "playground/gateway": "the connection to the gateway",
    "playground/demo": "the demo gateway",
}


@dataclass(frozen=True, slots=True)
class Report:
    """``words`` is one sentence for people; ``text`` the whole report. Errors with the same ``place`` are the same."""

    words: str
    text: str
    place: str


def report(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None, where: str) -> Report:
    """Return the report of an error that reached a hook; ``where`` names it."""
    chain = list(_chain(error))
    if error is None or not chain:
        body = [f"{_class(kind)}", *_frames(trace)]
    else:
        body = []
        for number, (link, how) in enumerate(chain):
            body += [how] if how else []
            body += [f"{_class(type(link))}{_message(link)}"]
            body += _frames(trace if number == 0 and trace is not None else link.__traceback__)
    innermost = _innermost(trace)
    head = [
        versions(),
        f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S %z}",
        f"In {where}, thread “{threading.current_thread().name}”",
    ]
    place = f"{_class(kind)} {innermost}"
    return Report(_sentence(kind, error, innermost), "\n".join([*head, "", *body]), place)


def _sentence(kind: type[BaseException], error: BaseException | None, innermost: str) -> str:
    """Return a sentence about the error."""
    if issubclass(kind, MemoryError):
        return "The computer has no memory left for this."
    if isinstance(error, OSError) and error.errno is not None and os.strerror(error.errno):
        return f"The operating system refused something: {os.strerror(error.errno).lower()}."
    fits = [start for start in PARTS if innermost.startswith(start)]
    part = PARTS[max(fits, key=len)] if fits else "the program"
    return f"Something in {part} went wrong."


def _chain(error: BaseException | None) -> Iterator[tuple[BaseException, str]]:
    """The error first, then what it came from and the members of groups, each once."""
    seen: set[int] = set()
    waiting: list[tuple[BaseException | None, str]] = [(error, "")]
    while waiting and len(seen) < LINKS:
        link, how = waiting.pop(0)
        if link is None or id(link) in seen:
            continue
        seen.add(id(link))
        yield link, how
        if isinstance(link, BaseExceptionGroup):
            waiting += [(member, "A member of that group:") for member in link.exceptions]
        if link.__cause__ is not None:
            waiting.append((link.__cause__, "Because of:"))
        elif not link.__suppress_context__:
            waiting.append((link.__context__, "While this one was dealt with:"))


def _frames(trace: TracebackType | None) -> list[str]:
    lines = [f"  {name} ({file}:{number})" for file, number, name in _places(trace)]
    if len(lines) > FRAMES:
        half = FRAMES // 2
        lines = [*lines[:half], f"  … {len(lines) - FRAMES} more …", *lines[-half:]]
    return lines


def _places(trace: TracebackType | None) -> Iterator[tuple[str, int, str]]:
    for frame, number in traceback.walk_tb(trace):
        yield short(frame.f_code.co_filename), number, frame.f_code.co_qualname if _QUALIFIED else frame.f_code.co_name


_QUALIFIED = hasattr((lambda: None).__code__, "co_qualname")


def _innermost(trace: TracebackType | None) -> str:
    """The last place of ours on the way to the error; else the last one."""
    places = [f"{file}:{number}" for file, number, _ in _places(trace)]
    ours = [place for place in places if place.startswith("playground/")]
    return (ours or places or [""])[-1]


def _class(kind: type[BaseException]) -> str:
    module = kind.__module__
    return kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"


def _message(error: BaseException) -> str:
    """Return words about the error besides its class, never the exception's own text."""
    if isinstance(error, OSError) and isinstance(error.errno, int):
        return f": error {error.errno}, {os.strerror(error.errno)}"
    if isinstance(error, UnicodeError):
        return f": {getattr(error, 'encoding', 'text')}"
    if isinstance(error, ImportError) and error.name:
        return f": {error.name}"
    if isinstance(error, NameError | AttributeError) and str(getattr(error, "name", None) or "").isidentifier():
        owner = f" of {type(error.obj).__name__}" if isinstance(error, AttributeError) else ""
        return f": {error.name}{owner}"
    return ""
