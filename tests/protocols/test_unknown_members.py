"""Unknown members of a call, a text or a message are kept at their place, and sent back from there."""

from __future__ import annotations

import json
from typing import Any

from playground.domain.accumulator import Accumulator
from playground.domain.parts import Part, Reasoning, Text, ToolCall, Unknown
from playground.domain.transcript import Role, Turn
from playground.protocols.chat.body import read_messages
from playground.protocols.chat.encode import encode_turns as chat_messages
from playground.protocols.messages.body import read_conversation
from playground.protocols.messages.encode import encode_turns as native_messages
from tests.protocols.messages.test_decode import block, event, start
from tests.protocols.streams import DONE, call_chunk, chat, chat_events, chunk, data, messages
from tests.support.each_case import each_case

SIGNED = {"google": {"thought_signature": "c2ln"}}
CITATION = {
    "type": "char_location",
    "cited_text": "The grass is green.",
    "document_index": 0,
    "document_title": None,
    "start_char_index": 0,
    "end_char_index": 19,
    "file_id": None,
}


def turn(answer: Accumulator) -> Turn:
    """The first choice as the turn it becomes."""
    choice = answer.choices[0]
    return Turn(id="t", role=Role.ASSISTANT, parts=choice.freeze(), extra=choice.extra)


def whole(**message: Any) -> Turn:
    body = {"choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}]}
    return turn(chat(json.dumps(body).encode()))


def native(*blocks: bytes) -> Turn:
    ends = event("message_delta", delta={"stop_reason": "end_turn"}, usage={}) + event("message_stop")
    return turn(messages(start(), *blocks, ends))


def native_whole(*content: Any, **more: Any) -> Turn:
    body = {"type": "message", "role": "assistant", "content": list(content), "stop_reason": "end_turn", **more}
    return turn(messages(json.dumps(body).encode()))


# Chat: calls


def entry(**more: Any) -> dict[str, Any]:
    return {"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}, **more}


@each_case(
    "stream",
    [
        [entry(extra_content=SIGNED)],
        [entry(), {"index": 0, "extra_content": SIGNED}],
        [{"index": 0, "extra_content": SIGNED}, entry()],
        [entry(extra_content=SIGNED), {"index": 0, "extra_content": None, "function": {"arguments": ""}}],
        [entry(extra_content=SIGNED), {"index": 0, "extra_content": SIGNED}, {"index": 0, "extra_content": SIGNED}],
        [entry(extra_content=SIGNED), entry(extra_content=SIGNED)],
        [entry(extra_content={"google": {}}), {"index": 0, "extra_content": SIGNED}],
    ],
)
def test_unknown_members_of_a_call_go_back_in_their_place(stream: list[Any]) -> None:
    text = turn(chat(*map(call_chunk, stream), chunk({}, "tool_calls"), DONE))
    assert text.calls[0].extra == {"chat": {"extra_content": SIGNED}}
    (message,) = chat_messages((text,))
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    assert message["tool_calls"] == [{**call, "extra_content": SIGNED}]
    assert whole(content=None, tool_calls=[entry(extra_content=SIGNED)]).calls == text.calls
    assert read_messages([message])[0].calls == text.calls


def test_members_of_all_fragments_are_merged_on_both_levels_and_by_call() -> None:
    text = turn(
        chat(
            call_chunk(
                {**entry(a={"x": 1}), "function": {"name": "f", "arguments": "", "strict": True}},
                {"index": 1, "id": "c2", "function": {"name": "g", "arguments": "{}"}, "a": "two"},
            ),
            call_chunk({"index": 0, "function": {"arguments": "{}", "more": {"deep": [1]}}, "a": {"y": 2}, "b": 0}),
            chunk({}, "tool_calls"),
            DONE,
        )
    )
    first, second = text.calls
    assert first.extra["chat"] == {
        "a": {"x": 1, "y": 2},
        "b": 0,
        "function": {"strict": True, "more": {"deep": [1]}},
    }
    assert second.extra["chat"] == {"a": "two"}
    (message,) = chat_messages((text,))
    assert message["tool_calls"][0] == {
        "id": "c1",
        "type": "function",
        "function": {"name": "f", "arguments": "{}", "strict": True, "more": {"deep": [1]}},
        "a": {"x": 1, "y": 2},
        "b": 0,
    }
    assert read_messages([message])[0].calls == text.calls


def test_known_members_win_and_a_flat_call_keeps_its_members() -> None:
    flat = {"index": 0, "id": "c1", "name": "f", "arguments": "{}", "trace": "t"}
    text = turn(chat(call_chunk(flat), chunk({}, "tool_calls"), DONE))
    assert text.calls == (ToolCall(id="c1", name="f", arguments="{}", extra={"chat": {"trace": "t"}}),)
    forged = text.calls[0].model_copy(update={"extra": {"chat": {"id": "x", "function": {"name": "y"}, "type": "z"}}})
    (message,) = chat_messages((text.model_copy(update={"parts": (forged,)}),))
    assert message["tool_calls"] == [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]


def test_members_of_a_call_stay_with_their_protocol() -> None:
    over_chat = turn(chat(call_chunk(entry(extra_content=SIGNED)), chunk({}, "tool_calls"), DONE))
    assert native_messages((over_chat,))[0]["content"] == [{"type": "tool_use", "id": "c1", "name": "f", "input": {}}]
    native_call = {"type": "tool_use", "id": "c1", "name": "f", "input": {}, "caller": {"type": "direct"}}
    over_messages = native(block(0, native_call))
    assert set(chat_messages((over_messages,))[0]["tool_calls"][0]) == {"id", "type", "function"}


# Chat: the message


def test_only_returnable_members_of_a_message_go_back() -> None:
    file = {"type": "file", "file": {"hash": "h"}}
    link = {"type": "url_citation", "url_citation": {"url": "https://x.example"}}
    members = {"annotations": [link, file], "extra_content": SIGNED, "channel": "final", "citations": ["https://x"]}
    message = whole(content="Hi", **members, audio=None, function_call=None, refusal=None)
    assert message.extra == {"chat": members}
    assert chat_messages((message,)) == [
        {"role": "assistant", "content": "Hi", "annotations": [file], "extra_content": SIGNED}
    ]
    alone = whole(content="Hi", annotations=[link], channel="final")
    assert chat_messages((alone,)) == [{"role": "assistant", "content": "Hi"}]
    assert native_messages((message,)) == [{"role": "assistant", "content": "Hi"}]


def logprob(token: str) -> dict[str, Any]:
    return {"token": token, "logprob": -0.5, "top_logprobs": [{"token": "x", "logprob": -9.0}]}


def around(delta: dict[str, Any], reason: str | None = None, choice: Any = None, **top: Any) -> dict[str, Any]:
    """A chunk with members beside its delta and beside its choices."""
    own = {"index": 0, "delta": delta, "finish_reason": reason, **(choice or {})}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [own], **top}


def test_members_beside_the_delta_and_the_choices_reach_the_turn() -> None:
    links = ["https://a.example", "https://b.example"]
    chunks = [
        {"id": "c", "choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
        around(
            {"content": "a"}, choice={"logprobs": {"content": [logprob("a")]}}, citations=links[:1], service_tier="auto"
        ),
        around(
            {"content": "a"}, choice={"logprobs": {"content": [logprob("a")]}}, citations=links[:1], obfuscation="x9"
        ),
        around(
            {"content": "b"}, choice={"logprobs": {"content": [logprob("b")], "refusal": None}}, citations=links[::-1]
        ),
        around(
            {}, "stop", {"native_finish_reason": "STOP", "matched_stop": 7, "logprobs": None}, service_tier="default"
        ),
        {"id": "c", "choices": [], "usage": {"prompt_tokens": 1}, "search_results": [{"url": links[0]}]},
    ]
    stream = b"".join([*map(data, chunks), DONE])
    message = turn(chat(stream))
    assert message.text == "aab"
    assert message.extra == {
        "chat": {
            "prompt_filter_results": [{"prompt_index": 0}],
            "citations": links,
            "service_tier": "default",
            "search_results": [{"url": links[0]}],
            "logprobs": {"content": [logprob("a"), logprob("a"), logprob("b")], "refusal": None},
            "native_finish_reason": "STOP",
            "matched_stop": 7,
        }
    }
    assert chat_messages((message,)) == [{"role": "assistant", "content": "aab"}]
    for cut in range(0, len(stream), 37):
        answer = Accumulator()
        answer.add_events(chat_events(stream, [cut]))
        assert turn(answer).extra == message.extra


def test_members_of_a_whole_answer_reach_the_turn_beside_those_of_its_message() -> None:
    message = {"role": "assistant", "content": "Hi", "citations": [1], "channel": "final"}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": {"content": [logprob("Hi")]}}
    body = {"id": "c", "object": "chat.completion", "choices": [choice], "citations": [2], "system_fingerprint": "fp"}
    text = turn(chat(json.dumps(body).encode()))
    assert text.extra["chat"] == {
        "citations": [1],
        "channel": "final",
        "logprobs": {"content": [logprob("Hi")]},
        "citations (2)": [2],
        "system_fingerprint": "fp",
    }


def test_audio_is_joined_and_goes_back_by_its_id() -> None:
    pieces: list[dict[str, Any]] = [{"id": "au1", "transcript": ""}, {"transcript": "ha"}, {"transcript": "ha"}]
    pieces += [{"data": "AAAA"}] * 9 + [{"data": "BBBB", "id": "au1"}, {"expires_at": 17}]
    streamed = chat(
        chunk({"role": "assistant", "content": None}),
        *[chunk({"audio": piece}) for piece in pieces],
        chunk({}, "stop"),
        DONE,
    )
    assert streamed.complete  # an answer of nothing but audio is not empty
    assert not streamed.empty
    audio = {"id": "au1", "transcript": "haha", "data": "AAAA" * 9 + "BBBB", "expires_at": 17}
    assert turn(streamed).extra == {"chat": {"audio": audio}} == whole(content=None, audio=audio).extra
    assert chat_messages((turn(streamed),)) == [{"role": "assistant", "content": "", "audio": {"id": "au1"}}]


def test_repeated_lists_and_labels_are_merged() -> None:
    first, second = {"type": "url_citation", "n": 1}, {"type": "url_citation", "n": 2}
    parts = [
        *[chunk({"content": "a", "channel": "analysis", "seen": ["x"]}) for _ in range(40)],
        *[chunk({"content": "b", "channel": "final", "seen": ["x", "y"]}) for _ in range(40)],
        chunk({"annotations": [first], "note": "in "}),
        chunk({"annotations": [second], "note": "pieces"}),
    ]
    answer = chat(*parts, chunk({}, "stop"), DONE)
    assert turn(answer).text == "a" * 40 + "b" * 40
    assert turn(answer).extra["chat"] == {
        "channel": "final",
        "seen": ["x", "y"],
        "annotations": [first, second],
        "note": "in pieces",
    }


def test_members_that_only_come_with_the_message_at_the_end_are_kept() -> None:
    link = {"type": "url_citation"}
    last = {
        "index": 0,
        "message": {"role": "assistant", "content": "Hi", "annotations": [link]},
        "finish_reason": "stop",
    }
    answer = chat(chunk({"content": "Hi"}), data({"id": "c-1", "model": "m-1", "choices": [last]}), DONE)
    assert turn(answer).text == "Hi"
    assert turn(answer).extra == {"chat": {"annotations": [link]}}


# Native messages


def test_citations_come_back_with_their_text() -> None:
    streamed = native(
        block(
            0,
            {"type": "text", "text": "", "citations": []},
            {"type": "text_delta", "text": "Green"},
            {"type": "citations_delta", "citation": CITATION},
            {"type": "citations_delta", "citation": CITATION},
            {"type": "text_delta", "text": "."},
        ),
        block(1, {"type": "text", "text": ""}, {"type": "text_delta", "text": " Yes."}),
    )
    cited = {"type": "text", "text": "Green.", "citations": [CITATION, CITATION]}
    assert streamed.parts == (
        Text(text="Green.", extra={"messages": {"citations": [CITATION, CITATION]}}),
        Text(text=" Yes."),
    )
    assert native_whole(cited, {"type": "text", "text": " Yes.", "citations": None}).parts == streamed.parts
    (message,) = native_messages((streamed,))
    sent = {name: value for name, value in CITATION.items() if name != "file_id"}  # requests with it are refused
    back = {"type": "text", "text": "Green.", "citations": [sent, sent]}
    assert message["content"] == [back, {"type": "text", "text": " Yes."}]
    assert native_messages(tuple(read_conversation(None, [message])[0])) == [message]


KNOWN_BLOCKS: list[tuple[dict[str, Any], list[dict[str, Any]], Part]] = [
    (
        {"type": "text", "text": "a", "mark": {"x": 1}},
        [{"type": "shade_delta", "shade": "dark"}, {"type": "shade_delta", "shade": "er"}],
        Text(text="a", extra={"messages": {"mark": {"x": 1}, "shade": "darker"}}),
    ),
    (
        {"type": "tool_use", "id": "c1", "name": "f", "input": {"x": 1}, "caller": {"type": "direct"}},
        [],
        ToolCall(id="c1", name="f", arguments='{"x": 1}', extra={"messages": {"caller": {"type": "direct"}}}),
    ),
    (
        {"type": "thinking", "thinking": "hm", "signature": "s", "kind": "short"},
        [{"type": "text_delta", "text": "odd"}],
        Reasoning(text="hm", field="thinking", signature="s", extra={"messages": {"kind": "short", "text": "odd"}}),
    ),
    (
        {"type": "redacted_thinking", "data": "d", "kind": "short"},
        [],
        Reasoning(text="", field="redacted_thinking", redacted="d", extra={"messages": {"kind": "short"}}),
    ),
]


@each_case(("value", "deltas", "part"), KNOWN_BLOCKS)
def test_unknown_members_and_deltas_of_known_blocks_are_kept(
    value: dict[str, Any], deltas: list[dict[str, Any]], part: Any
) -> None:
    text = native(block(0, value, *deltas))
    assert text.parts == (part,)
    (message,) = native_messages((text,))
    assert message["content"][0] == {**value, **part.extra["messages"]}
    assert read_conversation(None, [message])[0][0].parts == (part,)


def test_unknown_block_grows_by_its_deltas_as_it_would_stand_in_a_whole_answer() -> None:
    message = native(
        block(
            0,
            {"type": "compaction", "content": None, "n": 1},
            {"type": "compaction_delta", "content": "So far: "},
            {"type": "compaction_delta", "content": "much."},
            {"type": "citations_delta", "citation": CITATION},
            {"type": "list_delta", "items": [1]},
            {"type": "list_delta", "items": [1]},
        )
    )
    value = {"type": "compaction", "content": "So far: much.", "n": 1, "citations": [CITATION], "items": [1, 1]}
    assert message.parts == (Unknown(value=value),)
    assert native_whole(value).parts == message.parts
    assert native_messages((message,))[0]["content"] == [value]


def test_late_delta_leaves_a_hole_and_a_kept_one_does_not() -> None:
    glow = {"type": "glow_delta", "glow": "x"}
    ends = event("message_delta", delta={"stop_reason": "end_turn"}, usage={}) + event("message_stop")
    saved = messages(start(), block(0, {"type": "text", "text": "a"}, glow), ends)
    assert (saved.complete, list(saved.holes), list(saved.deviations)) == (True, [], ["unknown_delta"])
    late = event("content_block_delta", index=0, delta=glow)
    lost = messages(start(), block(0, {"type": "lamp"}), late, ends)
    assert (lost.complete, list(lost.holes)) == (False, ["delta_after_block"])


def test_members_of_a_native_message_are_kept_and_stay_here() -> None:
    ends = event("message_delta", delta={"stop_reason": "end_turn", "container": {"id": "k"}}, usage={}, later=1)
    text = block(0, {"type": "text", "text": "Hi"})
    streamed = turn(messages(start(container=None), text, ends, event("message_stop")))
    assert streamed.extra == {"messages": {"container": {"id": "k"}, "later": 1}}
    assert native_whole({"type": "text", "text": "Hi"}, container={"id": "k"}, later=1) == streamed
    assert native_messages((streamed,)) == [{"role": "assistant", "content": "Hi"}]


# What is hostile


DEEP = "[" * 500 + "]" * 500
OBJECTS = '{"a":' * 500 + "1" + "}" * 500


@each_case("value", [DEEP, OBJECTS, '"half \\ud83d"', "1" + "0" * 4500, "NaN", '{"\\udc00":1}'])
def test_hostile_members_can_be_saved_and_sent(value: str) -> None:
    inside = f'{{"index":0,"id":"c","odd":{value},"function":{{"name":"f","arguments":"{{}}","odd":{value}}}}}'
    body = f'data: {{"choices":[{{"index":0,"delta":{{"odd":{value},"tool_calls":[{inside}]}}}}]}}\n\n'.encode()
    message = turn(chat(body, body, chunk({}, "tool_calls"), DONE))
    assert message.calls[0].extra["chat"].keys() == {"odd", "function"}
    assert message.extra["chat"].keys() == {"odd"}
    json.dumps(chat_messages((message,)), ensure_ascii=False, allow_nan=False).encode()
    message.model_dump_json()
    blocks = f'{{"type":"text","text":"a","odd":{value}}}'
    starts = f'data: {{"type":"content_block_start","index":0,"content_block":{blocks}}}\n\n'
    delta = f'{{"type":"odd_delta","odd":{value}}}'
    deltas = f'data: {{"type":"content_block_delta","index":0,"delta":{delta}}}\n\n'
    message = native((starts + deltas + deltas).encode())
    (part,) = message.parts
    assert isinstance(part, Text)
    assert part.extra["messages"].keys() == {"odd"}
    json.dumps(native_messages((message,)), ensure_ascii=False, allow_nan=False).encode()


# Images and results, of files and imports


def test_image_goes_back_with_its_members() -> None:
    part = {"type": "image_url", "image_url": {"url": "u", "detail": "low", "fps": 2}, "cache_control": {"type": "x"}}
    messages = [{"role": "user", "content": [part]}]
    turns = read_messages(messages)
    assert turns[0].images[0].url == "u"
    assert chat_messages(tuple(turns)) == messages
    block = {"type": "image", "source": {"type": "url", "url": "u"}, "cache_control": {"type": "x"}}
    natives = [{"role": "user", "content": [block]}]
    turns, notes = read_conversation(None, natives)
    assert (turns[0].images[0].url, notes) == ("u", [])
    assert native_messages(tuple(turns)) == natives
    assert "cache_control" not in json.dumps(chat_messages(tuple(turns)))


RESULTS = [
    "text",
    [],
    [{"type": "text", "text": "It is "}, {"type": "text", "text": "cold.", "cache_control": {"type": "ephemeral"}}],
    [{"type": "text", "text": "See:"}, {"type": "image", "source": {"type": "url", "url": "u"}}],
]


@each_case("content", RESULTS)
def test_result_goes_back_unchanged_until_it_is_edited(content: Any) -> None:
    block = {"type": "tool_result", "tool_use_id": "t", "content": content, "is_error": False, "cache_control": {}}
    natives = [{"role": "user", "content": [block]}]
    turns, notes = read_conversation(None, natives)
    assert notes == []
    assert native_messages(tuple(turns)) == natives
    messages = [{"role": "tool", "tool_call_id": "t", "content": content}]
    for target, back in ((turns, native_messages), (read_messages(messages), chat_messages)):
        result = target[0].results[0]
        edited = target[0].model_copy(update={"parts": (result.model_copy(update={"text": "warm", "is_error": True}),)})
        assert '"content": "warm"' in json.dumps(back((edited,)))
    assert chat_messages(tuple(read_messages(messages))) == messages
