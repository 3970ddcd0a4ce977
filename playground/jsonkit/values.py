"""What a JSON value is, the way to a place inside it, and when two of them are the same."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeGuard

#: What `json.loads` returns. A recursive alias would slow the type checker and pydantic for no gain.
JSON: TypeAlias = Any
JSONObject: TypeAlias = dict[str, Any]
#: The names and numbers that lead to a value, outermost first.
Path: TypeAlias = tuple[str | int, ...]


def same(one: JSON, other: JSON, *, exact: bool = True) -> bool:
    """Whether two values are written alike: 1, 1.0 and true differ, the order of names does not matter.

    Where that need not be ``exact``, 1 is 1.0, as in JSON Schema. A tuple is written as a list. Nothing is too deep.
    """
    waiting = [(one, other)]
    while waiting:
        one, other = waiting.pop()
        if one is other:
            continue
        if isinstance(one, dict):
            if not isinstance(other, dict) or one.keys() != other.keys():
                return False
            waiting += [(value, other[name]) for name, value in one.items()]
        elif isinstance(one, list | tuple):
            if not isinstance(other, list | tuple) or len(one) != len(other):
                return False
            waiting += zip(one, other, strict=True)
        elif not _alike(one, other, exact):
            return False
    return True


def is_number(value: JSON) -> TypeGuard[int | float]:
    """Whether a value is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _alike(one: JSON, other: JSON, exact: bool) -> bool:
    """Whether two plain values are the same."""
    if isinstance(one, str):
        return isinstance(other, str) and one == other
    if not exact and is_number(one) and is_number(other):
        return bool(one == other)
    if isinstance(one, float) and isinstance(other, float):
        return repr(one) == repr(other)  # there is more than one zero, and what is no number is not equal to itself
    return type(one) is type(other) and bool(one == other)
