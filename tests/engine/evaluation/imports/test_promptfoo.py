"""A promptfoo configuration: what is taken, and what is said to be left out."""

from __future__ import annotations

import pytest

from playground.domain.checks import CHECKS
from playground.domain.checks.asked import Judge
from playground.domain.checks.calls import ToolCalled
from playground.domain.checks.check import Check
from playground.domain.checks.figures import Latency
from playground.domain.checks.json_answers import FitsSchema
from playground.domain.checks.texts import Contains, Matches
from playground.engine.evaluation.imports.asserts import read_assert, write_assert
from playground.engine.evaluation.imports.promptfoo import read_configuration
from playground.engine.evaluation.imports.table import CasesError
from playground.engine.session.settings import ExperimentSettings

CONFIGURATION = """
description: Weather
prompts:
  - "What is the weather in {{city}}?"
providers:
  - openai:chat:gpt-4o
  - id: anthropic:messages:claude-sonnet
    label: Sonnet
    config: {temperature: 0.2, max_tokens: 100, apiKey: secret}
  - python:mine.py
defaultTest:
  vars: {unit: celsius}
  assert:
    - type: not-contains
      value: API key
    - type: javascript
      value: output.length < 5
tests:
  - description: South
    vars: {city: [Lisbon, Rome]}
    assert:
      - {type: icontains-all, value: [warm, sun], weight: 2}
      - {type: llm-rubric, value: is kind, threshold: 0.8}
  - vars: {city: Oslo}
    options: {transform: x}
  - 7
  - vars: {city: "file://cities.txt"}
env: {A: B}
"""


def test_what_it_asks_for() -> None:
    found = read_configuration(CONFIGURATION)
    assert [turn.text for turn in found.turns] == ["What is the weather in {{city}}?"]
    assert [(case.name, case.values) for case in found.cases] == [
        ("South", {"unit": "celsius", "city": "Lisbon"}),
        ("South 2", {"unit": "celsius", "city": "Rome"}),
        ("", {"unit": "celsius", "city": "Oslo"}),
    ]
    assert found.cases[0].checks == (
        Contains(text="warm", ignore_case=True, weight=2.0),
        Contains(text="sun", ignore_case=True, weight=2.0),
        Judge(rubric="is kind", least=0.8),
    )
    assert found.checks == (Contains(text="API key", negated=True),)
    assert [variant.name for variant in found.variants] == ["gpt-4o", "Sonnet"]
    applied = found.variants[1].applied(ExperimentSettings())
    assert (applied.model, applied.current.held["temperature"]) == ("claude-sonnet", 0.2)
    assert [str(bad) for bad in found.bad] == [
        "Line 26: a test must be an object, not 7",
        "Line 27: a value stands in another file, which is not fetched",
    ]


def test_what_was_left_out_is_said() -> None:
    notes = "\n".join(read_configuration(CONFIGURATION).notes)
    for words in ("“env”", "“javascript”", "“options”", "“apiKey”", "python:mine.py"):
        assert words in notes
    assert "secret" not in notes


def test_several_prompts_are_several_cases() -> None:
    chat = '[{"role": "system", "content": "Be brief"}, {"role": "user", "content": "{{x}}"}]'
    found = read_configuration(f"prompts: ['Say {{{{x}}}}', '{chat}']\ntests: [{{vars: {{x: a}}, description: one}}]")
    assert found.turns == ()
    assert [[turn.text for turn in case.turns] for case in found.cases] == [["Say {{x}}"], ["Be brief", "{{x}}"]]
    assert [case.name for case in found.cases] == ["one · prompt 1", "one · prompt 2"]
    assert len({case.id for case in found.cases}) == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1", "no promptfoo configuration"),
        ("prompts: [x]\ntests: file://tests.csv", "must be a list"),
        ("prompts: [x", "line"),
        ("- 1", "no promptfoo configuration"),
    ],
)
def test_what_is_none_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(CasesError, match=words):
        read_configuration(text)


@pytest.mark.parametrize(
    ("spelled", "check"),
    [
        ({"type": "contains-any", "value": ["a.b", "c"]}, Matches(pattern=r"a\.b|c")),
        ({"type": "is-json", "value": {"type": "object"}}, FitsSchema(json_schema={"type": "object"})),
        ({"type": "latency", "threshold": 2500}, Latency(seconds=2.5)),
        ({"type": "is-valid-openai-tools-call"}, ToolCalled(fits=True)),
        ({"type": "not-regex", "value": "^a"}, Matches(pattern="^a", negated=True)),
    ],
)
def test_assertions_become_checks(spelled: dict[str, object], check: Check) -> None:
    assert read_assert(spelled) == ((check,), ())


@pytest.mark.parametrize(
    "spelled",
    [
        {"type": "similar", "value": "x"},
        {"value": "x"},
        {"type": "latency", "value": "soon"},
        7,
        {"type": "contains", "value": "file://x"},
    ],
)
def test_what_is_no_check_here_is_named(spelled: object) -> None:
    checks, notes = read_assert(spelled)
    assert checks == ()
    assert len(notes) == 1
    assert "left out" in notes[0]


def test_what_is_written_as_an_assertion_is_read_as_the_same_check() -> None:
    written = 0
    given = {"text": "x", "pattern": "x", "json_schema": {"type": "object"}, "rubric": "x"}
    for kind in CHECKS:
        made = kind.model_validate({name: given[name] for name in kind.model_fields if name in given})
        for negated in (False, True):
            check = made.model_copy(update={"negated": negated, "weight": 2.0})
            spelled = write_assert(check)
            if spelled is not None:
                written += 1
                assert read_assert(spelled)[0] == (check,), kind
    assert written >= 20
