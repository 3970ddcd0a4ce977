"""JSON out of a file that a person opens: weighed before it becomes values, which take many times the room of a file.

``[{},{},…`` in 100 MiB would be 20 GiB of values. What a file would take is estimated from how many values it holds and
how wide its texts are (one emoji makes a text four bytes a character), and what would take more than ``MOST`` and more
than four times the file is refused.
"""

from __future__ import annotations

import re
from typing import Final

from pydantic_core import from_json

from playground.jsonkit.reading import parse_json
from playground.jsonkit.values import JSON, JSONObject

MOST: Final = 384 * 1024 * 1024  # bytes that any file may take
TIMES: Final = 4  # and one that is larger, times its size

#: Bytes of memory, measured on files of each shape (tests/engine/io/test_weighed_json.py): an object becomes one
#: of our values, with all fields it does not name; an item is a place in a list or a member of an object.
_OBJECT: Final = 1000
_ITEM: Final = 100
_TEXT: Final = 60

_PIECE: Final = 256 * 1024  # bytes
_FOUR_BYTES: Final = re.compile(rb"[\xf0-\xff]")
_TWO_BYTES: Final = re.compile(rb"[\xc4-\xff]")


class TooMuchError(ValueError):
    """A file would take too much memory; the text goes on with "it …"."""


def read_json(data: bytes) -> JSON:
    """The value that UTF-8 ``data`` holds, with or without a byte order mark.

    Raises TooMuchError, UnicodeDecodeError, and ValueError for what is no JSON.
    """
    check_weight(data)
    try:
        # Read from the bytes, each text is as wide as it must be; decoded first, all are as wide as the widest.
        return from_json(data.removeprefix(b"\xef\xbb\xbf"), allow_inf_nan=False)
    except ValueError:  # it takes no half of a surrogate pair and nothing deep, which we write and read
        return parse_json(data.decode("utf-8-sig"))


def check_weight(data: bytes) -> None:
    """Raise TooMuchError for JSON, or lines of it, that would take too much."""
    weight, values = weigh(data)
    if weight > max(MOST, TIMES * len(data)):
        raise TooMuchError(
            f"what it holds ({values:,} values) would take about {weight / 2**30:.1f} GiB of memory, more than is "
            "given to a file of this size. Take it apart into smaller ones"
        )


def weigh(data: bytes) -> tuple[int, int]:
    """About how many bytes ``data`` and the values in it take, rather too many, and how many values there are."""
    objects = items = texts = room = 0
    inside = False  # of a text, at the beginning of a piece
    length = width = largest = 0  # of that text so far, in bytes and in bytes a character; of the largest wide one
    odd = b""  # a backslash whose character is in the next piece
    for at in range(0, len(data), _PIECE):
        piece = odd + data[at : at + _PIECE]
        odd = b"\\" * ((len(piece) - len(piece.rstrip(b"\\"))) % 2)
        plain = piece[: len(piece) - len(odd)]
        parts = plain.replace(b"\\\\", b"  ").replace(b'\\"', b"  ").split(b'"')
        outside = b"".join(parts[inside::2])
        objects += outside.count(b"{")
        items += outside.count(b"[") + outside.count(b",")
        texts += len(parts) - 1
        here = parts[not inside :: 2]
        if inside:
            length, width = length + len(here[0]), max(width, _width(here[0]))
            if len(parts) > 1:
                room += length * width
                largest = max(largest, length * (width > 1))
            del here[0]
        if len(parts) > 1:
            inside ^= len(parts) % 2 == 0
            last = here.pop() if inside else b""
            length, width = len(last), _width(last)
        room += sum(map(len, here)) + sum(len(text) * (_width(text) - 1) for text in here if not text.isascii())
    # A text is widened when its first wide character comes: for a moment it is there twice.
    taken = len(data) + room + largest + objects * _OBJECT + items * _ITEM + texts // 2 * _TEXT
    return taken, objects + items


def _width(part: bytes) -> int:
    if part.isascii():
        return 1
    return 4 if _FOUR_BYTES.search(part) else 2 if _TWO_BYTES.search(part) else 1


def version_problem(value: JSONObject, name: str, known: int) -> str:
    """Why a file whose member ``name`` is the version of its format cannot be read; empty when it can."""
    version = value.get(name)
    if type(version) is int and version > known:
        return f'"{name}": {version} is a version from a newer application; this one knows {known}. Update it'
    if version is None:
        return f'"{name}": {known} is missing; it names the version of the format'
    if type(version) is not int or version != known:
        return f'"{name}" must be {known}, the version of the format, not {version!r:.40}'
    return ""
