"""Bounds on JSON values: a nesting limit for each reader that is the same on every Python, and approximate sizes.

The depth that `json.loads` accepts depends on the interpreter: up to 1,000 levels, 1,500 in CPython 3.12 and 10,000 in
3.13. JSON from outside the program is read here.
"""

from __future__ import annotations

import json
from typing import Any, Final

from playground.jsonkit.values import JSON

DEEPEST: Final = 900  # levels; the rest of the interpreter's 1,000 belongs to the caller
_VALUE_SIZE: Final = 100  # characters that a value counts for beside its text


def loads(text: str | bytes, **options: Any) -> JSON:
    """Decode JSON with `json.loads` and its ``options``. Raises RecursionError above ``DEEPEST`` nested values."""
    value = json.loads(text, **options)
    brackets = text.count(b"[") + text.count(b"{") if isinstance(text, bytes) else text.count("[") + text.count("{")
    if brackets > DEEPEST and deeper(value, DEEPEST):
        raise RecursionError(f"more than {DEEPEST} values in one another")
    return value


def deeper(value: JSON, most: int) -> bool:
    """Return whether a value is nested in more than ``most`` objects and lists."""
    return depth_of(value, most) > most


def depth_of(value: JSON, most: int) -> int:
    """Return how many objects and lists the innermost value is in; counting ends above ``most``."""
    depth, level = 0, [value]
    while depth <= most:
        inner: list[JSON] = []
        for item in level:
            if isinstance(item, dict):
                inner += item.values()
            elif isinstance(item, list):
                inner += item
        if not inner:
            break
        depth, level = depth + 1, inner
    return depth


def approximate_size(value: Any, most: int) -> int:
    """Return about how many characters of JSON a value takes. Counting ends above ``most``, so cycles end, too."""
    size, waiting = 0, [value]
    while waiting and size <= most:
        item = waiting.pop()
        size += len(item) + 2 if isinstance(item, str) else _VALUE_SIZE
        if isinstance(item, dict):
            size += sum(map(len, item))
            waiting += item.values()
        elif isinstance(item, list | tuple):
            waiting += item
    return size
