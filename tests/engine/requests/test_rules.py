"""Rules for what a gateway does not take: what the Request page, the panel and an edit by hand make of them."""

from __future__ import annotations

import json
from typing import Any

from playground.domain.adaptations import Adaptation, AdaptationKind
from playground.domain.transcript import Role, make_turn
from playground.engine.gateways.profiles import Profile
from playground.engine.requests.edit import apply_edit, read_edit
from playground.engine.requests.field_flags import field_flags
from playground.engine.requests.snippets import LANGUAGES, write
from playground.engine.requests.snippets.sent import sent_by
from playground.engine.requests.view import FieldRow, Origin, request_view
from playground.engine.session.session import Session
from tests.support.each_case import each_case
from tests.support.editors import no_gateway

OMIT, RENAME, REPLACE, ROLE = AdaptationKind


def rule(kind: AdaptationKind, field: str, to: Any = None) -> Adaptation:
    return Adaptation(kind=kind, field=field, to=to, protocol="chat", why="no", learnt="2026-11-23")


def session_of(*rules: Adaptation, **values: Any) -> Session:
    profile = Profile(id="p", base_url="https://g.example/v1", adaptations=rules)
    session = Session(no_gateway, profile_id="p", model="m", profile_of=lambda _: profile)
    session.turns.add_turn(make_turn(Role.DEVELOPER, "Be short."))
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    for name, value in values.items():
        session.set_parameters(session.settings.current.with_value(name, value))
    return session


def rows(session: Session) -> dict[str, FieldRow]:
    return {row.name: row for row in request_view(session).fields}


def test_field_left_out_by_a_rule_is_a_row_with_the_reason() -> None:
    session = session_of(rule(OMIT, "stream_options"), rule(OMIT, "seed"), seed=7)
    shown = rows(session)
    row = shown["stream_options"]
    assert (row.value, row.origin) == (None, Origin.RULE)
    assert row.note == "left out: this gateway does not take it · learnt 2026-11-23"
    assert "stream_options.include_usage" not in shown
    assert shown["seed"].origin is Origin.RULE
    assert request_view(session).rules == 2
    assert "left out: this gateway does not take it" in field_flags(session)["seed"]
    assert "left out" in field_flags(session)["include_usage"]
    assert request_view(session_of(rule(OMIT, "seed"))).rules == 0, "it is not set, so nothing is done"


def test_renamed_and_replaced_fields_name_the_setting() -> None:
    session = session_of(
        rule(RENAME, "max_tokens", "max_completion_tokens"),
        rule(REPLACE, "tool_choice", "auto"),
        rule(ROLE, "developer", "system"),
        max_tokens=5,
        tool_choice="required",
    )
    shown = rows(session)
    assert shown["max_completion_tokens"].value == 5
    assert shown["max_completion_tokens"].note.startswith("set as max_tokens; sent as max_completion_tokens")
    assert (shown["tool_choice"].value, shown["tool_choice"].origin) == ("auto", Origin.RULE)
    assert "“developer” is sent as system" in shown["messages"].note
    assert "sent as max_completion_tokens" in field_flags(session)["max_tokens"]
    assert 'sent as "auto"' in field_flags(session)["tool_choice"]


def test_extra_body_overrules_a_rule() -> None:
    session = session_of(rule(OMIT, "seed"), seed=7)
    session.change(extra_body={"seed": 9})
    row = rows(session)["seed"]
    assert (row.value, row.origin) == (9, Origin.EXTRA)
    assert "has it left out; what is written by hand wins" in row.note
    assert request_view(session).rules == 0
    assert field_flags(session)["seed"] == "the Raw tab says otherwise, and wins"


@each_case("change", [{}, {"temperature": 0.5}])
def test_edit_by_hand_keeps_settings_below_a_rule(change: dict[str, Any]) -> None:
    session = session_of(
        rule(OMIT, "stream_options"),
        rule(RENAME, "max_tokens", "max_completion_tokens"),
        rule(ROLE, "developer", "system"),
        max_tokens=5,
    )
    was, path = session.settings.current, session.transcript.path
    edited = read_edit(session, json.dumps({**session.next_request.body(), **change}))
    apply_edit(session, edited)
    now = session.settings.current
    assert {**was.held, **change} == now.held
    assert (session.settings.extra_body, session.transcript.path) == ({}, path)


def test_field_written_back_by_hand_is_sent() -> None:
    session = session_of(rule(OMIT, "stream_options"), rule(ROLE, "developer", "system"))
    body = session.next_request.body()
    messages = [{"role": "system", "content": "Be long."}, *body["messages"][1:]]
    edit = {**body, "messages": messages, "stream_options": {"include_usage": True}}
    apply_edit(session, read_edit(session, json.dumps(edit)))
    assert session.settings.extra_body == {"stream_options": {"include_usage": True}}
    assert session.transcript.path[0].role is Role.DEVELOPER
    assert session.transcript.path[0].text == "Be long."
    assert session.next_request.body() == edit


@each_case("language", [row.id for row in LANGUAGES if "chat" in row.protocols])
def test_code_shows_the_adapted_request(language: str) -> None:
    session = session_of(rule(OMIT, "stream_options"), rule(ROLE, "developer", "system"), rule(OMIT, "seed"), seed=7123)
    profile = session.profile
    assert profile is not None
    code = write(language, sent_by(profile, session.next_request.build())).text
    assert "stream_options" not in code
    assert "7123" not in code
    assert "developer" not in code
    assert "system" in code
