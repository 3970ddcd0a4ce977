"""Complete answers made by hand, edited, and written as streams."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest

from playground.protocols.answer_format import AddCall, DropCall, MadeCall, SetCall, SetText
from playground.protocols.protocol import get_protocol
from tests.protocols.answers import (
    ANSWERS,
    NAMES,
    chat_call,
    completion,
    function_call,
    message,
    output_message,
    response,
    text,
    tool_use,
)
from tests.protocols.streams import chat_events, codes, fold, messages_events, responses_events
from tests.support.each_case import each_case

EVENTS = {"chat": chat_events, "messages": messages_events, "responses": responses_events}
PROTOCOLS = tuple(ANSWERS)
WEATHER = MadeCall("get_weather", '{"city": "Bergen"}')


def counted() -> Callable[[str], str]:
    numbers = itertools.count(1)
    return lambda prefix: f"{prefix}{next(numbers)}"


def streamed(protocol: str, body: dict[str, Any]) -> Any:
    """The answer that a stream of ``body`` says, as a complete body again."""
    events = EVENTS[protocol](b"".join(get_protocol(protocol).answers.stream(body)))
    assert codes(events) == []
    answer = fold(events)
    assert answer.complete
    return get_protocol(protocol).write_answer(answer, 1_700_000_000)


@each_case("protocol, name", NAMES)
def test_stream_of_an_answer_says_the_same_answer(protocol: str, name: str) -> None:
    """Arguments that are empty mean an empty object, and are written as one."""
    body = ANSWERS[protocol][name]
    expected = json.dumps(body).replace('"arguments": ""', '"arguments": "{}"')
    assert streamed(protocol, body) == json.loads(expected)


def test_whole_response_of_a_stream_has_the_items_of_their_own_events() -> None:
    answers, body = get_protocol("responses").answers, ANSWERS["responses"]["sealed reasoning"]
    events = [json.loads(event.partition(b"data: ")[2]) for event in answers.stream(body)]
    assert json.dumps(answers.last_whole(events)) == json.dumps(body)
    final = copy.deepcopy(events[-1])
    final["response"]["output"][0]["encrypted_content"] = "YW5vdGhlcg=="  # as servers do
    assert json.dumps(answers.last_whole([*events[:-1], final])) == json.dumps(body)
    assert answers.last_whole(events[:-1]) is None
    assert answers.last_whole([event for event in events if event.get("output_index") != 0]) is None
    assert get_protocol("chat").answers.last_whole(events) is None


def test_stream_of_a_message_names_its_stop_sequence_at_the_end() -> None:
    body = message(text("Half of"), stop="stop_sequence", stop_sequence="END", container={"id": "c"})
    *_, delta, _ = get_protocol("messages").answers.stream(body)
    assert json.loads(delta.partition(b"data: ")[2])["delta"] == {
        "stop_reason": "stop_sequence",
        "stop_sequence": "END",
        "container": {"id": "c"},
    }


@each_case("protocol", PROTOCOLS)
def test_events_of_long_texts_are_short_lines(protocol: str) -> None:
    for name in ("long text", "long arguments"):
        events = list(get_protocol(protocol).answers.stream(ANSWERS[protocol][name]))
        deltas = [event for event in events if b"delta" in event and b".done" not in event]
        assert len(deltas) > 4
        assert max(map(len, deltas)) < 64 * 1024


@each_case("protocol, name", NAMES)
def test_answer_without_edits_is_unchanged(protocol: str, name: str) -> None:
    answers, body = get_protocol(protocol).answers, ANSWERS[protocol][name]
    edits: list[Any] = [SetText(part.path, part.text) for part in answers.texts(body) if part.text]
    edits += [SetCall(call.path, call.name, call.arguments) for call in answers.calls(body)]
    before = copy.deepcopy(body)
    assert json.dumps(answers.edit(body, edits)) == json.dumps(before)
    assert body == before


@each_case("protocol, name", NAMES)
def test_edited_call_keeps_all_other_members(protocol: str, name: str) -> None:
    answers, body = get_protocol(protocol).answers, ANSWERS[protocol][name]
    for call in answers.calls(body):
        arguments = "SELECT 2" if call.free_text else '{"city": "Bergen"}'
        result = answers.edit(body, [SetCall(call.path, "other_tool", arguments)])
        (edited,) = [entry for entry in answers.calls(result) if entry.path == call.path]
        assert (edited.name, edited.arguments, edited.id) == ("other_tool", arguments, call.id)
        back = answers.edit(result, [SetCall(call.path, call.name, call.arguments)])
        assert json.dumps(back) == json.dumps(body)
        assert streamed(protocol, result) == result


FINISHES = [
    ("chat", completion({"content": "Now.", "tool_calls": [chat_call()]}, finish="tool_calls"), "stop"),
    ("messages", message(text("Now."), tool_use(city="Oslo"), stop="tool_use"), "end_turn"),
]


def finish(protocol: str, body: dict[str, Any]) -> Any:
    return body["choices"][0]["finish_reason"] if protocol == "chat" else body["stop_reason"]


@each_case("protocol, body, reason", FINISHES)
def test_dropping_the_last_call_changes_the_finish_reason(protocol: str, body: dict[str, Any], reason: str) -> None:
    answers = get_protocol(protocol).answers
    (call,) = answers.calls(body)
    result = answers.edit(body, [DropCall(call.path)])
    assert (list(answers.calls(result)), finish(protocol, result)) == ([], reason)
    assert streamed(protocol, result) == result
    again = answers.edit(result, [AddCall(MadeCall(call.name, call.arguments, call.id))])
    assert [(entry.name, entry.id) for entry in answers.calls(again)] == [(call.name, call.id)]
    assert finish(protocol, again) == finish(protocol, body)


@each_case("protocol", PROTOCOLS)
def test_dropping_one_of_two_calls_keeps_the_other_and_the_reason(protocol: str) -> None:
    answers, body = get_protocol(protocol).answers, ANSWERS[protocol]["parallel calls"]
    first, second = answers.calls(body)
    result = answers.edit(body, [DropCall(first.path), SetCall(second.path, "get_date", '{"zone": "utc"}')])
    (left,) = answers.calls(result)
    assert (left.name, left.arguments, left.id) == ("get_date", '{"zone": "utc"}', second.id)
    if protocol != "responses":
        assert finish(protocol, result) == finish(protocol, body)


@each_case("protocol", PROTOCOLS)
def test_added_call_gets_an_id_and_follows_the_text(protocol: str) -> None:
    answers, body = get_protocol(protocol).answers, ANSWERS[protocol]["text"]
    result = answers.edit(body, [AddCall(WEATHER)], counted())
    (call,) = answers.calls(result)
    assert (call.name, json.loads(call.arguments)) == ("get_weather", {"city": "Bergen"})
    assert call.id.startswith(answers.call_prefix)
    assert [part.text for part in answers.texts(result)] == ["Grüße 🦜"]
    assert streamed(protocol, result) == result


def test_calls_of_the_second_choice_do_not_change_the_first() -> None:
    answers, body = get_protocol("chat").answers, ANSWERS["chat"]["several choices"]
    result = answers.edit(body, [AddCall(WEATHER, choice=1)])
    assert [choice["finish_reason"] for choice in result["choices"]] == ["stop", "tool_calls"]
    with pytest.raises(ValueError, match="no choice 2"):
        answers.edit(body, [AddCall(WEATHER, choice=2)])


def test_answer_cut_by_the_limit_keeps_its_reason_with_a_call() -> None:
    body = ANSWERS["chat"]["limit"]
    assert finish("chat", get_protocol("chat").answers.edit(body, [AddCall(WEATHER)])) == "length"


def test_stop_sequence_is_removed_with_its_reason() -> None:
    body = message(text("Half of"), stop="stop_sequence", stop_sequence="END")
    result = get_protocol("messages").answers.edit(body, [AddCall(WEATHER)])
    assert (result["stop_reason"], result["stop_sequence"]) == ("tool_use", None)


def test_call_of_the_form_before_tools_is_edited_and_dropped() -> None:
    answers = get_protocol("chat").answers
    old = {"content": None, "function_call": {"name": "get_weather", "arguments": "{}"}}
    body = completion(old, finish="function_call")
    (call,) = answers.calls(body)
    edited = answers.edit(body, [SetCall(call.path, "get_time", '{"zone": 1}')])
    assert edited["choices"][0]["message"]["function_call"] == {"name": "get_time", "arguments": '{"zone": 1}'}
    dropped = answers.edit(body, [DropCall(call.path)])["choices"][0]
    assert (dropped["message"], dropped["finish_reason"]) == ({"role": "assistant", "content": ""}, "stop")


@each_case("protocol", PROTOCOLS)
def test_edit_of_a_missing_call_is_refused(protocol: str) -> None:
    answers, body = get_protocol(protocol).answers, ANSWERS[protocol]["text"]
    for edit in (SetCall(("output", 7), "x", "{}"), DropCall(("content", 0)), SetText(("id",), "x")):
        with pytest.raises(ValueError, match="no such text or call"):
            answers.edit(body, [edit])


def test_arguments_that_are_no_object_are_refused_by_messages() -> None:
    answers, body = get_protocol("messages").answers, ANSWERS["messages"]["call"]
    (call,) = answers.calls(body)
    for arguments, words in (("[1]", "must be a JSON object"), ("{", "are not JSON"), ('{"a": NaN}', "are not JSON")):
        with pytest.raises(ValueError, match=words):
            answers.edit(body, [SetCall(call.path, "get_weather", arguments)])
    assert answers.edit(body, [SetCall(call.path, "now", " ")])["content"][1]["input"] == {}


def test_edited_text_of_a_part_of_the_content_keeps_the_others() -> None:
    answers = get_protocol("responses").answers
    body = response(output_message("4 °C", annotations=[], logprobs=[]), function_call())
    (part,) = answers.texts(body)
    result = answers.edit(body, [SetText(part.path, "5 °C")])
    assert result["output"][0]["content"] == [{**body["output"][0]["content"][0], "text": "5 °C"}]
    assert result["output"][1] is body["output"][1]


REQUESTS = {
    "chat": {"model": "m-1", "messages": [], "stream": True, "stream_options": {"include_usage": True}},
    "messages": {"model": "m-1", "max_tokens": 9, "messages": [], "stream": True},
    "responses": {"model": "m-1", "input": "Hi", "stream": True, "instructions": "Be brief.", "temperature": 0.5},
}


@each_case("protocol", PROTOCOLS)
def test_made_answer_has_its_text_and_its_calls(protocol: str) -> None:
    answers = get_protocol(protocol).answers
    calls = (WEATHER, MadeCall("now", "{}", "own_id"))
    body = answers.make(REQUESTS[protocol], "One moment.", calls, created=5, make_id=counted())
    assert [part.text for part in answers.texts(body) if part.text] == ["One moment."]
    assert [(call.name, json.loads(call.arguments)) for call in answers.calls(body)] == [
        ("get_weather", {"city": "Bergen"}),
        ("now", {}),
    ]
    ids = [call.id for call in answers.calls(body)]
    assert ids[0].startswith(answers.call_prefix)
    assert ids[1] == "own_id"
    assert body["model"] == "m-1"
    events = EVENTS[protocol](b"".join(answers.stream(body)))
    answer = fold(events)
    assert (codes(events), answer.complete) == ([], True)
    assert answer.choice(0).finish_reason == get_protocol(protocol).expected.calling


@each_case("protocol", PROTOCOLS)
def test_made_answer_without_calls_ends_by_itself(protocol: str) -> None:
    body = get_protocol(protocol).answers.make(REQUESTS[protocol], "Done.", created=5)
    answer = fold(EVENTS[protocol](json.dumps(body).encode(), content_type="application/json"))
    assert answer.complete
    assert answer.choice(0).finish_reason == get_protocol(protocol).expected.talking


def test_made_calls_of_custom_tools_have_plain_text() -> None:
    tools = {"chat": {"type": "custom", "custom": {"name": "sql"}}, "responses": {"type": "custom", "name": "sql"}}
    for protocol, tool in tools.items():
        answers = get_protocol(protocol).answers
        body = answers.make({**REQUESTS[protocol], "tools": [tool]}, "", [MadeCall("sql", "SELECT 1")], created=5)
        (call,) = answers.calls(body)
        assert (call.arguments, call.free_text) == ("SELECT 1", True)


def test_made_completion_answers_each_choice_with_other_ids() -> None:
    answers = get_protocol("chat").answers
    body = answers.make({"model": "m-1", "n": 2}, "", [MadeCall("now", "{}", "own_id")], created=5, make_id=counted())
    assert [call.id for call in answers.calls(body)] == ["own_id", "call_1"]
    assert body["usage"]["total_tokens"] == 0
    assert "usage" not in answers.make({"stream": True}, "Hi", created=5)


@each_case("protocol", PROTOCOLS)
def test_error_has_the_shape_of_its_protocol(protocol: str) -> None:
    target = get_protocol(protocol)
    for status in (400, 401, 404, 418, 429, 500, 529):
        error = target.answers.error(status, "Slow down.")
        assert (error.get("type") == "error") == (protocol == "messages")
        assert error["error"]["message"] == "Slow down."
        assert error["error"]["type"]
    assert target.answers.error(502, "Not reached.", "recorder_error")["error"]["type"] == "recorder_error"
    events = EVENTS[protocol](target.answers.error_event(target.answers.error(500, "Broken.")))
    answer = fold(events)
    assert answer.failure is not None
    assert answer.failure.message == "Broken."
