"""Flags and notes on fields: of other fields, tools, extra bodies, rules of the gateway, and facts of the model."""

from __future__ import annotations

import json
from typing import Any

from playground.domain.adaptations import Adaptation, AdaptationKind
from playground.domain.model_facts import NOTHING_TOLD, ModelFacts
from playground.domain.parts import Image, Text, ToolCall
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Transcript, make_turn
from playground.engine.gateways.profiles import Profile
from playground.engine.requests.capability_warnings import (
    NO_IMAGES,
    NO_SCHEMA,
    NO_TOOLS,
    NOT_SUPPORTED,
    TOOLS,
    ContextLimits,
    context_limits,
    image_warning,
    limit_field,
    output_limit_words,
    settings_warnings,
    warning_sentences,
)
from playground.engine.requests.edit import apply_edit, read_edit
from playground.engine.requests.view import FieldRow, Origin, parameter_notes, request_view
from playground.engine.session.session import Experiment, Session
from playground.protocols import PROTOCOLS
from playground.protocols.protocol import get_protocol
from tests.support.each_case import each_case
from tests.support.editors import no_gateway

OMIT, RENAME, REPLACE, ROLE = AdaptationKind
SCHEMA = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}
TOOL = ToolDefinition(name="look", parameters={"type": "object"})
PROFILE = Profile(id="p", base_url="https://g.example/v1")


def session_of(
    protocol: str = "chat", profile: Profile = PROFILE, facts: ModelFacts = NOTHING_TOLD, **values: Any
) -> Session:
    """A message to the model “m”, of which these facts are known, with values in its parameters."""
    session = Experiment(
        no_gateway,
        profile_id="p",
        model="m",
        protocol=protocol,
        profile_of=lambda _: profile,
        facts_of=lambda _, model: facts if model == "m" else NOTHING_TOLD,
    ).main
    session.turns.add_turn(make_turn(Role.USER, "Hello {{name}}"))
    for name, value in values.items():
        session.set_parameters(session.settings.current.with_value(name, value))
    return session


def rule(kind: AdaptationKind, field: str, to: Any = None) -> Adaptation:
    return Adaptation(kind=kind, field=field, to=to, protocol="chat", why="no", learnt="2026-11-23")


def session_with_rules(*rules: Adaptation, **values: Any) -> Session:
    session = session_of(profile=PROFILE.model_copy(update={"adaptations": rules}), **values)
    session.turns.rewrite(Transcript().append(make_turn(Role.DEVELOPER, "Be short."), make_turn(Role.USER, "Hello")))
    return session


def rows(session: Session) -> dict[str, FieldRow]:
    return {row.name: row for row in request_view(session).fields}


def flagged(session: Session) -> dict[str, str]:
    """The flags on the Request page, by the field."""
    return {name: row.odd for name, row in rows(session).items() if row.odd}


@each_case("protocol", PROTOCOLS)
def test_choice_of_a_disabled_tool_is_flagged(protocol: str) -> None:
    session = session_of(protocol)
    choice = type(session.settings.current).tool_choice_for("look")
    session.set_parameters(session.settings.current.with_value("tool_choice", choice))
    assert "no tool is sent" in parameter_notes(session)["tool_choice"]
    session.change(tools=(TOOL.model_copy(update={"enabled": False}), TOOL.model_copy(update={"name": "other"})))
    assert "“look” is not among the tools that are sent" in parameter_notes(session)["tool_choice"]
    assert session.next_request.body()["tool_choice"], "it is sent nevertheless"
    session.change(tools=(TOOL,))
    assert parameter_notes(session) == {}


def test_thinking_budget_is_compared_with_the_limit_sent() -> None:
    session = session_of("messages", thinking={"type": "enabled", "budget_tokens": 4096})
    assert "not below max_tokens (4,096)" in parameter_notes(session)["thinking"], "the limit is the program's own"
    session.set_parameters(session.settings.current.with_value("max_tokens", 8000))
    assert parameter_notes(session) == {}
    session.change(extra_body={"thinking": {"budget_tokens": 9000}})
    flags = parameter_notes(session)["thinking"]
    assert "not below max_tokens (8,000)" in flags
    assert "not below max_tokens (8,000)" in rows(session)["thinking.budget_tokens"].odd
    assert rows(session)["thinking.type"].odd == ""


def test_field_overruled_by_an_extra_body_is_flagged() -> None:
    profile = Profile(id="p", base_url="https://g.example/v1", extra_body={"top_p": 0.5, "max_tokens": 7})
    session = session_of(profile=profile, temperature=0.2, top_p=0.9, max_completion_tokens=5)
    session.change(extra_body={"temperature": 0.3})
    flags = parameter_notes(session)
    assert flags["temperature"] == "overridden by an extra field"
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


def test_field_left_out_by_a_rule_is_a_row_with_the_reason() -> None:
    session = session_with_rules(rule(OMIT, "stream_options"), rule(OMIT, "seed"), seed=7)
    fields = rows(session)
    row = fields["stream_options"]
    assert (row.value, row.origin) == (None, Origin.RULE)
    assert row.note == "left out: this gateway does not take it · learnt 2026-11-23"
    assert "stream_options.include_usage" not in fields
    assert fields["seed"].origin is Origin.RULE
    assert request_view(session).rules == 2
    assert "left out: this gateway does not take it" in parameter_notes(session)["seed"]
    assert "left out" in parameter_notes(session)["include_usage"]
    assert request_view(session_with_rules(rule(OMIT, "seed"))).rules == 0, "it is not set, so nothing is done"


def test_renamed_and_replaced_fields_name_the_setting() -> None:
    session = session_with_rules(
        rule(RENAME, "max_tokens", "max_completion_tokens"),
        rule(REPLACE, "tool_choice", "auto"),
        rule(ROLE, "developer", "system"),
        max_tokens=5,
        tool_choice="required",
    )
    fields = rows(session)
    assert fields["max_completion_tokens"].value == 5
    assert fields["max_completion_tokens"].note.startswith("set as max_tokens; sent as max_completion_tokens")
    assert (fields["tool_choice"].value, fields["tool_choice"].origin) == ("auto", Origin.RULE)
    assert "“developer” is sent as system" in fields["messages"].note
    assert "sent as max_completion_tokens" in parameter_notes(session)["max_tokens"]
    assert 'sent as "auto"' in parameter_notes(session)["tool_choice"]


def test_extra_body_overrules_a_rule() -> None:
    session = session_with_rules(rule(OMIT, "seed"), seed=7)
    session.change(extra_body={"seed": 9})
    row = rows(session)["seed"]
    assert (row.value, row.origin) == (9, Origin.EXTRA)
    assert "gateway rule: left out; the edited value wins" in row.note
    assert request_view(session).rules == 0
    assert parameter_notes(session)["seed"] == "overridden by an extra field"


@each_case("change", [{}, {"temperature": 0.5}])
def test_edit_by_hand_keeps_settings_below_a_rule(change: dict[str, Any]) -> None:
    session = session_with_rules(
        rule(OMIT, "stream_options"),
        rule(RENAME, "max_tokens", "max_completion_tokens"),
        rule(ROLE, "developer", "system"),
        max_tokens=5,
    )
    was, path = session.settings.current, session.transcript.path
    edited = read_edit(session, json.dumps({**session.next_request.body(), **change}))
    apply_edit(session, edited)
    now = session.settings.current
    assert {**was.set_fields, **change} == now.set_fields
    assert (session.settings.extra_body, session.transcript.path) == ({}, path)


def test_field_written_back_by_hand_is_sent() -> None:
    session = session_with_rules(rule(OMIT, "stream_options"), rule(ROLE, "developer", "system"))
    body = session.next_request.body()
    messages = [{"role": "system", "content": "Be long."}, *body["messages"][1:]]
    edit = {**body, "messages": messages, "stream_options": {"include_usage": True}}
    apply_edit(session, read_edit(session, json.dumps(edit)))
    assert session.settings.extra_body == {"stream_options": {"include_usage": True}}
    assert session.transcript.path[0].role is Role.DEVELOPER
    assert session.transcript.path[0].text == "Be long."
    assert session.next_request.body() == edit


@each_case("protocol", PROTOCOLS)
def test_limit_of_each_protocol_is_compared_with_the_model(protocol: str) -> None:
    parameters = get_protocol(protocol).parameters_type.begin({})
    facts, name = ModelFacts(context=8_000, output=1_024), limit_field(parameters)
    assert name
    assert context_limits(facts, parameters.with_value(name, 4_096)) == ContextLimits(8_000, 1_024, 4_096)
    assert context_limits(NOTHING_TOLD, parameters.with_value(name, None)) == ContextLimits()
    assert context_limits(NOTHING_TOLD, parameters.with_value(name, "many")).requested is None
    assert context_limits(NOTHING_TOLD, parameters.with_value(name, -3)).requested is None
    assert output_limit_words(NOTHING_TOLD, parameters) == ("", False)
    most = "the model writes 1,024 at most, by the gateway's list"
    assert output_limit_words(facts, parameters.with_value(name, 1_024)) == (most, False)
    above = "more than the 1,024 that the model writes at most, by the gateway's list"
    assert output_limit_words(facts, parameters.with_value(name, 1_025)) == (above, True)


@each_case(
    ("room", "prompt", "begins"),
    [
        (ContextLimits(), 10**9, ""),
        (ContextLimits(output=5, requested=9), 10**9, ""),
        (ContextLimits(context=100), 100, ""),
        (ContextLimits(context=100, requested=40), 60, ""),
        (ContextLimits(context=100), 101, "About 101 tokens are more than the 100"),
        (
            ContextLimits(context=100, requested=41),
            60,
            "About 60 tokens and up to 41 that may be written are more than the 100",
        ),
    ],
)
def test_prompt_larger_than_the_context_is_a_problem(room: ContextLimits, prompt: int, begins: str) -> None:
    words = room.problem(prompt)
    assert bool(words) is bool(begins)
    assert words.startswith(begins)


@each_case("protocol", PROTOCOLS)
def test_tools_for_a_model_without_tools_are_flagged_and_sent(protocol: str) -> None:
    session = session_of(protocol, facts=ModelFacts(tools=False))
    assert settings_warnings(session) == ()
    session.change(tools=(TOOL,))
    assert warning_sentences(settings_warnings(session), TOOLS) == f"T{NO_TOOLS[1:]}."
    assert flagged(session) == {"tools": NO_TOOLS}
    assert session.next_request.body()["tools"], "nothing is kept from going out"
    session.change(tools=(TOOL.model_copy(update={"enabled": False}),))
    assert flagged(session) == {}
    session.change(tools=(TOOL,), model="another")
    assert flagged(session) == {}, "the list has no facts of that model"


@each_case("protocol", PROTOCOLS)
def test_images_for_a_model_that_refuses_them_are_flagged(protocol: str) -> None:
    refuses = ModelFacts(inputs=frozenset({"text"}), refused=frozenset({"image"}))
    session = session_of(protocol, facts=refuses)
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    assert flagged(session) == {}
    session.turns.add_turn(
        make_turn(Role.USER, "").model_copy(update={"parts": (Text(text="Look"), Image(url="https://i.example/a.png"))})
    )
    assert flagged(session) == {get_protocol(protocol).conversation[-1]: NO_IMAGES}
    assert image_warning(refuses, 2).startswith("The model does not support images, by the gateway's list;")
    assert image_warning(refuses, 0) == image_warning(ModelFacts(inputs=frozenset({"text"})), 2) == ""
    assert flagged(session_of(protocol)) == {}


def test_parameter_missing_in_the_list_is_flagged() -> None:
    facts = ModelFacts(parameters=frozenset({"temperature", "max_tokens", "reasoning", "structured_outputs", "stop"}))
    session = session_of(
        facts=facts, temperature=1, top_p=0.5, seed=7, max_completion_tokens=10, reasoning_effort="low"
    )
    flags = parameter_notes(session)
    assert {name for name, words in flags.items() if NOT_SUPPORTED in words} == {"top_p", "seed"}
    assert {name: words for name, words in flagged(session).items() if words == NOT_SUPPORTED}.keys() == {
        "top_p",
        "seed",
    }
    body = session.next_request.body()
    assert (body["top_p"], body["seed"]) == (0.5, 7)


def test_parameters_of_responses_that_no_list_names_are_not_flagged() -> None:
    facts = ModelFacts(parameters=frozenset({"max_tokens", "reasoning"}))
    names: dict[str, Any] = {"include": ("reasoning.encrypted_content",), "truncation": "auto", "prompt_cache_key": "k"}
    session = session_of("responses", facts=facts, top_p=0.5, reasoning_summary="auto", max_output_tokens=16, **names)
    assert flagged(session) == {"top_p": NOT_SUPPORTED}


def test_json_schema_the_model_does_not_follow_is_flagged() -> None:
    session = session_of(facts=ModelFacts(schema_kept=False), response_format=SCHEMA)
    assert warning_sentences(settings_warnings(session), ("response_format",)).startswith(
        "The model does not support JSON schemas"
    )
    assert flagged(session) == {"response_format": NO_SCHEMA}
    session.set_parameters(session.settings.current.with_value("response_format", {"type": "json_object"}))
    assert flagged(session) == {}
