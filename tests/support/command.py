"""Commands of the command line: run inside this process through ``main``, or started as processes."""

from __future__ import annotations

import contextlib
import gc
import io
import logging
import os
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import pytest

from playground.cli import main


@dataclass(frozen=True)
class CommandResult:
    """The exit code of a command and the bytes that it wrote."""

    returncode: int
    stdout: bytes
    stderr: bytes

    @property
    def out(self) -> str:
        """Standard output as text."""
        return self.stdout.decode("utf-8")

    @property
    def err(self) -> str:
        """Standard error as text."""
        return self.stderr.decode("utf-8")


def environment_of(env: Mapping[str, str] | None, without: tuple[str, ...]) -> dict[str, str]:
    """Return this process's environment plus ``env`` minus the variables named in ``without``."""
    return {name: value for name, value in os.environ.items() if name not in without} | dict(env or {})


def run_command(
    *arguments: str, data: bytes = b"", env: Mapping[str, str] | None = None, without: tuple[str, ...] = ()
) -> CommandResult:
    """Run one command to its end inside this process.

    The three standard streams are real files, and ``data`` is the content of standard input. ``env`` is added to the
    environment, ``without`` removed from it. Fails if the command leaves process-wide state changed.
    """
    with (
        tempfile.TemporaryFile() as stdin,
        tempfile.TemporaryFile() as stdout,
        tempfile.TemporaryFile() as stderr,
    ):
        stdin.write(data)
        stdin.seek(0)
        with pytest.MonkeyPatch.context() as patch, _streams(stdin, stdout, stderr, patch):
            for name in without:
                patch.delenv(name, raising=False)
            for name, value in (env or {}).items():
                patch.setenv(name, value)
            before = _process_state()
            try:
                code = main(arguments)
            except SystemExit as end:  # argparse ends so
                code = end.code if isinstance(end.code, int) else int(end.code is not None)
            after = _process_state()
        assert after == before, f"{arguments} left process-wide state changed"
        return CommandResult(code, _content(stdout), _content(stderr))


def run_process(
    *arguments: str, data: bytes = b"", env: Mapping[str, str] | None = None, without: tuple[str, ...] = ()
) -> CommandResult:
    """Run one command to its end in a process of its own; arguments as for ``run_command``."""
    process = subprocess.run(
        [sys.executable, "-m", "playground", *arguments],
        input=data,
        capture_output=True,
        timeout=60,
        env=environment_of(env, without),
        check=False,
    )
    return CommandResult(process.returncode, process.stdout, process.stderr)


@contextlib.contextmanager
def started_command(
    *arguments: str,
    env: Mapping[str, str] | None = None,
    stdout: int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a command as a process and kill it at the end of the block if it still runs.

    A shell starts background jobs with interrupts ignored, which children inherit: here they are enabled.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "playground", *arguments],
        env=environment_of(env, ()),
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=stderr,
        preexec_fn=_enable_interrupt if sys.platform != "win32" else None,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _enable_interrupt() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextlib.contextmanager
def _streams(stdin: BinaryIO, stdout: BinaryIO, stderr: BinaryIO, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put the files in the place of the standard streams, buffered as an interpreter does for files."""
    files = {"stdin": stdin, "stdout": stdout, "stderr": stderr}
    texts = {  # ASCII, as on a console without Unicode: a command has to choose its encoding itself
        name: io.TextIOWrapper(os.fdopen(os.dup(file.fileno()), "rb" if name == "stdin" else "wb"), "ascii")
        for name, file in files.items()
    }
    texts["stderr"].reconfigure(line_buffering=True)
    for name, text in texts.items():
        patch.setattr(sys, name, text)
    try:
        yield
    finally:
        for text in texts.values():
            text.close()


def _content(file: BinaryIO) -> bytes:
    file.seek(0)
    return file.read()


def _process_state() -> dict[str, Any]:
    """Return the process-wide state that a command must leave as it was."""
    names = {signal.SIGINT, signal.SIGTERM}
    return {
        "signals": {name: signal.getsignal(name) for name in names},
        "warnings": list(warnings.filters),
        "log handlers": list(logging.getLogger().handlers),
        "folder": os.getcwd(),  # noqa: PTH109
        "garbage collection": (gc.isenabled(), gc.get_threshold()),
        "environment": dict(os.environ),
    }
