"""A command with its arguments as people write it: on one line, as a shell has it, or an argument a line. No shell is
ever asked: what stands on a line is taken apart here, and run as the list that came of it.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable
from typing import Final

from playground.domain.tool_servers import ToolServer
from playground.engine.tool_servers.secret_values import PLACE
from playground.gateway.redact import MASK as MASK

_WINDOWS_WORD: Final = re.compile(r'(?:"[^"]*"?|[^\s"])+')
_STAND_IN: Final = "__secret_{}__"


def split(text: str, system: str = sys.platform) -> tuple[str, ...]:
    """The words of a command line, quotes taken off. Raises ValueError, in words, where a quote is not closed."""
    if system == "win32":
        return tuple(word.replace('"', "") for word in _WINDOWS_WORD.findall(text))
    try:
        return tuple(shlex.split(text))
    except ValueError:
        raise ValueError("A quotation mark is not closed.") from None


def shown(server: ToolServer, system: str = sys.platform) -> str:
    """The whole command line on one line, with marks in the place of secrets."""
    hidden: list[str] = []

    def stand_in(found: re.Match[str]) -> str:
        hidden.append(found[0])
        return _STAND_IN.format(len(hidden) - 1)

    words = tuple(PLACE.sub(stand_in, word) for word in (server.command, *server.arguments))
    line = subprocess.list2cmdline(words) if system == "win32" else shlex.join(words)
    for number in range(len(hidden)):
        line = line.replace(_STAND_IN.format(number), MASK)
    return line


def shown_address(server: ToolServer) -> str:
    """The address with marks in the place of secrets."""
    return PLACE.sub(MASK, server.url)


def to_lines(arguments: Iterable[str]) -> str:
    """An argument a line; one that a line cannot hold as it is, as a JSON string."""
    return "\n".join(map(_line, arguments))


def from_lines(text: str) -> tuple[str, ...]:
    """The arguments of such lines; empty lines are none, and spaces around one are no part of it."""
    return tuple(_argument(line.strip()) for line in text.split("\n") if line.strip())


def _line(argument: str) -> str:
    plain = argument.strip() == argument and argument and "\n" not in argument and not argument.startswith('"')
    return argument if plain else json.dumps(argument, ensure_ascii=False)


def _argument(line: str) -> str:
    if line.startswith('"') and line.endswith('"') and len(line) > 1:
        try:
            value = json.loads(line)
        except ValueError:
            return line
        if isinstance(value, str):
            return value
    return line
