"""How ``--help`` is laid out, and what the commands have in common. Imports nothing heavy."""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from collections.abc import Callable, Iterable

from playground.engine.headless.exit_codes import MEANINGS, ExitCode


class Help(argparse.HelpFormatter):
    """Keeps the lines of a text, each wrapped; what an indented line goes on with is indented further."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = []
        for line in text.splitlines():
            hanging = " " * 6 if line.startswith(" ") else ""
            lines.append(textwrap.fill(line, width, initial_indent=indent, subsequent_indent=indent + hanging))
        return "\n".join(lines)


def exit_codes(codes: Iterable[ExitCode]) -> str:
    """The table of exit codes at the end of a command's help."""
    return "\n".join(["exit codes:", *(f"  {code:>3d} {MEANINGS[code]}" for code in sorted(codes))])


def whole(least: int, most: int | None = None, words: str = "") -> Callable[[str], int]:
    """Reads whole numbers in these bounds; ``words`` say what is wanted, where that is something particular."""
    wanted = f"give a whole number, {least} or more" if most is None else f"give a whole number from {least} to {most}"

    def read(text: str) -> int:
        value = int(text) if text.strip().isdecimal() and len(text) < 10 else -1
        if value < least or (most is not None and value > most):
            raise argparse.ArgumentTypeError(words or wanted)
        return value

    return read


def number(text: str, fits: Callable[[float], bool], words: str) -> float:
    """A number that ``fits``; ``words`` say what is wanted."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not fits(value):
        raise argparse.ArgumentTypeError(words)
    return value


def silence() -> None:
    """Let standard output lead nowhere: what is still buffered for one that failed must not fail again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
