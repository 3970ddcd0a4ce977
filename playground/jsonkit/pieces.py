"""JSON text written a piece at a time. In one go, ten megabytes would hold up every other thread: the encoder never
lets go of the interpreter while it works. The pieces together are what the encoder writes, character by character.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

#: What is written in one go, about a millisecond: so many characters, of which anything but a letter counts as some.
LONG: Final = 200_000
_ITEM: Final = 100
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
