"""One JSON value laid over another, as a JSON merge patch is (RFC 7396), but for one thing: null is a value.

Objects are merged member by member, at any depth; anything else replaces what was there, lists included. In a merge
patch null takes a member out; here it is sent as null, since what is written in an extra body is what goes out.
"""

from __future__ import annotations

from collections.abc import Iterator

from playground.jsonkit.values import JSON, JSONObject

#: The members that lead to a value, outermost first.
MemberPath = tuple[str, ...]


def merged(target: JSON, patch: JSON) -> JSON:
    """``target`` with ``patch`` over it. Neither is changed, however deep they are nested."""
    if not (isinstance(target, dict) and isinstance(patch, dict)):
        return patch
    whole = dict(target)
    waiting: list[tuple[JSONObject, JSONObject]] = [(whole, patch)]
    while waiting:
        at, over = waiting.pop()
        for name, value in over.items():
            known = at.get(name)
            if isinstance(known, dict) and isinstance(value, dict):
                at[name] = inner = dict(known)
                waiting.append((inner, value))
            else:
                at[name] = value
    return whole


def at_path(value: JSON, path: MemberPath) -> JSON:
    """What stands at ``path``; None where nothing does."""
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def holds(value: JSON, path: MemberPath) -> bool:
    """Whether laying ``value`` over another one decides what stands at ``path``: there, or in a whole above it."""
    at = value
    for step in path:
        if not isinstance(at, dict):
            return True
        if step not in at:
            return False
        at = at[step]
    return not isinstance(at, dict) or not at


def clashes(lower: JSONObject, upper: JSONObject) -> Iterator[MemberPath]:
    """Where ``upper`` puts another value in the place of one that ``lower`` has."""
    waiting: list[tuple[MemberPath, JSONObject, JSONObject]] = [((), lower, upper)]
    while waiting:
        path, below, above = waiting.pop()
        for name, value in above.items():
            if name not in below:
                continue
            known = below[name]
            if isinstance(known, dict) and isinstance(value, dict):
                waiting.append(((*path, name), known, value))
            else:
                yield (*path, name)
