"""A thread with a connection that reads the store's file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from playground.engine.io.database import connect

T = TypeVar("T")


class Reader:
    """Reads the file at ``path``; the first task opens it."""

    def __init__(self, path: Path, options: str) -> None:
        self._path, self._options = path, options
        self._connection: sqlite3.Connection | None = None
        self._thread = ThreadPoolExecutor(1, "store reader")

    def do(self, work: Callable[[sqlite3.Connection], T]) -> Future[T]:
        """Run ``work`` on the thread, after the tasks before it."""
        return self._thread.submit(self._do, work)

    def interrupt(self) -> None:
        """End the statement that runs now with sqlite3.OperationalError."""
        if self._connection is not None:
            self._connection.interrupt()

    def close(self) -> None:
        """Interrupt the task that runs now, drop those after it, and close the file."""
        self.interrupt()
        self._thread.shutdown(wait=True, cancel_futures=True)
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if self._connection is None:
            self._connection = connect(self._path, self._options)
        return work(self._connection)
