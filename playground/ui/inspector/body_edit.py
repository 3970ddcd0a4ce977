"""One field of a request body set or taken out, as text: what an edit in the table comes to. No widgets."""

from __future__ import annotations

import json

from playground.domain.values import JSON, JSONObject
from playground.ui.json_text import read_json


def typed_value(text: str) -> JSON:
    """What is typed as a value: JSON, or else the text itself. Raises ValueError for JSON that was only begun."""
    try:
        return read_json(text)
    except ValueError:
        if text.lstrip()[:1] in ("{", "[", '"'):
            raise ValueError("This is not JSON yet. Close every quote and bracket.") from None
        return text


def with_field(body: str, name: str, value: JSON) -> str:
    """The body with the field of that name set; where ``name`` is no field, its dots lead inside. Raises ValueError."""
    whole = _object(body)
    *above, last = _path(whole, name)
    at = whole
    for step in above:
        inner = at.get(step)
        at[step] = at = dict(inner) if isinstance(inner, dict) else {}
    at[last] = value
    return json.dumps(whole, ensure_ascii=False)


def without_field(body: str, name: str) -> str:
    """The body without that field, and without an object that held only it. Raises ValueError."""
    whole = _object(body)
    *above, last = _path(whole, name)
    at = whole.get(above[0]) if above else whole
    if isinstance(at, dict):
        at.pop(last, None)
    if above and not at:
        whole.pop(above[0], None)
    return json.dumps(whole, ensure_ascii=False)


def _object(body: str) -> JSONObject:
    value = read_json(body)
    if not isinstance(value, dict):
        raise ValueError("The body is not a JSON object.")
    return value


def _path(body: JSONObject, name: str) -> list[str]:
    above, dot, last = name.partition(".")
    return [name] if name in body or not dot else [above, last]
