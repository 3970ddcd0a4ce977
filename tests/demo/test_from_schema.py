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

SCHEMAS: dict[str, Any] = {
    "plain object": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
        "required": ["name", "age"],
        "additionalProperties": False,
    },
    "ref and defs": {
        "type": "object",
        "properties": {"home": {"$ref": "#/$defs/place"}, "work": {"$ref": "#/$defs/place"}},
        "required": ["home", "work"],
        "$defs": {"place": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}},
    },
    "recursive": {
        "type": "object",
        "properties": {"value": {"type": "integer"}, "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
        "required": ["value", "next"],
        "additionalProperties": False,
    },
    "tree": {
        "type": "object",
        "properties": {"label": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#"}}},
        "required": ["label", "children"],
    },
    "enum and const": {
        "type": "object",
        "properties": {"kind": {"const": "demo"}, "size": {"enum": ["s", "m", 3, None]}},
        "required": ["kind", "size"],
    },
    "nested arrays": {
        "type": "array",
        "minItems": 2,
        "items": {"type": "array", "minItems": 3, "maxItems": 3, "items": {"type": "number", "minimum": 0}},
    },
    "numbers": {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "minimum": 10, "maximum": 12},
            "b": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
            "c": {"type": "integer", "multipleOf": 7, "minimum": 20, "maximum": 30},
            "d": {"type": "integer", "maximum": -5},
            "e": {"type": "number", "multipleOf": 0.25, "minimum": 1.1},
        },
        "required": ["a", "b", "c", "d", "e"],
    },
    "string lengths": {
        "type": "object",
        "properties": {"short": {"type": "string", "maxLength": 3}, "long": {"type": "string", "minLength": 120}},
        "required": ["short", "long"],
    },
    "pattern": {"type": "string", "pattern": "^[A-Z]{3}-\\d{4}(?:-[a-f]+)?$"},
    "formats": {
        "type": "object",
        "properties": {
            k: {"type": "string", "format": k} for k in ("date", "date-time", "email", "uri", "uuid", "ipv4")
        },
        "required": ["date", "email"],
    },
    "anyOf": {"anyOf": [{"type": "string", "maxLength": 5}, {"type": "integer", "minimum": 3}]},
    "oneOf": {
        "oneOf": [
            {"type": "object", "properties": {"ok": {"const": True}}, "required": ["ok"]},
            {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]},
        ]
    },
    "allOf": {
        "allOf": [
            {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
            {"properties": {"x": {"minimum": 4}, "y": {"type": "boolean"}}, "required": ["y"]},
        ]
    },
    "unique": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 3, "uniqueItems": True},
    "tuple": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False, "minItems": 2},
    "nullable": {"type": "object", "properties": {"note": {"type": ["string", "null"]}}, "required": ["note"]},
    "map": {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 3},
    "contains": {"type": "array", "items": {"type": "integer"}, "contains": {"const": 5}},
}


@each_case("name", SCHEMAS)
def test_structured_answer_fits_its_schema(client: DemoClient, name: str) -> None:
    for seed in range(10):
        jsonschema.validate(from_schema.generate(SCHEMAS[name], Dice(seed)), SCHEMAS[name])
    wanted = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMAS[name]}}
    whole = message(client.chat("Lisbon", response_format=wanted))["content"]
    jsonschema.validate(json.loads(whole), SCHEMAS[name])
    streamed = joined(client.chunks("Lisbon", response_format=wanted, model="demo-reasoner"))
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
