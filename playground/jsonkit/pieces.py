"""JSON text written and read a piece at a time. In one go, ten megabytes would hold up every other thread: encoder and
decoder never let go of the interpreter while they work. The pieces together are what these make of the whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final
from uuid import uuid4

from playground.jsonkit.layout import tokens
from playground.jsonkit.nesting import loads
from playground.jsonkit.values import JSON

#: What is written in one go, about a millisecond: so many characters, of which anything but a letter counts as some.
LONG: Final = 200_000
_ITEM: Final = 100
_MOST_TOKENS: Final = 5_000  # that are looked through for long strings
_WHOLE: Final = re.compile(r'[^"\\]*+(?:\\(?:u[0-9a-fA-F]{4}|[^u])[^"\\]*+)*+', re.DOTALL)  # ends in no escape
_DEEPEST: Final = 100  # levels that are looked into; what is below is written in one go


def json_pieces(value: Any, encoder: json.JSONEncoder, _depth: int = 0) -> Iterator[str]:
    """The JSON text of a value; the encoder must not indent. Raises what the encoder raises."""
    if not value or _depth >= _DEEPEST or weigh(value) <= LONG:
        yield encoder.encode(value)
    elif isinstance(value, str):
        yield '"'
        for at in range(0, len(value), LONG):
            yield encoder.encode(value[at : at + LONG])[1:-1]
        yield '"'
    elif isinstance(value, dict):
        before = "{"
        for name, item in value.items():
            yield f"{before}{encoder.encode(name)}{encoder.key_separator}"
            yield from json_pieces(item, encoder, _depth + 1)
            before = encoder.item_separator
        yield "}"
    elif isinstance(value, list | tuple):
        yield from _list_pieces(value, encoder, _depth)
    else:
        yield encoder.encode(value)


def _list_pieces(value: Sequence[Any], encoder: json.JSONEncoder, depth: int) -> Iterator[str]:
    """As many items at once as are light together."""
    before, batch, load = "[", list[Any](), 0
    for item in value:
        weight = weigh(item)
        if batch and load + weight > LONG:
            yield before + encoder.encode(batch)[1:-1]
            before, batch, load = encoder.item_separator, [], 0
        if weight > LONG:
            yield before
            yield from json_pieces(item, encoder, depth + 1)
            before = encoder.item_separator
        else:
            batch.append(item)
            load += weight
    if batch:
        yield before + encoder.encode(batch)[1:-1]
    yield "]"


def weigh(value: Any, most: int = LONG) -> int:
    """How much there is to write, counted no further than ``most``: so a loop ends, too."""
    weight, left = 0, [value]
    while left and weight <= most:
        item = left.pop()
        weight += len(item) + 2 if isinstance(item, str) else _ITEM
        if isinstance(item, dict):
            weight += sum(map(len, item))
            left += item.values()
        elif isinstance(item, list | tuple):
            left += item
    return weight


def load_in_pieces(text: str) -> JSON:
    """What `json.loads` gives, and raises. Long strings are read by and by where little else is in the text."""
    strings: list[tuple[int, int]] = []
    if len(text) > LONG:
        strings = [(start, end) for start, end in islice(tokens(text), _MOST_TOKENS) if end - start > LONG]
    if not strings or any(text[start] != '"' for start, _ in strings):
        return loads(text)
    mark, out, at = uuid4().hex, [], 0
    found: dict[str, str] = {}
    try:
        for start, end in strings:
            name = f"{mark} {len(found)}"
            found[name] = _string(text, start + 1, end - 1)
            out += [text[at:start], f'"{name}"']
            at = end
        return _put_back(loads("".join([*out, text[at:]])), found)
    except (ValueError, RecursionError):
        return loads(text)  # which says what is wrong, and where, or can do it


def _string(text: str, at: int, stop: int) -> str:
    out: list[str] = []
    while at < stop:
        match = _WHOLE.match(text, at, min(at + LONG, stop))
        end = match.end() if match is not None else at
        if end == at:
            raise ValueError("an escape that is none")
        piece = json.loads(f'"{text[at:end]}"')
        if end < stop and "\ud800" <= piece[-1] <= "\udbff" and text[end - 6 : end - 4] == "\\u" and len(piece) > 1:
            piece, end = piece[:-1], end - 6  # the other half of the character is in the next one
        out.append(piece)
        at = end
    return "".join(out)


def _put_back(value: JSON, found: dict[str, str]) -> JSON:
    if isinstance(value, str):
        return found.get(value, value)
    if isinstance(value, dict):
        return {found.get(name, name): _put_back(item, found) for name, item in value.items()}
    return [_put_back(item, found) for item in value] if isinstance(value, list) else value
