"""Structured answers fit their schema, as jsonschema judges."""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema
import pytest

from playground.demo import from_schema
from playground.demo.dice import Dice
from playground.jsonkit.pattern_text import PatternError, text_for
from tests.demo.conftest import DemoClient, joined, message
from tests.support.each_case import each_case


def record(**properties: Any) -> dict[str, Any]:
    """Return the schema of an object that requires all these properties."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


TEXT, NUMBER, WHOLE = {"type": "string"}, {"type": "number"}, {"type": "integer"}
FORMATS = ("date", "date-time", "email", "uri", "uuid", "ipv4")
SCHEMAS: dict[str, Any] = {
    "plain object": record(name=TEXT, age=WHOLE),
    "ref and defs": {
        **record(home={"$ref": "#/$defs/p"}, work={"$ref": "#/$defs/p"}),
        "$defs": {"p": record(city=TEXT)},
    },
    "recursive": record(value=WHOLE, next={"anyOf": [{"$ref": "#"}, {"type": "null"}]}),
    "tree": record(label=TEXT, children={"type": "array", "items": {"$ref": "#"}}),
    "enum and const": record(kind={"const": "demo"}, size={"enum": ["s", "m", 3, None]}),
    "nested arrays": {"type": "array", "minItems": 2, "items": {"type": "array", "maxItems": 3, "items": NUMBER}},
    "numbers": record(
        a={**WHOLE, "minimum": 10, "maximum": 12},
        b={**NUMBER, "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        c={**WHOLE, "multipleOf": 7, "minimum": 20, "maximum": 30},
        d={**WHOLE, "maximum": -5},
        e={**NUMBER, "multipleOf": 0.25, "minimum": 1.1},
    ),
    "string lengths": record(short={**TEXT, "maxLength": 3}, long={**TEXT, "minLength": 120}),
    "pattern": {**TEXT, "pattern": "^[A-Z]{3}-\\d{4}(?:-[a-f]+)?$"},
    "formats": record(**{name: {**TEXT, "format": name} for name in FORMATS}),
    "anyOf": {"anyOf": [{**TEXT, "maxLength": 5}, {**WHOLE, "minimum": 3}]},
    "oneOf": {"oneOf": [record(ok={"const": True}), record(error=TEXT)]},
    "allOf": {
        "allOf": [
            {"type": "object", "properties": {"x": WHOLE}, "required": ["x"]},
            {"properties": {"x": {"minimum": 4}, "y": {"type": "boolean"}}, "required": ["y"]},
        ]
    },
    "unique": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 3, "uniqueItems": True},
    "tuple": {"type": "array", "prefixItems": [TEXT, WHOLE], "items": False, "minItems": 2},
    "nullable": record(note={"type": ["string", "null"]}),
    "map": {"type": "object", "additionalProperties": WHOLE, "minProperties": 3},
    "contains": {"type": "array", "items": WHOLE, "contains": {"const": 5}},
}


@each_case("name", SCHEMAS)
def test_structured_answer_fits_its_schema(client: DemoClient, name: str) -> None:
    for seed in range(10):
        jsonschema.validate(from_schema.generate(SCHEMAS[name], Dice(seed)), SCHEMAS[name])
    expected = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMAS[name]}}
    complete = message(client.chat("Lisbon", response_format=expected))["content"]
    jsonschema.validate(json.loads(complete), SCHEMAS[name])
    streamed = joined(client.chunks("Lisbon", response_format=expected, model="demo-reasoner"))
    jsonschema.validate(json.loads(streamed), SCHEMAS[name])


@each_case(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
        {"type": "array", "minItems": 10**9, "items": {"type": "array", "minItems": 10**9}},
        {"type": "string", "minLength": 10**12},
        {"type": "integer", "minimum": 5, "maximum": 4},
        {"$ref": "http://127.0.0.1:9/never-fetched.json"},
        {"type": "string", "pattern": "(?=x)y"},
        False,
    ],
)
def test_hostile_schema_gives_a_value(schema: Any) -> None:
    from_schema.generate(schema, Dice(1))


@each_case(
    "pattern",
    [
        r"^\d{3}$",
        r"^[a-z]+@[a-z]+\.(com|org)$",
        r"^(?:foo|bar)\w*?x$",
        r"^(?P<year>\d{4})-(?P<month>0[1-9]|1[0-2])$",
        r"^[^\s@]{2,5}$",
        r"^#[0-9a-fA-F]{6}$",
        r"^\+?\(\d\)\.$",
        r"^[\w.-]{3}$",
        r"a{2,}",
        r"^\$\{x\}$",
    ],
)
def test_text_for_a_pattern_matches_it(pattern: str) -> None:
    for seed in range(20):
        assert re.search(pattern, text_for(pattern, chance=Dice(seed)))


@each_case("pattern", ["(?=a", r"(a)\1", "(", "[a", "*", "a)", "(" * 100 + ")" * 100])
def test_unsupported_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        text_for(pattern, chance=Dice(1))
