"""Descriptions of functions and parameters in docstrings of Google, NumPy, reST and Epydoc style.

The library docstring_parser (0.18) is not used: a line of 2,000 characters can hold it for 14 seconds, one line that it
does not expect costs it the whole section, and it drops words behind a role such as ``:class:`` at a line's beginning.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from dataclasses import dataclass, field
from typing import Final

_GOOGLE_HEAD: Final = re.compile(r"^(?P<name>[A-Za-z][A-Za-z ]{2,24}):\s*$")
_NUMPY_LINE: Final = re.compile(r"^-{3,}\s*$")
_FIELD: Final = re.compile(
    r"^[:@](?P<kind>param|parameter|arg|argument|key|keyword|kwarg|ivar|var|type|paramtype|returns?|rtype|raises?"
    r"|except|exception|yields?|ytype|meta)\b(?P<what>[^:]*):(?P<text>.*)$"
)
_GOOGLE_PARAM: Final = re.compile(  # also "- `name`: …" of Markdown, and "name {type} -- …" of editors
    r"^(?:[-*+]\s+)?[*`]{0,3}(?P<name>\w+)[*`]{0,3}\s*(?:\((?P<type>.*?)\)|\{(?P<braced>[^}]*)\})?[*`]{0,3}"
    r"\s*(?::|--?\s|\u2013|\u2014)\s*[*`]{0,2}(?P<text>.*)$"
)
_NUMPY_PARAM: Final = re.compile(r"^(?P<names>\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::\s*(?P<type>.*))?$")
_LONGEST_TYPE: Final = 200  # characters; what is longer is prose
_PARAMETERS: Final = frozenset(
    ("args", "arguments", "parameters", "params", "keyword args", "keyword arguments", "other parameters", "attributes")
)
_SECTIONS: Final = _PARAMETERS | frozenset(
    (
        "returns", "return", "yields", "yield", "raises", "raise", "example", "examples", "note", "notes", "warning",
        "warnings", "warns", "see also", "references", "todo", "receives", "methods", "usage", "side effects",
    )
)  # fmt: skip


@dataclass(slots=True)
class Docstring:
    """The words before the first section, and for each parameter its type as written and its description."""

    description: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)


def read_docstring(text: str | None) -> Docstring:
    """Parse a docstring; only sections about parameters are read."""
    out = Docstring()
    if not text:
        return out
    lines = inspect.cleandoc(text).splitlines()
    first = next((number for number in range(len(lines)) if _begins_section(lines, number)), len(lines))
    out.description = "\n".join(lines[:first]).strip()
    index = first
    while index < len(lines):
        end = next((n for n in range(index + 1, len(lines)) if _begins_section(lines, n)), len(lines))
        match = _FIELD.match(lines[index])
        if match:
            _read_field(match, lines[index + 1 : end], out)
        elif _NUMPY_LINE.match(lines[index + 1] if index + 1 < len(lines) else ""):
            if lines[index].strip().lower() in _PARAMETERS:
                _read_numpy(lines[index + 2 : end], out)
        elif lines[index].strip().rstrip(":").lower() in _PARAMETERS:
            _read_google(lines[index + 1 : end], out)
        index = end
    return out


def _begins_section(lines: list[str], number: int) -> bool:
    line = lines[number]
    if _FIELD.match(line):
        return True
    if number + 1 < len(lines) and _NUMPY_LINE.match(lines[number + 1]) and line.strip().lower() in _SECTIONS:
        return True
    head = _GOOGLE_HEAD.match(line)
    return head is not None and head["name"].lower() in _SECTIONS


def _read_field(match: re.Match[str], following: list[str], out: Docstring) -> None:
    kind, what = match["kind"], match["what"].split()
    text = _joined([match["text"], *following])
    if not what:
        return
    name = what[-1].lstrip("*")
    if kind in ("param", "parameter", "arg", "argument", "key", "keyword", "kwarg", "ivar", "var"):
        out.parameters[name] = text
        if len(what) > 1:
            out.types[name] = " ".join(what[:-1])[:_LONGEST_TYPE]
    elif kind in ("type", "paramtype"):
        out.types[name] = text[:_LONGEST_TYPE]


def _read_google(lines: list[str], out: Docstring) -> None:
    for head, body in _entries(lines):
        match = _GOOGLE_PARAM.match(head)
        if match:
            out.parameters[match["name"]] = _joined([match["text"], *body])
            if written := match["type"] or match["braced"]:
                out.types[match["name"]] = written[:_LONGEST_TYPE]


def _read_numpy(lines: list[str], out: Docstring) -> None:
    for head, body in _entries(lines):
        match = _NUMPY_PARAM.match(head)
        for listed in match["names"].split(",") if match else ():
            name = listed.strip().lstrip("*")
            out.parameters[name] = _joined(body)
            if match and match["type"]:
                out.types[name] = match["type"][:_LONGEST_TYPE]


def _entries(lines: list[str]) -> list[tuple[str, list[str]]]:
    """Lines at the outermost indentation, each with the deeper ones that follow it."""
    out: list[tuple[str, list[str]]] = []
    for line in textwrap.dedent("\n".join(lines)).splitlines():
        if line[:1] not in ("", " ", "\t"):
            out.append((line.strip(), []))
        elif out:
            out[-1][1].append(line)
    return out


def _joined(lines: list[str]) -> str:
    """One paragraph a line; list items keep theirs."""
    out = ""
    for line in lines:
        words = line.strip()
        new_line = not words or words.startswith(("- ", "* "))
        out += ("\n" if new_line else " " if out and not out.endswith("\n") else "") + words
    return re.sub(r"\n{2,}", "\n", out).strip()
