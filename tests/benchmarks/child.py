"""A server in a process of its own, so that its cost is in no other figures."""

from __future__ import annotations

import subprocess
import sys
from types import TracebackType
from typing import Self


class Child:
    """The module's process, which prints its base URL first. ``url`` is that, there once it was entered; leaving the
    context ends it.
    """

    def __init__(self, module: str, *arguments: str) -> None:
        self.url = ""
        self._command = [sys.executable, "-m", module, *arguments]
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(self._command, stdin=pipe, stdout=pipe, text=True)
        self.url = self.printed_line
        if not self.url:
            raise RuntimeError(f"the server did not start: {' '.join(self._command)}")
        return self

    @property
    def printed_line(self) -> str:
        """The next line that it prints."""
        assert self._process is not None
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def tell(self) -> None:
        """An empty line to read."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.communicate()


def ready(port: int) -> None:
    """In that process: say which port it listens on."""
    print(f"http://127.0.0.1:{port}/v1", flush=True)
