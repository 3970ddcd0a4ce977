"""An experiment as one value: complete, restored equal, and refused with the place of its fault."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.domain.debugging import STOPPED, Answer, AnswerRow, MatchKind, Policy, ResultDraft, ToolRule
from playground.domain.parts import Image, Reasoning, ToolCall, Unknown
from playground.domain.prices import Asked, Price
from playground.domain.request import ReasoningReturn, SendReasoning
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn, make_turn
from playground.domain.usage import Timing, Usage
from playground.engine.gateways.gateways import Gateways
from playground.engine.session.drafts import Draft
from playground.engine.session.session import Experiment, Session
from playground.engine.session.snapshot import copy_of, decode, encode_experiment, restore, snapshot
from tests.support.each_case import each_case

PIXEL = "data:image/png;base64,iVBORw0KGgo="


def again(session: Session, gateways: Gateways) -> Session:
    """Return the session restored from JSON text."""
    second = Experiment(gateways.client, profile_of=gateways.get, profile_id="").main
    restore(decode(json.loads(json.dumps(encode_experiment(snapshot(session))))), second)
    return second


def fill(session: Session) -> None:
    """Set a value of every kind."""
    question = make_turn(Role.USER, "Weather \ud800 in Ōsaka?", Image(url=PIXEL, detail="low", name="dot.png"))
    call = ToolCall(id="call_1", name="get_weather", arguments='{"city": "Osaka"', received='{"city": "Oslo"}')
    answer = Turn(
        id="answer",
        role=Role.ASSISTANT,
        parts=(
            Reasoning(text="hm", field="thinking", signature="s", details=({"a": [1, None]},)),
            call,
            Unknown(value={"x": None, "deep": nested(300)}),
        ),
        outcome=Outcome(
            ending=Ending.COMPLETE,
            usage=Usage(prompt=3, raw={"prompt_tokens": 3, "more": None}),
            timing=Timing(started_at=1.7e9, end=2.5),
            call_times=((0.5, 0.75),),
            deviations=(("code", "note"),),
            asked=Asked(profile_id="demo", model="m", price=Price(output=0.5)),
        ),
        members={"name": "Bob"},
    )
    session.history.transcript = (
        Transcript().append(question, answer).truncate_after(question.id).append(make_turn(Role.USER, "or"))
    )
    session.history.transcript = session.transcript.select("answer")
    session.change(title="Weather")
    session.experiment.pinned = session.experiment.archived = True
    session.change(tools=(ToolDefinition(name="get_weather", source='{"half": ', group="Weather"),))
    session.set_parameters(session.settings.current.model_copy(update={"stop": ("a", "b"), "temperature": "hot"}))
    session.set_parameters(session.settings.current.with_value("stream", False).with_value("stream", True))
    session.switch_protocol("messages")
    session.change(extra_body={"x": {"y": None}})
    session.change(extra_headers={"X-Team": "blue"})
    session.change(reasoning_return=ReasoningReturn(when=SendReasoning.ALWAYS, field="thinking"))
    session.set_unsent("extra_body", '{"half')
    session.change(variables={"city": "Oslo"})
    half = ToolCall(id="", name="get_w", arguments='{"half')
    session.with_draft(
        Draft(text="half a sent", role=Role.SYSTEM, images=(Image(url=PIXEL),), answers="call_1", calls=(half,))
    )
    row = AnswerRow(match=MatchKind.PATH, pattern="$.a", answer=Answer(text="b"))
    rule = ToolRule(policy=Policy.TABLE, rows=(row,))
    session.change(debugging=session.debugger.debugging.with_rule("get_weather", rule))
    session.debugger.notes.set_draft("answer", "call_1", ResultDraft(text="sun", is_error=True))
    session.debugger.notes.stops["answer", "call_1"] = STOPPED
    session.debugger.notes.set_fork_draft("answer", "call_1", (Answer(text="a"), Answer(never=True)))
    session.history.settings = session.settings.model_copy(update={"from_tomorrow": {"kept": None}})


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": value}
    return value


async def test_experiment_comes_back_whole(session: Session, gateways: Gateways) -> None:
    fill(session)
    back = again(session, gateways)
    assert snapshot(back) == snapshot(session).model_copy(update={"gateway": snapshot(back).gateway})
    assert back.transcript == session.transcript
    assert back.transcript.path[-1].calls[0].received == '{"city": "Oslo"}'
    assert back.settings.parameters == session.settings.parameters
    assert [back.settings.parameters["chat"].is_ours(name) for name in ("stream", "include_usage")] == [False, True]
    assert back.debugger.debugging == session.debugger.debugging
    assert back.debugger.notes.draft("answer", "call_1") == ResultDraft(text="sun", is_error=True)
    assert back.debugger.reason("answer", "call_1") == STOPPED
    assert (back.id, back.title, back.draft) == (session.id, "Weather", session.draft)
    experiment = session.experiment
    assert (back.experiment.created_at, back.experiment.changed_at) == (experiment.created_at, experiment.changed_at)
    duplicate = copy_of(snapshot(session), "b", "T, copy")
    assert (duplicate.id, duplicate.title, duplicate.pinned, duplicate.turns) == (
        "b",
        "T, copy",
        False,
        snapshot(session).turns,
    )
    assert duplicate.created_at > 0


async def test_unknown_fields_of_every_level_come_back(session: Session, gateways: Gateways) -> None:
    fill(session)
    written = encode_experiment(snapshot(session))
    written["tomorrow"] = None
    written["turns"][0]["tomorrow"] = {"a": None}
    written["turns"][0]["parts"][0]["tomorrow"] = 1
    written["debugging"]["rules"]["get_weather"]["tomorrow"] = [1]
    written["draft"]["tomorrow"] = "x"
    written["calls"][0]["tomorrow"] = True
    stored = decode(json.loads(json.dumps(written)))
    second = Experiment(gateways.client, profile_of=gateways.get, profile_id="").main
    restore(stored, second)
    assert encode_experiment(stored) == written
    encoded = encode_experiment(snapshot(second))
    assert encoded["tomorrow"] is None
    for name in ("turns", "debugging"):
        assert encoded[name] == written[name]


def test_new_experiment_is_untouched_until_a_parameter_is_set(gateways: Gateways) -> None:
    session = Experiment(gateways.client, profile_of=gateways.get, profile_id="demo", model="demo-chat").main
    assert snapshot(session).untouched
    session.switch_protocol("messages")
    assert snapshot(session).untouched
    session.set_parameters(session.settings.current.with_value("temperature", 1))
    assert not snapshot(session).untouched


TURN = {"id": "a", "role": "user", "parts": []}


@each_case(
    ("value", "words"),
    [
        (None, "must be a JSON object"),
        ([], "must be a JSON object"),
        ({}, "“id” is missing"),
        ({"id": 3}, "“id” must be text"),
        ({"id": "x", "turns": 3}, "“turns” must be a list"),
        ({"id": "x", "created_at": 1e300}, "created_at"),
        ({"id": "x", "created_at": float("nan")}, "created_at"),
        ({"id": "x", "turns": [{"id": "a", "role": "wizard"}]}, "turn 1: “role” must be one of 'system'"),
        ({"id": "x", "turns": [{**TURN, "parts": [{"kind": "text"}]}]}, "turn 1, part 1: “text” is missing"),
        ({"id": "x", "turns": [TURN, TURN]}, "another turn has"),
        ({"id": "x", "turns": [{**TURN, "parent": "b"}]}, "not among the turns"),
        ({"id": "x", "turns": [{**TURN, "parent": "a"}]}, "follows itself"),
        ({"id": "x", "turns": [{**TURN, "parent": "b"}, {**TURN, "id": "b", "parent": "a"}]}, "follows itself"),
        ({"id": "x", "turns": [TURN], "head": "b"}, "the head"),
        ({"id": "x", "tools": [{"name": 3}]}, "tool 1: “name” must be text"),
        ({"id": "x", "draft": {"images": [{}]}}, "“draft”, image 1: “url” is missing"),
        ({"id": "x", "debugging": {"step_limit": -1}}, "“debugging”: “step_limit” must not be less than 0"),
        ({"id": "x", "parameters": {"chat": 3}}, "“parameters”: “chat” must be an object"),
    ],
)
def test_invalid_experiment_is_refused_with_its_place(value: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words.replace(".", r"\.")):
        decode(value)


def test_circle_of_many_turns_is_refused() -> None:
    turns = [{**TURN, "id": str(n), "parent": str(n - 1) if n else "4999"} for n in range(5_000)]
    with pytest.raises(ValueError, match="follows itself"):
        decode({"id": "x", "turns": turns})


async def test_unknown_protocol_leaves_the_session_unchanged(session: Session) -> None:
    before = snapshot(session)
    with pytest.raises(ValueError, match="does not know"):
        restore(decode({"id": "x", "protocol": "telepathy"}), session)
    assert snapshot(session) == before
