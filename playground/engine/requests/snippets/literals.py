"""JSON values as source text: JSON itself, Python and JavaScript, laid out as a person would write them.

Reading a literal back gives an equal value. Characters that are invisible, or that reorder the visible text, are
escaped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from playground.jsonkit.values import JSON, JSONObject

WIDTH: Final = 96
_JSON: Final = json.JSONEncoder(ensure_ascii=False)
_LONG: Final = re.compile(r"[!-~]{200,}")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
#: Controls, soft hyphens, marks without a width (joiners excepted: words and emoji need them), bidi marks, separators
#: of lines, halves of pairs, private and tag characters.
_UNSEEN: Final = re.compile(
    "[\x7f-\x9f\xad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ud800-\udfff\ue000-\uf8ff\ufeff\uffa0\ufff9-\uffff\U000e0000-\U0010ffff]"
)


def _json_string(text: str) -> str:
    return _string(text, _as_pair)


def _python_string(text: str) -> str:
    return _string(text, _as_point)


def _string(text: str, escape: Callable[[re.Match[str]], str]) -> str:
    literal = _JSON.encode(text)
    return literal if literal.isascii() and "\x7f" not in literal else _UNSEEN.sub(escape, literal)


def _as_pair(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]


def _as_point(match: re.Match[str]) -> str:
    point = ord(match[0])
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def _javascript_key(name: str) -> str:
    if name == "__proto__":  # as a plain key it would set the prototype
        return '["__proto__"]'
    return name if _IDENTIFIER.fullmatch(name) else _json_string(name)


@dataclass(frozen=True)
class Spelling:
    """The literals of one language.

    ``joint`` is written between the lines of a text that is split into several literals (empty: brackets are enough);
    None: texts are not split.
    """

    string: Callable[[str], str]
    key: Callable[[str], str]
    words: Mapping[bool | None, str]
    indent: str
    naming: str = "{} = {}\n"  # a variable and its value
    pad: str = ""  # inside the braces of an object on one line
    trailing: str = ""  # after the last item
    joint: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)  # texts that are in variables, and the variables

    def for_body(self, body: JSONObject) -> tuple[Spelling, str]:
        """Return the spelling for the values of a body, and the lines that assign its long texts to variables."""
        names = long_texts(body)
        lines = "".join(self.naming.format(name, self.string(text)) for text, name in names.items())
        return replace(self, names=names), lines + "\n" if lines else ""

    def mapping(self, pairs: Iterable[tuple[str, str]], depth: int) -> str:
        """Return an object of names and expressions, one a line."""
        inner = "".join(f"{self.indent * (depth + 1)}{self.key(name)}: {value},\n" for name, value in pairs)
        return "{\n" + inner + self.indent * depth + "}"


_JSON_WORDS: Final[Mapping[bool | None, str]] = {True: "true", False: "false", None: "null"}
JSON_TEXT: Final = Spelling(_json_string, _json_string, _JSON_WORDS, "  ")
PYTHON: Final = Spelling(
    _python_string, _python_string, {True: "True", False: "False", None: "None"}, "    ", trailing=",", joint=""
)
JAVASCRIPT: Final = Spelling(_json_string, _javascript_key, _JSON_WORDS, "  ", "const {} = {};\n", " ", ",", " +")


def written(value: JSON, spelling: Spelling, depth: int = 0, column: int | None = None) -> str:
    """Return a value as source text: on one line if it fits, else one item a line, indented by ``depth`` steps.

    ``column`` is the number of characters before it in its first line. Raises RecursionError for deep nesting.
    """
    start = len(spelling.indent) * depth if column is None else column
    flat = _flat(value, spelling, WIDTH - start - 1)
    if flat is not None:
        return flat
    inner = "\n" + spelling.indent * (depth + 1)
    outer = "\n" + spelling.indent * depth
    if isinstance(value, dict) and value:
        items = []
        for name, item in value.items():
            lead = f"{spelling.key(name)}: "
            lead_end = len(spelling.indent) * (depth + 1) + len(lead)
            items.append(f"{inner}{lead}{written(item, spelling, depth + 1, lead_end)}")
        return "{" + ",".join(items) + spelling.trailing + outer + "}"
    if isinstance(value, list) and value:
        items = [inner + written(item, spelling, depth + 1) for item in value]
        return "[" + ",".join(items) + spelling.trailing + outer + "]"
    if isinstance(value, str) and spelling.joint is not None and "\n" in value[:-1] and value not in spelling.names:
        lines = [spelling.string(line) for line in re.findall(r"[^\n]*\n|[^\n]+\Z", value)]
        if spelling.joint:
            return (spelling.joint + inner).join(lines)
        return "(" + "".join(inner + line for line in lines) + outer + ")"
    return _scalar(value, spelling)


def _scalar(value: JSON, spelling: Spelling) -> str:
    if isinstance(value, str):
        return spelling.names.get(value) or spelling.string(value)
    if value is None or isinstance(value, bool):
        return spelling.words[value]
    return json.dumps(value)


def _flat(value: JSON, spelling: Spelling, room: int) -> str | None:
    """Return a value on one line of at most ``room`` characters; None as soon as it does not fit."""
    if isinstance(value, str) and len(value) > room and value not in spelling.names:
        return None
    if isinstance(value, dict) and value:
        return _row(
            ((f"{spelling.key(n)}: ", item) for n, item in value.items()), "{", "}", spelling.pad, spelling, room
        )
    if isinstance(value, list) and value:
        return _row((("", item) for item in value), "[", "]", "", spelling, room)
    text = "{}" if isinstance(value, dict) else "[]" if isinstance(value, list) else _scalar(value, spelling)
    return text if len(text) <= room else None


def _row(
    items: Iterable[tuple[str, JSON]], opening: str, closing: str, pad: str, spelling: Spelling, room: int
) -> str | None:
    parts: list[str] = []
    remaining = room - 2 - 2 * len(pad)
    for lead, item in items:
        text = _flat(item, spelling, remaining - len(lead))
        if text is None:
            return None
        parts.append(lead + text)
        remaining -= len(lead) + len(text) + 2
    return f"{opening}{pad}{', '.join(parts)}{pad}{closing}" if remaining >= -2 else None


def long_texts(body: JSONObject) -> dict[str, str]:
    """Return variable names for the long unbroken texts of a body (images, signatures)."""
    names: dict[str, str] = {}
    counts: dict[str, int] = {}
    level: list[JSON] = [body]
    while level:
        value = level.pop()
        if isinstance(value, dict):
            level += reversed(list(value.values()))
        elif isinstance(value, list):
            level += reversed(value)
        elif isinstance(value, str) and value not in names and _LONG.fullmatch(value):
            kind = "image" if value.startswith("data:image/") else "blob"
            counts[kind] = counts.get(kind, 0) + 1
            names[value] = kind if counts[kind] == 1 else f"{kind}{counts[kind]}"
    return names


def comment(mark: str, text: str) -> str:
    """Return a text as a comment of one line, line breaks and invisible characters replaced."""
    return f"{mark} " + _UNSEEN.sub("?", " ".join(text.split()))
