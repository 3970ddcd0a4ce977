"""What a JSON value is, the way to a place inside it, and when two of them are the same."""

from __future__ import annotations

from typing import Any, TypeAlias

#: What `json.loads` returns. A recursive alias would slow the type checker and pydantic for no gain.
JSON: TypeAlias = Any
JSONObject: TypeAlias = dict[str, Any]
#: The names and numbers that lead to a value, outermost first.
Path: TypeAlias = tuple[str | int, ...]


def same(one: JSON, other: JSON) -> bool:
    """Whether two values are written alike: 1, 1.0 and true differ, the order of names does not matter.

    A tuple is written as a list. No value is too deep to be compared.
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
        elif isinstance(one, str):
            if not isinstance(other, str) or one != other:
                return False
        elif type(one) is not type(other) or (repr(one) != repr(other) if isinstance(one, float) else one != other):
            return False
    return True
