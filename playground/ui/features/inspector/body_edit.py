"""One field of a request body set or taken out, as text: what an edit in the table comes to. No widgets."""

from __future__ import annotations

import json

from playground.jsonkit.merge import MemberPath, at_path
from playground.jsonkit.reading import read_typed
from playground.jsonkit.values import JSON, JSONObject


def typed_value(text: str) -> JSON:
    """What is typed as a value: JSON, or else the text itself. Raises ValueError for JSON that was only begun."""
    try:
        return read_typed(text)
    except ValueError:
        if text.lstrip()[:1] in ("{", "[", '"'):
            raise ValueError("This is not JSON yet. Close every quote and bracket.") from None
        return text


def with_field(body: str, path: MemberPath, value: JSON) -> str:
    """The body with the field at ``path`` set. Raises ValueError."""
    whole = _object(body)
    at = whole
    for step in path[:-1]:
        inner = at.get(step)
        at[step] = at = dict(inner) if isinstance(inner, dict) else {}
    at[path[-1]] = value
    return json.dumps(whole, ensure_ascii=False)


def without_field(body: str, path: MemberPath) -> str:
    """The body without that field, and without the objects that held only it. Raises ValueError."""
    whole = _object(body)
    for depth in range(len(path), 0, -1):
        at = at_path(whole, path[: depth - 1])
        if isinstance(at, dict):
            at.pop(path[depth - 1], None)
        if at:
            break
    return json.dumps(whole, ensure_ascii=False)


def _object(body: str) -> JSONObject:
    value = read_typed(body, most=len(body))  # with its images
    if not isinstance(value, dict):
        raise ValueError("The body is not a JSON object.")
    return value
