"""Types of JSON values and paths, and equality of values."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeGuard

#: What `json.loads` returns. A recursive alias would slow the type checker and pydantic for no gain.
JSON: TypeAlias = Any
JSONObject: TypeAlias = dict[str, Any]
#: The names and numbers that lead to a value, outermost first.
Path: TypeAlias = tuple[str | int, ...]


def same(first: JSON, second: JSON, *, exact: bool = True) -> bool:
    """Return whether two values are equal as JSON: the order of names does not matter, a tuple is a list.

    ``exact``: 1, 1.0 and true differ; otherwise 1 equals 1.0, as in JSON Schema. Nesting has no limit.
    """
    pairs = [(first, second)]
    while pairs:
        first, second = pairs.pop()
        if first is second:
            continue
        if isinstance(first, dict):
            if not isinstance(second, dict) or first.keys() != second.keys():
                return False
            pairs += [(value, second[name]) for name, value in first.items()]
        elif isinstance(first, list | tuple):
            if not isinstance(second, list | tuple) or len(first) != len(second):
                return False
            pairs += zip(first, second, strict=True)
        elif not _same_scalar(first, second, exact):
            return False
    return True


def is_number(value: JSON) -> TypeGuard[int | float]:
    """Return whether a value is a number; booleans are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same_scalar(first: JSON, second: JSON, exact: bool) -> bool:
    if isinstance(first, str):
        return isinstance(second, str) and first == second
    if not exact and is_number(first) and is_number(second):
        return bool(first == second)
    if isinstance(first, float) and isinstance(second, float):
        return repr(first) == repr(second)  # 0.0 differs from -0.0, and NaN equals NaN
    return type(first) is type(second) and bool(first == second)
