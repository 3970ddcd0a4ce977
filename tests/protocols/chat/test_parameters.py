from __future__ import annotations

import re

import pytest

from playground.protocols.chat.parameters import ChatParameters
from tests.support.each_case import each_case

FULL = {
    "temperature": 0.7,
    "top_p": 0.9,
    "seed": 7,
    "max_completion_tokens": 100,
    "max_tokens": 50,
    "stop": ["END", "x"],
    "reasoning_effort": "low",
    "tool_choice": {"type": "function", "function": {"name": "f"}},
    "response_format": {"type": "json_object"},
    "presence_penalty": -1,
    "frequency_penalty": 1.5,
    "stream": True,
    "stream_options": {"include_usage": True},
    "n": 2,
    "user": "u-1",
}


def test_every_documented_parameter_has_a_field_in_the_order_of_the_panel() -> None:
    groups: list[str] = []
    for _, hint in ChatParameters.hints():
        if not groups or groups[-1] != hint.group:
            groups.append(hint.group)
        assert hint.label
        assert hint.help.endswith(".")
        assert hint.source == "4.1"
    assert groups == ["Sampling", "Length", "Reasoning", "Tools", "Output", "Penalties", "Delivery"]
    assert {(hint.path or name).split(".")[0] for name, hint in ChatParameters.hints()} == set(FULL)


def test_parameters_are_written_and_read() -> None:
    assert ChatParameters.from_wire(FULL).to_wire() == FULL
    assert ChatParameters.from_wire(FULL).include_usage is True
    saved = ChatParameters.from_wire(FULL).model_dump_json()
    assert ChatParameters.model_validate_json(saved).to_wire() == FULL


def test_numbers_stay_as_typed() -> None:
    assert str(ChatParameters.from_wire({"temperature": 1}).to_wire()) == "{'temperature': 1}"
    assert str(ChatParameters(temperature=1.0).to_wire()) == "{'temperature': 1.0}"


def test_unknown_keys_and_odd_values_are_kept_and_sent() -> None:
    odd = {
        "top_k": 40,
        "temperature": "hot",
        "stream": "yes",
        "stop": 5,
        "stream_options": {"include_usage": 1, "chunk": 2},
        "include_usage": "misplaced",
    }
    parameters = ChatParameters.from_wire({k: v for k, v in odd.items() if k != "include_usage"})
    assert parameters.to_wire() == {k: v for k, v in odd.items() if k != "include_usage"}
    assert parameters.flag("temperature")
    ChatParameters.from_wire(odd)


@each_case(
    ("name", "value", "flagged"),
    [
        ("temperature", 2, ""),
        ("temperature", 2.1, "above"),
        ("temperature", -0.1, "below"),
        ("top_p", 1.5, "above"),
        ("presence_penalty", -2.5, "below"),
        ("stop", ("a", "b", "c", "d"), ""),
        ("stop", ("a", "b", "c", "d", "e"), "more than"),
        ("stop", "END", ""),
        ("max_tokens", 5, "deprecated"),
        ("max_completion_tokens", 0, "below"),
        ("n", True, "type"),
        ("seed", "x", "type"),
        ("reasoning_effort", "extreme", ""),
        ("seed", None, ""),
    ],
)
def test_odd_values_are_flagged_and_still_sent(name: str, value: object, flagged: str) -> None:
    parameters = ChatParameters().with_value(name, value)
    assert re.search(flagged, parameters.flag(name)) if flagged else parameters.flag(name) == ""
    wire = parameters.to_wire()
    assert wire == ({} if value is None else {name: list(value) if isinstance(value, tuple) else value})


@pytest.mark.parametrize("stream", [False, None])
def test_options_of_a_stream_go_out_with_a_stream_only(stream: bool | None) -> None:
    parameters = ChatParameters.begin({})
    assert parameters.to_wire() == {"stream": True, "stream_options": {"include_usage": True}}
    off = parameters.with_value("stream", stream)
    assert "stream_options" not in off.to_wire()
    assert off.note("include_usage") == "not sent while Stream is not on"
    assert off.to_wire({"stream": True})["stream_options"] == {"include_usage": True}
    assert "stream_options" not in parameters.to_wire({"stream": False})
    assert off.with_value("stream", True).to_wire() == parameters.to_wire(), "what it held is still there"


def test_default_is_told_from_a_value_set_by_hand() -> None:
    parameters = ChatParameters.begin({"include_usage": None})
    assert parameters.is_ours("stream")
    assert parameters.note("stream") == "Sent by default. Remove to omit."
    by_hand = parameters.with_value("stream", False).with_value("stream", True)
    assert not by_hand.is_ours("stream")
    assert by_hand.is_ours("include_usage")
    assert by_hand.by_hand == ("stream",)
    assert by_hand != parameters, "it is another setting, and can be undone"
    assert not by_hand.with_value("stream", None).is_ours("stream")
    assert not ChatParameters.from_wire({"stream": True}).is_ours("stream"), "what was read was set"
    assert parameters.set_by_hand(["stream", "temperature", "no field"]).by_hand == ("stream",)
    assert not ChatParameters.from_wire({"stream": 1}).is_ours("stream")
    assert not parameters.is_ours("temperature")
