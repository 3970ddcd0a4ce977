"""Fields of a form requested by a tool server: parse its schema, and convert typed text to JSON. Independent of Qt.

Schemas of servers are not trusted: a member of an unsupported type becomes a field for JSON.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from playground.jsonkit.reading import read_typed
from playground.jsonkit.texts import cut
from playground.jsonkit.values import JSON, JSONObject

MAX_FIELDS: Final = 100  # a form with more fields becomes a single field for JSON
MAX_CHOICES: Final = 500
MAX_TEXT: Final = 2_000  # characters of a title or a description


class Kind(StrEnum):
    """Type of a field."""

    TEXT = "text"
    NUMBER = "number"
    WHOLE = "integer"
    YES_NO = "boolean"
    ONE = "one of several"
    SOME = "some of several"
    ANY = "JSON"


@dataclass(frozen=True, slots=True)
class Choice:
    """Value to choose, with its label."""

    value: JSON
    title: str


@dataclass(frozen=True, slots=True)
class Field:
    """Field of a form. ``start`` is the initial value or None; ``format`` applies to text only."""

    name: str
    title: str
    kind: Kind
    description: str = ""
    required: bool = False
    choices: tuple[Choice, ...] = ()
    start: JSON = None
    format: str = ""


#: Description and example of each supported format of text.
FORMATS: Final = {
    "email": ("An e-mail address", "name@example.org"),
    "uri": ("An address with its scheme", "https://example.org/"),
    "date": ("A date", "2026-01-31"),
    "date-time": ("A date and a time", "2026-01-31T12:00:00Z"),
}


def fields_of(form: JSONObject) -> tuple[Field, ...] | None:
    """Return the fields in the order of the schema; None for an invalid form or too many fields."""
    members = form.get("properties")
    if not isinstance(members, dict) or len(members) > MAX_FIELDS:
        return None
    required = form.get("required")
    required_names = {name for name in required if isinstance(name, str)} if isinstance(required, list) else set()
    return tuple(_field(name, schema, name in required_names) for name, schema in members.items())


def _field(name: str, schema: JSON, required: bool) -> Field:
    if not isinstance(schema, dict):
        return Field(name, name, Kind.ANY, required=required)
    title, description = (cut(str(schema.get(word) or ""), MAX_TEXT) for word in ("title", "description"))
    start = schema.get("default")
    kind, choices = _kind(schema)
    format_name = schema.get("format")
    return Field(
        name=name,
        title=title or name,
        kind=kind,
        description=description,
        required=required,
        choices=choices,
        start=start,
        format=format_name if kind is Kind.TEXT and isinstance(format_name, str) else "",
    )


def _kind(schema: JSONObject) -> tuple[Kind, tuple[Choice, ...]]:
    if choices := _choices(schema):
        return (Kind.ONE, choices) if len(choices) <= MAX_CHOICES else (Kind.ANY, ())
    kind = schema.get("type")
    if kind == "array":
        items = schema.get("items")
        choices = _choices(items) if isinstance(items, dict) else ()
        return (Kind.SOME, choices) if 0 < len(choices) <= MAX_CHOICES else (Kind.ANY, ())
    plain = {"string": Kind.TEXT, "number": Kind.NUMBER, "integer": Kind.WHOLE, "boolean": Kind.YES_NO}
    return (plain[kind] if isinstance(kind, str) and kind in plain else Kind.ANY), ()


def _choices(schema: JSONObject) -> tuple[Choice, ...]:
    values = schema.get("enum")
    if isinstance(values, list):
        names = schema.get("enumNames")
        titles = names if isinstance(names, list) and len(names) == len(values) else values
        return tuple(Choice(value, cut(str(title), MAX_TEXT)) for value, title in zip(values, titles, strict=True))
    for word in ("oneOf", "anyOf"):
        options = schema.get(word)
        if (
            isinstance(options, list)
            and options
            and all(isinstance(option, dict) and "const" in option for option in options)
        ):
            return tuple(
                Choice(option["const"], cut(str(option.get("title") or option["const"]), MAX_TEXT))
                for option in options
            )
    return ()


def typed_value(field: Field, text: str) -> JSON:
    """Return the value of text typed into a field, or None if empty.

    Raises ValueError with a message for the user if the text does not fit the type or the format of the field.
    """
    if field.kind is Kind.TEXT:
        if text and (problem := format_problem(field.format, text)):
            raise ValueError(problem)
        return text or None
    if not text.strip():
        return None
    if field.kind is Kind.WHOLE:
        try:
            return int(text) if len(text) < 100 else read_typed(text)
        except ValueError:
            raise ValueError("A whole number is wanted.") from None
    try:
        value = read_typed(text)
    except ValueError as error:
        raise ValueError(f"Not JSON: {error}." if field.kind is Kind.ANY else "A number is wanted.") from None
    if field.kind is Kind.NUMBER and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise ValueError("A number is wanted.")
    return value


def format_problem(name: str, text: str) -> str:
    """Return why a text does not fit a format; empty if it does, and for unsupported formats."""
    if name not in FORMATS:
        return ""
    try:
        if name == "email":
            local_part, separator, domain = text.rpartition("@")
            is_valid = bool(local_part and separator and domain.strip(".")) and not any(
                letter.isspace() for letter in text
            )
        elif name == "uri":
            parts = urlsplit(text)
            is_valid = bool(parts.scheme and (parts.netloc or parts.path)) and not any(
                letter.isspace() for letter in text
            )
        elif name == "date":
            is_valid = bool(datetime.date.fromisoformat(text))
        else:
            is_valid = "T" in text.upper() and bool(datetime.datetime.fromisoformat(text.upper()))
    except ValueError:
        is_valid = False
    words, example = FORMATS[name]
    return "" if is_valid else f"{words} is wanted, such as {example}."


def missing(fields: tuple[Field, ...], content: Mapping[str, JSON]) -> list[str]:
    """Return the names of the required fields that are empty."""
    return [field.name for field in fields if field.required and content.get(field.name) is None]
