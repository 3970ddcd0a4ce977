"""What goes with a request besides its parameters, as the real demo gateway received it."""

from __future__ import annotations

import json

import pytest

from playground.demo.server import DemoServer
from playground.demo.service import ReceivedRequest
from playground.domain.output import check_answer
from playground.domain.parameters import Parameters
from playground.domain.request import ReasoningReturn, SendReasoning
from playground.domain.transcript import Outcome, Role, make_turn
from playground.engine.gateways.extras import extra_header_problem, secret_in
from playground.engine.gateways.offered import DEMO_ID, Gateways
from playground.engine.gateways.profiles import Profile, ProfileError
from playground.engine.requests.view import Origin, request_view
from playground.engine.session.session import Session
from playground.jsonkit.values import JSON, JSONObject

SCHEMA: JSONObject = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "temperature": {"type": "number"}},
    "required": ["city", "temperature"],
    "additionalProperties": False,
}


@pytest.fixture(params=["chat", "messages"])
def session(request: pytest.FixtureRequest, gateways: Gateways) -> Session:
    model = {"chat": "demo-chat", "messages": "demo-messages"}[request.param]
    return Session(gateways.client, profile_id=DEMO_ID, protocol=request.param, model=model, profile_of=gateways.get)


async def ask(session: Session, text: str = "Hello") -> Outcome:
    session.turns.add_turn(make_turn(Role.USER, text))
    await session.run()
    outcome = session.transcript.path[-1].outcome
    assert outcome is not None
    return outcome


def received(gateway: DemoServer) -> tuple[JSON, ReceivedRequest]:
    last = gateway.requests[-1]
    return json.loads(last.body), last


def set_demo(gateways: Gateways, **changes: object) -> None:
    gateways.update(gateways.get(DEMO_ID).model_copy(update=changes))


async def test_the_extra_body_is_merged_last_the_experiments_over_the_gateways(
    session: Session, gateways: Gateways, gateway: DemoServer
) -> None:
    set_demo(gateways, extra_body={"x_from": "gateway", "x_only": [1], "max_tokens": 300})
    session.change(extra_body={"x_from": "experiment", "x_deep": {"a": None}})
    assert session.next_request.body()["x_from"] == "experiment"
    assert (await ask(session)).failure is None
    body, _ = received(gateway)
    assert {key: body[key] for key in ("x_from", "x_only", "x_deep", "max_tokens")} == {
        "x_from": "experiment",
        "x_only": [1],
        "x_deep": {"a": None},
        "max_tokens": 300,
    }


async def test_one_nested_field_is_merged_and_says_whose_it_is(
    session: Session, gateways: Gateways, gateway: DemoServer
) -> None:
    set_demo(gateways, extra_body={"provider": {"order": ["near"], "sort": "price"}, "metadata": {"team": "blue"}})
    session.change(extra_body={"provider": {"order": ["far"]}, "metadata": {"trace": {"on": True}}})
    name = "user_id" if session.settings.protocol == "messages" else "user"
    session.set_parameters(session.settings.current.with_value(name, "u-1"))
    assert (await ask(session)).failure is None
    body, _ = received(gateway)
    assert body["provider"] == {"order": ["far"], "sort": "price"}
    user = {"user_id": "u-1"} if session.settings.protocol == "messages" else {}
    assert body["metadata"] == {**user, "team": "blue", "trace": {"on": True}}
    rows = {row.name: (row.value, row.origin, row.place, row.note) for row in request_view(session).fields}
    assert rows["provider.sort"] == ("price", Origin.INHERITED, "", "")
    replaces = "replaces the value from the gateway's settings"
    assert rows["provider.order"] == (["far"], Origin.EXTRA, "", replaces)
    assert rows["metadata.team"][1] is Origin.INHERITED
    assert rows["metadata.trace"] == ({"on": True}, Origin.EXTRA, "", "")
    if session.settings.protocol == "messages":
        assert rows["metadata.user_id"] == ("u-1", Origin.SET, "Parameters", "")


async def test_what_an_extra_body_takes_the_place_of_is_named(session: Session, gateways: Gateways) -> None:
    session.set_parameters(session.settings.current.with_value("temperature", 0.5))
    session.change(extra_body={"temperature": None, "stream": False, "whole": {"a": 1, "b": {"c": 2}}})
    rows = {row.name: (row.value, row.origin, row.note) for row in request_view(session).fields}
    assert rows["temperature"] == (None, Origin.EXTRA, "replaces what is set under Parameters")
    assert rows["stream"] == (False, Origin.EXTRA, "replaces the program's own")
    assert rows["whole"] == ({"a": 1, "b": {"c": 2}}, Origin.EXTRA, ""), "of one origin, it is one row"
    assert session.next_request.body()["temperature"] is None, "null is sent as null"


async def test_an_answer_is_judged_by_what_was_sent(session: Session, gateways: Gateways) -> None:
    set_demo(gateways, extra_body={"stream": False})
    outcome = await ask(session)
    assert outcome.failure is None
    assert outcome.streamed is False


async def test_extra_headers_win_over_the_gateways_and_ours(
    session: Session, gateways: Gateways, gateway: DemoServer
) -> None:
    set_demo(gateways, headers={"X-Team": "research", "X-Trace": "gateway"})
    session.change(extra_headers={"x-trace": "experiment", "User-Agent": "mine"})
    await ask(session)
    _, request = received(gateway)
    assert request.header("X-Team") == "research"
    assert [value for name, value in request.headers if name.lower() == "x-trace"] == ["experiment"]
    assert [value for name, value in request.headers if name.lower() == "user-agent"] == ["mine"]
    session.change(extra_headers={})
    session.delete_turn(session.transcript.path[-1].id)
    await session.run()
    assert received(gateway)[1].header("X-Trace") == "gateway"


@pytest.mark.parametrize("name", ["Authorization", "X-Api-Key", "X-Edge-Token", "", "X Bad", "Content-Length"])
def test_headers_that_may_not_go_are_refused_in_words(gateways: Gateways, name: str) -> None:
    session = Session(gateways.client, profile_id=DEMO_ID)
    problem = extra_header_problem(name, "canary-value")
    assert problem
    assert "canary" not in problem
    with pytest.raises(ValueError, match=r"\S"):
        session.change(extra_headers={name: "canary-value"})
    assert session.settings.extra_headers == {}


def test_a_secret_is_known_by_its_value_too() -> None:
    assert "gateway's settings" in extra_header_problem("X-Thing", "Bearer abc")
    assert extra_header_problem("X-Thing", "on") == ""
    assert secret_in({"a": 1, "b": [{"auth": "sk-canary-8f2a61c0de"}]}) == "auth"
    assert secret_in({"stop_token": "x", "note": "Basic English, token by token", "skip": "sk-ip"}) == ""


def test_a_key_in_a_gateways_extra_body_never_reaches_the_file(gateways: Gateways) -> None:
    with pytest.raises(ProfileError, match="looks like a key"):
        gateways.store.add_profile(Profile(base_url="https://g.example/v1", extra_body={"k": "sk-canary-8f2a61c0de"}))
    kept = gateways.store.add_profile(Profile(base_url="https://g.example/v1", extra_body={"top_k": 40}))
    assert "canary" not in gateways.store.path.read_text(encoding="utf-8")
    again = type(gateways.store)(gateways.store.path)
    assert again.get(kept.id) == kept


async def test_a_turn_remembers_the_format_it_ran_under(session: Session, gateway: DemoServer) -> None:
    chat = session.settings.protocol == "chat"
    form: JSONObject = (
        {"type": "json_schema", "json_schema": {"name": "weather", "schema": SCHEMA, "strict": True}}
        if chat
        else {"type": "json_schema", "schema": SCHEMA}
    )
    session.set_parameters(session.settings.current.with_value("response_format", form))
    outcome = await ask(session, "What is the weather in Oslo?")
    body, _ = received(gateway)
    assert (body["response_format"] if chat else body["output_config"]["format"]) == form
    assert outcome.response_format == form
    answer = session.transcript.path[-1].text
    assert json.loads(answer).keys() == {"city", "temperature"}
    assert check_answer(answer, outcome.response_format) == []
    session.set_parameters(session.settings.current.with_value("response_format", None))
    assert session.transcript.path[-1].outcome == outcome


async def test_a_format_in_the_extra_body_counts_as_well(session: Session) -> None:
    key = "response_format" if session.settings.protocol == "chat" else "output_config"
    value: JSONObject = (
        {"type": "json_object"} if session.settings.protocol == "chat" else {"format": {"type": "json_object"}}
    )
    session.change(extra_body={key: value})
    outcome = await ask(session)
    assert outcome.response_format == {"type": "json_object"}


def test_reasoning_is_sent_back_as_the_gateway_says_unless_the_experiment_does(gateways: Gateways) -> None:
    session = Session(gateways.client, profile_id=DEMO_ID, model="m", profile_of=gateways.get)
    rule = ReasoningReturn(when=SendReasoning.ALWAYS, field="reasoning")
    set_demo(gateways, reasoning_return=rule)
    assert session.next_request.build().reasoning_return == rule
    own = ReasoningReturn(when=SendReasoning.AFTER_TOOL_CALLS)
    session.change(reasoning_return=own)
    assert session.next_request.build().reasoning_return == own
    session.change(reasoning_return=None)
    assert session.next_request.build().reasoning_return == rule


def test_what_is_typed_and_not_sent_stays_with_the_experiment(gateways: Gateways) -> None:
    session = Session(gateways.client, profile_id=DEMO_ID)
    told: list[object] = []
    session.subscribe(told.append)
    session.set_unsent("extra_body", '{"a":')
    session.set_unsent("output.chat", {"kind": "json_schema"})
    assert session.settings.unsent == {"extra_body": '{"a":', "output.chat": {"kind": "json_schema"}}
    assert told
    session.set_unsent("extra_body", "")
    assert list(session.settings.unsent) == ["output.chat"]
    assert isinstance(session.settings.current, Parameters)
