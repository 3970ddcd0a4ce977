"""Streams whose deltas each begin with all that came before: noticed, and read without the repeats on request."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

from playground.domain.accumulator import Accumulator
from playground.protocols.summary import summarise
from tests.protocols.streams import DONE, chat, chunk, codes, data, messages, messages_events, text
from tests.support.each_case import each_case

WORDS = ["The ", "cat ", "sat ", "on ", "the ", "mat."]
WHOLE = "".join(WORDS)
GROWING = list(accumulate(WORDS))
STOP = chunk({}, "stop") + DONE


def chat_body(content: list[str], reasoning: list[str]) -> bytes:
    thoughts = b"".join(chunk({"reasoning_content": piece}) for piece in reasoning)
    return thoughts + b"".join(chunk({"content": piece}) for piece in content) + STOP


def messages_body(content: list[str], reasoning: list[str]) -> bytes:
    out = [data({"type": "message_start", "message": {"id": "m", "content": []}})]
    blocks = [("thinking", "thinking", reasoning), ("text", "text", content)]
    for index, (kind, member, pieces) in enumerate(blocks):
        out.append(data({"type": "content_block_start", "index": index, "content_block": {"type": kind, member: ""}}))
        for piece in pieces:
            delta = {"type": f"{kind}_delta", member: piece}
            out.append(data({"type": "content_block_delta", "index": index, "delta": delta}))
        out.append(data({"type": "content_block_stop", "index": index}))
    out.append(data({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}))
    return b"".join([*out, data({"type": "message_stop"})])


BODIES = [("chat", chat_body, chat), ("messages", messages_body, messages)]


@each_case(("protocol", "body", "read"), BODIES)
@each_case(
    ("content", "reasoning"),
    [
        (GROWING, ["hm", " well"]),
        (GROWING, GROWING),
        (["Yes"], GROWING),
        ([*GROWING, GROWING[-1]], ["a", "ab"]),  # the whole once more at the end
        ([GROWING[0], *GROWING], []),
    ],
)
def test_cumulative_deltas_are_named_and_kept_and_can_be_read_without_repeats(
    protocol: str,
    body: Callable[..., bytes],
    read: Callable[..., Accumulator],
    content: list[str],
    reasoning: list[str],
) -> None:
    raw = body(content, reasoning)
    answer = read(raw)
    assert "cumulative_deltas" in answer.deviations
    assert not answer.holes
    assert text(answer) == "".join(content), "nothing is altered by itself"
    (choice,) = summarise(protocol, raw, cumulative=True)["choices"]
    assert choice["content"] == (WHOLE if content[0] == WORDS[0] else "".join(content))
    assert choice["reasoning"] == (WHOLE if reasoning == GROWING else "".join(reasoning))


@each_case(("protocol", "body", "read"), BODIES)
@each_case(
    "content",
    [
        WORDS,
        GROWING[:4],  # four may be chance
        [" ", "  ", "   ", "    ", "     ", "      "],
        ["a"] * 20,
        ["x", *GROWING],
        [*WORDS, *GROWING],
        [WHOLE],
    ],
)
def test_ordinary_deltas_are_not_taken_for_cumulative_ones(
    protocol: str, body: Callable[..., bytes], read: Callable[..., Accumulator], content: list[str]
) -> None:
    raw = body(content, [])
    assert "cumulative_deltas" not in read(raw).deviations
    assert summarise(protocol, raw, cumulative=True) == summarise(protocol, raw)


def test_blocks_that_each_begin_alike_are_not_one_cumulative_text() -> None:
    events: list[Any] = [{"type": "message_start", "message": {"id": "m", "content": []}}]
    for index, piece in enumerate(GROWING):
        events += [
            {"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": piece}},
            {"type": "content_block_stop", "index": index},
        ]
    assert "cumulative_deltas" not in codes(messages_events(b"".join(map(data, events))))


def test_cumulative_text_is_detected_per_choice() -> None:
    body = b"".join(chunk({"content": piece}, index=n % 2) for n, piece in enumerate(GROWING + GROWING))
    assert "cumulative_deltas" not in chat(body, STOP).deviations
    both = b"".join(chunk({"content": piece}, index=index) for piece in GROWING for index in (0, 1))
    summary = summarise("chat", both + chunk({}, "stop") + chunk({}, "stop", index=1) + DONE, cumulative=True)
    assert [choice["content"] for choice in summary["choices"]] == [WHOLE, WHOLE]
