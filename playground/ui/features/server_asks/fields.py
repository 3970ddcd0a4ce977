"""The fields of a form that a tool server wants filled in, read from its schema, and what is typed in them as JSON.

The schema is foreign: whatever is in it that no field here can hold becomes a field for JSON. No Qt here.
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

MOST: Final = 100  # fields; a form of more is one field for JSON
MOST_CHOICES: Final = 500
LONGEST: Final = 2_000  # characters of a title or a description


class Kind(StrEnum):
    """What a field takes."""

    TEXT = "text"
    NUMBER = "number"
    WHOLE = "integer"
    YES_NO = "boolean"
    ONE = "one of several"
    SOME = "some of several"
    ANY = "JSON"


@dataclass(frozen=True, slots=True)
class Choice:
    """One value to choose, and what it is called."""

    value: JSON
    title: str


@dataclass(frozen=True, slots=True)
class Field:
    """One field. ``start`` is what it begins with, None for nothing; ``format`` is that of a text."""

    name: str
    title: str
    kind: Kind
    description: str = ""
    required: bool = False
    choices: tuple[Choice, ...] = ()
    start: JSON = None
    format: str = ""


#: What a format asks for, in words, and an example.
FORMATS: Final = {
    "email": ("An e-mail address", "name@example.org"),
    "uri": ("An address with its scheme", "https://example.org/"),
    "date": ("A date", "2026-01-31"),
    "date-time": ("A date and a time", "2026-01-31T12:00:00Z"),
}


def fields_of(form: JSONObject) -> tuple[Field, ...] | None:
    """The fields in the order of the schema; None for a form that is none, or has too many of them."""
    members = form.get("properties")
    if not isinstance(members, dict) or len(members) > MOST:
        return None
    required = form.get("required")
    needed = {name for name in required if isinstance(name, str)} if isinstance(required, list) else set()
    return tuple(_field(name, schema, name in needed) for name, schema in members.items())


def _field(name: str, schema: JSON, required: bool) -> Field:
    if not isinstance(schema, dict):
        return Field(name, name, Kind.ANY, required=required)
    title, description = (cut(str(schema.get(word) or ""), LONGEST) for word in ("title", "description"))
    start = schema.get("default")
    kind, choices = _kind(schema)
    wanted = schema.get("format")
    return Field(
        name=name,
        title=title or name,
        kind=kind,
        description=description,
        required=required,
        choices=choices,
        start=start,
        format=wanted if kind is Kind.TEXT and isinstance(wanted, str) else "",
    )


def _kind(schema: JSONObject) -> tuple[Kind, tuple[Choice, ...]]:
    if choices := _choices(schema):
        return (Kind.ONE, choices) if len(choices) <= MOST_CHOICES else (Kind.ANY, ())
    kind = schema.get("type")
    if kind == "array":
        items = schema.get("items")
        choices = _choices(items) if isinstance(items, dict) else ()
        return (Kind.SOME, choices) if 0 < len(choices) <= MOST_CHOICES else (Kind.ANY, ())
    plain = {"string": Kind.TEXT, "number": Kind.NUMBER, "integer": Kind.WHOLE, "boolean": Kind.YES_NO}
    return (plain[kind] if isinstance(kind, str) and kind in plain else Kind.ANY), ()


def _choices(schema: JSONObject) -> tuple[Choice, ...]:
    values = schema.get("enum")
    if isinstance(values, list):
        names = schema.get("enumNames")
        titles = names if isinstance(names, list) and len(names) == len(values) else values
        return tuple(Choice(value, cut(str(title), LONGEST)) for value, title in zip(values, titles, strict=True))
    for word in ("oneOf", "anyOf"):
        options = schema.get(word)
        if isinstance(options, list) and options and all(isinstance(one, dict) and "const" in one for one in options):
            return tuple(Choice(one["const"], cut(str(one.get("title") or one["const"]), LONGEST)) for one in options)
    return ()


def typed_value(field: Field, text: str) -> JSON:
    """What text in a field for text, numbers or JSON stands for; None for nothing. Raises ValueError in words."""
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
    """Why a text is not of a format; empty where it is, and for one that is not known here."""
    if name not in FORMATS:
        return ""
    try:
        if name == "email":
            before, at, after = text.rpartition("@")
            fits = bool(before and at and after.strip(".")) and not any(letter.isspace() for letter in text)
        elif name == "uri":
            parts = urlsplit(text)
            fits = bool(parts.scheme and (parts.netloc or parts.path)) and not any(letter.isspace() for letter in text)
        elif name == "date":
            fits = bool(datetime.date.fromisoformat(text))
        else:
            fits = "T" in text.upper() and bool(datetime.datetime.fromisoformat(text.upper()))
    except ValueError:
        fits = False
    words, example = FORMATS[name]
    return "" if fits else f"{words} is wanted, such as {example}."


def missing(fields: tuple[Field, ...], content: Mapping[str, JSON]) -> list[str]:
    """The names of the required fields in which nothing stands."""
    return [field.name for field in fields if field.required and content.get(field.name) is None]
