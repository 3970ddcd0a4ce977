"""Reasoning under its names, as parts, as records, and inside the content."""

from __future__ import annotations

import pytest

from playground.domain.parts import Reasoning, Text
from tests.protocols.streams import DONE, chat, chat_events, chunk, fold, text

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
    came = {"type": "thinking", "thinking": [{"type": "text", "text": "ab"}]}
    assert answer.choices[0].freeze() == (
        Reasoning(text="ab", field="content[].thinking", extra={"chat": {"content": [came]}}),
        Text(text="c"),
    )


def test_the_same_text_under_two_names_is_shown_once() -> None:
    answer = chat(
        chunk({"reasoning": "a", "reasoning_content": "a"}), chunk({"reasoning_content": "b", "reasoning": "b"}), STOP
    )
    assert text(answer, kind="reasoning") == "ab"
    assert "reasoning_twice" in answer.deviations


def test_the_whole_text_once_more_under_another_name_is_shown_once() -> None:
    answer = chat(chunk({"reasoning": "a"}), chunk({"reasoning": "b"}), chunk({"reasoning_content": "ab"}), STOP)
    assert text(answer, kind="reasoning") == "ab"


def test_different_text_under_two_names_is_all_shown() -> None:
    answer = chat(chunk({"reasoning": "a"}), chunk({"reasoning_content": "b"}), STOP)
    assert text(answer, kind="reasoning") == "ab"


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


def test_records_alone_are_shown() -> None:
    record = {"type": "reasoning.summary", "summary": "a", "index": 0}
    answer = chat(chunk({"reasoning_details": [record]}), STOP)
    assert answer.choices[0].freeze() == (Reasoning(text="a", field="reasoning_details", details=(record,)),)


def test_records_of_a_whole_body_stay_as_they_are() -> None:
    records = [
        {"type": "reasoning.text", "text": "a", "index": 0, "id": "1"},
        {"type": "reasoning.text", "text": "b", "index": 0, "id": "2"},
        {"type": "reasoning.encrypted", "data": "X"},
        {"type": "reasoning.encrypted", "data": "Y"},
    ]
    answer = chat(chunk({"reasoning_details": records}), STOP)
    part = answer.choices[0].freeze()[0]
    assert isinstance(part, Reasoning)
    assert list(part.details) == records


@pytest.mark.parametrize(
    ("content", "thought", "said"),
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
@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_think_tags_at_the_start_of_the_content(content: str, thought: str, said: str, size: int) -> None:
    pieces = [content[i : i + size] for i in range(0, len(content), size)]
    answer = chat(*(chunk({"content": piece}) for piece in pieces), STOP)
    assert text(answer, kind="reasoning") == thought
    assert text(answer) == said
    assert ("inline_think" in answer.deviations) is content.lstrip().startswith("<think>")


def test_think_tags_in_a_whole_body() -> None:
    body = b'{"choices":[{"message":{"content":"<think>a</think>b"},"finish_reason":"stop"}]}'
    answer = fold(chat_events(body))
    assert answer.choices[0].freeze() == (Reasoning(text="a", field="<think>"), Text(text="b"))


def test_what_is_held_back_is_given_out_when_the_stream_is_cut() -> None:
    answer = chat(chunk({"content": "<think>a</thi"}))
    assert text(answer, kind="reasoning") == "a</thi"
