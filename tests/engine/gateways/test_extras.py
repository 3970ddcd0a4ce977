"""Extra bodies, extra headers and formats of a request, as the demo gateway received them."""

from __future__ import annotations

import json

import pytest

from playground.demo.server import DemoServer
from playground.demo.service import ReceivedRequest
from playground.domain.transcript import Outcome, Role, make_turn
from playground.engine.gateways.gateways import DEMO_ID, Gateways
from playground.engine.gateways.profiles import Profile, ProfileError
from playground.engine.gateways.secrets import extra_header_problem, secret_in
from playground.engine.requests.view import Origin, request_view
from playground.engine.session.session import Experiment, Session
from playground.jsonkit.values import JSON
from tests.support.each_case import each_case


@pytest.fixture(params=["chat", "messages"])
def session(request: pytest.FixtureRequest, gateways: Gateways) -> Session:
    model = {"chat": "demo-chat", "messages": "demo-messages"}[request.param]
    return Experiment(
        gateways.client, profile_id=DEMO_ID, protocol=request.param, model=model, profile_of=gateways.get
    ).main


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


async def test_extra_bodies_are_merged_and_each_field_has_its_origin(
    session: Session, gateways: Gateways, gateway: DemoServer
) -> None:
    provider = {"order": ["near"], "sort": "price"}
    set_demo(gateways, extra_body={"provider": provider, "metadata": {"team": "blue"}, "max_tokens": 300, "x": 1})
    session.change(extra_body={"provider": {"order": ["far"]}, "metadata": {"trace": {"on": True}}, "x": None})
    name = "user_id" if session.settings.protocol == "messages" else "user"
    session.set_parameters(session.settings.current.with_value(name, "u-1"))
    assert (await ask(session)).failure is None
    body, _ = received(gateway)
    assert body["provider"] == {"order": ["far"], "sort": "price"}
    assert (body["max_tokens"], body["x"]) == (300, None)
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


async def test_field_replaced_by_the_extra_body_is_named(session: Session, gateways: Gateways) -> None:
    session.set_parameters(session.settings.current.with_value("temperature", 0.5))
    session.change(extra_body={"temperature": None, "stream": False, "whole": {"a": 1, "b": {"c": 2}}})
    rows = {row.name: (row.value, row.origin, row.note) for row in request_view(session).fields}
    assert rows["temperature"] == (None, Origin.EXTRA, "replaces what is set under Parameters")
    assert rows["stream"] == (False, Origin.EXTRA, "replaces the program's own")
    assert rows["whole"] == ({"a": 1, "b": {"c": 2}}, Origin.EXTRA, ""), "of one origin, it is one row"
    assert session.next_request.body()["temperature"] is None, "null is sent as null"


async def test_extra_headers_replace_those_of_the_gateway(
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


@each_case("name", ["Authorization", "X-Api-Key", "X-Edge-Token", "", "X Bad", "Content-Length"])
def test_header_with_a_secret_is_refused(gateways: Gateways, name: str) -> None:
    session = Experiment(gateways.client, profile_id=DEMO_ID).main
    problem = extra_header_problem(name, "canary-value")
    assert problem
    assert "canary" not in problem
    with pytest.raises(ValueError, match=r"\S"):
        session.change(extra_headers={name: "canary-value"})
    assert session.settings.extra_headers == {}


def test_secret_is_recognised_by_its_value() -> None:
    assert "gateway's settings" in extra_header_problem("X-Thing", "Bearer abc")
    assert extra_header_problem("X-Thing", "on") == ""
    assert secret_in({"a": 1, "b": [{"auth": "sk-canary-8f2a61c0de"}]}) == "auth"
    assert secret_in({"stop_token": "x", "note": "Basic English, token by token", "skip": "sk-ip"}) == ""


def test_key_in_an_extra_body_is_not_saved(gateways: Gateways) -> None:
    with pytest.raises(ProfileError, match="looks like a key"):
        gateways.store.add_profile(Profile(base_url="https://g.example/v1", extra_body={"k": "sk-canary-8f2a61c0de"}))
    saved = gateways.store.add_profile(Profile(base_url="https://g.example/v1", extra_body={"top_k": 40}))
    assert "canary" not in gateways.store.path.read_text(encoding="utf-8")
    again = type(gateways.store)(gateways.store.path)
    assert again.get(saved.id) == saved
