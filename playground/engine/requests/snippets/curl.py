"""Requests as curl commands for POSIX shells, which print the answer as it is received."""

from __future__ import annotations

import re
from typing import Final

from playground.engine.requests.snippets.literals import JSON_TEXT, written
from playground.engine.requests.snippets.snippet_request import Header, SnippetRequest
from playground.gateway.connection import Timeouts

#: Linux takes no single argument of 128 KiB or more; a longer body goes through standard input.
LONGEST_ARGUMENT: Final = 100_000
_PLAIN: Final = re.compile(r"[A-Za-z0-9:/._~@%+=,\[\]-]+")


def write(request: SnippetRequest) -> str:
    """Return the command, one option a line."""
    options = [f"curl {_word(request.url)}"]
    if re.search(r"[\[\]{}]", request.url.partition("//")[2].partition("/")[2]):
        options.append("--globoff")
    if request.streams:
        options.append("--no-buffer")
    if request.ca_file:
        options.append(f"--cacert {_quoted(request.ca_file)}")
    if request.timeouts.connect is not None and request.timeouts.connect != Timeouts().connect:
        options.append(f"--connect-timeout {request.timeouts.connect:g}")
    if request.timeouts.total is not None:
        options.append(f"--max-time {request.timeouts.total:g}")
    options += [f"-H {_header(header)}" for header in request.headers]
    body = written(request.body, JSON_TEXT)
    if len(body.encode()) <= LONGEST_ARGUMENT:
        return " \\\n  ".join([*options, f"--data-raw {_quoted(body)}"]) + "\n"
    # Inside a here-document an interactive shell may still expand "!", which JSON can spell in another way.
    body = body.replace("!", "\\u0021")
    return " \\\n  ".join([*options, "--data-binary @- <<'JSON'"]) + f"\n{body}\nJSON\n"


def _quoted(text: str) -> str:
    """Return a text in single quotes, in which the shell expands nothing."""
    return "'" + text.replace("'", "'\\''") + "'"


def _word(text: str) -> str:
    return text if _PLAIN.fullmatch(text) and "[" not in text else _quoted(text)


def _header(header: Header) -> str:
    if header.variable:
        return f'"{header.name}: {header.text}${header.variable}"'
    # curl takes "Name:" as an order to leave the header out; "Name;" sends it empty.
    return _quoted(f"{header.name}: {header.text}" if header.text else f"{header.name};")
