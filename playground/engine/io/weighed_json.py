"""JSON files that a person opens: their memory is estimated before they are decoded.

``[{},{},…`` in 100 MiB would become 20 GiB of values. The estimate counts the objects, items and strings of a file;
one that needs more than ``MOST`` and more than ``TIMES`` its size is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pydantic_core import from_json

from playground.jsonkit.reading import parse_json
from playground.jsonkit.values import JSON, JSONObject

MOST: Final = 384 * 1024 * 1024  # bytes that any file may take
TIMES: Final = 4  # the bound of a larger file, as a multiple of its size

#: Bytes of memory, measured on files of each shape (tests/engine/io/test_weighed_json.py): an object becomes a model
#: with all fields that it does not name; an item is a place in a list or a member of an object.
_OBJECT: Final = 1000
_ITEM: Final = 100
_TEXT: Final = 60

_PIECE: Final = 256 * 1024  # bytes that are split at once, so that the pieces take little memory


class TooMuchError(ValueError):
    """A file would take too much memory; the text continues a sentence: "it …"."""


def read_json(data: bytes) -> JSON:
    """Decode UTF-8 JSON, with or without a byte order mark.

    Raises TooMuchError, UnicodeDecodeError, and ValueError for data that is not JSON.
    """
    check_weight(data)
    try:
        # Decoded from bytes, each string is as narrow as possible; a decoded text is as wide as its widest character.
        return from_json(data.removeprefix(b"\xef\xbb\xbf"), allow_inf_nan=False)
    except ValueError:  # lone surrogates and deep nesting, which the standard library accepts
        return parse_json(data.decode("utf-8-sig"))


def check_weight(data: bytes) -> None:
    """Raise TooMuchError for JSON, or lines of it, whose values would take too much memory."""
    size, count = estimate(data)
    if size > max(MOST, TIMES * len(data)):
        raise TooMuchError(
            f"what it holds ({count:,} values) would take about {size / 2**30:.1f} GiB of memory, more than is "
            "given to a file of this size. Take it apart into smaller ones"
        )


def estimate(data: bytes) -> tuple[int, int]:
    """Return the approximate memory of ``data`` and its values, in bytes, and the number of objects and items."""
    objects = items = quotes = 0
    for marks, quote_count in _outside_strings(data):
        objects += marks.count(b"{")
        items += marks.count(b"[") + marks.count(b",")
        quotes += quote_count
    return len(data) + objects * _OBJECT + items * _ITEM + quotes // 2 * _TEXT, objects + items


def _outside_strings(data: bytes) -> Iterator[tuple[bytes, int]]:
    """Yield the bytes outside of strings piece by piece, each with the number of quotes in the piece."""
    data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    inside = False
    for start in range(0, len(data), _PIECE):
        parts = data[start : start + _PIECE].split(b'"')
        yield b"".join(parts[inside::2]), len(parts) - 1
        inside ^= len(parts) % 2 == 0


def version_problem(value: JSONObject, name: str, newest: int) -> str:
    """Return why a file with the format version in member ``name`` cannot be read; empty when it can."""
    version = value.get(name)
    if type(version) is int and version > newest:
        return f'"{name}": {version} is a version from a newer application; this one knows {newest}. Update it'
    if version is None:
        return f'"{name}": {newest} is missing; it names the version of the format'
    if type(version) is not int or version != newest:
        return f'"{name}" must be {newest}, the version of the format, not {version!r:.40}'
    return ""
