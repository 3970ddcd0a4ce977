"""What does not go with what the list says of a model is said where it is set, and goes out all the same."""

from __future__ import annotations

import pytest

from playground.domain.model_facts import NOTHING_TOLD, ModelFacts
from playground.domain.parts import Image, Text
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, make_turn
from playground.engine.gateways.profiles import Profile
from playground.engine.requests.field_flags import field_flags
from playground.engine.requests.told_flags import (
    NO_IMAGES,
    NO_SCHEMA,
    NO_TOOLS,
    NOT_SUPPORTED,
    TOOLS,
    flags_about,
    flags_now,
    image_flag,
)
from playground.engine.requests.view import request_view
from playground.engine.session.session import Session
from tests.support.editors import no_gateway

SCHEMA = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}
TOOL = ToolDefinition(name="look", parameters={"type": "object"})
PROTOCOLS = ("chat", "messages")


def session_of(facts: ModelFacts, protocol: str = "chat", **values: object) -> Session:
    profile = Profile(id="p", base_url="https://g.example/v1")

    def facts_of(profile_id: str, model: str) -> ModelFacts:
        return facts if (profile_id, model) == ("p", "m") else NOTHING_TOLD

    session = Session(
        no_gateway, profile_id="p", model="m", protocol=protocol, profile_of=lambda _: profile, facts_of=facts_of
    )
    for name, value in values.items():
        session.set_parameters(session.settings.current.with_value(name, value))
    return session


def odd(session: Session) -> dict[str, str]:
    """What the Request page says, by the field."""
    return {row.name: row.odd for row in request_view(session).fields if row.odd}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_tools_for_a_model_without_tools_are_flagged_and_sent(protocol: str) -> None:
    session = session_of(ModelFacts(tools=False), protocol)
    assert flags_now(session) == ()
    session.change(tools=(TOOL,))
    assert flags_about(flags_now(session), TOOLS) == f"T{NO_TOOLS[1:]}."
    assert odd(session) == {"tools": NO_TOOLS}
    assert session.next_request.body()["tools"], "nothing is kept from going out"
    session.change(tools=(TOOL.model_copy(update={"enabled": False}),))
    assert odd(session) == {}
    session.change(tools=(TOOL,), model="another")
    assert odd(session) == {}, "of that one nothing is told"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_images_for_a_model_that_refuses_them_are_flagged(protocol: str) -> None:
    refuses = ModelFacts(inputs=frozenset({"text"}), refused=frozenset({"image"}))
    session = session_of(refuses, protocol)
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    assert odd(session) == {}
    session.turns.add_turn(
        make_turn(Role.USER, "").model_copy(update={"parts": (Text(text="Look"), Image(url="https://i.example/a.png"))})
    )
    assert odd(session) == {"messages": NO_IMAGES}
    assert image_flag(refuses, 2).startswith("The model takes no images, by the gateway's list;")
    assert image_flag(refuses, 0) == image_flag(ModelFacts(inputs=frozenset({"text"})), 2) == ""
    assert odd(session_of(NOTHING_TOLD, protocol)) == {}


def test_parameter_missing_in_the_list_is_flagged() -> None:
    told = ModelFacts(parameters=frozenset({"temperature", "max_tokens", "reasoning", "structured_outputs", "stop"}))
    session = session_of(told, temperature=1, top_p=0.5, seed=7, max_completion_tokens=10, reasoning_effort="low")
    flags = field_flags(session)
    assert {name for name, words in flags.items() if NOT_SUPPORTED in words} == {"top_p", "seed"}
    assert {name: words for name, words in odd(session).items() if words == NOT_SUPPORTED}.keys() == {"top_p", "seed"}
    body = session.next_request.body()
    assert (body["top_p"], body["seed"]) == (0.5, 7)


def test_json_schema_the_model_does_not_follow_is_flagged() -> None:
    session = session_of(ModelFacts(schema_kept=False), response_format=SCHEMA)
    assert flags_about(flags_now(session), ("response_format",)).startswith("The model does not keep to a JSON schema")
    assert odd(session) == {"response_format": NO_SCHEMA}
    session.set_parameters(session.settings.current.with_value("response_format", {"type": "json_object"}))
    assert odd(session) == {}
