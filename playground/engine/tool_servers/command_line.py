"""Commands as text: on one line, quoted as in a shell, or with one argument per line. No shell runs them."""

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
_STAND_IN: Final = "__secret_place__"  # needs no quotes


def split(text: str, system: str = sys.platform) -> tuple[str, ...]:
    """Split a command line into words without quotes. Raises ValueError, in words, for an open quotation mark."""
    if system == "win32":
        return tuple(word.replace('"', "") for word in _WINDOWS_WORD.findall(text))
    try:
        return tuple(shlex.split(text))
    except ValueError:
        raise ValueError("A quotation mark is not closed.") from None


def command_text(server: ToolServer, system: str = sys.platform) -> str:
    """Return the whole command line on one line, with marks in the places of secrets."""
    words = tuple(PLACE.sub(_STAND_IN, word) for word in (server.command, *server.arguments))
    line = subprocess.list2cmdline(words) if system == "win32" else shlex.join(words)
    return line.replace(_STAND_IN, MASK)


def shown_address(server: ToolServer) -> str:
    """Return the address with marks in the places of secrets."""
    return PLACE.sub(MASK, server.url)


def to_lines(arguments: Iterable[str]) -> str:
    """Write one argument per line; an argument that a line cannot hold becomes a JSON string."""
    return "\n".join(map(_line, arguments))


def from_lines(text: str) -> tuple[str, ...]:
    """Read arguments from lines; empty lines and spaces at the ends are ignored."""
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
