"""Conversion of values to the JSON of files and the store."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final, TypeAlias

from pydantic.fields import FieldInfo

from playground.domain.parameters import Parameters
from playground.domain.parts import Unknown
from playground.domain.values import Value
from playground.jsonkit.values import JSON, JSONObject

#: Decides whether a field is written, from its name, its definition and its value.
FieldFilter: TypeAlias = Callable[[str, FieldInfo, Any], bool]


#: Types whose values need no conversion.
_PLAIN_TYPES: Final = frozenset({str, int, float, bool, type(None)})


@cache
def _fields(kind: type[Value]) -> tuple[tuple[str, FieldInfo], ...]:
    return tuple(kind.model_fields.items())


def not_empty(_name: str, info: FieldInfo, item: Any) -> bool:
    """Return whether a field holds a value, or None where None is not the default."""
    return item is not None or info.default is not None


def encode(value: Value, is_written: FieldFilter = not_empty) -> JSONObject:
    """Convert a value to JSON: fields in the order of definition that ``is_written`` accepts, then unknown fields.

    Unlike pydantic's serializer it accepts values nested as deeply as JSON itself, and fields of a wrong type.
    """
    out: JSONObject = {}
    for name, info in _fields(type(value)):
        item = getattr(value, name)
        if is_written(name, info, item):
            out[name] = item if type(item) in _PLAIN_TYPES else _plain(item, is_written)
    for name, item in (value.model_extra or {}).items():
        out[name] = _plain(item, is_written)
    return out


def _plain(value: Any, is_written: FieldFilter) -> JSON:
    if isinstance(value, str):
        return str.__str__(value)  # the text of an enumeration member
    if isinstance(value, tuple):
        return [item if type(item) in _PLAIN_TYPES else _plain(item, is_written) for item in value]
    if isinstance(value, dict):
        has_values = any(type(item) not in _PLAIN_TYPES and isinstance(item, Value) for item in value.values())
        return {name: _plain(item, is_written) for name, item in value.items()} if has_values else dict(value)
    if isinstance(value, Unknown) and value.from_file:
        return value.value
    if isinstance(value, Parameters):
        return value.set_fields
    if isinstance(value, Value):
        return encode(value, is_written)
    return value
