"""Problems of arguments that are still arriving."""

from __future__ import annotations

import json
import random
import time
from typing import Any

import pytest

from playground.domain.tools import check_arguments
from playground.engine.questions.partial_judge import Judge
from playground.jsonkit import limits
from playground.jsonkit.problems import Problem
from playground.jsonkit.schema_sample import sample
from playground.jsonkit.tree import PartialJson
from tests.jsonkit.schemas import schemas
from tests.jsonkit.texts import read_partial
from tests.support.each_case import each_case

SOUND = [(name, schema) for name, schema in schemas() if name != "40_wrong_shapes"]
ODD = [None, True, 0, -1, 2.5, 10**6, "", "odd", [], ["odd"], {}, {"odd": 1}]


def place_of(kind: str, name: str, type_: str) -> dict[str, Any]:
    """A schema of an object that its member “kind” names."""
    return {
        "type": "object",
        "properties": {"kind": {"const": kind}, name: {"type": type_}},
        "required": ["kind", name],
        "additionalProperties": False,
    }


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "unit": {"enum": ["celsius", "fahrenheit"]},
        "days": {"type": "array", "items": {"type": "integer", "minimum": 1}},
        "place": {"oneOf": [place_of("point", "x", "integer"), place_of("name", "text", "string")]},
    },
    "required": ["city"],
}


def judge(reader: PartialJson, schema: Any, truncated: bool = False) -> list[Problem]:
    """Return the problems of a text that is judged once."""
    return Judge(schema).problems(reader, truncated)


def words(problems: list[Problem]) -> list[tuple[str, str]]:
    return [(problem.where, problem.message) for problem in problems]


def errors(problems: list[Problem]) -> list[Problem]:
    return [problem for problem in problems if problem.severity == "error"]


def streamed(text: str, schema: Any = SCHEMA) -> list[tuple[str, str]]:
    """Return the problems of a text that has not ended."""
    return words(judge(read_partial(text, ended=False), schema))


@pytest.fixture
def unbounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lift the bounds, as in a worker process: recursive schemas are checked there."""
    monkeypatch.setattr(limits, "_lifted", True)


@pytest.mark.usefixtures("unbounded")
@each_case(("name", "schema"), SOUND)
def test_valid_arguments_have_no_problem_while_they_arrive(name: str, schema: Any) -> None:
    reader, keeper = PartialJson(), Judge(schema)
    for character in json.dumps(sample(schema), ensure_ascii=False, indent=1):
        reader.read_fragment(character)
        assert errors(keeper.problems(reader)) == []
    reader.finish()
    assert errors(keeper.problems(reader)) == []


def mutated(value: Any, dice: random.Random) -> Any:
    """Return the value with one change."""
    if isinstance(value, dict) and value and dice.random() < 0.8:
        key = dice.choice(list(value))
        change = dice.random()
        if change < 0.15:
            return {name: inner for name, inner in value.items() if name != key}
        if change < 0.3:
            return {("odd" if name == key else name): inner for name, inner in value.items()}
        return {name: mutated(inner, dice) if name == key else inner for name, inner in value.items()}
    if isinstance(value, list) and value and dice.random() < 0.8:
        position = dice.randrange(len(value))
        return [mutated(inner, dice) if number == position else inner for number, inner in enumerate(value)]
    return dice.choice(ODD)


@pytest.mark.usefixtures("unbounded")
@each_case(("name", "schema"), SOUND)
def test_partial_problems_agree_with_the_validator(name: str, schema: Any) -> None:
    dice = random.Random(name)
    for number in range(8):
        value = mutated(sample(schema), dice)
        text = json.dumps(value)
        reader = read_partial(text, ended=False)
        early = errors(judge(reader, schema))
        reader.finish()
        last = errors(judge(reader, schema))
        judged = check_arguments(text, schema)
        assert bool(last) is bool(judged), (text, last, judged)
        assert not early or judged, (text, early)
        if number == 0:
            by_character, keeper = PartialJson(), Judge(schema)
            for character in text:
                by_character.read_fragment(character)
                keeper.problems(by_character)
            assert keeper.problems(by_character) == judge(read_partial(text, ended=False), schema)


def test_problems_appear_as_soon_as_they_are_certain() -> None:
    assert streamed('{"city": "Os') == []
    assert streamed('{"city": [') == [("city", "a list is not of type string")]
    assert streamed('{"city": 4,') == [("city", "4 is not of type string")]
    assert streamed('{"unit": "celsi') == []
    assert streamed('{"unit": "celsi"') == [("unit", '"celsi" is not one of celsius, fahrenheit')]
    assert streamed('{"days": [1, 2.5, "x') == [
        ("days[1]", "2.5 is not of type integer"),
        ("days[2]", "a text is not of type integer"),
    ]
    assert streamed('{"days": [0,') == [("days[0]", "0 is less than the minimum of 1")]
    assert streamed('{"town": 1') == [("town", "is not among the tool's parameters")]
    assert streamed('{"city": "a", "city": "b"') == [("city", "“city” is there twice; the last one counts")]
    assert streamed("{}") == [("", "“city” is missing")]
    assert streamed("{") == []


def test_discriminator_selects_the_alternative() -> None:
    assert streamed('{"place": {"x": 1, "kind": "poi') == []
    assert streamed('{"place": {"kind": "point", "text": ') == []
    assert streamed('{"place": {"kind": "point", "text": "a') == [("place.text", "is not allowed by the schema")]
    assert streamed('{"place": {"kind": "nowhere"') == [("place.kind", '"nowhere" is not "point"')]
    assert streamed('{"place": {"x": "1') == [("place.x", "a text is not of type integer")]
    assert streamed('{"place": {"kind": "name"}') == [("place", "“text” is missing")]
    ended = judge(read_partial('{"city": "a", "place": {"kind": "name"}}'), SCHEMA)
    assert words(ended) == [("place", "“text” is missing")]


def test_problem_of_a_cut_call_has_its_place() -> None:
    (problem,) = judge(read_partial('{"city": "Oslo", "days": [1, '), SCHEMA, truncated=True)
    assert words([problem]) == [("days", "incomplete JSON: the limit on tokens was reached")]
    assert problem.offset == 29
    (problem,) = judge(read_partial('{"city": "Os'), SCHEMA)
    assert words([problem]) == [("city", "incomplete JSON: the JSON has no end")]
    (problem,) = judge(read_partial(""), SCHEMA, truncated=True)
    assert problem.message.startswith("cut off before it began")
    assert judge(read_partial('{"city": "a"}'), SCHEMA, truncated=True) == []


def test_empty_arguments_mean_an_empty_object() -> None:
    assert words(judge(read_partial(""), SCHEMA)) == [("", "“city” is missing")]
    assert judge(read_partial(" "), {"type": "object"}) == []
    assert judge(read_partial("{}"), None) == []
    assert words(judge(read_partial("[1]"), SCHEMA)) == [("", "arguments must be a JSON object")]


def test_problems_have_offsets_in_the_order_of_the_text() -> None:
    text = '{"unit": "C", "days": ["x"], "town": 1,}'
    problems = judge(read_partial(text), SCHEMA)
    assert [(p.where, p.offset, p.severity) for p in problems] == [
        ("", 0, "error"),
        ("unit", 9, "error"),
        ("days[0]", 23, "error"),
        ("town", 37, "warning"),
        ("", 38, "error"),
    ]
    assert problems[-1].message == "a comma too many"
    complete = judge(read_partial(text.replace(",}", "}")), SCHEMA)
    assert [(p.where, p.offset) for p in complete] == [("", 0), ("unit", 9), ("days[0]", 23), ("town", 37)]


@each_case(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"properties": {"a": {"anyOf": [{"properties": {"b": {"const": n}}} for n in range(200)]}}},
        {"patternProperties": {"(": {}}, "additionalProperties": False},
        {"properties": 5, "required": 5, "type": 5, "enum": 5},
        {"properties": {"a": {"type": ["x", 5], "minimum": "1", "minLength": "x"}}},
        {"$ref": "#/nowhere"},
        {"items": 5, "prefixItems": 5, "anyOf": 5, "allOf": {}},
    ],
)
def test_hostile_schemas_do_not_raise(schema: Any) -> None:
    for text in ('{"a": {"b": 3}, "c": [1]}', '{"a": 1e999, "b": ' + "9" * 5000 + "}", "[" * 5000):
        for ended in (False, True):
            judge(read_partial(text, ended=ended), schema)


def test_long_argument_costs_little_at_each_repaint_and_problems_are_limited() -> None:
    reader, keeper = PartialJson(), Judge(SCHEMA)
    reader.read_fragment('{"city": "a", "days": [' + "1, " * 20_000)
    keeper.problems(reader)
    best = 1.0
    for _ in range(5):
        start = time.thread_time()
        for _ in range(20):
            reader.read_fragment("2, 3, ")
            keeper.problems(reader)
        best = min(best, (time.thread_time() - start) / 20)
    assert best < 0.002
    problems = judge(read_partial(json.dumps({"city": "a", "days": ["x"] * 5000}), ended=False), SCHEMA)
    assert len(problems) == 201
    assert problems[-1].message == "more problems are not listed"
