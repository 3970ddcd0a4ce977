"""Answers judged by the format they were asked for: every error has its place, and nothing is ever raised."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.domain.output import check_answer, check_format, schema_of, wants_json
from playground.jsonkit.problems import Problem
from playground.jsonkit.values import JSONObject
from playground.protocols.protocol import format_in
from tests.support.each_case import each_case

SCHEMA: JSONObject = {
    "type": "object",
    "properties": {
        "vendor": {"type": "string"},
        "items": {"type": "array", "items": {"type": "object", "properties": {"price": {"type": "number"}}}},
    },
    "required": ["vendor"],
    "additionalProperties": False,
}
CHAT: JSONObject = {"type": "json_schema", "json_schema": {"name": "invoice", "schema": SCHEMA}}
MESSAGES: JSONObject = {"type": "json_schema", "schema": SCHEMA}
JSON_MODE: JSONObject = {"type": "json_object"}


def words(problems: list[Problem]) -> list[tuple[str, str]]:
    return [(problem.where, problem.message) for problem in problems]


def test_format_is_found_in_either_protocols_body() -> None:
    assert format_in("chat", {"model": "m", "response_format": CHAT}) == CHAT
    assert format_in("messages", {"output_config": {"effort": "low", "format": MESSAGES}}) == MESSAGES
    assert format_in("messages", {"output_config": {"effort": "low"}}) is None
    assert format_in("chat", {"response_format": "json"}) is None
    assert format_in("", {"response_format": CHAT}) is None
    assert schema_of(CHAT) == schema_of(MESSAGES) == SCHEMA
    assert schema_of(JSON_MODE) is None
    assert wants_json(CHAT)
    assert wants_json(JSON_MODE)
    assert not wants_json({"type": "text"})
    assert not wants_json(None)


@pytest.mark.parametrize("form", [CHAT, MESSAGES])
def test_misfit_has_its_path(form: JSONObject) -> None:
    assert check_answer('{"vendor": "Acme", "items": [{"price": 1}]}', form) == []
    bad = '{"items": [{"price": 1}, {}, {"price": "12"}], "note": null}'
    assert sorted(words(check_answer(bad, form))) == [
        ("", "“vendor” is missing"),
        ("items[2].price", '"12" is not of type number'),
        ("note", "is not allowed by the schema"),
    ]


def test_json_mode_asks_for_json_only() -> None:
    assert check_answer('{"anything": [1, 2]}', JSON_MODE) == []
    assert len(check_answer("Sure!", JSON_MODE)) == 1
    assert check_answer("Sure!", {"type": "text"}) == []
    assert check_answer("Sure!", None) == []


@each_case(
    ("text", "reason"),
    [
        ("", "the answer is empty"),
        ("Here you are: {}", "it begins with other text"),
        ('```json\n{"vendor": "Acme"}\n```', "it is in a Markdown code fence"),
        ('{"vendor": "Acme"}\nHope that helps!', "other text follows the JSON (line 2, column 1)"),
        ('{"vendor": "Ac', "it breaks off before its end (line 1)"),
        ('{\n  "vendor": "Acme",\n  "items": [\n', "it breaks off before its end (line 3)"),
        ('{"vendor" "Acme"}', "line 1, column 11: expecting ':' delimiter"),
        ('{"vendor": NaN}', "NaN is not JSON"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_answer_that_is_no_json_has_a_reason(text: str, reason: str) -> None:
    assert words(check_answer(text, CHAT)) == [("", f"not JSON: {reason}")]


@given(st.text(max_size=60), st.sampled_from([CHAT, MESSAGES, JSON_MODE, {"type": "json_schema"}, {"type": 7}]))
def test_no_answer_and_no_format_raises(text: str, form: JSONObject) -> None:
    for problem in check_answer(text, form):
        assert problem.message


def test_broken_schema_is_a_problem_and_no_failure() -> None:
    form: JSONObject = {
        "type": "json_schema",
        "json_schema": {"name": "n", "schema": {"$ref": "http://evil.example/s"}},
    }
    assert "schema cannot be applied" in check_answer("{}", form)[0].message


def test_names_follow_the_rule() -> None:
    assert words(check_format("", SCHEMA, None)) == [("name", "a name is needed")]
    for name in ("in voice", "ünvoice", "a" * 65):
        assert words(check_format(name, SCHEMA, None)) == [("name", "use letters, digits, _ and - only, at most 64")]
    assert check_format("in_voice-2", SCHEMA, None) == []
    assert check_format(None, SCHEMA, None) == []


def test_schema_is_checked_as_for_tools_and_strictly_when_strict() -> None:
    wrong: JSONObject = {"type": "object", "properties": {"a": {"type": "text"}}, "required": ["b"]}
    findings = check_format("n", wrong, None)
    assert [(p.where, p.severity) for p in findings] == [
        ("schema.properties.a.type", "error"),
        ("schema.required", "warning"),
    ]
    loose: JSONObject = {
        "type": "object",
        "properties": {"rows": {"type": "array", "items": {"type": "object", "properties": {"x": {}}}}},
        "required": ["rows"],
        "additionalProperties": False,
    }
    assert check_format("n", loose, False) == []
    assert [p.where for p in check_format("n", loose, True)] == [
        "schema.properties.rows.items",
        "schema.properties.rows.items.properties",
    ]
    assert {p.severity for p in check_format("n", loose, True)} == {"warning"}
