from __future__ import annotations

import pytest

from playground.domain.tools import (
    ToolDefinition,
    check_arguments,
    check_definition,
    check_schema,
    definition_tokens,
    doubled_names,
)
from playground.jsonkit import limits
from playground.jsonkit.limits import TooCostlyError
from playground.jsonkit.problems import Problem
from playground.jsonkit.reading import READ_AT_MOST
from playground.jsonkit.validation import check_value
from playground.jsonkit.values import JSON

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "d"},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "description": "d"},
        "days": {"type": "array", "items": {"type": "integer"}, "description": "d"},
    },
    "required": ["city"],
}


def words(problems: list[Problem]) -> list[tuple[str, str]]:
    return [(p.where, p.message) for p in problems]


def test_sound_definition_has_no_problems() -> None:
    assert check_definition(ToolDefinition(name="get_weather", description="d", parameters=SCHEMA)) == []


@pytest.mark.parametrize("name", ["", "a b", "ä", "x" * 65, "a\n"])
def test_name_rule(name: str) -> None:
    assert check_definition(ToolDefinition(name=name, description="d"))[0].path == ("name",)


def test_missing_description_is_a_warning() -> None:
    (problem,) = check_definition(ToolDefinition(name="f", description=" "))
    assert problem.severity == "warning"


def test_duplicate_names_are_found_and_the_other_is_named() -> None:
    tool = ToolDefinition(name="f", description="d")
    ((number, problem),) = doubled_names((tool, tool))
    assert number == 1
    assert "tool 1" in problem.message


def test_definition_being_typed_is_not_sent_and_says_so() -> None:
    tool = ToolDefinition(name="f", description="d", source="{")
    assert not tool.sendable
    assert "not a JSON object yet" in check_definition(tool)[0].message
    assert not ToolDefinition(name="f", enabled=False).sendable


def test_definition_too_long_to_be_read_is_named() -> None:
    long = ToolDefinition(name="f", description="d", source='{"a": "' + "x" * READ_AT_MOST + '"}')
    assert "is more than 2 MB, which is not read, so this tool is not sent" in check_definition(long)[0].message


def test_schema_problems_say_where() -> None:
    (problem,) = check_schema({"type": "object", "properties": {"a": {"type": "strin"}}})
    assert problem.where == "parameters.properties.a.type"
    assert problem.message.startswith('"strin" is not a type; use string, number, integer')
    (problem,) = check_schema({"type": "object", "properties": {"a": {"type": ["string", "text"]}}})
    assert problem.message.startswith('"text" is not a type')
    assert check_schema([])[0].message == "must be a JSON Schema object"
    assert check_schema({"type": "string"})[0].severity == "warning"
    assert "“b” is required" in check_schema({"type": "object", "properties": {}, "required": ["b"]})[0].message


def test_parameters_without_a_description_are_one_warning() -> None:
    def described(schema: JSON) -> list[Problem]:
        return check_definition(ToolDefinition(name="f", description="d", parameters={"type": "object", **schema}))

    (problem,) = described({"properties": {n: {"type": "string"} for n in "abcde"} | {"z": {"description": "d"}}})
    assert problem.severity == "warning"
    assert problem.path == ("parameters", "properties", "a")
    assert problem.message == "“a”, “b”, “c” and 2 more have no description"
    (problem,) = described({"properties": {"o": {"description": "d", "properties": {"in": {"title": "In"}}}}})
    assert problem.path == ("parameters", "properties", "o", "properties", "in")
    assert problem.message == "“in” has no description"
    defs = {"$defs": {"x": {"type": "string", "description": "d"}}}
    assert described({"properties": {"a": {"$ref": "#/$defs/x"}, "b": True, "c": {"const": 1}}, **defs}) == []
    assert described({"properties": {"a": {"anyOf": [{"$ref": "#/$defs/x"}, {"type": "null"}]}}, **defs}) == []
    assert described({"properties": {}, "default": {"properties": {"a": {}}}}) == []


def test_required_names_and_references_are_checked_inside_too() -> None:
    inner = {"type": "object", "properties": {"a": {}}, "required": ["a", "ghost"]}
    (problem,) = check_schema({"type": "object", "properties": {"list": {"type": "array", "items": inner}}})
    assert problem.where == "parameters.properties.list.items.required"
    assert "“ghost” is required" in problem.message
    assert check_schema({"type": "object", "allOf": [{"required": ["a"]}, {"properties": {"a": {}}}]}) == []
    assert check_schema({"type": "object", "patternProperties": {"^x": {}}, "required": ["x1"]}) == []
    (problem,) = check_schema({"type": "object", "properties": {"required": {"type": "string"}}, "required": ["q"]})
    assert "“q”" in problem.message
    findings = check_schema({"type": "object", "properties": {"a": {"$ref": "#/$defs/x"}, "b": {"$ref": "x.json"}}})
    assert [(p.where, p.severity) for p in findings] == [
        ("parameters.properties.a.$ref", "error"),
        ("parameters.properties.b.$ref", "warning"),
    ]
    assert check_schema({"type": "object", "properties": {"$ref": {"type": "string"}}}) == []


def test_large_definition_is_told_with_its_size() -> None:
    tool = ToolDefinition(name="f", description="words " * 2000)
    assert definition_tokens(tool) > 3000
    (problem,) = check_definition(tool)
    assert problem.severity == "warning"
    assert problem.message == f"≈ {definition_tokens(tool):,} tokens go with every request for this tool alone"
    assert definition_tokens(ToolDefinition(name="f")) < 20


def test_arguments_that_fit_no_alternative() -> None:
    (problem,) = check_value({"a": "x" * 500}, {"anyOf": [{"type": "string"}, {"type": "null"}]})
    assert problem.message.endswith(" fits none of the alternatives")
    assert len(problem.message) < 250


def test_arguments_that_fit() -> None:
    assert check_arguments('{"city": "Oslo", "unit": "celsius", "days": [1]}', SCHEMA) == []
    assert check_arguments("", {"type": "object"}) == []
    assert check_arguments("anything", None) != []
    assert check_arguments("{}", None) == []


def test_arguments_that_do_not_fit_say_where_and_what() -> None:
    assert words(check_arguments('{"city": "Oslo", "unit": "C", "days": [1, "x"]}', SCHEMA)) == [
        ("days[1]", '"x" is not of type integer'),
        ("unit", '"C" is not one of celsius, fahrenheit'),
    ]
    assert words(check_arguments(" ", SCHEMA)) == [("", "“city” is missing")]
    assert words(check_arguments("[1]", SCHEMA)) == [("", "arguments must be a JSON object")]
    assert check_arguments('{"city": ', SCHEMA)[0].message.startswith("not JSON")


def test_hostile_schemas_and_values_are_one_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(check_value({"a": 1}, {"$ref": "https://example.invalid/schema"})) == 1
    assert len(check_value({"a": 1}, {"$ref": "#/nowhere"})) == 1
    assert len(check_value("x", {"pattern": "("})) == 1
    loop = {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}
    with pytest.raises(TooCostlyError):
        check_value(1, loop)
    monkeypatch.setattr(limits, "_lifted", True)
    assert len(check_value(1, loop)) == 1
    assert check_value([[]], {"items": {"$ref": "#"}}) == []
    assert check_arguments("[" * 100_000, SCHEMA)[0].message.startswith("not JSON")
    assert check_arguments('{"city":' + "9" * 5000 + "}", SCHEMA)[0].message.startswith("not JSON")


def test_long_messages_are_cut() -> None:
    (problem,) = check_value("x" * 1000, {"type": "integer"})
    assert len(problem.message) == 300
