"""Merging of JSON values like JSON Merge Patch (RFC 7396), except that null is a value and removes nothing.

Objects are merged member by member at any depth; anything else replaces the old value, lists included. Null is kept
because an extra body is sent exactly as it is written.
"""

from __future__ import annotations

from collections.abc import Iterator

from playground.jsonkit.values import JSON, JSONObject

#: The members that lead to a value, outermost first.
MemberPath = tuple[str, ...]


def merged(target: JSON, patch: JSON) -> JSON:
    """Return ``target`` with ``patch`` merged into it. Neither is changed; nesting has no limit."""
    if not (isinstance(target, dict) and isinstance(patch, dict)):
        return patch
    result = dict(target)
    waiting: list[tuple[JSONObject, JSONObject]] = [(result, patch)]
    while waiting:
        lower, upper = waiting.pop()
        for name, value in upper.items():
            old = lower.get(name)
            if isinstance(old, dict) and isinstance(value, dict):
                lower[name] = inner = dict(old)
                waiting.append((inner, value))
            else:
                lower[name] = value
    return result


def at_path(value: JSON, path: MemberPath) -> JSON:
    """Return the value at ``path``; None where there is none."""
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def holds(value: JSON, path: MemberPath) -> bool:
    """Return whether merging ``value`` into another one decides the value at ``path``, there or at a parent."""
    inner = value
    for step in path:
        if not isinstance(inner, dict):
            return True
        if step not in inner:
            return False
        inner = inner[step]
    return not isinstance(inner, dict) or not inner


def clashes(lower: JSONObject, upper: JSONObject) -> Iterator[MemberPath]:
    """Yield the paths at which ``upper`` replaces a value of ``lower``."""
    waiting: list[tuple[MemberPath, JSONObject, JSONObject]] = [((), lower, upper)]
    while waiting:
        path, below, above = waiting.pop()
        for name, value in above.items():
            if name not in below:
                continue
            old = below[name]
            if isinstance(old, dict) and isinstance(value, dict):
                waiting.append(((*path, name), old, value))
            else:
                yield (*path, name)
