"""The layout of `--help` and the types of arguments. Imports nothing heavy."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable, Iterable
from inspect import signature
from pathlib import Path
from typing import Any, Final, TypeVar

from playground.engine.headless.exit_codes import MEANINGS, ExitCode

Options = TypeVar("Options")


class Help(argparse.HelpFormatter):
    """Wraps each line of a text on its own, with a hanging indent for indented lines."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = []
        for line in text.splitlines():
            hanging = " " * 6 if line.startswith(" ") else ""
            lines.append(textwrap.fill(line, width, initial_indent=indent, subsequent_indent=indent + hanging))
        return "\n".join(lines)


def exit_codes(codes: Iterable[ExitCode]) -> str:
    """Return the table of exit codes at the end of a command's help."""
    return "\n".join(["exit codes:", *(f"  {code:>3d} {MEANINGS[code]}" for code in sorted(codes))])


def add_command(
    commands: Any,
    name: str,
    run: Callable[[argparse.Namespace], int],
    codes: Iterable[ExitCode],
    summary: str,
    description: str,
) -> argparse.ArgumentParser:
    """Add a command to argparse's `commands`: `run` executes it, `codes` are the exit codes in its help."""
    command: argparse.ArgumentParser = commands.add_parser(
        name, help=summary, description=description, formatter_class=Help, epilog=exit_codes(codes)
    )
    command.set_defaults(command=run, parser=command)
    return command


def add_list(group: Any, name: str, metavar: str, words: str, read: Callable[[str], Any] = str, **more: Any) -> None:
    """Add a repeatable option whose values form a list."""
    group.add_argument(name, action="append", type=read, default=[], metavar=metavar, help=words, **more)


def options_of(kind: Callable[..., Options], arguments: argparse.Namespace, **values: Any) -> Options:
    """Return the options of a command: `values`, and the arguments whose names are fields of the dataclass `kind`."""
    names = signature(kind).parameters
    named = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in vars(arguments).items()
        if name in names
    }
    return kind(**{**named, **values})


def whole_number(least: int, most: int | None = None, words: str = "") -> Callable[[str], int]:
    """Return a reader of whole numbers from `least` to `most`; `words` replace the usual error text."""
    usual = f"give a whole number, {least} or more" if most is None else f"give a whole number from {least} to {most}"

    def read(text: str) -> int:
        value = int(text) if text.strip().isdecimal() and len(text) < 10 else -1
        if value < least or (most is not None and value > most):
            raise argparse.ArgumentTypeError(words or usual)
        return value

    return read


def number(text: str, fits: Callable[[float], bool], words: str) -> float:
    """Read a number that `fits`; `words` are the error text. Raises ArgumentTypeError."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not fits(value):
        raise argparse.ArgumentTypeError(words)
    return value


def rate(text: str) -> float:
    """Read a number, 0 or more."""
    return number(text, lambda value: 0 <= value < float("inf"), "give a number, 0 or more")


def add_record(command: argparse.ArgumentParser) -> None:
    """Add the option that records the exchanges of a command."""
    command.add_argument(
        "--record", type=Path, metavar="CASSETTE", help="write the exchanges to this file, without keys"
    )


def add_port(command: argparse.ArgumentParser) -> None:
    """Add the options of a server on 127.0.0.1 to a command: port and further host names."""
    command.add_argument("--port", type=PORT, default=0, metavar="N", help="port on 127.0.0.1 (default: a free one)")
    add_list(
        command,
        "--allow-host",
        "NAME",
        "also answer requests for this host, for a proxy or a tunnel; repeatable (default: only loopback names, so "
        "that web pages cannot reach the server under another name)",
        _host,
    )


def _host(text: str) -> str:
    from playground.system.loopback import read_host

    try:
        return read_host(text)
    except ValueError:
        raise argparse.ArgumentTypeError("give the name of a host, such as gateway.test") from None


PORT: Final = whole_number(0, 65535, "a port is a number from 0 to 65535")
