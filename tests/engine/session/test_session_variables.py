"""Variables in an experiment: names in the transcript, values in the request."""

from __future__ import annotations

import json

import pytest

from playground.domain.errors import RunRefusedError
from playground.domain.parts import ToolCall, ToolResult
from playground.domain.transcript import Ending, Outcome, Role, make_turn
from playground.engine.requests.edit import apply_edit, read_edit
from playground.engine.session.session import Session


def fill(session: Session) -> None:
    session.turns.add_turn(make_turn(Role.SYSTEM, "Be {{mood}}."))
    session.turns.add_turn(make_turn(Role.USER, "Weather in {{city}}? {{ city }}, \\{{city}}"))


async def test_run_sends_values_and_turns_keep_names(session: Session) -> None:
    fill(session)
    session.change(variables={"city": "Oslo", "mood": "kind"})
    await session.run()
    (exchange,) = session.exchanges.values()
    messages = json.loads(exchange.request_body)["messages"]
    assert [message["content"] for message in messages] == ["Be kind.", "Weather in Oslo? Oslo, {{city}}"]
    assert [turn.text for turn in session.transcript.path[:2]] == [
        "Be {{mood}}.",
        "Weather in {{city}}? {{ city }}, \\{{city}}",
    ]
    assert session.transcript.path[2].text


async def test_variable_without_a_value_is_refused_before_sending(session: Session) -> None:
    fill(session)
    session.change(variables={"mood": ""})
    assert session.next_request.unresolved() == ("city",)
    words = "{{city}} has no value yet. Fill it in under Variables, or have it sent as written."
    assert session.next_request.refusal() == words
    with pytest.raises(RunRefusedError, match="has no value yet"):
        await session.run()
    assert not session.exchanges
    assert session.next_request.body()["messages"][1]["content"] == "Weather in {{city}}? {{ city }}, {{city}}"
    session.send_as_written(["city"])
    assert session.next_request.unresolved() == ()
    assert session.next_request.refusal() == ""
    assert session.next_request.body()["messages"][1]["content"] == "Weather in {{city}}? {{ city }}, {{city}}"
    assert session.settings.variables["mood"] == ""


def test_braces_of_a_model_are_no_variables(session: Session) -> None:
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    answer = make_turn(Role.ASSISTANT, "Dear {{name}}", ToolCall(id="c", name="f", arguments='{"a": "{{x}}"}'))
    session.turns.add_turn(answer.model_copy(update={"outcome": Outcome(ending=Ending.COMPLETE)}))
    session.turns.add_turn(make_turn(Role.TOOL, "", ToolResult(call_id="c", text="{{found}}")))
    session.change(variables={"name": "X", "x": "X", "found": "rain"})
    assert session.next_request.refusal() == ""
    _, answer_message, result = session.next_request.body()["messages"]
    assert answer_message["content"] == "Dear {{name}}"
    assert answer_message["tool_calls"][0]["function"]["arguments"] == '{"a": "{{x}}"}'
    assert result["content"] == "rain"


def test_edited_request_keeps_variables_of_unchanged_turns(session: Session) -> None:
    fill(session)
    session.change(variables={"city": "Oslo", "mood": "kind"})
    body = session.next_request.body()
    body["messages"][0]["content"] = "Be grim."
    edited = read_edit(session, json.dumps(body))
    assert edited.notes == ("Messages that differ now hold values instead of variables: {{mood}}.",)
    apply_edit(session, edited)
    assert [turn.text for turn in session.transcript.path] == [
        "Be grim.",
        "Weather in {{city}}? {{ city }}, \\{{city}}",
    ]
    session.undo()
    body = session.next_request.body()
    body["messages"].insert(0, {"role": "user", "content": "First"})
    edited = read_edit(session, json.dumps(body))
    assert edited.notes == ()
    apply_edit(session, edited)
    path = session.transcript.path
    assert [turn.text for turn in path] == ["First", "Be {{mood}}.", "Weather in {{city}}? {{ city }}, \\{{city}}"]
