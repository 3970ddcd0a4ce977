"""How often this process looks for garbage while answers of an evaluation come.

What answers are made of holds no cycles and is freed as it is let go. To look after each 700 objects takes a tenth of
the time of an answer.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

OBJECTS: Final = 50_000  # more than there were, until garbage is looked for among them


class _Collecting:
    """How the collector was set before the first of several evaluations, which may have threads of their own."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._before = gc.get_threshold()

    @contextmanager
    def seldom(self) -> Iterator[None]:
        """Have the collector look seldom, and never at what is there already."""
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._before = gc.get_threshold()
                gc.freeze()
                gc.set_threshold(OBJECTS, *self._before[1:])
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if not self._inside:
                    gc.set_threshold(*self._before)
                    gc.unfreeze()


seldom_collected = _Collecting().seldom
