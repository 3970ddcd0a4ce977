"""Signatures and other opaque members beside reasoning go back in the shape and place in which they came."""

from __future__ import annotations

import json
from typing import Any

from playground.domain.request import ReasoningReturn, Request, SendReasoning
from playground.domain.transcript import Role, Turn, make_turn
from playground.jsonkit.values import JSONObject
from playground.protocols.chat.encode import encode_turns
from playground.protocols.protocol import get_protocol
from tests.protocols.streams import DONE, call_chunk, chat_events, chunk, fold, fragment
from tests.support.each_case import each_case

encode = get_protocol("chat").encode

read_body = get_protocol("chat").read_body

AFTER_CALLS = ReasoningReturn(when=SendReasoning.AFTER_TOOL_CALLS)
CALLS = [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
END = call_chunk(fragment("{}", index=0, id="a", name="f")) + chunk({}, "tool_calls") + DONE


def thinking(text: str, signature: str | None = "") -> JSONObject:
    return {"type": "thinking", "thinking": text, "signature": signature}


def summary(text: str, signature: str = "") -> JSONObject:
    return {"type": "reasoning", "summary": [{"type": "summary_text", "text": text, "signature": signature}]}


def text(index: int, **members: Any) -> JSONObject:
    return {"type": "reasoning.text", "index": index, **members}


BLOCKS = [thinking("ab", "S1"), {"type": "redacted_thinking", "data": "R"}, thinking("c", "S2")]
FRAGMENTS = [thinking("a"), thinking("b", None), thinking("", "S1"), BLOCKS[1], thinking("c"), thinking("", "S2")]
HI = {"type": "text", "text": "Hi"}
ENCRYPTED = {"type": "reasoning.encrypted", "data": "E", "id": "t", "index": 1}
CHUNK = {"type": "text", "text": "a"}

#: The deltas of a stream, and the members of the message that goes back.
STREAMS: dict[str, tuple[list[JSONObject], JSONObject]] = {
    "thinking blocks": (
        [{"reasoning_content": item.get("thinking", ""), "thinking_blocks": [item]} for item in FRAGMENTS],
        {"reasoning_content": "abc", "thinking_blocks": BLOCKS},
    ),
    "thinking blocks inside another member": (
        [{"provider_specific_fields": {"thinking_blocks": [item]}} for item in FRAGMENTS],
        {"provider_specific_fields": {"thinking_blocks": BLOCKS}},
    ),
    "a whole block at the signature": (
        [{"thinking_blocks": [item]} for item in (thinking("a"), thinking("b"), thinking("ab", "S1"))],
        {"thinking_blocks": BLOCKS[:1]},
    ),
    "the same fragment many times": (
        [{"thinking_blocks": [thinking("ha")]}] * 12 + [{"thinking_blocks": [thinking("", "S")]}],
        {"thinking_blocks": [thinking("ha" * 12, "S")]},
    ),
    "opaque text before the content": (
        [{"reasoning_text": "a"}, {"reasoning_text": "b"}, {"reasoning_opaque": "O"}, {"content": "Hi"}],
        {"content": "Hi", "reasoning_text": "ab", "reasoning_opaque": "O"},
    ),
    "opaque text within the content": (
        [{"reasoning_text": "ab"}, {"content": "H"}, {"content": "i", "reasoning_opaque": "O"}],
        {"content": "Hi", "reasoning_text": "ab", "reasoning_opaque": "O"},
    ),
    "opaque text alone": ([{"reasoning_opaque": "O"}], {"reasoning_opaque": "O"}),
    "summaries in the content": (
        [{"content": [item]} for item in (summary("a"), summary("b"), summary("", "S"), HI)],
        {"content": [summary("ab", "S"), HI]},
    ),
    "thinking in the content": (
        [
            {"content": [{"type": "thinking", "thinking": [CHUNK]}]},
            {"content": [{"type": "thinking", "thinking": [CHUNK]}]},
            {"content": [{"type": "thinking", "thinking": [], "closed": True, "signature": "S"}]},
            {"content": "Hi"},
        ],
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "aa"}], "closed": True, "signature": "S"},
                HI,
            ]
        },
    ),
    "records by index": (
        [
            {"reasoning_details": [text(0, text="a"), text(1, text="x")]},
            {"reasoning_details": [text(0, text="b"), text(1, text="y")]},
            {"content": "Hi"},
            {"reasoning_details": [text(1, signature="S1"), text(0, signature="S0"), ENCRYPTED]},
        ],
        {
            "content": "Hi",
            "reasoning_details": [text(0, text="ab", signature="S0"), text(1, text="xy", signature="S1"), ENCRYPTED],
        },
    ),
    "an object": (
        [{"thinking": {"content": "a"}}, {"thinking": {"content": "b"}}, {"thinking": {"signature": "S"}}],
        {"thinking": {"content": "ab", "signature": "S"}},
    ),
    "unknown names": (
        [{"reasoning_content": "a", "thought_signature": "T"}, {"encrypted_content": "E"}],
        {"reasoning_content": "a", "thought_signature": "T", "encrypted_content": "E"},
    ),
}

#: Members of a whole message that go back as they are.
WHOLE: dict[str, JSONObject] = {
    "thinking blocks": {"reasoning_content": "abc", "thinking_blocks": BLOCKS},
    "thinking blocks twice": {"thinking_blocks": BLOCKS, "provider_specific_fields": {"thinking_blocks": BLOCKS}},
    "opaque text": {"reasoning_text": "ab", "reasoning_opaque": "O"},
    "summaries": {"content": [summary("a", "S1"), summary("b", "S2"), HI]},
    "two that say the same": {"content": [summary("a", "S"), summary("a", "S"), HI]},
    "an encrypted summary": {"content": [{"type": "reasoning", "summary": [{"type": "encrypted", "data": "E"}]}, HI]},
    "thinking between texts": {"content": [thinking("a", "S1"), HI, thinking("b", "S2"), BLOCKS[1], HI]},
    "records of one index": {"reasoning_details": [text(0, text="a"), text(0, text="b", signature="S")]},
    "an object": {"reasoning": {"text": "a", "signature": "S"}},
    "a list": {"reasoning_content": [{"type": "text", "text": "a", "signature": "S"}]},
    "an object of another name": {"reasoningContent": {"reasoningText": {"text": "a", "signature": "S"}}},
    "items": {"reasoning_items": [{"type": "reasoning", "id": "r", "encrypted_content": "E", "summary": []}]},
}


def turn_of(body: bytes, sizes: tuple[int, ...] = ()) -> Turn:
    """The answer of a body as a turn."""
    choice = fold(chat_events(body, sizes)).choices[0]
    turn = make_turn(Role.ASSISTANT, "", *choice.freeze())
    return turn.model_copy(update={"extra": choice.extra})


def body_of(message: JSONObject) -> bytes:
    """A whole answer that calls a tool."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", **message, "tool_calls": CALLS},
        "finish_reason": "tool_calls",
    }
    return json.dumps({"id": "c", "model": "m", "choices": [choice]}).encode()


def sent(turn: Turn, rule: ReasoningReturn = AFTER_CALLS) -> JSONObject:
    """The message that goes back, without what every one here has."""
    (message,) = encode_turns((turn,), rule)
    assert message["tool_calls"] == CALLS
    return {
        name: value
        for name, value in message.items()
        if name not in ("role", "tool_calls") and (name, value) not in (("content", None), ("reasoning_content", ""))
    }


@each_case("name", STREAMS)
def test_signed_reasoning_of_a_stream_goes_back_joined(name: str) -> None:
    deltas, expected = STREAMS[name]
    body = b"".join(map(chunk, deltas)) + END
    assert sent(turn_of(body)) == expected
    assert turn_of(body, tuple([1] * len(body))).parts == turn_of(body).parts


@each_case("name", WHOLE)
def test_signed_reasoning_of_a_whole_answer_goes_back_unchanged(name: str) -> None:
    assert sent(turn_of(body_of(WHOLE[name]))) == WHOLE[name]


@each_case("name", WHOLE)
def test_saved_body_keeps_signed_reasoning_and_its_rule(name: str) -> None:
    for when in SendReasoning:
        turns = (make_turn(Role.USER, "?"), turn_of(body_of(WHOLE[name])))
        request = Request(protocol="chat", model="m", turns=turns, reasoning_return=ReasoningReturn(when=when))
        body = encode(request, with_extra=True)
        assert encode(read_body(json.loads(json.dumps(body)))[0], with_extra=True) == body


@each_case("name", [*STREAMS])
def test_signed_reasoning_stays_without_a_rule(name: str) -> None:
    turn = turn_of(b"".join(map(chunk, STREAMS[name][0])) + END)
    message = sent(turn, ReasoningReturn())
    assert message in ({}, {"content": "Hi"})
    without_calls = turn.model_copy(update={"parts": tuple(part for part in turn.parts if part.kind != "tool_call")})
    assert encode_turns((without_calls,), AFTER_CALLS) == encode_turns((without_calls,))


def test_members_without_reasoning_are_not_sent() -> None:
    signed = {**HI, "thought_signature": "T"}
    message = {"content": [signed], "citations": [{"url": "u"}], "reasoning_tokens": 5, "stop_reason": "x"}
    assert sent(turn_of(body_of(message))) == {"content": [signed]}


def test_hostile_records_are_kept_without_harm() -> None:
    odd = [
        {"type": [1], "index": {}, "signature": 5},
        "x",
        7,
        None,
        {"text": ["a"], "index": 0},
        {"thinking": {"a": 1}},
    ]
    turn = turn_of(chunk({"thinking_blocks": odd}) + chunk({"thinking_blocks": odd}) + END)
    assert isinstance(sent(turn)["thinking_blocks"], list)
