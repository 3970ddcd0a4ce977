"""Long work on another thread gives way to the thread that answers a person.

Python lets one thread work at a time. One that wants to go on gets its turn after an interval (``SWITCH_S`` of the
window's loop), and has to wait for it anew after each call that let go of the interpreter, as most of Qt's do. A turn
of the loop with 11 ms of work in it took 108 ms while another thread wrote five megabytes of JSON, at 0.5 ms each. So
who works for long on a thread of its own pauses again and again until the window has nothing else to do. The standard
library alone is used here: all rooms may write at length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from threading import Event, get_ident, local
from time import perf_counter
from typing import Final, TypeVar

T = TypeVar("T")
#: Seconds of work on end: what a turn of the loop that begins meanwhile may take longer.
STINT_S: Final = 0.002
#: Seconds that a pause takes at most. A loop that is not back by then may be waiting for this very thread.
LONGEST_S: Final = 0.05

_call_soon: Callable[[Callable[[], object]], object] | None = None
_first = 0  # the thread that goes first


class _Own(local):
    """What each thread knows of itself."""

    def __init__(self) -> None:
        self.until = 0.0  # when its stint is over
        self.passed = Event()  # whether the loop has come round since it was asked to
        self.passed.set()


_own = _Own()


def give_way_to(call_soon: Callable[[Callable[[], object]], object] | None) -> None:
    """From now on others pause for this thread. ``call_soon`` has something called on it, from any thread, once it has
    nothing else to do; None: nobody pauses any more.
    """
    global _call_soon, _first
    _call_soon, _first = call_soon, get_ident()


def pause() -> None:
    """Wait until the window has nothing else to do, if this thread has worked for a while. Nothing on its own."""
    call_soon, own = _call_soon, _own
    if call_soon is None or get_ident() == _first or perf_counter() < own.until:
        return
    if own.passed.is_set():  # else the loop is held up: it is not waited for twice
        own.passed.clear()
        try:
            call_soon(own.passed.set)
            own.passed.wait(LONGEST_S)
        except RuntimeError:  # the loop has ended meanwhile
            own.passed.set()
    own.until = perf_counter() + STINT_S


def by_and_by(items: Iterable[T]) -> Iterable[T]:
    """``items``, with pauses between them where this thread is not the window's."""
    return items if _call_soon is None or get_ident() == _first else _with_pauses(items)


def _with_pauses(items: Iterable[T]) -> Iterator[T]:
    until = 0.0
    for item in items:
        if perf_counter() > until:
            pause()
            until = _own.until
        yield item
