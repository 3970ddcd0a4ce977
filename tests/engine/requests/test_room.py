"""What does not fit into what the list says a model takes and writes."""

from __future__ import annotations

import pytest

from playground.domain.model_facts import NOTHING_TOLD, ModelFacts
from playground.engine.requests.room import Room, limit_field, limit_words, room_for
from playground.protocols import PROTOCOLS
from playground.protocols.protocol import get_protocol


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_is_asked_to_be_written_is_known_on_each_protocol(protocol: str) -> None:
    parameters = get_protocol(protocol).parameters_type.begin({})
    name = limit_field(parameters)
    assert name
    asking = parameters.with_value(name, 4_096)
    assert room_for(ModelFacts(context=8_000, output=1_024), asking) == Room(8_000, 1_024, 4_096)
    assert room_for(NOTHING_TOLD, parameters.with_value(name, None)) == Room()
    assert room_for(NOTHING_TOLD, parameters.with_value(name, "many")).asked is None
    assert room_for(NOTHING_TOLD, parameters.with_value(name, -3)).asked is None


@pytest.mark.parametrize(
    ("room", "prompt", "begins"),
    [
        (Room(), 10**9, ""),
        (Room(output=5, asked=9), 10**9, ""),
        (Room(context=100), 100, ""),
        (Room(context=100, asked=40), 60, ""),
        (Room(context=100), 101, "About 101 tokens are more than the 100"),
        (Room(context=100, asked=41), 60, "About 60 tokens and up to 41 that may be written are more than the 100"),
    ],
)
def test_what_does_not_fit(room: Room, prompt: int, begins: str) -> None:
    said = room.problem(prompt)
    assert bool(said) is bool(begins)
    assert said.startswith(begins)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_stands_beside_the_field(protocol: str) -> None:
    parameters = get_protocol(protocol).parameters_type.begin({})
    facts, name = ModelFacts(output=1_024), limit_field(parameters)
    assert limit_words(NOTHING_TOLD, parameters) == ("", False)
    assert limit_words(facts, parameters.with_value(name, 1_024)) == (
        "the model writes 1,024 at most, by the gateway's list",
        False,
    )
    words, above = limit_words(facts, parameters.with_value(name, 1_025))
    assert above
    assert words == "more than the 1,024 that the model writes at most, by the gateway's list"
