"""The file of answers: what it means, what it refuses, and that it survives a round trip."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.domain.debugging import FAULTS, Answer, AnswerRow, Debugging, MatchKind, Policy, ToolRule
from playground.domain.parts import Image
from playground.engine.files.answer_table import read_answers, write_answers
from tests.support.each_case import each_case

EXAMPLE = {
    "playground_answers": 1,
    "step_limit": 5,
    "tools": {
        "get_weather": [
            {"equal": {"city": "Oslo"}, "result": {"temp": 4, "sky": "blå"}},
            {"path": "$[?@.city == 'Rome']", "result": "no such city", "error": True, "delay": 0.5},
            {"result": "sunny"},
        ],
        "ping": {"result": "pong"},
        "slow": [{"never": True}],
        "*": [{"result": "ab", "size": 5}],
    },
}


def file(**fields: Any) -> str:
    return json.dumps({"playground_answers": 1, **fields})


def test_example_table_gives_its_rules() -> None:
    rules = read_answers(json.dumps(EXAMPLE))
    assert rules.step_limit == 5
    first, second, third = rules.rule("get_weather").rows
    assert (first.match, json.loads(first.pattern)) == (MatchKind.EQUAL, {"city": "Oslo"})
    assert json.loads(first.answer.text) == {"temp": 4, "sky": "blå"}
    assert second.match is MatchKind.PATH
    assert second.answer == Answer(text="no such city", is_error=True, delay=0.5)
    assert third == AnswerRow(answer=Answer(text="sunny"))
    assert rules.rule("ping").rows[0].answer.text == "pong"
    assert rules.rule("slow").rows[0].answer.never
    assert rules.rule("anything else").rows[0].answer.body == "ababa"
    assert {rule.policy for rule in (*rules.rules.values(), rules.default)} == {Policy.TABLE}


def test_written_table_is_read_again() -> None:
    rules = read_answers(json.dumps(EXAMPLE))
    assert read_answers(write_answers(rules)) == rules
    faults = Debugging().with_rule("f", ToolRule(policy=Policy.TABLE, rows=tuple(row for _, row in FAULTS)))
    assert read_answers(write_answers(faults)).rule("f") == faults.rule("f")
    picture = Answer(text="a chart", images=(Image(url="data:image/png;base64,AAAA"),))
    charts = Debugging().with_rule("f", ToolRule(policy=Policy.TABLE, rows=(AnswerRow(answer=picture),)))
    assert read_answers(write_answers(charts)).rule("f") == charts.rule("f")
    odd = Debugging().with_rule("f", ToolRule(rows=(AnswerRow(answer=Answer(text="\ud800")),)))
    write_answers(odd).encode("utf-8")


@each_case(
    ("text", "words"),
    [
        ("{", "not JSON"),
        ("[]", "one JSON object"),
        ("{}", '"playground_answers": 1 is missing'),
        (file(tool={}), "unknown field 'tool'"),
        (file(tools=[]), '"tools" must be an object'),
        (file(tools={"f": [3]}), r"tools.f\[0\] must be an object"),
        (file(tools={"f": [{"result": "a"}, {}]}), r'tools.f\[1\]: "result" is missing'),
        (file(tools={"f": [{"answer": "a"}]}), r"tools.f\[0\]: unknown field 'answer'"),
        (file(tools={"f": [{"path": "$[", "result": ""}]}), "no JSONPath"),
        (file(tools={"f": [{"path": "$.a", "equal": 1, "result": ""}]}), "exclude each other"),
        (file(tools={"f": [{"result": "", "delay": -1}]}), r"tools.f\[0\]: “delay”"),
        (file(tools={"f": [{"result": "", "delay": "soon"}]}), r"tools.f\[0\]: “delay”"),
        (file(tools={"f": [{"result": "", "images": [1]}]}), '"images" must be a list'),
        (file(step_limit=-1), '"step_limit" must be'),
        (file(step_limit=True), '"step_limit" must be'),
    ],
)
def test_invalid_table_is_refused_with_the_place(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_answers(text)
