"""The fields made from the schema of a question."""

from __future__ import annotations

import pytest

from playground.jsonkit.values import JSON, JSONObject
from playground.ui.features.server_asks.fields import Field, Kind, fields_of, format_problem, typed_value
from tests.support.each_case import each_case


def form(**members: JSON) -> JSONObject:
    return {"type": "object", "properties": members, "required": ["a"]}


def make_field(schema: JSON) -> Field:
    found = fields_of(form(a=schema))
    assert found is not None
    return found[0]


@each_case(
    "schema, kind",
    [
        ({"type": "string"}, Kind.TEXT),
        ({"type": "number"}, Kind.NUMBER),
        ({"type": "integer"}, Kind.WHOLE),
        ({"type": "boolean"}, Kind.YES_NO),
        ({"type": "string", "enum": ["x", "y"]}, Kind.ONE),
        ({"type": "string", "oneOf": [{"const": "x", "title": "X"}]}, Kind.ONE),
        ({"type": "array", "items": {"type": "string", "enum": ["x", "y"]}}, Kind.SOME),
        ({"type": "array", "items": {"anyOf": [{"const": "x", "title": "X"}]}}, Kind.SOME),
        ({"type": "object", "properties": {}}, Kind.ANY),
        ({"type": ["string", "null"]}, Kind.ANY),
        ({"$ref": "#"}, Kind.ANY),
        ({}, Kind.ANY),
        (True, Kind.ANY),
        (None, Kind.ANY),
    ],
)
def test_schema_determines_the_kind_of_field(schema: JSON, kind: Kind) -> None:
    assert make_field(schema).kind is kind
    assert make_field(schema).required


def test_form_of_too_many_fields_is_refused() -> None:
    assert fields_of({"type": "object"}) is None
    assert fields_of({"properties": {str(number): {} for number in range(101)}}) is None
    assert make_field({"enum": [str(number) for number in range(501)]}).kind is Kind.ANY


@each_case(
    "kind, text, value",
    [
        (Kind.TEXT, "", None),
        (Kind.TEXT, " 1 ", " 1 "),
        (Kind.WHOLE, " 12 ", 12),
        (Kind.NUMBER, "1e3", 1000.0),
        (Kind.NUMBER, "", None),
        (Kind.ANY, '{"a": [1]}', {"a": [1]}),
    ],
)
def test_typed_text_is_converted(kind: Kind, text: str, value: JSON) -> None:
    assert typed_value(Field("a", "a", kind), text) == value


@each_case(
    "kind, text",
    [
        (Kind.WHOLE, "1.5"),
        (Kind.WHOLE, "x"),
        (Kind.WHOLE, "9" * 5_000),
        (Kind.NUMBER, "true"),
        (Kind.NUMBER, '"1"'),
        (Kind.NUMBER, "NaN"),
        (Kind.ANY, "{"),
        (Kind.ANY, "[" * 100_000),
    ],
)
def test_invalid_text_of_a_field_is_refused(kind: Kind, text: str) -> None:
    with pytest.raises(ValueError, match=r"\."):
        typed_value(Field("a", "a", kind), text)


@each_case(
    "name, good, bad",
    [
        ("email", "a@b.test", "a@b test"),
        ("email", "a@b", "@b"),
        ("uri", "https://a.test/", "a.test"),
        ("uri", "mailto:a@b", "https:// x"),
        ("date", "2026-11-23", "23.11.2026"),
        ("date-time", "2026-11-23T03:00:00Z", "2026-11-23"),
    ],
)
def test_formats_are_checked(name: str, good: str, bad: str) -> None:
    assert format_problem(name, good) == ""
    assert "is wanted" in format_problem(name, bad)
