"""However a body is cut into reads, it says the same."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from playground.domain.events import Event
from tests.protocols.messages.test_decode import start, stop, text_block, thought, used
from tests.protocols.streams import (
    DONE,
    call_chunk,
    chat_events,
    chunk,
    codes,
    data,
    fold,
    fragment,
    messages_events,
    outcome,
)
from tests.support.each_case import each_case

STREAM = b"".join(
    [
        b"\xef\xbb\xbf: OPENROUTER PROCESSING\n\n",
        chunk({"role": "assistant", "content": ""}),
        chunk({"reasoning": "hm \u00e9", "reasoning_content": "hm \u00e9"}),
        chunk({"content": "<think>a</think>b\u2028\U0001f600"}),
        chunk({"content": "c"}, index=1),
        b"\n\n: keep-alive\n",
        call_chunk(fragment("", id="a", name="f"), fragment("", id="b", name="g")),
        call_chunk(fragment('{"x":"\u00e9"}'), fragment("{}")),
        b'data: {"choices":[{"delta":{"content":"\\ud83d"}}]}\n\n',
        b'data: {"choices":[{"delta":{"content":"\\ude00"}}]}\n\n',
        chunk({}, "stop", usage={"total_tokens": 1}),
        b'{"error":{"message":"late"}}\n',
        DONE,
    ]
)
BODY = json.dumps(
    {
        "id": "x",
        "choices": [{"message": {"content": "<think>a</think>b\u00e9"}, "finish_reason": "stop"}],
        "usage": {"total_tokens": 1},
    },
    indent=1,
).encode()
CHAT = {
    "stream": STREAM,
    "crlf": STREAM.replace(b"\n", b"\r\n"),
    "cr": STREAM.replace(b"\n", b"\r"),
    "cut": STREAM[: len(STREAM) // 2],
    "body": b"\n\n" + BODY,
    "lines": b"\n".join(json.dumps({"choices": [{"delta": {"content": c}}]}).encode() for c in "abc"),
    "page": b"<html><title>502</title></html>",
    "text": b"upstream error\nsecond line",
    "error": b'{"code":1,"message":"no","data":null}',
}
NAMES = [
    "choices", "delta", "message", "content", "index", "finish_reason", "tool_calls", "function", "arguments", "name",
    "id", "usage", "error", "type", "text", "reasoning", "reasoning_details", "thinking", "refusal", "content_block",
    "stop_reason", "partial_json", "signature", "input", "data",
]  # fmt: skip
WHOLE = {"type": "message", "content": [{"type": "text", "text": "a"}], "stop_reason": "end_turn"}
MESSAGES = {
    "stream": b"".join(
        [
            start(),
            data({"type": "ping"}, "ping"),
            thought("hm \u00e9", "SIG"),
            text_block("a", "b", index=1),
            used('{"x"', ":1}", index=2),
            stop("tool_use"),
        ]
    ),
    "body": json.dumps(WHOLE, indent=2).encode(),
}


BODIES = [(chat_events, body) for body in CHAT.values()] + [(messages_events, body) for body in MESSAGES.values()]


def _check_sizes(run: Callable[..., list[Event]], body: bytes, sizes: list[int]) -> None:
    complete, pieces = run(body), run(body, sizes)
    assert outcome(pieces) == outcome(complete)
    assert sorted(codes(pieces)) == sorted(codes(complete))


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(BODIES), st.lists(st.integers(1, 60), min_size=1, max_size=200))
def test_body_cut_anywhere_gives_the_events_of_the_whole(
    body: tuple[Callable[..., list[Event]], bytes], sizes: list[int]
) -> None:
    _check_sizes(*body, sizes)


@each_case(("run", "body"), BODIES)
@each_case("size", [1, 3, 7])
def test_body_in_equal_pieces_gives_the_events_of_the_whole(
    run: Callable[..., list[Event]], body: bytes, size: int
) -> None:
    _check_sizes(run, body, [size] * len(body))


def test_line_ends_do_not_matter() -> None:
    complete = outcome(chat_events(CHAT["stream"]))
    assert outcome(chat_events(CHAT["crlf"])) == complete
    assert outcome(chat_events(CHAT["cr"])) == complete


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), kind=st.sampled_from(["chat", "messages"]))
def test_damaged_streams_never_raise_and_their_parts_can_be_kept(seed: int, kind: str) -> None:
    chance = random.Random(seed)
    body = bytearray(CHAT["stream"] if kind == "chat" else MESSAGES["stream"])
    for _ in range(chance.randrange(1, 12)):
        index = chance.randrange(len(body))
        match chance.randrange(4):
            case 0:
                body[index] = chance.randrange(256)
            case 1:
                del body[index : index + chance.randrange(1, 40)]
            case 2:
                body[index:index] = chance.choice(
                    [b'"', b"{", b"}", b"null", b"[]", b"\n", b"\\ud800", b"-1e9", b"\x00"]
                )
            case _:
                body += body[index : index + 80]
    run = chat_events if kind == "chat" else messages_events
    _keep(run(bytes(body)))


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.sampled_from([None, True, 0, -1, 1.5, "", "x", "stop", "{}", "\ud800"]),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
        max_leaves=25,
    ),
    st.sampled_from(
        ["choices", "message_start", "content_block_start", "content_block_delta", "message_delta", "message"]
    ),
)
def test_any_json_in_any_place_never_raises(value: Any, kind: str) -> None:
    events = [
        {"choices": [{"delta": value, "finish_reason": None}], "usage": value, "error": None},
        {"choices": [{"index": 0, "message": value, "delta": {"tool_calls": value, "content": value}}]},
        {"type": kind, "index": 0, **dict.fromkeys(("message", "content_block", "delta", "usage", "content"), value)},
        value,
    ]
    body = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
    _keep(chat_events(body))
    _keep(messages_events(body))
    for event in events:
        _keep(chat_events(json.dumps(event).encode()))
        _keep(messages_events(json.dumps(event).encode()))


def _keep(events: Any) -> None:
    answer = fold(events)
    for choice in answer.choices.values():
        for part in choice.freeze():
            part.model_dump_json()
    if answer.usage is not None:
        answer.usage.model_dump_json()
    if answer.failure is not None:
        answer.failure.model_dump_json()
