"""What does not fit into what the list says a model takes and writes."""

from __future__ import annotations

from playground.domain.model_facts import NOTHING_TOLD, ModelFacts
from playground.engine.requests.room import Room, limit_field, limit_words, room_for
from playground.protocols import PROTOCOLS
from playground.protocols.protocol import get_protocol
from tests.support.each_case import each_case


@each_case("protocol", PROTOCOLS)
def test_limit_of_each_protocol_is_compared_with_the_model(protocol: str) -> None:
    parameters = get_protocol(protocol).parameters_type.begin({})
    facts, name = ModelFacts(context=8_000, output=1_024), limit_field(parameters)
    assert name
    assert room_for(facts, parameters.with_value(name, 4_096)) == Room(8_000, 1_024, 4_096)
    assert room_for(NOTHING_TOLD, parameters.with_value(name, None)) == Room()
    assert room_for(NOTHING_TOLD, parameters.with_value(name, "many")).asked is None
    assert room_for(NOTHING_TOLD, parameters.with_value(name, -3)).asked is None
    assert limit_words(NOTHING_TOLD, parameters) == ("", False)
    most = "the model writes 1,024 at most, by the gateway's list"
    assert limit_words(facts, parameters.with_value(name, 1_024)) == (most, False)
    above = "more than the 1,024 that the model writes at most, by the gateway's list"
    assert limit_words(facts, parameters.with_value(name, 1_025)) == (above, True)


@each_case(
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
def test_prompt_larger_than_the_context_is_a_problem(room: Room, prompt: int, begins: str) -> None:
    words = room.problem(prompt)
    assert bool(words) is bool(begins)
    assert words.startswith(begins)
