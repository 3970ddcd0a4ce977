"""Experiments of every shape, for round trips: trees with branches, every kind of part, unknown fields everywhere."""

from __future__ import annotations

from enum import Enum
from types import NoneType
from typing import Any, get_args

from hypothesis import strategies as st
from pydantic import BaseModel

from playground.domain.debugging import (
    Answer,
    AnswerRow,
    Debugging,
    Reason,
    ResultDraft,
    ToolRule,
)
from playground.domain.errors import Failure
from playground.domain.parts import Image, Part, Reasoning, Refusal, Text, ToolCall, ToolResult, Unknown
from playground.domain.prices import Asked, Price
from playground.domain.request import ReasoningReturn
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Outcome, Turn
from playground.domain.usage import Timing, Usage
from playground.engine.session.drafts import Draft, OpenEdit
from playground.engine.session.snapshot import CallState, Snapshot
from playground.jsonkit.values import JSONObject

TEXT = st.text(alphabet=st.sampled_from('aé\n\r\t"\\{}\u2028\U0001f600\ud800 \x00'), max_size=12)
WORD = st.text(alphabet="abc-_", min_size=1, max_size=6)
SECONDS = st.floats(0, 1e6)
JSON_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORD, inner, max_size=3),
    max_leaves=6,
)
OBJECT = st.dictionaries(WORD, JSON_VALUE, max_size=3)
EXTRA: st.SearchStrategy[Any] = st.just({}) | st.dictionaries(st.sampled_from(["chat", "messages"]), OBJECT, max_size=1)


SIMPLE: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT,
    bool: st.booleans(),
    int: st.integers(0, 9),
    float: SECONDS,
    JSONObject: OBJECT,
}


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


def few(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(strategy, max_size=2).map(tuple)


def simple(annotation: Any) -> st.SearchStrategy[Any] | None:
    """Return values of a type, if it is a simple one, optional or not."""
    if NoneType in get_args(annotation):
        (inner, *others) = (argument for argument in get_args(annotation) if argument is not NoneType)
        strategy = None if others else simple(inner)
        return None if strategy is None else maybe(strategy)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return st.sampled_from(annotation)
    return SIMPLE.get(annotation)


def some(kind: type[BaseModel], /, **fields: Any) -> st.SearchStrategy[Any]:
    """Return values of ``kind`` with all its simple fields and these, now and then with an unknown one."""
    simple_fields = {name: simple(field.annotation) for name, field in kind.model_fields.items()}
    names = {name: values for name, values in simple_fields.items() if values is not None} | fields
    unknown: st.SearchStrategy[dict[str, Any]] = st.just({}) | st.fixed_dictionaries({"from_tomorrow": JSON_VALUE})
    return st.builds(lambda fields, more: kind(**fields, **more), st.fixed_dictionaries(names), unknown)


CALL = some(ToolCall, id=WORD, name=WORD, extra=EXTRA)
PARTS: st.SearchStrategy[Part] = st.one_of(
    some(Text, extra=EXTRA),
    some(Reasoning, details=few(OBJECT), extra=EXTRA),
    some(Refusal),
    CALL,
    some(ToolResult, call_id=WORD),
    some(Image),
    some(Unknown, value=OBJECT),
)
OUTCOMES = some(
    Outcome,
    usage=maybe(some(Usage)),
    timing=maybe(some(Timing)),
    failure=maybe(some(Failure)),
    deviations=few(st.tuples(WORD, TEXT)),
    call_times=few(st.tuples(SECONDS, SECONDS)),
    asked=some(Asked, price=maybe(some(Price, currency=st.sampled_from(["$", "€"])))),
)
ANSWERS = some(Answer)
RULES = some(ToolRule, fixed=ANSWERS, rows=few(some(AnswerRow, answer=ANSWERS)))
CALLS = some(
    CallState,
    reason=maybe(some(Reason)),
    typed=maybe(some(ResultDraft, prepared=maybe(ANSWERS))),
    fork=few(ANSWERS),
)


@st.composite
def trees(draw: st.DrawFn) -> tuple[Turn, ...]:
    """Turns in any order, each below any other or at the top."""
    turns: list[Turn] = []
    for number in range(draw(st.integers(0, 7))):
        parents = st.sampled_from([None, *(earlier.id for earlier in turns)])
        turn = draw(
            some(
                Turn,
                id=st.just(f"t{number}"),
                parts=st.lists(PARTS, max_size=3).map(tuple),
                parent=parents,
                outcome=maybe(OUTCOMES),
                members=OBJECT,
                extra=EXTRA,
            )
        )
        turns.append(turn)
    return tuple(draw(st.permutations(turns)))


@st.composite
def experiments(draw: st.DrawFn) -> Snapshot:
    turns = draw(trees())
    snapshot: Snapshot = draw(
        some(
            Snapshot,
            id=WORD,
            protocol=st.sampled_from(["chat", "messages"]),
            parameters=st.dictionaries(st.sampled_from(["chat", "messages", "next"]), OBJECT, max_size=2),
            tools=few(some(ToolDefinition, name=WORD)),
            reasoning_return=maybe(some(ReasoningReturn)),
            variables=st.dictionaries(WORD, TEXT, max_size=2),
            debugging=some(Debugging, default=RULES, rules=st.dictionaries(WORD, RULES, max_size=2)),
            calls=few(CALLS),
            draft=some(Draft, images=few(some(Image)), calls=few(CALL)),
            editing=few(some(OpenEdit, written=maybe(CALL))),
            turns=st.just(turns),
            head=st.sampled_from([None, *(turn.id for turn in turns)]),
        )
    )
    return snapshot
