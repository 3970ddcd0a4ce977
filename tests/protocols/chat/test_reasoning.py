"""Reasoning under its names, as parts, as records, and inside the content."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.domain.parts import Part, Reasoning, Text
from playground.domain.transcript import Role, make_turn
from playground.protocols.chat.encode import encode_turns
from tests.protocols.streams import DONE, chat, chunk, text
from tests.support.each_case import each_case

STOP = chunk({}, "stop") + DONE


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "thinking", "reasoning_text"])
def test_each_name_is_read_and_kept(name: str) -> None:
    answer = chat(chunk({name: "a"}), chunk({name: "b"}), chunk({"content": "c"}), STOP)
    assert answer.choices[0].freeze() == (Reasoning(text="ab", field=name), Text(text="c"))
    assert list(answer.deviations) == ([] if name == "reasoning_content" else ["reasoning_name"])


def test_content_parts() -> None:
    answer = chat(
        chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "a"}]}]}),
        chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "b"}]}]}),
        chunk({"content": [{"type": "text", "text": "c"}]}),
        STOP,
    )
    received = {"type": "thinking", "thinking": [{"type": "text", "text": "ab"}]}
    assert answer.choices[0].freeze() == (
        Reasoning(text="ab", field="content[].thinking", extra={"chat": {"content": [received]}}),
        Text(text="c"),
    )


@each_case(
    ("deltas", "noted"),
    [
        ([{"reasoning": "a", "reasoning_content": "a"}, {"reasoning_content": "b", "reasoning": "b"}], True),
        ([{"reasoning": "a"}, {"reasoning": "b"}, {"reasoning_content": "ab"}], True),  # the whole once more
        ([{"reasoning": "a"}, {"reasoning_content": "b"}], False),
    ],
)
def test_text_under_two_names_is_shown_once(deltas: list[dict[str, str]], noted: bool) -> None:
    answer = chat(*map(chunk, deltas), STOP)
    assert text(answer, kind="reasoning") == "ab"
    assert not noted or "reasoning_twice" in answer.deviations


def test_records_beside_a_name_are_kept_and_their_text_is_not_doubled() -> None:
    def delta(piece: str) -> bytes:
        record = {"type": "reasoning.text", "text": piece, "index": 0, "format": None}
        return chunk({"reasoning": piece, "reasoning_details": [record], "content": ""})

    answer = chat(
        delta("a"),
        delta("b"),
        chunk({"reasoning_details": [{"type": "reasoning.text", "signature": "S", "index": 0}]}),
        chunk({"reasoning_details": [{"type": "reasoning.encrypted", "data": "X", "index": 1}]}),
        chunk({"content": "c"}),
        STOP,
    )
    merged = {"type": "reasoning.text", "text": "ab", "index": 0, "format": None, "signature": "S"}
    encrypted = {"type": "reasoning.encrypted", "data": "X", "index": 1}
    assert answer.choices[0].freeze() == (
        Reasoning(text="ab", field="reasoning", details=(merged, encrypted)),
        Text(text="c"),
    )
    assert "reasoning_twice" not in answer.deviations


def test_records_without_a_name_are_shown_and_stay_as_they_are() -> None:
    records: list[dict[str, Any]] = [
        {"type": "reasoning.summary", "summary": "a", "index": 0},
        {"type": "reasoning.text", "text": "a", "index": 0, "id": "1"},
        {"type": "reasoning.text", "text": "b", "index": 0, "id": "2"},
        {"type": "reasoning.encrypted", "data": "X"},
        {"type": "reasoning.encrypted", "data": "Y"},
    ]
    part = chat(chunk({"reasoning_details": records}), STOP).choices[0].freeze()[0]
    assert part == Reasoning(text="aab", field="reasoning_details", details=tuple(records))


@each_case(
    ("content", "thought", "answer_text"),
    [
        ("<think>a</think>b", "a", "b"),
        ("<think>\na\n</think>\n\nb", "\na\n", "\n\nb"),
        ("\n <think>a</think>b", "a", "b"),
        ("<think>never closed", "never closed", ""),
        ("<think></think>b", "", "b"),
        ("<think>a < b </thin k></think>c", "a < b </thin k>", "c"),
        ("b <think>a</think>", "", "b <think>a</think>"),
        ("<thinking>a</thinking>", "", "<thinking>a</thinking>"),
        ("<thi", "", "<thi"),
        ("a</think>b", "", "a</think>b"),
        ("<think>a</think>b<think>c</think>", "a", "b<think>c</think>"),
        ("  \n", "", "  \n"),
    ],
)
@each_case("size", [1, 2, 5, 100])
def test_think_tags_at_the_start_of_the_content(content: str, thought: str, answer_text: str, size: int) -> None:
    pieces = [content[i : i + size] for i in range(0, len(content), size)]
    answer = chat(*(chunk({"content": piece}) for piece in pieces), STOP)
    assert text(answer, kind="reasoning") == thought
    assert text(answer) == answer_text
    assert ("inline_think" in answer.deviations) is content.lstrip().startswith("<think>")


def whole(message: dict[str, Any]) -> bytes:
    return json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()


# -- thoughts as Gemini marks them ------------------------------------------------------------------------------------

UNMARKED = "<thought>Plan</thought>Answer"
PLANNED: list[Part] = [Reasoning(text="Plan", field="<thought>"), Text(text="Answer")]
MARK = {"extra_content": {"google": {"thought": True}}}


def _split(text: str, place: int) -> list[str]:
    return [piece for piece in (text[:place], text[place:]) if piece]


@pytest.mark.parametrize("opening", ["<thought>Plan", "Plan", "\n<thought>Plan"])
@pytest.mark.parametrize("closing", ["</thought>Answer", "Answer"])
def test_marked_content_is_reasoning_wherever_its_tags_are_split(opening: str, closing: str) -> None:
    for first in range(len(opening)):
        for second in range(len(closing)):
            answer = chat(
                *(chunk({"role": "assistant", "content": piece, **MARK}) for piece in _split(opening, first)),
                *(chunk({"role": "assistant", "content": piece}) for piece in _split(closing, second)),
                STOP,
            )
            choice = answer.choices[0]
            assert choice.freeze() == tuple(PLANNED)
            assert choice.extra == {}, "the answer is not marked as a thought"
            assert answer.complete


@each_case(
    ("body", "parts"),
    [
        ([whole({"content": "<think>a</think>b"})], [Reasoning(text="a", field="<think>"), Text(text="b")]),
        ([chunk({"content": "<think>a</thi"})], [Reasoning(text="a</thi", field="<think>")]),  # the stream is cut
        ([whole({"content": "<thought>Plan</thought>Answer", **MARK})], PLANNED),
        ([whole({"content": "Answer", **MARK})], PLANNED[1:]),
        *(
            (
                [
                    *(chunk({"content": UNMARKED[index : index + size]}) for index in range(0, len(UNMARKED), size)),
                    STOP,
                ],
                PLANNED,
            )
            for size in (1, 3, 100)
        ),
        (
            [
                chunk({"content": "<thought>Plan", **MARK}),
                *map(chunk, ({"content": "\n"}, {"content": "</thought>A"})),
                STOP,
            ],
            [Reasoning(text="Plan\n", field="<thought>"), Text(text="A")],
        ),
    ],
)
def test_tags_at_the_start_are_split_off(body: list[bytes], parts: list[Part]) -> None:
    choice = chat(*body).choices[0]
    assert choice.freeze() == tuple(parts)
    assert choice.extra == {}


def test_thought_may_come_again_after_text_and_end_at_a_call() -> None:
    call = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}
    answer = chat(
        chunk({"content": "Hello"}),
        chunk({"content": "<thought>Plan", **MARK}),
        chunk({"content": "</thought>", "tool_calls": [call]}),
        chunk({}, "tool_calls"),
    )
    parts = answer.choices[0].freeze()
    assert parts[:2] == (Text(text="Hello"), Reasoning(text="Plan", field="<thought>"))
    assert [part.kind for part in parts] == ["text", "reasoning", "tool_call"]


def test_signatures_of_thoughts_go_back_and_the_mark_does_not() -> None:
    signature = {"google": {"thought_signature": "S1"}}
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}, "extra_content": signature}
    answer = chat(
        chunk({"content": "<thought>Plan", **MARK}),
        chunk({"content": "</thought>Answer", "tool_calls": [call]}),
        chunk({"extra_content": {"google": {"thought": True, "thought_signature": "S2"}}}, "tool_calls"),
        DONE,
    )
    choice = answer.choices[0]
    turn = make_turn(Role.ASSISTANT, "", *choice.freeze()).model_copy(update={"extra": choice.extra})
    assert encode_turns((turn,)) == [
        {"role": "assistant", "content": "Answer", "tool_calls": [call],
         "extra_content": {"google": {"thought_signature": "S2"}}}
    ]  # fmt: skip


def test_mark_of_an_older_file_does_not_go_back() -> None:
    turn = make_turn(Role.ASSISTANT, "Answer").model_copy(update={"extra": {"chat": dict(MARK)}})
    assert encode_turns((turn,)) == [{"role": "assistant", "content": "Answer"}]
