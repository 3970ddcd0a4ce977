"""References in configurations of tool servers: ``${NAME}``, ``${NAME:-default}``, ``$NAME``, ``{env:NAME}``, inputs.

Claude Code, Cursor, VS Code, Gemini CLI, opencode and Continue each have a form of their own; all are read here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

LONGEST: Final = 2_000  # characters of one reference
_DEEPEST: Final = 8
_START: Final = re.compile(
    r"\$\{\{\s*(?:secrets|env|vars|inputs)\.(?P<continue>[A-Za-z_]\w{0,199})\s*\}\}"
    r"|(?P<braces>\$\{)(?=[^{}\s])"
    r"|\{(?P<opencode>(?:env|file):[^{}\s][^{}]{0,999})\}"
    r"|(?<![\w$\\])\$(?P<bare>[A-Z_][A-Z0-9_]{1,199})(?![\w(])"
)
_BRACE: Final = re.compile(r"[{}]")
_SHELL: Final = re.compile(  # without a colon only behind capitals: "${your-key}" is no default
    r"(?P<name>(?:env:)?(?:[A-Za-z_]\w{0,199}(?=:[-=?])|[A-Z_][A-Z0-9_]{0,199}))(?P<sign>:?[-=?])(?P<rest>.*)\Z",
    re.DOTALL,
)
_VARIABLE: Final = re.compile(r"[A-Z_][A-Z0-9_]*\Z")


class Reference(NamedTuple):
    """A reference and its place in a text.

    ``key`` names the value: ``NAME``, ``env:NAME``, ``input:ID``, ``workspaceFolder``, with its default where
    it has one. ``variable`` is the variable of the environment that it names, empty for none. ``default`` is the text
    to take where there is no value; None where there is none. ``bare``: it was written as ``$NAME``.
    """

    start: int
    end: int
    key: str
    variable: str = ""
    default: str | None = None
    bare: bool = False


def references(text: str) -> Iterator[Reference]:
    """The references in a text, in order; those in the default of another are part of that one."""
    place = 0
    while match := _START.search(text, place):
        reference = _reference(text, match)
        place = reference.end if reference is not None else match.end()
        if reference is not None:
            yield reference


def _reference(text: str, match: re.Match[str]) -> Reference | None:
    start, end = match.span()
    if name := match["continue"]:
        return Reference(start, end, f"env:{name}", name)
    if name := match["bare"]:
        return Reference(start, end, name, name, bare=True)
    if inner := match["opencode"]:
        return Reference(start, end, inner, variable_of(inner))
    close = _closing(text, end)
    if close is None:
        return None
    inner = text[end:close]
    shell = _SHELL.match(inner)
    if shell is None:
        return Reference(start, close + 1, inner, variable_of(inner))
    default = None if "?" in shell["sign"] else shell["rest"]
    return Reference(start, close + 1, inner, shell["name"].removeprefix("env:"), default)


def variable_of(key: str) -> str:
    """The variable of the environment that a key names; empty for none."""
    shell = _SHELL.match(key)
    name = shell["name"] if shell is not None else key
    if name.startswith("env:"):
        return name.removeprefix("env:")
    return name if shell is not None or _VARIABLE.match(name) else ""


def replace(text: str, value_of: Callable[[Reference], str | None]) -> str:
    """The text with each reference replaced; one for which ``value_of`` returns None stays."""
    parts: list[str] = []
    place = 0
    for reference in references(text):
        value = value_of(reference)
        if value is not None:
            parts += [text[place : reference.start], value]
            place = reference.end
    return "".join([*parts, text[place:]])


def default_of(reference: Reference, environment: Mapping[str, str], depth: int = 0) -> str:
    """The default of a reference, with the references in it filled from the environment or from their own defaults."""
    if not reference.default or depth > _DEEPEST:
        return ""
    return replace(
        reference.default,
        lambda inner: environment.get(inner.variable) or default_of(inner, environment, depth + 1),
    )


def _closing(text: str, start: int) -> int | None:
    """The place of the brace that closes the one before ``start``."""
    depth = 1
    for match in _BRACE.finditer(text, start, start + LONGEST):
        depth += 1 if match[0] == "{" else -1
        if depth == 0 or depth > _DEEPEST:
            return None if depth else match.start()
    return None
