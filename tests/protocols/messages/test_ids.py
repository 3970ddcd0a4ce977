"""Ids of tool calls that native messages refuse are replaced on the call and on its result."""

from __future__ import annotations

import re
from typing import Any

import pytest

from playground.domain.parts import ToolCall, ToolResult
from playground.domain.transcript import Role, Turn
from playground.protocols.messages.encode import encode_turns
from playground.protocols.messages.ids import renamed_ids
from playground.protocols.protocol import get_protocol
from tests.protocols.messages.test_decode import block, start, stop
from tests.protocols.streams import messages

encode = get_protocol("messages").encode

read_body = get_protocol("messages").read_body

_TAKEN = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")


def _round(*ids: str) -> tuple[Turn, ...]:
    """One turn of calls with these ids, and their results."""
    calls = tuple(ToolCall(id=id_, name="f", arguments="{}") for id_ in ids)
    results = tuple(ToolResult(call_id=id_, text=str(number)) for number, id_ in enumerate(ids))
    return Turn(id="", role=Role.ASSISTANT, parts=calls), Turn(id="", role=Role.TOOL, parts=results)


def _ids(turns: tuple[Turn, ...]) -> tuple[list[str], list[str]]:
    """The ids of the calls and those of the results, in the order in which they are sent."""
    blocks = [item for message in encode_turns(turns) for item in message["content"]]
    calls = [item["id"] for item in blocks if item["type"] == "tool_use"]
    return calls, [item["tool_use_id"] for item in blocks if item["type"] == "tool_result"]


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["toolu_01", "call-2_x"], ["toolu_01", "call-2_x"]),
        (["functions.f:0", "functions.f:1"], ["functions_f_0", "functions_f_1"]),
        (["a.b", "a:b", "a_b"], ["a_b", "a_b_2", "a_b_3"]),
        (["call|fc_1"], ["call_fc_1"]),
        (["", ""], ["call", "call_2"]),
        (["a", "a"], ["a", "a_2"]),
        (["é 1"], ["__1"]),
    ],
)
def test_ids_of_one_turn_are_valid_unique_and_those_of_their_results(ids: list[str], expected: list[str]) -> None:
    assert _ids(_round(*ids)) == (expected, expected)


def test_long_ids_stay_different_and_short() -> None:
    long = ["x" * 200 + end for end in "ab"]
    calls, results = _ids(_round(*long))
    assert calls == results
    assert len(set(calls)) == 2
    assert all(_TAKEN.match(id_) for id_ in calls)


def test_id_used_again_in_a_later_round_is_renamed_with_its_result() -> None:
    calls, results = _ids((*_round("f:0"), *_round("f:0"), *_round("f_0")))
    assert calls == results == ["f_0", "f_0_2", "f_0_3"]


def test_ids_of_earlier_rounds_stay_as_the_conversation_grows() -> None:
    first = _round("f:0", "g.1")
    assert _ids((*first, *_round("f_0", "f:0")))[0][:2] == _ids(first)[0]


def test_result_without_a_call_keeps_its_id() -> None:
    turn = Turn(id="", role=Role.TOOL, parts=(ToolResult(call_id="f:0", text="1"),))
    assert _ids((turn,)) == ([], ["f:0"])


def test_id_that_came_over_the_protocol_goes_back_as_it_came() -> None:
    signed = "call_1__thought__AB+/="
    answer = messages(start(), block(0, {"type": "tool_use", "id": signed, "name": "f", "input": {}}), stop("tool_use"))
    turn = Turn(id="", role=Role.ASSISTANT, parts=answer.choices[0].freeze())
    assert _ids((turn,))[0] == [signed]
    assert renamed_ids((turn,)) == []


def test_body_with_such_ids_is_written_as_it_was_read() -> None:
    body: dict[str, Any] = {
        "model": "m",
        "max_tokens": 5,
        "messages": [
            {"role": "user", "content": "?"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "f:0", "name": "f", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "f:0", "content": "1"}]},
        ],
    }
    assert encode(read_body(body)[0]) == body


def test_replaced_ids_are_listed_with_their_turn() -> None:
    assert renamed_ids((*_round("ok"), *_round("f:0"))) == [(2, "f:0", "f_0")]
