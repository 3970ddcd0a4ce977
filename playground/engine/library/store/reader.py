"""A connection that only reads, on a thread of its own."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from playground.engine.library.store.connecting import connect

T = TypeVar("T")


class Reader:
    """Reads the file at ``path``, which is opened with the first thing that is asked."""

    def __init__(self, path: Path, options: str) -> None:
        self._path, self._options = path, options
        self._connection: sqlite3.Connection | None = None
        self._thread = ThreadPoolExecutor(1, "store reader")

    def do(self, work: Callable[[sqlite3.Connection], T]) -> Future[T]:
        """Have it done after what was asked before."""
        return self._thread.submit(self._do, work)

    def interrupt(self) -> None:
        """End what is being done now, if it takes long."""
        if self._connection is not None:
            self._connection.interrupt()

    def close(self) -> None:
        """End, after what is being done."""
        self.interrupt()
        self._thread.shutdown(wait=True, cancel_futures=True)
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if self._connection is None:
            self._connection = connect(self._path, self._options)
        return work(self._connection)
