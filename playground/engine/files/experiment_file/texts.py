"""The long texts of a value in its JSON: found by their type, so that each may stand as a list of its lines."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import UnionType
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from playground.domain.values import LINES, Value
from playground.jsonkit.values import JSON

#: Gives another spelling of a text.
Change: TypeAlias = Callable[[JSON], JSON]
#: What becomes of the JSON of one place when its texts are changed.
Visit: TypeAlias = Callable[[JSON, Change], JSON]


def change_texts(kind: type[Value], content: JSON, change: Change) -> JSON:
    """``content``, the JSON of a value of that kind, with ``change`` of every long text in its place.

    Whatever is not what it should be stays as it is.
    """
    visit = _visit(kind)
    return visit(content, change) if visit is not None else content


@cache
def _visit(annotation: Any) -> Visit | None:
    """How the places of a type are visited; None where no text is in them."""
    if isinstance(annotation, type) and issubclass(annotation, Value):
        return _of_fields(annotation)
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _text if LINES in inner else _visit(inner[0])
    if origin is tuple:
        return _of_items(_visit(inner[0]))
    if origin is dict:
        return _of_members(_visit(inner[1]))
    if origin in (Union, UnionType):
        return _of_one(inner)
    return None


def _text(value: JSON, change: Change) -> JSON:
    return change(value)


def _of_fields(kind: type[Value]) -> Visit | None:
    all_ = {name: _of_field(info) for name, info in kind.model_fields.items()}
    found = {name: inner for name, inner in all_.items() if inner is not None}

    def visit(value: JSON, change: Change) -> JSON:
        if not isinstance(value, dict):
            return value
        changed = {name: inner(value[name], change) for name, inner in found.items() if name in value}
        return {**value, **changed} if changed else value

    return visit if found else None


def _of_field(info: FieldInfo) -> Visit | None:
    annotation: Any = info.annotation
    return _text if LINES in info.metadata else _visit(annotation)


def _of_items(item: Visit | None) -> Visit | None:
    def visit(value: JSON, change: Change) -> JSON:
        return [item(one, change) for one in value] if item is not None and isinstance(value, list) else value

    return visit if item is not None else None


def _of_members(member: Visit | None) -> Visit | None:
    def visit(value: JSON, change: Change) -> JSON:
        if member is None or not isinstance(value, dict):
            return value
        return {name: member(one, change) for name, one in value.items()}

    return visit if member is not None else None


def _of_one(kinds: tuple[Any, ...]) -> Visit | None:
    """A value that is one of several kinds says which by its “kind”; of others at most one has texts."""
    named = {one.model_fields["kind"].default: _visit(one) for one in kinds if _has_kind(one)}
    if named:

        def visit(value: JSON, change: Change) -> JSON:
            kind = value.get("kind") if isinstance(value, dict) else None
            found = named.get(kind) if isinstance(kind, str) else None
            return found(value, change) if found is not None else value

        return visit
    return next((found for one in kinds if (found := _visit(one)) is not None), None)


def _has_kind(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Value) and "kind" in kind.model_fields
