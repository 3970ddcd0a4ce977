"""Lines of the self-test: the check, its result and its duration. Prints them and counts the failures."""

from __future__ import annotations

import faulthandler
import platform
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from playground import __version__

WIDTH = 15  # columns of a check's name


class MissingError(Exception):
    """Something the application needs is not there or does not work; the text says what."""


class Report:
    """Collects the checks of one self-test and prints each as soon as it is done.

    A check that takes longer than ``limit`` seconds prints the stacks of all threads and ends the process.
    """

    def __init__(self, limit: float | None = None) -> None:
        self._limit = limit
        self._checks = self._failed = 0
        self._name = ""
        self._began = 0.0
        self._has_result = False

    def head(self) -> None:
        """Say what is tested."""
        kind = "frozen" if getattr(sys, "frozen", False) else "installed"
        system = f"{platform.system()} {platform.machine()}"
        _print(f"Gateway Playground {__version__} ({kind}), Python {platform.python_version()}, {system}")
        self._restart_limit()

    @contextmanager
    def check(self, name: str) -> Iterator[None]:
        """One check, or several of one kind: whatever is raised inside is a failure, and the next one goes on."""
        outer = self._name, self._began
        self._name, self._began, self._has_result = name, time.monotonic(), False
        try:
            yield
            if not self._has_result:
                self.good("done")
        except Exception as error:  # noqa: BLE001 - a check fails in whatever way it fails
            self._failed += 1
            self._say("FAILED", f"{type(error).__name__}: {error}")
            if not isinstance(error, MissingError):
                traceback.print_exc()
        finally:
            self._name, self._began = outer
            self._has_result = True

    def good(self, words: str) -> None:
        """Say that what is being checked works."""
        self._say("ok", words)

    def absent(self, words: str) -> None:
        """Say that this machine lacks what the application can do without."""
        self._say("none", words)

    def _say(self, verdict: str, words: str) -> None:
        self._checks += 1
        self._has_result = True
        _print(f"{verdict:7}{self._name:{WIDTH}} {words} ({time.monotonic() - self._began:.1f} s)")
        self._began = time.monotonic()
        self._restart_limit()

    def _restart_limit(self) -> None:
        """Give the next check its own time limit."""
        if self._limit is not None and sys.__stderr__ is not None:  # a windowed program on Windows has none
            faulthandler.dump_traceback_later(self._limit, exit=True)

    def end(self) -> int:
        """Print the sum, and end the time limit. Returns the exit code."""
        if self._limit is not None:
            faulthandler.cancel_dump_traceback_later()
        if self._failed:
            _print(f"{self._failed} of {self._checks} checks FAILED")
        else:
            _print(f"all {self._checks} checks passed")
        return 1 if self._failed else 0


def _print(line: str) -> None:
    if sys.stdout is not None:  # a windowed program on Windows has none
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
