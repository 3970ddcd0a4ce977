"""Rules, rows and reasons: what is decided for one call, without a gateway."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.domain.debugging import (
    FAULTS,
    NO_ROW,
    Answer,
    AnswerRow,
    Asking,
    Debugging,
    MatchKind,
    Policy,
    Reason,
    ReasonCode,
    ToolRule,
    answer_for,
    canonical,
    decide,
    held_back,
    path_problem,
    repeats,
    row_matches,
    row_problem,
    signature,
)
from playground.domain.parts import ToolCall
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Ending, Outcome, Role, Turn, make_turn, new_id
from playground.jsonkit import limits
from tests.support.each_case import each_case

TOOL = ToolDefinition(
    name="get_weather",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
        "additionalProperties": False,
    },
)
TABLE = ToolRule(policy=Policy.TABLE, rows=(AnswerRow(answer=Answer(text="sunny")),))


def call(arguments: str = '{"city": "Oslo"}', name: str = "get_weather") -> ToolCall:
    return ToolCall(id="c1", name=name, arguments=arguments)


def code(found: Answer | Asking | Reason | None) -> str:
    assert isinstance(found, Reason)
    assert found.words.endswith(".")
    return found.code.value


def equal(pattern: str) -> AnswerRow:
    return AnswerRow(match=MatchKind.EQUAL, pattern=pattern)


def path(pattern: str) -> AnswerRow:
    return AnswerRow(match=MatchKind.PATH, pattern=pattern)


# Deciding


def test_everything_pauses_until_told_otherwise() -> None:
    assert code(decide(call(), Debugging().rule("get_weather"), TOOL)) == ReasonCode.BREAKPOINT


def test_the_table_and_the_fixed_answer() -> None:
    assert decide(call(), TABLE, TOOL) == Answer(text="sunny")
    fixed = ToolRule(policy=Policy.FIXED, fixed=Answer(text="no", is_error=True), rows=TABLE.rows)
    assert decide(call(), fixed, TOOL) == Answer(text="no", is_error=True)
    assert code(decide(call(), ToolRule(policy=Policy.TABLE), TOOL)) == ReasonCode.NO_ROW


def test_the_first_row_that_fits_answers_whatever_the_policy() -> None:
    rows = (equal('{"city": "Rome"}'), path("$[?@.city == 'Oslo']"), AnswerRow(answer=Answer(text="any")))
    named = [row.model_copy(update={"answer": Answer(text=f"row {n}")}) for n, row in enumerate(rows)]
    rule = ToolRule(policy=Policy.PAUSE, rows=tuple(named))
    assert answer_for(call('{"city":"Rome"}'), rule) == Answer(text="row 0")
    assert answer_for(call(), rule) == Answer(text="row 1")
    assert answer_for(call('{"city": "Bergen"}'), rule) == Answer(text="row 2")


@pytest.mark.parametrize("arguments", ['{"town": "Oslo"}', "{not json", '{"city": 3}', "[]", '{"city": "a", "x": 1}'])
def test_arguments_that_do_not_fit_pause_unless_that_is_off(arguments: str) -> None:
    assert code(decide(call(arguments), TABLE, TOOL)) == ReasonCode.MISFIT
    off = TABLE.model_copy(update={"pause_on_misfit": False})
    assert decide(call(arguments), off, TOOL) == Answer(text="sunny")


def test_a_tool_that_is_not_on_offer_pauses() -> None:
    assert code(decide(call(name="get_time"), TABLE, None)) == ReasonCode.UNKNOWN_TOOL


def test_a_condition_on_the_arguments() -> None:
    rule = TABLE.model_copy(update={"pause_on_path": "$[?@.days > 3]"})
    assert code(decide(call('{"city": "Oslo", "days": 4}'), rule, TOOL)) == ReasonCode.PATH
    assert decide(call('{"city": "Oslo", "days": 2}'), rule, TOOL) == Answer(text="sunny")
    assert decide(call(), rule, TOOL) == Answer(text="sunny")
    broken = TABLE.model_copy(update={"pause_on_path": "$["})
    assert code(decide(call(), broken, TOOL)) == ReasonCode.PATH


def test_from_the_nth_call_on() -> None:
    rule = TABLE.model_copy(update={"pause_from": 3})
    assert decide(call(), rule, TOOL, nth=2) == Answer(text="sunny")
    assert code(decide(call(), rule, TOOL, nth=3)) == ReasonCode.FROM_NTH
    assert code(decide(call(), rule, TOOL, nth=4)) == ReasonCode.FROM_NTH


def test_a_loop_pauses_at_its_first_repetition_only() -> None:
    assert code(decide(call(), TABLE, TOOL, repeated=1)) == ReasonCode.LOOP
    assert decide(call(), TABLE, TOOL, repeated=2) == Answer(text="sunny")


@each_case("arguments", ['{"city": "', "{not json", "[]", "null", '"Oslo"', "7", '{"x": NaN}', "{}{}"])
def test_arguments_that_are_no_json_object_are_held_back_from_every_rule(arguments: str) -> None:
    turn = Turn(id="t", role=Role.ASSISTANT, parts=(call(arguments),), outcome=Outcome(ending=Ending.COMPLETE))
    assert code(held_back(turn, call(arguments))) == ReasonCode.MALFORMED


@pytest.mark.parametrize("arguments", ["", " ", "{}", ' {"city": "Oslo"}\n'])
def test_whole_arguments_are_not_held_back(arguments: str) -> None:
    turn = Turn(id="t", role=Role.ASSISTANT, parts=(call(arguments),), outcome=Outcome(ending=Ending.COMPLETE))
    assert held_back(turn, call(arguments)) is None


def test_the_calls_of_a_turn_that_is_not_whole_are_held_back() -> None:
    def why(**fields: Any) -> str:
        turn = Turn(id="t", role=Role.ASSISTANT, parts=(call(),), outcome=Outcome(**fields))
        return code(held_back(turn, call()))

    assert why(ending=Ending.COMPLETE, finish_reason="length") == ReasonCode.TRUNCATED
    assert why(ending=Ending.CUT_OFF) == ReasonCode.TRUNCATED
    assert why(ending=Ending.COMPLETE, holes=("not_json",)) == ReasonCode.HOLE


# Rows


@each_case(
    ("pattern", "arguments", "fits"),
    [
        ('{"a": 1, "b": [1, 2]}', '{"b":[1.0,2e0],"a":1}', True),
        ('{"a": 1}', '{"a": true}', False),
        ('{"a": 0}', '{"a": false}', False),
        ('{"a": 0}', '{"a": -0.0}', True),
        ('{"a": "1"}', '{"a": 1}', False),
        ('{"a": [1, 2]}', '{"a": [2, 1]}', False),
        ('{"a": 100000000000000000000}', '{"a": 1e20}', True),
        ("{}", "", True),
        ("{}", "  ", True),
        ('{"a": 1}', '{"a": 1', False),
        ('{"a": 1', '{"a": 1', False),
    ],
)
def test_equality_is_that_of_json_values(pattern: str, arguments: str, fits: bool) -> None:
    assert row_matches(equal(pattern), arguments) is fits


@each_case(
    ("pattern", "arguments", "fits"),
    [
        ("$.city", '{"city": "Oslo"}', True),
        ("$.town", '{"city": "Oslo"}', False),
        ("$[?@.city == 'Oslo']", '{"city": "Oslo"}', True),
        ("$[?@.city == 'Oslo']", '{"city": "Rome"}', False),
        ("$.places[?@.city == 'Oslo']", '{"places": [{"city": "Rome"}, {"city": "Oslo"}]}', True),
        ("$..name", '{"a": [{"name": 1}]}', True),
        ("$.*", "{}", False),
        ("$.city", "{not json", False),
        ("$[", '{"city": "Oslo"}', False),
        ("", '{"city": "Oslo"}', False),
    ],
)
def test_a_path_matches_where_it_selects_something(pattern: str, arguments: str, fits: bool) -> None:
    assert row_matches(path(pattern), arguments) is fits


def test_patterns_that_cannot_be_used_say_why() -> None:
    assert row_problem(equal("{")).startswith("not JSON")
    assert row_problem(path("$["))
    assert "\n" not in path_problem("$[?@.a ==")
    assert not row_problem(path("$.a"))
    assert not row_problem(AnswerRow())


@pytest.mark.parametrize("arguments", ["[" * 100_000, '{"a":' * 3_000 + "1" + "}" * 3_000, "9" * 5_000, '"\\ud800"'])
def test_hostile_arguments_match_or_not_and_never_raise(arguments: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_lifted", True)
    for row in (AnswerRow(), equal('{"a": 1}'), path("$..a"), path("$[?@.a == 1]")):
        assert row_matches(row, arguments) in (True, False)
    assert isinstance(signature(call(arguments)), str)
    assert code(decide(call(arguments), ToolRule(policy=Policy.TABLE, pause_on_path="$..a"), TOOL)) == "misfit"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**18), 10**18) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(st.text(max_size=5), json_values, max_size=4))
def test_the_spelling_of_json_does_not_count(value: dict[str, object]) -> None:
    spelled = [json.dumps(value), json.dumps(dict(reversed(value.items())), indent=3, ensure_ascii=False)]
    assert canonical(spelled[0]) == canonical(spelled[1])
    assert json.loads(canonical(spelled[0])) == value


def test_faults_are_what_they_are_called() -> None:
    faults = dict(FAULTS)
    assert list(faults) == ["Empty", "Error text", "Malformed JSON", "1 MB", "Slow", "Never"]
    assert faults["Empty"].answer.body == ""
    assert faults["Error text"].answer.is_error
    with pytest.raises(ValueError, match="Expecting"):
        json.loads(faults["Malformed JSON"].answer.body)
    assert len(faults["1 MB"].answer.body) == 1_000_000
    assert len(faults["1 MB"].model_dump_json()) < 300, "short to keep"
    assert faults["Slow"].answer.delay > 1
    assert faults["Never"].answer.never


def test_rules_survive_being_written_down() -> None:
    rules = Debugging(step_limit=3).with_rule("a", TABLE).with_default(ToolRule(pause_from=2))
    assert Debugging.model_validate_json(rules.model_dump_json()) == rules
    assert rules.with_rule("a", None).rule("a") == rules.default


# Loops


def calling(*arguments: str) -> Turn:
    calls = [ToolCall(id=f"c{n}", name="f", arguments=text) for n, text in enumerate(arguments)]
    return Turn(id=new_id(), role=Role.ASSISTANT, parts=tuple(calls))


def test_repeats_are_counted_by_round_since_the_last_word_of_the_user() -> None:
    turns = [calling("{}", "{}"), calling('{"a":1}', "{}"), calling("{ }")]
    path = [make_turn(Role.USER, "?"), calling("{}"), make_turn(Role.USER, "again"), *turns]
    assert repeats(path) == {(turns[1].id, "c1"): 1, (turns[2].id, "c0"): 2}


@pytest.mark.parametrize(
    ("row", "fits"),
    [
        (AnswerRow(), True),
        (AnswerRow(match=MatchKind.EQUAL, pattern='"print(1)"'), True),
        (AnswerRow(match=MatchKind.EQUAL, pattern='"print(2)"'), False),
        (AnswerRow(match=MatchKind.PATH, pattern="$[?search(@, 'print')]"), True),
        (AnswerRow(match=MatchKind.PATH, pattern="$.code"), False),
    ],
)
def test_a_call_with_free_text_matches_rows_by_its_text(row: AnswerRow, fits: bool) -> None:
    call = ToolCall(id="a", name="code", arguments="print(1)", free_text=True)
    answered = row.model_copy(update={"answer": Answer(text="1")})
    found = decide(call, ToolRule(policy=Policy.TABLE, rows=(answered,)), None)
    assert found == (Answer(text="1") if fits else NO_ROW)


def test_a_call_with_free_text_is_not_held_back_and_stops_at_its_breakpoint() -> None:
    call = ToolCall(id="a", name="code", arguments="print(1)", free_text=True)
    turn = Turn(id="t", role=Role.ASSISTANT, parts=(call,))
    assert held_back(turn, call) is None
    found = decide(call, ToolRule(), None)
    assert isinstance(found, Reason)
    assert found.code is ReasonCode.BREAKPOINT
