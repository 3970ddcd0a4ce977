"""Versions of JSON Schema: the one that ``$schema`` names decides what fits, and unknown ones are said."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.domain.output import check_answer, check_format
from playground.domain.tools import ToolDefinition, check_arguments, check_definition
from playground.engine.questions.partial_judge import Judge
from playground.jsonkit.tree import PartialJson
from playground.jsonkit.validation import check_value, schema_problem
from tests.support.each_case import each_case

DRAFT_04 = "http://json-schema.org/draft-04/schema#"
DRAFT_06 = "http://json-schema.org/draft-06/schema#"
DRAFT_07 = "http://json-schema.org/draft-07/schema#"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"

PAIR: Any = {"items": [{"type": "string"}, {"type": "integer"}], "additionalItems": False}
DEPENDENT: Any = {"required": ["card"], "dependencies": {"card": ["address"]}}
BESIDE_REF: Any = {"allOf": [{"$ref": "#/definitions/a", "minLength": 9}], "definitions": {"a": {"type": "string"}}}


@each_case(
    ("schema", "fitting", "unfit"),
    [
        ({"$schema": DRAFT_04, "minimum": 1, "exclusiveMinimum": True}, 2, 1),
        ({"$schema": DRAFT_04, "maximum": 1, "exclusiveMaximum": False}, 1, 2),
        ({"$schema": DRAFT_06, "exclusiveMinimum": 1}, 2, 1),
        ({"$schema": DRAFT_06, "contains": {"const": 3}}, [3], [4]),
        ({"$schema": DRAFT_04, **PAIR}, ["a", 1], ["a", "b"]),
        ({"$schema": DRAFT_07, **PAIR}, ["a", 1], ["a", 1, 2]),
        ({"$schema": DRAFT_2019, **PAIR}, ["a"], [1]),
        ({"$schema": DRAFT_2020, "prefixItems": [{"type": "string"}], "items": False}, ["a"], ["a", 1]),
        ({"$schema": DRAFT_07, **DEPENDENT}, {"card": 1, "address": 2}, {"card": 1}),
        ({"$schema": DRAFT_07, **BESIDE_REF}, "short", 1),
        ({"$schema": DRAFT_2020, **BESIDE_REF}, "long enough", "short"),
        ({"$schema": DRAFT_2019, "unevaluatedProperties": False, "properties": {"a": {}}}, {"a": 1}, {"b": 1}),
        ({"$schema": "https://json-schema.org/draft-07/schema", **PAIR}, ["a", 1], [1]),
        ({"$schema": "http://json-schema.org/schema#", "prefixItems": [{"type": "null"}]}, [None], [1]),
    ],
)
def test_named_version_decides_what_fits(schema: Any, fitting: Any, unfit: Any) -> None:
    assert schema_problem(schema) is None
    assert check_value(fitting, schema) == []
    assert check_value(unfit, schema) != []
    outer = {"$schema": schema["$schema"], "type": "object", "properties": {"a": schema}}
    assert check_arguments(json.dumps({"a": fitting}), {**outer, "definitions": schema.get("definitions", {})}) == []
    expected = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    assert check_answer(json.dumps(fitting), expected) == []
    assert check_answer(json.dumps(unfit), expected) != []


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"items": [{}]}, "draft-07"),
        ({"minimum": 1, "exclusiveMinimum": True}, "draft-04"),
        ({"$schema": DRAFT_04, "minimum": 1, "exclusiveMinimum": 1}, "boolean"),
    ],
)
def test_form_of_another_version_is_named(schema: Any, words: str) -> None:
    problem = schema_problem(schema)
    assert problem is not None
    assert words in problem.message


@pytest.mark.parametrize("address", ["http://json-schema.org/draft-03/schema#", "https://example.org/mine", "draft7"])
def test_unknown_version_is_read_as_the_newest_with_a_warning(address: str) -> None:
    schema: Any = {"$schema": address, "type": "object", "properties": {"a": {"prefixItems": [{"type": "null"}]}}}
    assert check_value({"a": [1]}, schema) != []
    assert check_value({"a": [None]}, schema) == []
    tool = ToolDefinition(name="t", description="A tool.", parameters=schema)
    messages = [problem for problem in check_definition(tool) if "version of JSON Schema" in problem.message]
    assert [(problem.severity, problem.path) for problem in messages] == [("warning", ("parameters", "$schema"))]
    assert "read as 2020-12" in messages[0].message
    assert any("version of JSON Schema" in problem.message for problem in check_format("x", schema, None))


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": DRAFT_07, "items": [{"type": "string"}, {"type": "integer"}]},
        {"prefixItems": [{"type": "string"}, {"type": "integer"}]},
        {"$schema": DRAFT_04, "items": {"type": "number", "minimum": 1, "exclusiveMinimum": True}},
    ],
)
def test_arguments_that_still_arrive_are_judged_by_the_named_version(schema: Any) -> None:
    judge = Judge({"type": "object", "properties": {"pair": schema}} | {"$schema": schema.get("$schema", DRAFT_2020)})
    reader = PartialJson()
    reader.read_fragment('{"pair": [1, ')
    assert [problem.path for problem in judge.problems(reader)] == [("pair", 0)]
