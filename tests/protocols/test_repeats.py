"""A stream read with what it repeats gives what each of its events gives when it is read alone."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.domain.events import Event, TextDelta
from playground.protocols.chat.decode import ChatDecoder
from playground.protocols.messages.decode import MessagesDecoder
from playground.protocols.repeats import PATIENCE, Repeats
from playground.protocols.sse import Frame, SSEParser
from tests.support.each_case import each_case

TEXTS = st.text(st.characters(codec="utf-8"), max_size=8) | st.sampled_from(
    [
        '"',
        "\\",
        '","',
        '"}}',
        "\n",
        "\u2028",
        "\u00a0",
        "🙂",
        "data: ",
        "\x00",
        '"content":"',
        "a\\",
        "\ud83d",
        "\ude42",
    ]
)


def frame(data: str, event: str | None = None) -> Frame:
    lead = f"event: {event}\n" if event else ""
    return Frame(event, data, f"{lead}data: {data}\n\n".encode())


def chat(delta: dict[str, object], index: int = 0, **more: object) -> dict[str, object]:
    return {"id": "c", "model": "m", "choices": [{"index": index, "delta": delta, "finish_reason": None}], **more}


def message(kind: str, key: str, text: str) -> dict[str, object]:
    return {"type": "content_block_delta", "index": 0, "delta": {"type": kind, key: text}}


def tool(text: str) -> dict[str, object]:
    return chat({"tool_calls": [{"index": 0, "function": {"arguments": text}}]})


def wire(values: list[dict[str, object]], separator: str, ascii_only: bool) -> bytes:
    named = [(f"event: {value['type']}{separator}" if "type" in value else "", value) for value in values]
    spelt = [(lead, json.dumps(value, ensure_ascii=ascii_only)) for lead, value in named]
    text = "".join(f"{lead}data: {data}{separator * 2}" for lead, data in spelt)
    return text.encode("utf-8", "surrogatepass").replace(
        b"\xed", b"\xee"
    )  # what no UTF-8 can hold stays odd, but sound


def told(protocol: str, body: bytes, size: int) -> list[Event]:
    return told_of(protocol, [body[at : at + size] for at in range(0, len(body), size)])


def told_of(protocol: str, reads: list[bytes]) -> list[Event]:
    kind = {"chat": ChatDecoder, "messages": MessagesDecoder}[protocol]
    decoder = kind("text/event-stream", make_id=lambda: "ours")
    return [event for read in reads for event in decoder.decode_bytes(read)] + decoder.close()


def told_plainly(protocol: str, reads: list[bytes]) -> list[Event]:
    """The same, with nothing ever learnt."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Repeats, "patient", False)
        return told_of(protocol, reads)


CHAT = st.one_of(
    TEXTS.map(lambda text: chat({"content": text})),
    TEXTS.map(lambda text: chat({"content": text, "role": "assistant"}, index=1)),
    TEXTS.map(lambda text: chat({"reasoning_content": text})),
    TEXTS.map(lambda text: chat({"reasoning": text}, usage={"prompt_tokens": 3})),
    TEXTS.map(lambda text: chat({"content": "same", "note": text})),
    TEXTS.map(lambda text: chat({"content": [{"type": "odd", "content": text}]})),
    TEXTS.map(tool),
)
MESSAGES = st.one_of(
    TEXTS.map(lambda text: message("text_delta", "text", text)),
    TEXTS.map(lambda text: message("thinking_delta", "thinking", text)),
    TEXTS.map(lambda text: message("input_json_delta", "partial_json", text)),
    TEXTS.map(lambda text: message("signature_delta", "signature", text)),
    st.just({"type": "ping"}),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(CHAT, max_size=14), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.sampled_from([40, 190, 100_000]))
def test_chat_is_read_alike(values: list[dict[str, object]], separator: str, ascii_only: bool, size: int) -> None:
    body = wire(values, separator, ascii_only)
    assert told("chat", body, size) == told_plainly("chat", [body])


@settings(max_examples=300, deadline=None)
@given(
    st.lists(MESSAGES, max_size=14), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.sampled_from([40, 190, 100_000])
)
def test_messages_are_read_alike(values: list[dict[str, object]], separator: str, ascii_only: bool, size: int) -> None:
    body = wire(values, separator, ascii_only)
    assert told("messages", body, size) == told_plainly("messages", [body])


def choice(delta: dict[str, object], **more: object) -> dict[str, object]:
    return {"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta, **more}]}


def block_start(kind: str, index: int = 0) -> dict[str, object]:
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, "text": ""}}


#: Events that come again and again with other texts; most say something beside.
CHAT_RUNS: dict[str, Callable[[str], dict[str, object]]] = {
    "content": lambda text: chat({"content": text}),
    "with a role": lambda text: chat({"content": text, "role": "assistant"}),
    "another choice": lambda text: chat({"content": text}, index=1),
    "no number": lambda text: choice({"content": text}, index=True),
    "ended": lambda text: choice({"content": text}, finish_reason="stop"),
    "counted": lambda text: chat({"content": text}, usage={"prompt_tokens": 3}),
    "counted inside": lambda text: choice({"content": text}, usage={"prompt_tokens": 4}),
    "counted elsewhere": lambda text: chat({"content": text}, x_groq={"usage": {"prompt_tokens": 5}}),
    "failed": lambda text: choice({"content": text}, error={"message": "no"}),
    "more in the delta": lambda text: chat({"content": text, "refusal": "no"}),
    "reasoning": lambda text: chat({"reasoning_content": text}),
    "nameless": lambda text: {"choices": [{"index": 0, "delta": {"content": text}}]},
}
MESSAGES_RUNS: dict[str, Callable[[str], dict[str, object]]] = {
    "text": lambda text: message("text_delta", "text", text),
    "no number": lambda text: {**message("text_delta", "text", text), "index": True},
    "another block": lambda text: {**message("text_delta", "text", text), "index": 1},
    "thinking": lambda text: message("thinking_delta", "thinking", text),
    "more in the delta": lambda text: {**message("", "", ""), "delta": {"type": "text_delta", "text": text, "more": 1}},
    "begun": lambda _: block_start("text"),
    "begun otherwise": lambda _: block_start("thinking"),
    "begun again": lambda _: block_start("tool_use", 1),
}
SAID = TEXTS | st.sampled_from(["", "<think>", "</think>", "<thi", "nk>", " word", "word", "\n"])
RUNS = st.lists(st.tuples(st.integers(0, 11), st.lists(SAID, min_size=3, max_size=8)), min_size=1, max_size=6)


@pytest.mark.parametrize("protocol", ["chat", "messages"])
@settings(max_examples=300, deadline=None)
@given(RUNS, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_runs_are_read_alike(
    protocol: str, runs: list[tuple[int, list[str]]], separator: str, ascii_only: bool
) -> None:
    kinds = [*(CHAT_RUNS if protocol == "chat" else MESSAGES_RUNS).values()]
    reads = []
    for kind, texts in runs:  # one event each to learn from, and all others at once
        first, *others = [kinds[kind % len(kinds)](text) for text in texts]
        reads += [wire([first], separator, ascii_only), wire(others, separator, ascii_only)]
    assert told_of(protocol, reads) == told_plainly(protocol, reads)


def test_what_is_learnt_in_the_middle_of_a_read_does_not_reach_back() -> None:
    one = [chat({"content": "first "})]
    mixed = [chat({"content": "a"}), chat({"reasoning_content": "R"}), chat({"content": "b"})]
    decoder = ChatDecoder()
    decoder.decode_bytes(wire(one, "\n", True))
    decoder.decode_bytes(wire(one, "\n", True))
    events = decoder.decode_bytes(wire([*mixed, chat({"reasoning_content": "S"}), *mixed], "\n", True))
    texts = [(type(event).__name__, event.text) for event in events if hasattr(event, "text")]
    content, thought = "TextDelta", "ReasoningDelta"
    once = [(content, "a"), (thought, "R"), (content, "b")]
    assert texts == [*once, (thought, "S"), *once]


def test_events_that_repeat_come_as_the_bytes_between_the_edges() -> None:
    repeats = Repeats()
    value = chat({"content": "one"})
    first = frame(json.dumps(value))
    delta = value["choices"][0]["delta"]  # type: ignore[index]  # a literal, just above
    repeats.learn(first, value, (delta, "content"))
    assert repeats.edges is not None
    found = SSEParser().parse_bytes(
        wire([chat({"content": "two"}), chat({"content": "x"}, index=2)], "\n", True), repeats.edges
    )
    assert found[0] == b"two"
    assert isinstance(found[1], Frame)
    assert repeats.text(b"two") == "two"
    assert repeats.value("two") == chat({"content": "two"})
    assert repeats.whole(b"two").data == json.dumps(chat({"content": "two"}))


@each_case(
    "data",
    [
        '{"delta":{"content":"a","content":"b"}}',
        '{"delta":{"content":"b"},"kind":"content"}',
        '{"content":1,"delta":{"content":"b"}}',
        '{"delta":{"\\u0063ontent":"b"}}',
        '{"path":"C:\\\\","delta":{"content":"b"}}',
        '{"delta":{"content":"b"},"path":"\\""}',
        '{"delta":{"content" : "b"}}',
        '{"error":{},"delta":{"content":"b"}}',
    ],
)
def test_nothing_is_learnt_where_it_is_not_certain(data: str) -> None:
    repeats = Repeats()
    value = json.loads(data)
    repeats.learn(frame(data), value, (value["delta"], "content"))
    assert repeats.edges is None


@pytest.mark.parametrize(
    "raw", [b"\xef\xbb\xbfdata: ", b"id: 4\ndata: ", b"data: \ndata: ", b": hello\ndata: ", b"\ndata: "]
)
def test_nothing_is_learnt_from_an_unusual_frame(raw: bytes) -> None:
    data = '{"delta":{"content":"b"}}'
    repeats = Repeats()
    value = json.loads(data)
    repeats.learn(Frame(None, data, raw + data.encode() + b"\n\n"), value, (value["delta"], "content"))
    assert repeats.edges is None


def test_edges_that_overlap_are_no_event_of_that_kind() -> None:
    edges = (b'data: {"content":"', b'"}')
    (only,) = SSEParser().parse_bytes(b'data: {"content":"}\n\n', edges)
    assert isinstance(only, Frame)
    assert only.data == '{"content":"}'


def test_stream_that_never_repeats_itself_is_decoded_in_full() -> None:
    decoder = ChatDecoder()
    texts: list[str] = []
    for number in range(PATIENCE * 3):
        events = decoder.decode_bytes(wire([chat({"content": "x"}, nonce=number)], "\n", True))
        texts += [event.text for event in events if isinstance(event, TextDelta)]
    assert texts == ["x"] * PATIENCE * 3


BLOCKS = st.one_of(
    TEXTS.map(lambda text: b"data: " + json.dumps(chat({"content": text})).encode()),
    st.sampled_from(
        [
            b'data: {"choices": [{"index": 0, "delta": {"content": "whole"}}]}',
            b'data: {"choices": [{"index": 0, "delta": {"content": "cut',
            b'data: {"choices": [{"index": 0,\ndata: "delta": {"content": "lines"}}]}',
            b'event: error\ndata: {"message": "no"}',
            b'event: chunk\ndata: {"choices": []}',
            b'data: {"error": {"message": "no"}}',
            b'data: {"choices": [{"index": 0, "delta": {"content": "\\ud83d"}}]}',
            b'data: {"choices": [{"index": 0, "delta": {"content": 1e999}}]}',
            b"data: {\xff}",
            b"data: [DONE]",
            b": alive",
            b"stray",
            b'{"choices": [{"index": 0, "delta": {"content": "bare"}}]}',
        ]
    ),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(BLOCKS, max_size=8), st.sampled_from([b"\n", b"\r\n"]), st.sampled_from([40, 100_000]))
def test_what_is_read_without_its_bytes_is_read_as_with_them(blocks: list[bytes], line_end: bytes, size: int) -> None:
    body = b"".join(block.replace(b"\n", line_end) + 2 * line_end for block in blocks)
    reads = [body[at : at + size] for at in range(0, len(body), size)]
    decoder = ChatDecoder("text/event-stream", make_id=lambda: "ours")
    traced = [one for read in reads for one in decoder.trace(read)] + decoder.trace_close()
    assert told_plainly("chat", reads) == [event for one in traced for event in one.events]
