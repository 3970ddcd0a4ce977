"""The next request field by field, and a body edited by hand read back into the settings."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from playground.domain.parts import Reasoning, Text, ToolCall, ToolResult
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Ending, Outcome, Role, Turn, make_turn, new_id
from playground.engine.gateways.gateways import Gateways
from playground.engine.gateways.profiles import Profile
from playground.engine.gateways.secrets import Secret
from playground.engine.requests.edit import apply_edit, read_edit, unmerge_body
from playground.engine.requests.view import Origin, RequestView, request_view
from playground.engine.session.drafts import Draft
from playground.engine.session.session import Experiment, Session
from playground.jsonkit.merge import merged
from tests.support.editors import no_gateway

PROFILE = Profile(
    id="p",
    base_url="http://gateway.example/v1",
    extra_body={"route": "eu", "top_p": 0.5},
    headers={"X-Team": "red"},
    secret_headers={"X-Token": "http://gateway.example"},
    key_origin="http://gateway.example",
)
TOOL = ToolDefinition(name="look", description="Looks.", parameters={"type": "object"})


def make(gateways: Gateways, protocol: str = "chat", profile: Profile = PROFILE) -> Session:
    session = Experiment(
        gateways.client, profile_id="p", model="m-1", protocol=protocol, profile_of=lambda _: profile
    ).main
    session.turns.add_turn(make_turn(Role.SYSTEM, "Be brief."))
    session.turns.add_turn(make_turn(Role.USER, "One?"))
    session.turns.add_turn(answer("1", Reasoning(text="hm", field="reasoning_content")))
    session.turns.add_turn(make_turn(Role.USER, "Two?"))
    return session


def answer(text: str, *parts: Any) -> Turn:
    outcome = Outcome(ending=Ending.COMPLETE, exchange="e-1")
    content = (Text(text=text),) if text else ()
    return Turn(id=new_id(), role=Role.ASSISTANT, parts=(*parts, *content), outcome=outcome)


@pytest.fixture
def session(gateways: Gateways) -> Session:
    return make(gateways)


def edit_text(session: Session, body: dict[str, Any]) -> tuple[str, ...]:
    """Take a whole body over. Return the notes."""
    edited = read_edit(session, json.dumps(body))
    apply_edit(session, edited)
    return edited.notes


def edit(session: Session, change: dict[str, Any] | None = None, without: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Change members of the body as a person would, and take that over. Return the notes."""
    body = {**session.next_request.body(), **(change or {})}
    return edit_text(session, {name: body[name] for name in body if name not in without})


def switch(session: Session, **values: Any) -> None:
    for name, value in values.items():
        session.set_parameters(session.settings.current.with_value(name, value))


def rows(view: RequestView) -> dict[str, tuple[Any, Origin]]:
    return {row.name: (row.value, row.origin) for row in view.fields}


def test_fields_name_their_origin(session: Session) -> None:
    switch(session, temperature=3)
    session.change(extra_body={"route": "us", "debug": True})
    view = request_view(session)
    origins = rows(view)
    assert {name: origins[name] for name in ("model", "temperature", "stream", "top_p", "route", "debug", "seed")} == {
        "model": ("m-1", Origin.SET),
        "temperature": (3, Origin.SET),
        "stream": (True, Origin.OURS),
        "top_p": (0.5, Origin.INHERITED),
        "route": ("us", Origin.EXTRA),
        "debug": (True, Origin.EXTRA),
        "seed": (None, Origin.DEFAULT),
    }
    assert "max_tokens" not in origins  # deprecated, and not set
    notes = [(row.name, row.note or row.odd) for row in view.fields if row.note or row.odd]
    assert sorted(notes) == [
        ("route", "replaces the value from the gateway's settings"),
        ("temperature", "above the documented maximum of 2; it is sent as it is"),
    ]
    assert json.loads(view.text) == session.next_request.body()


def test_value_set_to_the_default_counts_as_set(session: Session, gateways: Gateways) -> None:
    switch(session, stream=False)
    view = request_view(session)
    assert rows(view)["stream"] == (False, Origin.SET)
    assert rows(view)["stream_options.include_usage"] == (None, Origin.DEFAULT)
    assert "not sent while Stream is not on" in [row.note for row in view.fields]
    edit(session, {"seed": 3})
    assert session.settings.current.with_value("stream", True).to_wire()["stream_options"], "kept although not sent"
    session.undo()
    switch(session, stream=True)
    assert rows(request_view(session))["stream"] == (True, Origin.SET)
    assert rows(request_view(session))["stream_options.include_usage"] == (True, Origin.OURS)
    assert session.undo()
    assert session.undo()
    edit(session, {"temperature": 1})
    assert rows(request_view(session))["stream"] == (True, Origin.OURS), "an edit of another field does not set it"
    native = make(gateways, "messages")
    assert rows(request_view(native))["max_tokens"] == (4096, Origin.DEFAULT)
    switch(native, max_tokens=4096)
    assert rows(request_view(native))["max_tokens"] == (4096, Origin.SET)


@pytest.mark.parametrize("protocol", ["chat", "messages"])
def test_draft_is_in_the_next_request_and_stays_in_the_composer(gateways: Gateways, protocol: str) -> None:
    session = make(gateways, protocol)
    session.turns.add_turn(answer("2"))
    before = session.transcript
    session.with_draft(Draft(text="Three?"))
    body = json.loads(request_view(session).text)
    assert body["messages"][-1] == {"role": "user", "content": "Three?"}
    edit_text(session, {**body, "temperature": 0.5})
    assert (session.draft.text, session.transcript) == ("Three?", before), "an edit elsewhere leaves both"
    messages = [*body["messages"][:-1], {"role": "user", "content": "Four?"}]
    edit_text(session, {**body, "messages": messages})
    assert (session.draft.text, session.transcript) == ("Four?", before)
    assert json.loads(request_view(session).text)["messages"] == messages
    notes = edit_text(session, {**body, "messages": messages[:-1]})
    assert "The message being written is taken out of the composer." in notes
    assert (session.draft, session.transcript) == (Draft(), before)
    session.with_draft(Draft(text="{{what}}?"))
    session.change(variables={"what": "Three"})
    body = json.loads(request_view(session).text)
    more = [*body["messages"], {"role": "assistant", "content": "3"}, {"role": "user", "content": "Four?"}]
    edit_text(session, {**body, "messages": more})
    assert session.draft == Draft(), "a message after the draft makes it a turn"
    assert [turn.text for turn in session.transcript.path][-3:] == ["{{what}}?", "3", "Four?"]
    assert json.loads(request_view(session).text)["messages"] == more
    session.with_draft(Draft(text="And {{what}}?"))
    before = session.transcript
    edit_text(session, {**json.loads(request_view(session).text), "temperature": 0.6})
    assert (session.draft.text, session.transcript) == ("And {{what}}?", before), "it joins the message before it"


@pytest.mark.parametrize(("inherited", "own"), [(False, {}), (True, {"stream": False})])
def test_stream_options_follow_the_extra_body(gateways: Gateways, inherited: bool, own: dict[str, Any]) -> None:
    session = make(gateways, profile=PROFILE.model_copy(update={"extra_body": {"stream": inherited}}))
    session.change(extra_body=own)
    assert session.next_request.body()["stream"] is False
    assert "stream_options" not in session.next_request.body()
    switch(session, stream=False)
    session.change(extra_body={"stream": True})
    assert session.next_request.body()["stream_options"] == {"include_usage": True}


def test_headers_and_address_have_their_secrets_masked(session: Session) -> None:
    session.change(extra_headers={"X-Mine": "canary-12345678"})
    view = request_view(session, [Secret("canary-12345678")])
    assert (view.method, view.url) == ("POST", "http://gateway.example/v1/chat/completions")
    assert {
        ("Authorization", "Bearer ••••", Origin.OURS),
        ("X-Token", "••••", Origin.INHERITED),
        ("X-Team", "red", Origin.INHERITED),
        ("X-Mine", "••••", Origin.EXTRA),
    } <= {(row.name, row.value, row.origin) for row in view.headers}
    session.change(extra_body={"note": "canary-12345678"})
    assert "canary" not in repr(request_view(session, [Secret("canary-12345678")]))


def test_request_that_cannot_be_sent_has_a_problem(gateways: Gateways) -> None:
    session = make(gateways, "messages")
    session.turns.add_turn(answer("", ToolCall(id="c", name="f", arguments="{broken")))
    assert "cannot be written" in request_view(session).problem
    demo = make(gateways, profile=Profile(id="p", demo=True))
    assert "starts when it is first used" in request_view(demo).problem
    odd = make(gateways, profile=Profile(id="p", base_url="not an address"))
    assert request_view(odd).problem
    assert request_view(odd).fields


def test_edited_fields_are_set_and_the_others_go_into_the_extra_body(session: Session, gateways: Gateways) -> None:
    before = session.transcript
    edited = read_edit(session, json.dumps(session.next_request.body(), indent=4))
    assert (edited.changed, edited.notes) == (False, ())
    apply_edit(session, edited)
    assert (session.transcript, session.settings.extra_body) == (before, {})
    changes = {"model": "m-2", "temperature": 0.1, "seed": 4, "vendor": {"x": 1}}
    result = {**session.next_request.body(), **changes}
    assert edit(session, changes) == ("Kept in the extra body: vendor.",)
    assert session.settings.model == "m-2"
    assert session.settings.current.to_wire()["temperature"] == 0.1
    assert session.settings.extra_body == {"vendor": {"x": 1}}
    assert session.next_request.body() == result
    edit(session, without=("temperature", "vendor", "stream_options"))
    assert session.settings.current.to_wire() == {"stream": True, "seed": 4}
    assert session.settings.extra_body == {}
    assert "always names a model" in edit(session, without=("model",))[0]
    assert session.settings.model == "m-2"
    native = make(gateways, "messages")
    switch(native, max_tokens=10)
    assert edit(native, without=("max_tokens",)) == ("The protocol requires “max_tokens”: 4096 is sent anyway.",)
    assert native.next_request.body()["max_tokens"] == 4096


def test_nested_fields_return_to_their_origin(gateways: Gateways) -> None:
    profile = PROFILE.model_copy(update={"extra_body": {"provider": {"order": ["near"]}}})
    session = make(gateways, profile=profile)
    session.change(extra_body={"provider": {"sort": "price"}, "stream_options": {"chunk": 1}})
    assert not read_edit(session, json.dumps(session.next_request.body())).changed
    provider = {"order": ["near"], "sort": "speed", "only": ["eu"]}
    options = {"include_usage": False, "chunk": 1, "more": {"x": None}}
    notes = edit(session, {"provider": provider, "stream_options": options})
    assert notes == ()
    sent = session.next_request.body()
    assert (sent["provider"], sent["stream_options"]) == (provider, options)
    assert session.settings.current.to_wire()["stream_options"] == {"include_usage": False}, "it has a switch"
    assert session.settings.extra_body == {
        "provider": {"sort": "speed", "only": ["eu"]},
        "stream_options": {"chunk": 1, "more": {"x": None}},
    }
    notes = edit(session, {"provider": {"sort": "speed"}, "stream_options": {"include_usage": False}})
    assert notes == ("“provider.order” comes from the gateway's settings and can only be taken out there.",)
    assert session.settings.extra_body == {"provider": {"sort": "speed"}}
    assert session.next_request.body()["provider"] == {"order": ["near"], "sort": "speed"}


def test_inserted_or_removed_messages_make_a_branch(session: Session) -> None:
    path = session.transcript.path
    messages = session.next_request.body()["messages"]
    edit(session, {"messages": [*messages[:2], {"role": "user", "content": "And?"}, *messages[2:]]})
    now = session.transcript.path
    assert [turn.text for turn in now] == ["Be brief.", "One?", "And?", "1", "Two?"]
    assert [turn.id for turn in now[:2]] == [turn.id for turn in path[:2]]
    assert now[3].outcome == path[2].outcome
    assert path[3].id in session.transcript.turns
    edit(session, {"messages": messages[:2]})
    assert [turn.text for turn in session.transcript.path] == ["Be brief.", "One?"]
    edit(session, {"messages": []})
    assert session.transcript.path == ()
    while session.undo():
        pass
    assert session.transcript.path == ()


def test_edited_calls_and_results_keep_their_record(session: Session) -> None:
    call = ToolCall(id="c-1", name="look", arguments='{"a": 1}')
    session.turns.add_turn(answer("", call))
    result = ToolResult(call_id="c-1", text="seen", by="table", seconds=0.5)
    session.turns.add_turn(Turn(id=new_id(), role=Role.TOOL, parts=(result,)))
    messages = session.next_request.body()["messages"]
    messages[4]["tool_calls"][0]["function"]["arguments"] = '{"a": 2}'
    messages[5]["content"] = "seen twice"
    edit(session, {"messages": messages})
    edited, result = session.transcript.path[4].calls[0], session.transcript.path[5].results[0]
    assert (edited.arguments, edited.received) == ('{"a": 2}', '{"a": 1}')
    assert (result.text, result.by, result.seconds) == ("seen twice", "you", 0.5)


def test_edited_tools_keep_their_place_and_disabled_ones_stay(session: Session) -> None:
    off = ToolDefinition(name="off", enabled=False, group="g")
    session.change(tools=(off, TOOL.model_copy(update={"group": "g"})))
    tools = session.next_request.body()["tools"]
    tools[0]["function"]["description"] = "Looks twice."
    new = {"type": "function", "function": {"name": "new", "parameters": {"type": "object"}}}
    edit(session, {"tools": [*tools, new]})
    tools = [(tool.name, tool.description, tool.group) for tool in session.settings.tools]
    assert tools == [("off", "", "g"), ("look", "Looks twice.", "g"), ("new", "", "")]
    edit(session, without=("tools",))
    assert session.settings.tools == (off,)


def test_joined_turns_of_messages_are_edited_apart(gateways: Gateways) -> None:
    session = make(gateways, "messages")
    session.set_parameters(session.settings.current.with_value("max_tokens", 10))
    session.turns.add_turn(make_turn(Role.USER, "Or three?"))
    path = session.transcript.path
    assert not read_edit(session, json.dumps(session.next_request.body())).changed
    messages = session.next_request.body()["messages"]
    messages[-1]["content"][1]["text"] = "Or four?"
    body = {**session.next_request.body(), "messages": messages, "system": "Be kind."}
    edit(session, {"messages": messages})
    assert [turn.id for turn in session.transcript.path[:3]] == [turn.id for turn in path[:3]]
    edit(session, {"system": "Be kind."})
    assert session.next_request.body() == body


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"model": "m",\n "n" 1}', "Line 2, column 6"),
        ("[]", "one JSON object"),
        ('{"model": "m"}', "“messages” is missing"),
        ('{"model": "m", "messages": [{"role": "cook"}]}', "message"),
        ('{"model": "m", "messages": [], "a": "sk-12345678abc"}', "looks like a key"),
        ('{"model": NaN, "messages": []}', "not JSON"),
        ('{"messages":' + "[" * 100_000, "nested too deeply"),
    ],
    ids=str,
)
def test_invalid_edit_is_refused_with_its_place(session: Session, text: str, words: str) -> None:
    before = session.transcript
    with pytest.raises(ValueError, match=words):
        read_edit(session, text)
    assert session.transcript is before


def test_mask_of_a_secret_is_refused(session: Session) -> None:
    session.turns.add_turn(make_turn(Role.USER, "My key is canary-12345678."))
    view = request_view(session, [Secret("canary-12345678")])
    with pytest.raises(ValueError, match="shown here as"):
        read_edit(session, view.text)
    session.turns.add_turn(make_turn(Role.USER, "What does •••• mean?"))
    assert not read_edit(session, json.dumps(session.next_request.body())).changed


NAMES = ["stream", "stream_options", "thinking", "output_config", "metadata", "response_format", "vendor", "top_p"]
MEMBERS = ["include_usage", "type", "budget_tokens", "effort", "format", "user_id", "x"]
leaves = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["a", "json_schema", "enabled", "low"])
inner = st.recursive(leaves, lambda deeper: st.dictionaries(st.sampled_from(MEMBERS), deeper, max_size=3), max_leaves=6)
bodies = st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)


def session_with(protocol: str, panels: dict[str, Any], inherited: dict[str, Any], own: dict[str, Any]) -> Session:
    profile = Profile(id="p", base_url="https://g.example/v1", extra_body=inherited)
    session = Experiment(no_gateway, profile_id="p", model="m", protocol=protocol, profile_of=lambda _: profile).main
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    kind = type(session.settings.current)
    fields = {name for name, hint in kind.hints() if hint.path}  # they have another place in a body
    session.set_parameters(kind.from_wire({name: value for name, value in panels.items() if name not in fields}))
    session.change(extra_body=own)
    return session


@settings(max_examples=60)
@given(st.sampled_from(["chat", "messages"]), bodies, bodies, bodies)
@example("chat", {"stream_options": {"include_usage": False}}, {}, {"stream": {}, "stream_options": None})
def test_unchanged_body_comes_apart_into_its_origins(
    protocol: str, panels: dict[str, Any], inherited: dict[str, Any], own: dict[str, Any]
) -> None:
    body = merged(merged(panels, inherited), own)
    split = unmerge_body(body, panels, inherited, own)
    assert (split.stuck, split.panels) == ([], panels)
    assert merged(merged(split.panels, inherited), split.extra) == body
    session = session_with(protocol, panels, inherited, own)
    edited = read_edit(session, json.dumps(session.next_request.body()))
    assert not edited.changed, edited


@settings(max_examples=60)
@given(st.sampled_from(["chat", "messages"]), bodies, bodies, bodies, bodies, st.sets(st.sampled_from(NAMES)))
def test_edited_body_is_what_is_sent(
    protocol: str,
    panels: dict[str, Any],
    inherited: dict[str, Any],
    own: dict[str, Any],
    put: dict[str, Any],
    out: set[str],
) -> None:
    session = session_with(protocol, panels, inherited, own)
    before = session.next_request.body()
    edited_body = {name: value for name, value in {**before, **put}.items() if name in put or name not in out}
    edited = read_edit(session, json.dumps(edited_body))
    apply_edit(session, edited)
    stuck = {note.split("“")[1].split("”")[0].split(".")[0] for note in edited.notes if "gateway's settings" in note}
    sent = session.next_request.body()
    assert {k: v for k, v in sent.items() if k not in stuck} == {k: v for k, v in edited_body.items() if k not in stuck}
    assert stuck <= set(inherited)
