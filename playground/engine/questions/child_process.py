"""A second process of this program that is spoken with over its standard input and output."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from collections.abc import Iterator
from io import BufferedReader, BufferedWriter
from typing import cast


class ChildProcess:
    """A running child process. `argument` of the command line says what it serves.

    Its input ends with this process, however that ends.
    """

    def __init__(self, argument: str) -> None:
        """Start the process. Raises OSError."""
        is_frozen = bool(getattr(sys, "frozen", False))
        command = [sys.executable, argument] if is_frozen else [sys.executable, "-P", "-m", "playground", argument]
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self.input = cast("BufferedWriter", self._process.stdin)
        self.output = cast("BufferedReader", self._process.stdout)

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """True until the process has ended."""
        return self._process.poll() is None

    def kill(self) -> None:
        """End the process at once; an ended one is left alone."""
        with contextlib.suppress(OSError):
            self._process.kill()

    @contextlib.contextmanager
    def time_limit(self, seconds: float) -> Iterator[None]:
        """Kill the process unless the block ends in time."""
        timer = threading.Timer(seconds, self.kill)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def wait(self, seconds: float = 0.0) -> None:
        """Wait for the end of the process, which is killed after `seconds`, and close its pipes."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            self._process.wait()
        for pipe in (self.input, self.output):
            with contextlib.suppress(OSError):
                pipe.close()
