"""Values as the JSON that is kept of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final, TypeAlias

from pydantic.fields import FieldInfo

from playground.domain.parameters import Parameters
from playground.domain.parts import Unknown
from playground.domain.values import Value
from playground.jsonkit.values import JSON, JSONObject

#: Whether a field is written: its name, what is known of it, its value.
Kept: TypeAlias = Callable[[str, FieldInfo, Any], bool]


#: Most fields hold one of these.
_AS_IT_IS: Final = frozenset({str, int, float, bool, type(None)})


@cache
def _fields(kind: type[Value]) -> tuple[tuple[str, FieldInfo], ...]:
    return tuple(kind.model_fields.items())


def not_empty(_name: str, info: FieldInfo, item: Any) -> bool:
    """Whether a field says more than that there is nothing."""
    return item is not None or info.default is not None


def encode(value: Value, kept: Kept = not_empty) -> JSONObject:
    """A value as JSON holds it: fields in the order they are defined, unknown ones after them; only those ``kept``.

    Unlike pydantic's own way it takes values nested as deeply as JSON itself can be, and fields of a wrong type.
    """
    out: JSONObject = {}
    for name, info in _fields(type(value)):
        item = getattr(value, name)
        if kept(name, info, item):
            out[name] = item if type(item) in _AS_IT_IS else _plain(item, kept)
    for name, item in (value.model_extra or {}).items():
        out[name] = _plain(item, kept)
    return out


def _plain(value: Any, kept: Kept) -> JSON:
    if isinstance(value, str):
        return str.__str__(value)  # a member of an enumeration as its text
    if isinstance(value, tuple):
        return [item if type(item) in _AS_IT_IS else _plain(item, kept) for item in value]
    if isinstance(value, dict):
        typed = any(type(item) not in _AS_IT_IS and isinstance(item, Value) for item in value.values())
        return {name: _plain(item, kept) for name, item in value.items()} if typed else dict(value)
    if isinstance(value, Unknown) and value.from_file:
        return value.value
    if isinstance(value, Parameters):
        return value.held
    if isinstance(value, Value):
        return encode(value, kept)
    return value
