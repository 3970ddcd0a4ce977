"""What the panel says of a field because of what else is sent: other fields, tools, and the extra bodies."""

from __future__ import annotations

import json

import pytest

from playground.domain.parts import ToolCall
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, make_turn
from playground.engine.gateways.profiles import Profile
from playground.engine.requests.edit import read_edit
from playground.engine.requests.field_flags import field_flags
from playground.engine.requests.view import request_view
from playground.engine.session.session import Session
from tests.support.each_case import each_case
from tests.support.editors import no_gateway

TOOL = ToolDefinition(name="look", parameters={"type": "object"})


def session_of(protocol: str = "chat", profile: Profile | None = None, **values: object) -> Session:
    found = profile or Profile(id="p", base_url="https://g.example/v1")
    session = Session(no_gateway, profile_id="p", model="m", protocol=protocol, profile_of=lambda _: found)
    session.turns.add_turn(make_turn(Role.USER, "Hello {{name}}"))
    for name, value in values.items():
        session.set_parameters(session.settings.current.with_value(name, value))
    return session


@pytest.mark.parametrize("protocol", ["chat", "messages"])
def test_choice_of_a_disabled_tool_is_flagged(protocol: str) -> None:
    session = session_of(protocol)
    choice = type(session.settings.current).tool_choice_for("look")
    session.set_parameters(session.settings.current.with_value("tool_choice", choice))
    assert "no tool is sent" in field_flags(session)["tool_choice"]
    session.change(tools=(TOOL.model_copy(update={"enabled": False}), TOOL.model_copy(update={"name": "other"})))
    assert "“look” is not among the tools that are sent" in field_flags(session)["tool_choice"]
    assert session.next_request.body()["tool_choice"], "it is sent all the same"
    session.change(tools=(TOOL,))
    assert field_flags(session) == {}


def test_thinking_budget_is_compared_with_the_limit_sent() -> None:
    session = session_of("messages", thinking={"type": "enabled", "budget_tokens": 4096})
    assert "not below max_tokens (4,096)" in field_flags(session)["thinking"], "the limit is the program's own"
    session.set_parameters(session.settings.current.with_value("max_tokens", 8000))
    assert field_flags(session) == {}
    session.change(extra_body={"thinking": {"budget_tokens": 9000}})
    flags = field_flags(session)["thinking"]
    assert "not below max_tokens (8,000)" in flags
    rows = {row.name: row.odd for row in request_view(session).fields}
    assert "not below max_tokens (8,000)" in rows["thinking.budget_tokens"]
    assert rows["thinking.type"] == ""


def test_field_overruled_by_an_extra_body_is_flagged() -> None:
    profile = Profile(id="p", base_url="https://g.example/v1", extra_body={"top_p": 0.5, "max_tokens": 7})
    session = session_of(profile=profile, temperature=0.2, top_p=0.9, max_completion_tokens=5)
    session.change(extra_body={"temperature": 0.3})
    flags = field_flags(session)
    assert flags["temperature"] == "the Raw tab says otherwise, and wins"
    assert flags["top_p"] == "the gateway's settings say otherwise, and win"
    assert "max_tokens is sent as well" in flags["max_completion_tokens"]
    assert "max_completion_tokens is sent as well" in flags["max_tokens"]
    assert set(flags) == {"temperature", "top_p", "max_completion_tokens", "max_tokens"}


def test_request_edited_by_hand_gets_the_same_notes() -> None:
    session = session_of()
    body = {**session.next_request.body(), "tool_choice": "required", "max_tokens": 5, "max_completion_tokens": 5}
    notes = " ".join(read_edit(session, json.dumps(body)).notes)
    assert "“tool_choice”: no tool is sent to choose from" in notes
    assert "“max_tokens”: max_completion_tokens is sent as well" in notes


@each_case(
    ("protocol", "note"),
    [
        ("chat", ""),
        ("messages", "call ids that the Messages protocol does not take are sent in another spelling: “f:0” as “f_0”"),
    ],
)
def test_messages_have_a_note_on_replaced_call_ids(protocol: str, note: str) -> None:
    session = session_of(protocol)
    call = ToolCall(id="f:0", name="f", arguments="{}")
    session.turns.add_turn(make_turn(Role.ASSISTANT, "", call))
    session.turns.answer("f:0", "1")
    session.change(variables={"name": "Ann"})
    view = request_view(session)
    assert [row.note for row in view.fields if row.name == "messages"] == [note]
    assert ("f_0" in view.text) is (protocol == "messages")
