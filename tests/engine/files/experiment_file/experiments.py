"""Experiments of every shape, for round trips: trees with branches, every kind of part, unknown fields everywhere."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from playground.domain.debugging import (
    Answer,
    AnswerRow,
    Debugging,
    MatchKind,
    Policy,
    Reason,
    ReasonCode,
    ResultDraft,
    ToolRule,
)
from playground.domain.errors import Failure, FailureKind
from playground.domain.parts import Image, Part, Reasoning, Refusal, Text, ToolCall, ToolResult, Unknown
from playground.domain.prices import Asked, Price
from playground.domain.request import ReasoningReturn, SendReasoning
from playground.domain.roles import Role
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Ending, Outcome, Turn
from playground.domain.usage import Timing, Usage
from playground.engine.session.draft import Draft
from playground.engine.session.open_edits import OpenEdit, What
from playground.engine.session.snapshot import CallState, Snapshot

TEXT = st.text(alphabet=st.sampled_from('aé\n\r\t"\\{}\u2028\U0001f600\ud800 \x00'), max_size=12)
WORD = st.text(alphabet="abc-_", min_size=1, max_size=6)
SECONDS = st.floats(0, 1e6)
COUNT = st.integers(0, 2**40)
JSON_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORD, inner, max_size=3),
    max_leaves=6,
)
OBJECT = st.dictionaries(WORD, JSON_VALUE, max_size=3)
EXTRA: st.SearchStrategy[Any] = st.just({}) | st.dictionaries(st.sampled_from(["chat", "messages"]), OBJECT, max_size=1)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


def some(kind: Any, /, **fields: Any) -> st.SearchStrategy[Any]:
    """Values of ``kind``, now and then with a field that this version does not know."""
    unknown: st.SearchStrategy[dict[str, Any]] = st.just({}) | st.fixed_dictionaries({"from_tomorrow": JSON_VALUE})
    return st.builds(lambda known, more: kind(**known, **more), st.fixed_dictionaries(fields), unknown)


EDITED = some(
    OpenEdit,
    turn=WORD,
    what=st.sampled_from(What),
    call=TEXT,
    text=maybe(TEXT),
    written=maybe(some(ToolCall, id=TEXT, name=TEXT, arguments=TEXT)),
)
WRITTEN = some(
    Draft,
    text=TEXT,
    role=st.sampled_from(Role),
    images=st.lists(some(Image, url=TEXT), max_size=1).map(tuple),
    answers=TEXT,
    calls=st.lists(some(ToolCall, id=TEXT, name=TEXT, arguments=TEXT), max_size=2).map(tuple),
)
PARTS: st.SearchStrategy[Part] = st.one_of(
    some(Text, text=TEXT, extra=EXTRA),
    some(
        Reasoning,
        text=TEXT,
        field=maybe(WORD),
        signature=maybe(TEXT),
        redacted=maybe(TEXT),
        details=st.lists(OBJECT, max_size=2).map(tuple),
        extra=EXTRA,
    ),
    some(Refusal, text=TEXT),
    some(ToolCall, id=WORD, name=WORD, arguments=TEXT, id_is_ours=st.booleans(), received=maybe(TEXT), extra=EXTRA),
    some(ToolResult, call_id=WORD, text=TEXT, is_error=st.booleans(), by=WORD, seconds=maybe(SECONDS)),
    some(Image, url=TEXT, detail=maybe(WORD), name=maybe(TEXT)),
    some(Unknown, value=OBJECT),
)
FAILURE = some(Failure, kind=st.sampled_from(FailureKind), message=TEXT, status=maybe(st.integers(100, 599)), body=TEXT)
USAGE = some(Usage, prompt=maybe(COUNT), total=maybe(COUNT), cost=maybe(SECONDS), raw=maybe(OBJECT))
PRICES = some(Price, input=maybe(SECONDS), output=maybe(SECONDS), currency=st.sampled_from(["$", "€"]))
TIMING = some(Timing, started_at=SECONDS, first_content=maybe(SECONDS), end=maybe(SECONDS))
OUTCOMES = some(
    Outcome,
    ending=st.sampled_from(Ending),
    model=TEXT,
    finish_reason=maybe(WORD),
    usage=maybe(USAGE),
    timing=maybe(TIMING),
    failure=maybe(FAILURE),
    deviations=st.lists(st.tuples(WORD, TEXT), max_size=2).map(tuple),
    response_format=maybe(OBJECT),
    streamed=st.booleans(),
    call_times=st.lists(st.tuples(SECONDS, SECONDS), max_size=2).map(tuple),
    choice=st.integers(0, 9),
    choices=st.integers(1, 9),
    asked=some(Asked, profile_id=WORD, model=TEXT, price=maybe(PRICES)),
)
ANSWERS = some(Answer, text=TEXT, is_error=st.booleans(), delay=SECONDS, never=st.booleans())
ROWS = some(AnswerRow, match=st.sampled_from(MatchKind), pattern=TEXT, answer=ANSWERS)
RULES = some(
    ToolRule,
    policy=st.sampled_from(Policy),
    fixed=ANSWERS,
    rows=st.lists(ROWS, max_size=2).map(tuple),
    pause_on_path=TEXT,
)
TOOLS = some(
    ToolDefinition,
    name=WORD,
    description=TEXT,
    parameters=maybe(OBJECT),
    strict=maybe(st.booleans()),
    enabled=st.booleans(),
    source=maybe(TEXT),
    text=maybe(TEXT),
    group=TEXT,
)
CALLS = some(
    CallState,
    turn=WORD,
    call=WORD,
    reason=maybe(some(Reason, code=st.sampled_from(ReasonCode), words=TEXT)),
    typed=maybe(some(ResultDraft, text=TEXT, is_error=st.booleans(), prepared=maybe(ANSWERS))),
    fork=st.lists(ANSWERS, max_size=2).map(tuple),
)


@st.composite
def trees(draw: st.DrawFn) -> tuple[Turn, ...]:
    """Turns in any order of making, each below any other or at the top."""
    made: list[Turn] = []
    for number in range(draw(st.integers(0, 7))):
        turn = draw(
            some(
                Turn,
                id=st.just(f"t{number}"),
                role=st.sampled_from(Role),
                parts=st.lists(PARTS, max_size=3).map(tuple),
                parent=st.sampled_from([None, *(other.id for other in made)]),
                outcome=maybe(OUTCOMES),
                members=OBJECT,
                extra=EXTRA,
            )
        )
        made.append(turn)
    return tuple(draw(st.permutations(made)))


@st.composite
def experiments(draw: st.DrawFn) -> Snapshot:
    turns = draw(trees())
    made: Snapshot = draw(
        some(
            Snapshot,
            id=WORD,
            title=TEXT,
            created_at=SECONDS,
            changed_at=SECONDS,
            pinned=st.booleans(),
            profile_id=WORD,
            gateway=TEXT,
            protocol=st.sampled_from(["chat", "messages"]),
            model=TEXT,
            parameters=st.dictionaries(st.sampled_from(["chat", "messages", "next"]), OBJECT, max_size=2),
            tools=st.lists(TOOLS, max_size=2).map(tuple),
            extra_body=OBJECT,
            reasoning_return=maybe(some(ReasoningReturn, when=st.sampled_from(SendReasoning), field=TEXT)),
            variables=st.dictionaries(WORD, TEXT, max_size=2),
            unsent=OBJECT,
            debugging=some(Debugging, default=RULES, rules=st.dictionaries(WORD, RULES, max_size=2)),
            calls=st.lists(CALLS, max_size=2).map(tuple),
            draft=WRITTEN,
            editing=st.lists(EDITED, max_size=2).map(tuple),
            turns=st.just(turns),
            head=st.sampled_from([None, *(turn.id for turn in turns)]),
        )
    )
    return made
