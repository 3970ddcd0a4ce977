from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any

import pytest

from playground.jsonkit import limits
from playground.jsonkit.limits import TooCostlyError
from playground.jsonkit.pattern_text import PatternError, text_for, texts_for
from playground.jsonkit.schema_sample import NoSampleError, sample, sample_text
from playground.jsonkit.validation import check_value
from tests.jsonkit.schemas import schemas
from tests.support.each_case import each_case

SOUND = [(name, schema) for name, schema in schemas() if name != "40_wrong_shapes"]


@pytest.fixture
def unbounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lift the bounds, as in a worker process: recursive schemas are sampled there."""
    monkeypatch.setattr(limits, "_lifted", True)


@pytest.mark.usefixtures("unbounded")
@each_case(("name", "schema"), SOUND)
def test_sample_fits_its_schema_and_is_always_the_same(name: str, schema: Any) -> None:
    value = sample(schema)
    assert check_value(value, schema) == []
    assert sample(schema) == value
    assert json.loads(sample_text(schema)) == value
    for required in schema.get("required", []):
        assert required in value


def test_sample_shows_optional_parameters_and_the_words_of_the_schema() -> None:
    value = sample(dict(SOUND)["26_calendar_event"])
    assert value["attendees"] == [{"email": "ada@example.org", "optional": False}]
    assert value["recurrence"] == {"frequency": "daily", "interval": 1, "until": "2026-01-31"}
    assert sample({"type": "object", "properties": {"a": {"examples": ["one"], "type": "string"}}}) == {"a": "one"}
    assert sample({"type": "object", "properties": {"a": {"default": 5, "type": "string"}}}) == {"a": "a"}


def test_schemas_that_nothing_fits_and_hostile_ones_still_end() -> None:
    endless: Any = {"$ref": "#/$defs/a", "$defs": {"a": {"type": "object", "properties": {"b": {"$ref": "#/$defs/a"}}}}}
    endless["$defs"]["a"]["required"] = ["b"]
    odd: list[Any] = [False, True, 5, [], {"type": "odd"}, {"$ref": "#"}, {"allOf": [False]}, {"enum": []}, endless]
    for schema in odd:
        with suppress(NoSampleError, TooCostlyError):
            assert check_value(sample(schema), schema if isinstance(schema, dict) else {}) == []
    wide = {"type": "object", "properties": {str(n): {"$ref": "#"} for n in range(60)}}
    with suppress(TooCostlyError):
        assert len(sample_text(wide)) < 5_000_000


DRAFT_04, DRAFT_07 = "http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-07/schema#"
COUNTRY: Any = {
    "type": "object",
    "properties": {"country": {"enum": ["US", "NL"]}, "zip": {"type": "string"}},
    "required": ["country", "zip"],
    "if": {"properties": {"country": {"const": "US"}}},
    "then": {"properties": {"zip": {"pattern": "^[0-9]{5}$"}}},
    "else": {"properties": {"zip": {"pattern": "^[0-9]{4} [A-Z]{2}$"}}},
}
DEPENDENT: Any = {"a": {"required": ["n"], "properties": {"n": {"type": "integer", "minimum": 3}}}}


@pytest.mark.usefixtures("unbounded")
@each_case(
    "schema",
    [
        {"type": "array", "contains": {"const": 3}, "items": {"type": "integer"}, "minItems": 3},
        {"type": "array", "items": {"type": "boolean"}, "minItems": 20, "maxItems": 20},
        {"type": "array", "items": {"enum": ["a", "b", "c"]}, "uniqueItems": True, "minItems": 3},
        {"type": "string", "minLength": 30, "maxLength": 31},
        {"type": "string", "pattern": "^a+$", "minLength": 12},
        {"type": "string", "maxLength": 0},
        {"type": "number", "exclusiveMinimum": 0.1, "exclusiveMaximum": 0.11},
        {"type": "integer", "multipleOf": 7, "minimum": 100},
        {"type": "object", "minProperties": 4},
        {"type": "object", "maxProperties": 1, "properties": {"a": {}, "b": {}}, "required": ["b"]},
        {"allOf": [{"minimum": 3}, {"maximum": 4}], "type": "number"},
        {"oneOf": [{"type": "integer", "minimum": 1}, {"type": "number"}]},
        {"anyOf": [False, {"const": 1}]},
        {"not": {"type": "object"}},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"type": "integer"}}},
        {"if": {"required": ["a"]}, "then": {"required": ["b"]}, "type": "object", "required": ["a"]},
        {"$schema": DRAFT_04, "type": "number", "minimum": 1, "exclusiveMinimum": True},
        {"$schema": DRAFT_07, "type": "array", "items": [{"const": 1}, {"const": "b"}], "minItems": 2},
        {"$schema": DRAFT_07, "type": "array", "items": [{}], "additionalItems": {"type": "null"}, "minItems": 3},
        {"$schema": DRAFT_07, "allOf": [{"$ref": "#/definitions/a", "minLength": 9}],
         "definitions": {"a": {"type": "string", "maxLength": 3}}},
        {"$schema": DRAFT_07, "type": "object", "required": ["a"], "dependencies": {"a": ["b"]}},
        {"$schema": DRAFT_07, "type": "object", "required": ["a"], "dependencies": DEPENDENT},
        {"$schema": DRAFT_07, "type": "array", "items": {"format": "email", "type": "string"}, "minItems": 3,
         "uniqueItems": True},
        {"type": "object", "required": ["a"], "dependentSchemas": DEPENDENT},
        {"type": "string", "not": {"const": "text"}},
        {"type": "object", "properties": {"a": {"not": {"type": ["string", "null"]}}}, "required": ["a"]},
        {"type": "object", "properties": {"a": {}, "b": {}}, "not": {"required": ["a", "b"]}},
        {"type": "object", "propertyNames": {"pattern": "^[a-z]{3}$"}, "minProperties": 3},
        {"type": "object", "propertyNames": {"enum": ["x", "y"]}, "minProperties": 2},
        {"type": "object", "propertyNames": {"minLength": 8}, "minProperties": 1},
        {"type": "array", "items": {"type": "boolean"}, "uniqueItems": True, "minItems": 2},
        {"type": "array", "items": {"type": "string", "pattern": "^[A-Z]{2}$"}, "uniqueItems": True, "minItems": 3},
        {"type": "array", "items": {"type": "number", "minimum": 0, "maximum": 1}, "uniqueItems": True, "minItems": 4},
        {"type": "array", "items": {"properties": {"id": {"type": "integer"}}, "type": "object", "required": ["id"]},
         "uniqueItems": True, "minItems": 3},
        {"type": "array", "contains": {"minimum": 100}, "minContains": 2, "items": {"type": "integer"}, "minItems": 4},
        {"type": "string", "pattern": "^\\p{Lu}\\p{L}+$"},
        {"type": "string", "pattern": "^[a-z]+(-[a-z]+)*$", "minLength": 20, "maxLength": 22},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/a~1b"}, "b": {"$ref": "#/$defs/c%20d"}},
         "required": ["a", "b"], "$defs": {"a/b": {"type": "integer"}, "c d": {"type": "boolean"}}},
        {"$id": "https://example.com/root", "allOf": [{"$ref": "https://example.com/root#/$defs/a"}],
         "$defs": {"a": {"const": 5}}},
        {"allOf": [{"$ref": "#/$defs/base"}, {"type": "integer"}], "$defs": {"base": {"type": "number", "minimum": 3}}},
        {"type": "object", "properties": {"next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}, "required": ["next"]},
        COUNTRY,
    ],
)  # fmt: skip
def test_sample_of_a_common_schema_fits(schema: Any) -> None:
    assert check_value(sample(schema), schema) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "minLength": 3, "maxLength": 1},
        {"enum": []},
        {"allOf": [{"type": "string"}, {"type": "integer"}]},
        {"type": "array", "items": [{"type": "integer"}]},  # a list only up to draft 2019-09
        False,
    ],
)
def test_schema_that_nothing_fits_has_no_sample(schema: Any) -> None:
    with pytest.raises(NoSampleError):
        sample(schema)
    assert sample_text(schema) == ""


@each_case(
    "pattern",
    [
        "^[A-Z]{3}$", "^\\d{4}-\\d{2}$", "(?:foo|bar)+", "^[^a]x?$", "a.c", "^#[0-9a-f]{6}$", "^(?P<y>[0-9]+)Z$",
        "^\\+?[1-9]\\d{1,14}$", "^[\\w.-]+@[\\w-]+\\.[a-z]{2,}$", "[]a]", "^x{2,}?$", "", "^\\u0041$", "^a{,3}$", "^{$",
    ],
)  # fmt: skip
def test_text_for_a_pattern_matches_it(pattern: str) -> None:
    assert re.search(pattern, text_for(pattern))
    assert text_for(pattern) == text_for(pattern)


@each_case("pattern", ["^(?=.*[A-Z])(?=.*\\d).{8,}$", "^(?!foo)[a-z]{3}$", "(?<=a)b?", "^(?=.{9,}$)[a-z]+$"])
def test_one_of_the_texts_for_a_pattern_that_looks_around_matches_it(pattern: str) -> None:
    assert any(re.search(pattern, text) for text in texts_for(pattern))


@each_case("pattern", ["(?=a", "(a)\\1", "(", "a)", "[", "*", "\\", "((((" * 20, "a{9999}", "\\p{Greek}"])
def test_unsupported_pattern_is_an_error(pattern: str) -> None:
    with pytest.raises(PatternError):
        text_for(pattern)
