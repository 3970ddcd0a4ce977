"""How ``--help`` is laid out, and what the commands have in common. Imports nothing heavy."""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from collections.abc import Iterable

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


def silence() -> None:
    """Let standard output lead nowhere: what is still buffered for one that failed must not fail again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
