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
    CallServer,
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


def code(expected: Answer | CallServer | Reason | None) -> str:
    assert isinstance(expected, Reason)
    assert expected.words.endswith(".")
    return expected.code.value


def equal(pattern: str) -> AnswerRow:
    return AnswerRow(match=MatchKind.EQUAL, pattern=pattern)


def path(pattern: str) -> AnswerRow:
    return AnswerRow(match=MatchKind.PATH, pattern=pattern)


# Deciding


SUNNY = Answer(text="sunny")
FIXED = ToolRule(policy=Policy.FIXED, fixed=Answer(text="no", is_error=True), rows=TABLE.rows)
LONG_TRIP = TABLE.model_copy(update={"pause_on_path": "$[?@.days > 3]"})
BROKEN_PATH = TABLE.model_copy(update={"pause_on_path": "$["})
FROM_THIRD = TABLE.model_copy(update={"pause_from": 3})
ANY_ARGUMENTS = TABLE.model_copy(update={"pause_on_misfit": False})
CODE = ToolCall(id="a", name="code", arguments="print(1)", free_text=True)
MISFITS = ('{"town": "Oslo"}', "{not json", '{"city": 3}', "[]", '{"city": "a", "x": 1}')


@each_case(
    ("called", "rule", "count", "expected"),
    [
        (call(), Debugging().rule("get_weather"), {}, ReasonCode.BREAKPOINT),
        (call(), TABLE, {}, SUNNY),
        (call(), FIXED, {}, Answer(text="no", is_error=True)),
        (call(), ToolRule(policy=Policy.TABLE), {}, ReasonCode.NO_ROW),
        *((call(arguments), TABLE, {}, ReasonCode.MISFIT) for arguments in MISFITS),
        *((call(arguments), ANY_ARGUMENTS, {}, SUNNY) for arguments in MISFITS),
        (call('{"city": "Oslo", "days": 4}'), LONG_TRIP, {}, ReasonCode.PATH),
        (call('{"city": "Oslo", "days": 2}'), LONG_TRIP, {}, SUNNY),
        (call(), LONG_TRIP, {}, SUNNY),
        (call(), BROKEN_PATH, {}, ReasonCode.PATH),
        (call(), FROM_THIRD, {"nth": 2}, SUNNY),
        (call(), FROM_THIRD, {"nth": 3}, ReasonCode.FROM_NTH),
        (call(), FROM_THIRD, {"nth": 4}, ReasonCode.FROM_NTH),
        (call(), TABLE, {"repeated": 1}, ReasonCode.LOOP),
        (call(), TABLE, {"repeated": 2}, SUNNY),
        (call(name="get_time"), TABLE, {}, ReasonCode.UNKNOWN_TOOL),
        (CODE, ToolRule(), {}, ReasonCode.BREAKPOINT),
    ],
)
def test_rule_answers_a_call_or_pauses_for_a_reason(
    called: ToolCall, rule: ToolRule, count: dict[str, Any], expected: Answer | ReasonCode
) -> None:
    tool = TOOL if called.name == TOOL.name else None
    decision = decide(called, rule, tool, **count)
    assert (decision if isinstance(expected, Answer) else code(decision)) == expected


@each_case(
    ("called", "outcome", "reason"),
    [
        *(
            (call(arguments), {"ending": Ending.COMPLETE}, ReasonCode.MALFORMED)
            for arguments in ('{"city": "', "{not json", "[]", "null", '"Oslo"', "7", '{"x": NaN}', "{}{}")
        ),
        *((call(arguments), {"ending": Ending.COMPLETE}, None) for arguments in ("", " ", "{}", ' {"city": "Oslo"}\n')),
        (call(), {"ending": Ending.COMPLETE, "finish_reason": "length"}, ReasonCode.TRUNCATED),
        (call(), {"ending": Ending.CUT_OFF}, ReasonCode.TRUNCATED),
        (call(), {"ending": Ending.COMPLETE, "holes": ("not_json",)}, ReasonCode.HOLE),
        (CODE, {"ending": Ending.COMPLETE}, None),
    ],
)
def test_calls_that_are_not_whole_are_held_back_from_every_rule(
    called: ToolCall, outcome: dict[str, Any], reason: ReasonCode | None
) -> None:
    turn = Turn(id="t", role=Role.ASSISTANT, parts=(called,), outcome=Outcome(**outcome))
    pending = held_back(turn, called)
    assert (pending and code(pending)) == reason


def test_first_row_that_fits_answers_whatever_the_policy() -> None:
    rows = (equal('{"city": "Rome"}'), path("$[?@.city == 'Oslo']"), AnswerRow(answer=Answer(text="any")))
    named = [row.model_copy(update={"answer": Answer(text=f"row {n}")}) for n, row in enumerate(rows)]
    rule = ToolRule(policy=Policy.PAUSE, rows=tuple(named))
    assert answer_for(call('{"city":"Rome"}'), rule) == Answer(text="row 0")
    assert answer_for(call(), rule) == Answer(text="row 1")
    assert answer_for(call('{"city": "Bergen"}'), rule) == Answer(text="row 2")


# Rows


@each_case(
    ("row", "arguments", "fits"),
    [
        (equal('{"a": 1, "b": [1, 2]}'), '{"b":[1.0,2e0],"a":1}', True),
        (equal('{"a": 1}'), '{"a": true}', False),
        (equal('{"a": 0}'), '{"a": false}', False),
        (equal('{"a": 0}'), '{"a": -0.0}', True),
        (equal('{"a": "1"}'), '{"a": 1}', False),
        (equal('{"a": [1, 2]}'), '{"a": [2, 1]}', False),
        (equal('{"a": 100000000000000000000}'), '{"a": 1e20}', True),
        (equal("{}"), "", True),
        (equal("{}"), "  ", True),
        (equal('{"a": 1}'), '{"a": 1', False),
        (equal('{"a": 1'), '{"a": 1', False),
        (path("$.city"), '{"city": "Oslo"}', True),
        (path("$.town"), '{"city": "Oslo"}', False),
        (path("$[?@.city == 'Oslo']"), '{"city": "Oslo"}', True),
        (path("$[?@.city == 'Oslo']"), '{"city": "Rome"}', False),
        (path("$.places[?@.city == 'Oslo']"), '{"places": [{"city": "Rome"}, {"city": "Oslo"}]}', True),
        (path("$..name"), '{"a": [{"name": 1}]}', True),
        (path("$.*"), "{}", False),
        (path("$.city"), "{not json", False),
        (path("$["), '{"city": "Oslo"}', False),
        (path(""), '{"city": "Oslo"}', False),
    ],
)
def test_row_matches_equal_values_or_what_its_path_selects(row: AnswerRow, arguments: str, fits: bool) -> None:
    assert row_matches(row, arguments) is fits


@each_case(
    ("row", "fits"),
    [
        (AnswerRow(), True),
        (equal('"print(1)"'), True),
        (equal('"print(2)"'), False),
        (path("$[?search(@, 'print')]"), True),
        (path("$.code"), False),
    ],
)
def test_call_with_free_text_matches_rows_by_its_text(row: AnswerRow, fits: bool) -> None:
    rows = (row.model_copy(update={"answer": SUNNY}),)
    assert decide(CODE, ToolRule(policy=Policy.TABLE, rows=rows), None) == (SUNNY if fits else NO_ROW)


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
def test_spelling_of_json_does_not_count(value: dict[str, object]) -> None:
    spelled = [json.dumps(value), json.dumps(dict(reversed(value.items())), indent=3, ensure_ascii=False)]
    assert canonical(spelled[0]) == canonical(spelled[1])
    assert json.loads(canonical(spelled[0])) == value


def test_faults_have_the_answer_of_their_name() -> None:
    faults = dict(FAULTS)
    assert list(faults) == ["Empty", "Error text", "Malformed JSON", "1 MB", "Slow", "No reply (time out)"]
    assert faults["Empty"].answer.body == ""
    assert faults["Error text"].answer.is_error
    with pytest.raises(ValueError, match="Expecting"):
        json.loads(faults["Malformed JSON"].answer.body)
    assert len(faults["1 MB"].answer.body) == 1_000_000
    assert len(faults["1 MB"].model_dump_json()) < 300, "short to keep"
    assert faults["Slow"].answer.delay > 1
    assert faults["No reply (time out)"].answer.never


def test_rules_can_be_saved() -> None:
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
