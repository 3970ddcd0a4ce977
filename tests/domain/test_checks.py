"""Checks of an evaluation's answers: what passes, what fails, what cannot be said, and in which words."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from playground.domain.checks import CHECKS, OFFERED, AnyCheck
from playground.domain.checks.asked import Judge, You
from playground.domain.checks.calls import Calls, ToolCalled
from playground.domain.checks.check import Check, Facts, Verdict
from playground.domain.checks.endings import Finish, Refused
from playground.domain.checks.figures import Cheap, FirstToken, Latency, Tokens
from playground.domain.checks.json_answers import FitsSchema, IsJSON, PathEquals
from playground.domain.checks.texts import Contains, Equals, Matches, Similar, StartsWith, edit_distance
from playground.domain.costs import AnswerMetrics
from playground.domain.encoding import encode
from playground.domain.parts import Refusal, Text, ToolCall
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Ending, Outcome, Role, Turn
from playground.jsonkit.limits import TooCostlyError
from tests.support.each_case import each_case

WEATHER = ToolDefinition(
    name="get_weather",
    parameters={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


def answer(text: str = "", *, finish: str | None = "stop", refusal: str = "") -> Turn:
    parts: tuple[Any, ...] = ((Text(text=text),) if text else ()) + ((Refusal(text=refusal),) if refusal else ())
    return Turn(id="t", role=Role.ASSISTANT, parts=parts, outcome=Outcome(ending=Ending.COMPLETE, finish_reason=finish))


def called(name: str, arguments: str) -> Turn:
    return Turn(id="c", role=Role.ASSISTANT, parts=(ToolCall(id="1", name=name, arguments=arguments),))


def look(check: Check, text: str = "", **more: Any) -> Verdict:
    return check.verdict(Facts((answer(text),), metrics=AnswerMetrics(**more)))


SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@each_case(
    ("check", "text", "passed"),
    [
        (Contains(text="Oslo"), "It is cold in Oslo.", True),
        (Contains(text="Oslo"), "It is cold in oslo.", False),
        (Contains(text="OSLO", ignore_case=True), "It is cold in oslo.", True),
        (StartsWith(text="Yes"), "\n Yes, it is.", True),
        (StartsWith(text="Yes"), "Well, yes", False),
        (Equals(text="42"), " 42\n", True),
        (Equals(text=""), "", True),
        (Equals(text="42"), "420", False),
        (Matches(pattern=r"\b\d+ °C"), "It is 21 °C.", True),
        (Matches(pattern=r"^\d"), "It is 21 °C.", False),
        (Matches(pattern="(?i)LISBON"), "Lisbon", True),
        (IsJSON(), '{"a": [1]}', True),
        (IsJSON(), '```json\n{"a": 1}\n```', False),
        (IsJSON(fenced=True), '```json\n{"a": 1}\n```', True),
        (IsJSON(), "", False),
        (IsJSON(anywhere=True), 'Here {x} is it:\n```json\n{"a": [1]}\n```\nDone.', True),
        (IsJSON(anywhere=True), "no {x} at all [really", False),
        (IsJSON(anywhere=True), "42", False),
        (FitsSchema(json_schema=SCHEMA, anywhere=True), 'first {"n": "1"}, then {"n": 1}', True),
        (FitsSchema(json_schema=SCHEMA, anywhere=True), 'only {"n": "1"}', False),
        (FitsSchema(json_schema=SCHEMA), '{"n": 1}', True),
        (FitsSchema(json_schema=SCHEMA), '{"n": "1"}', False),
        (FitsSchema(json_schema=SCHEMA), "no", False),
        (PathEquals(path="$.city", value="Oslo"), '{"city": "Oslo"}', True),
        (PathEquals(path="$.city", value='"Oslo"'), '{"city": "Oslo"}', True),
        (PathEquals(path="$.n", value="1"), '{"n": 1.0}', True),
        (PathEquals(path="$.n", value="1"), '{"n": "1"}', True),  # what was typed may be a text
        (PathEquals(path="$.n", value="2"), '{"n": 1}', False),
        (PathEquals(path="$.n"), '{"n": null}', True),
        (PathEquals(path="$.m"), '{"n": null}', False),
        (PathEquals(path="$.list[*]", value="b"), '{"list": ["a", "b"]}', True),
        (Similar(text="kitten", least=0.5), "sitting", True),
        (Similar(text="kitten", least=0.6), "sitting", False),
        (Finish(reason="stop"), "x", True),
        (Finish(reason="length"), "x", False),
    ],
)
def test_check_of_the_answers_text(check: Check, text: str, passed: bool) -> None:
    result = look(check, text)
    assert result.passed is passed
    assert result.reason
    turned = look(check.model_copy(update={"negated": True}), text)
    assert turned.passed is not passed
    assert turned.score == pytest.approx(1 - result.score)
    assert turned.reason == result.reason


def test_calls_are_those_of_all_rounds() -> None:
    turns = (called("get_weather", '{"city": "Rome"}'), called("get_weather", '{"town": "Oslo"}'), answer("Done"))
    facts = Facts(turns, (WEATHER,))
    for check, passed in (
        (ToolCalled(tool="get_weather"), True),
        (ToolCalled(), True),
        (ToolCalled(tool="search"), False),
        (ToolCalled(tool="get_weather", fits=True), True),
        (ToolCalled(tool="get_weather", fits=True, path="$.town"), False),
        (ToolCalled(path="$[?@.city == 'Rome']"), True),
        (ToolCalled(arguments='{"city":"Rome"}'), True),
        (ToolCalled(arguments='{"city":"Bergen"}'), False),
        (ToolCalled(negated=True), False),
        (Calls(least=2, most=2), True),
        (Calls(least=3), False),
        (Calls(most=1), False),
        (Calls(tool="search", most=0), True),
    ):
        assert check.verdict(facts).passed is passed, check
    none = Facts((answer("Hello"),))
    assert ToolCalled(negated=True).verdict(none) == Verdict(True, 1.0, "no tool was called")
    assert ToolCalled(tool="search").verdict(facts).reason == "search was not called; get_weather was"
    assert ToolCalled(fits=True).verdict(Facts((called("x", "{}"),))).reason == "called x({}): no such tool is on offer"


def test_unknown_metrics_are_not_judged() -> None:
    metrics = {"seconds": 2.5, "first": 0.4, "tokens": 120, "price": 0.02, "currency": "$"}
    for check, passed in (
        (Latency(seconds=2.5), True),
        (Latency(seconds=2.4), False),
        (FirstToken(seconds=0.3), False),
        (Tokens(most=120), True),
        (Cheap(most=0.01), False),
    ):
        assert look(check, "x", **metrics).passed is passed
        for negated in (False, True):
            assert look(check.model_copy(update={"negated": negated}), "x").passed is None


def test_only_a_marked_refusal_counts() -> None:
    assert Refused().verdict(Facts((answer(refusal="I will not."),))).passed is True
    assert Refused().verdict(Facts((answer("x", finish="content_filter"),))).passed is True
    assert Refused().verdict(Facts((answer("I cannot help with that."),))).passed is False


@each_case(
    ("check", "words"),
    [
        (Contains(), "no text"),
        (Matches(), "no pattern"),
        (FitsSchema(), "no schema"),
        (FitsSchema(json_schema={"type": "wrong"}), "not a type"),
        (PathEquals(), "no path"),
        (PathEquals(path="$..["), "no JSONPath"),
        (ToolCalled(path="$["), "no JSONPath"),
        (ToolCalled(arguments="{"), "not JSON"),
        (Calls(least=2, most=1), "less than"),
        (Finish(reason=""), "no finish reason"),
        (Judge(rubric="good"), "no model"),
        (Judge(model="m", rubric=" "), "no rubric"),
    ],
)
def test_incomplete_check_names_its_problem_and_never_judges(check: Check, words: str) -> None:
    assert words in check.problem
    for negated in (False, True) if check.lack else ():
        verdict = check.model_copy(update={"negated": negated}).verdict(Facts((called("x", "{}"), answer("a"))))
        assert verdict == Verdict(None, 0.0, check.lack)


def test_checks_by_a_model_or_a_person_are_not_judged_locally() -> None:
    for check in (Judge(model="m", rubric="good"), You()):
        assert check.asks
        assert look(check, "x").passed is None


def test_case_values_fill_every_field() -> None:
    values = {"expected": "Oslo", "kind": "integer"}
    assert look(Contains(text="{{expected}}").filled(values), "In Oslo").passed is True
    schema = FitsSchema(json_schema={"properties": {"{{expected}}": {"type": "{{kind}}"}}})
    assert schema.names == ("expected", "kind")
    assert schema.filled(values).json_schema == {"properties": {"Oslo": {"type": "integer"}}}
    plain = Contains(text="x")
    assert plain.filled(values) is plain
    assert PathEquals(path="$.{{expected}}").problem == ""


def test_costly_patterns_and_texts_are_refused() -> None:
    assert look(Matches(pattern="^(a+)+$"), "a" * 5_000 + "b").passed is False
    with pytest.raises(TooCostlyError):
        look(Matches(pattern="(?=a)b"), "ab")  # looks ahead: the linear engine cannot
    with pytest.raises(TooCostlyError):
        look(Similar(text="a" * 2_100), "b" * 2_000)
    assert look(Similar(text="a" * 2_000), "b" * 2_000).score == 0.0


def slow_distance(first: str, second: str) -> int:
    row = list(range(len(second) + 1))
    for up, letter in enumerate(first, 1):
        row, before = [up], row
        for index, against in enumerate(second, 1):
            row.append(min(before[index] + 1, row[-1] + 1, before[index - 1] + (letter != against)))
    return row[-1]


@given(st.text("abcä", max_size=12), st.text("abcä", max_size=12))
def test_edit_distance_equals_the_textbook_one(first: str, second: str) -> None:
    assert edit_distance(first, second) == slow_distance(first, second)


def test_edit_distance_of_longer_texts() -> None:
    chance = random.Random(1)
    for _ in range(3):
        first, second = ("".join(chance.choices("abcde ", k=chance.randrange(100, 300))) for _ in range(2))
        assert edit_distance(first, second) == slow_distance(first, second)


def test_each_kind_of_check_has_hints_and_can_be_saved() -> None:
    read = TypeAdapter(AnyCheck)
    for kind in CHECKS:
        created = kind.model_validate({})
        rows = kind.hints()
        assert [name for name, _ in rows[-2:]] == ["negated", "weight"]
        assert {name for name, _ in rows} >= set(kind.model_fields) - {"kind", "profile_id"}
        assert all(hint.label and hint.help for _, hint in rows)
        assert created.title == kind.TITLE
        assert kind.HELP.startswith(("Passes", "A model", "You"))
        assert read.validate_python(json.loads(json.dumps(encode(created)))) == created
    assert OFFERED["Not contains"]().title == "Not contains"
    assert len(OFFERED) == len(CHECKS) + 2


def test_check_of_a_newer_version_is_kept_as_it_is() -> None:
    value = {"kind": "sentiment", "tone": "glad", "negated": True}
    read = TypeAdapter(AnyCheck).validate_python(value)
    assert {**encode(read), "weight": 1.0} == {**value, "weight": 1.0}
    assert read.verdict(Facts(())).passed is None
    with pytest.raises(ValueError, match="kind"):
        TypeAdapter(AnyCheck).validate_python({"text": "x"})
