"""The decoder of responses: items in any order, all ways to end, and the oddities of gateways."""

from __future__ import annotations

import json
from typing import Any

from playground.domain.accumulator import Accumulator
from playground.domain.errors import FailureKind
from playground.domain.parts import Part, Reasoning, Refusal, Text, ToolCall, Unknown
from playground.domain.transcript import Role, make_turn
from playground.protocols.responses.encode import encode_input
from tests.protocols.responses.events import (
    USAGE,
    begin,
    call,
    end,
    event,
    items_of,
    message,
    reasoning,
    response,
    stream,
)
from tests.protocols.streams import DONE, calls, codes, failure, fold, outcome, responses, responses_events, text
from tests.support.each_case import each_case


def parts(answer: Accumulator) -> tuple[Part, ...]:
    return answer.choice(0).freeze()


def kinds(answer: Accumulator) -> list[str]:
    return [part.kind for part in parts(answer)]


def sent_back(answer: Accumulator) -> list[Any]:
    """The items that go back of an answer."""
    return encode_input((make_turn(Role.ASSISTANT, "", *parts(answer)),), stored=True)


EVERYTHING = [
    *reasoning("First.", "Second."),
    *message("Let me look.", 1, phase="commentary"),
    *call(2),
    *reasoning(index=3, encrypted="", text="raw thought"),
    *call(4, "call_2", "g", "{}"),
    *message("Done.", 5, "msg_5", logprobs=[{"token": "Done", "logprob": -0.5}]),
]


def test_all_items_are_decoded_in_their_order_and_go_back_as_they_came() -> None:
    events = responses_events(stream(begin(), EVERYTHING, end(items_of(EVERYTHING))))
    answer = fold(events)
    assert codes(events) == []
    assert answer.complete
    assert (answer.id, answer.model, answer.choice(0).finish_reason) == ("resp_1", "m-1", "completed")
    assert kinds(answer) == ["reasoning", "reasoning", "text", "tool_call", "reasoning", "tool_call", "text"]
    assert calls(answer) == [("call_1", "f", '{"x":1}'), ("call_2", "g", "{}")]
    assert text(answer, kind="reasoning") == "First.Second.raw thought"
    assert sent_back(answer) == items_of(EVERYTHING)
    usage = answer.usage
    assert usage is not None
    assert (usage.prompt, usage.completion, usage.total, usage.cached, usage.reasoning) == (12, 7, 19, 4, 3)
    assert usage.raw == USAGE


def test_whole_body_has_the_items_of_the_stream() -> None:
    items = items_of(EVERYTHING)
    body = json.dumps(response("completed", items, content_filters=[{"x": 1}])).encode()
    answer = fold(responses_events(body, content_type="application/json"))
    assert answer.complete
    assert sent_back(answer) == items
    assert kinds(answer) == kinds(responses(stream(begin(), EVERYTHING, end(items))))
    assert answer.choice(0).extra == {"responses": {"content_filters": [{"x": 1}]}}


@each_case("size", [1, 3, 50, 1000])
def test_reads_of_any_size_say_the_same(size: int) -> None:
    body = stream(begin(), EVERYTHING, end(items_of(EVERYTHING))) + DONE
    assert outcome(responses_events(body, [size] * len(body))) == outcome(responses_events(body))


def test_stream_cut_anywhere_keeps_what_came_and_is_no_complete_answer() -> None:
    body = stream(begin(), EVERYTHING, end(items_of(EVERYTHING)))
    frames = body.split(b"\n\n")[:-1]
    for number in range(1, len(frames)):
        answer = responses(b"\n\n".join(frames[:number]) + b"\n\n")
        assert failure(answer) is FailureKind.CUT_OFF
        assert answer.choice(0).finish_reason is None
        assert all(item["type"] for item in sent_back(answer) if "role" not in item)
    assert kinds(responses(b"\n\n".join(frames[:8]) + b"\n\n")) == ["reasoning", "reasoning"]


def test_incomplete_encrypted_content_of_a_cut_stream_is_not_kept() -> None:
    (item,) = sent_back(responses(stream(begin(), reasoning("Hm.")[:3])))
    assert item == {"type": "reasoning", "id": "rs_0", "summary": [{"type": "summary_text", "text": "Hm."}]}


HOSTED: list[dict[str, Any]] = [
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "x"}},
    {"type": "file_search_call", "id": "fs_1", "status": "completed", "queries": ["x"], "results": None},
    {"type": "code_interpreter_call", "id": "ci_1", "status": "completed", "code": "1+1", "container_id": "c"},
    {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "aGk="},
    {"type": "mcp_call", "id": "mcp_1", "name": "roll", "arguments": "{}", "output": "4", "server_label": "dice"},
    {"type": "mcp_approval_request", "id": "mcpr_1", "name": "roll", "arguments": "{}", "server_label": "dice"},
    {"type": "acme:telepathy", "id": "tp_1", "brain": {"waves": [1, 2]}},
]


def test_hosted_and_unknown_items_are_kept_whole_and_sent_back_whole() -> None:
    events = [
        value
        for index, item in enumerate(HOSTED)
        for value in (
            event("output_item.added", output_index=index, item={**item, "status": "in_progress"}),
            event(f"{item['type']}.searching", item_id=item["id"], output_index=index),
            event("output_item.done", output_index=index, item=item),
        )
    ]
    answer = responses(stream(begin(), events, message("Found.", len(HOSTED)), end()))
    assert parts(answer)[: len(HOSTED)] == tuple(Unknown(value=item) for item in HOSTED)
    assert sent_back(answer)[: len(HOSTED)] == HOSTED


def test_code_of_a_cut_hosted_call_is_kept_in_its_item() -> None:
    item = {"type": "code_interpreter_call", "id": "ci_1", "status": "in_progress", "code": ""}
    place = {"item_id": "ci_1", "output_index": 0}
    deltas = [event("code_interpreter_call_code.delta", **place, delta=piece) for piece in ("1", "+1")]
    answer = responses(stream(begin(), event("output_item.added", output_index=0, item=item), deltas))
    assert parts(answer) == (Unknown(value={**item, "code": "1+1"}),)


def test_items_that_arrive_mixed_are_in_the_order_of_their_indexes() -> None:
    first, second = reasoning("Thought."), message("Answer.", 1)
    mixed = [first[0], second[0], second[1], first[1], second[2], first[2], second[3], *second[4:], *first[3:]]
    answer = responses(stream(begin(), mixed, end()))
    assert kinds(answer) == ["reasoning", "text"]
    assert (text(answer), text(answer, kind="reasoning")) == ("Answer.", "Thought.")
    assert sent_back(answer) == items_of(first + second)

    late = responses(stream(begin(), call(1), message("First.", 0), end()))
    assert kinds(late) == ["text", "tool_call"]


def test_item_that_never_came_as_an_event_is_added_from_the_last_one() -> None:
    listing = {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "dice", "tools": []}
    answer = responses(stream(begin(), message(), end([listing, *items_of(message())])))
    assert kinds(answer) == ["unknown", "text"]


def test_complete_text_replaces_fragments_that_differ() -> None:
    events = message("Hello.")
    events[2]["delta"] = "Hexx"
    answer = responses(stream(begin(), events, end()))
    assert text(answer) == "Hello."
    assert list(answer.deviations) == ["text_differs"]

    lost = [value for value in call() if not value["type"].endswith(".delta")]
    assert calls(responses(stream(begin(), lost, end()))) == [("call_1", "f", '{"x":1}')]
    lost = call()
    lost[1]["delta"] = "{}"
    assert calls(responses(stream(begin(), lost, end()))) == [("call_1", "f", '{"x":1}')]


def test_item_that_ends_twice_has_its_texts_once() -> None:
    for item in (reasoning("Thought."), reasoning(text="raw", encrypted=""), message("Answer."), call()):
        answer = responses(stream(begin(), item, item[-1], end(items_of(item))))
        assert sent_back(answer) == items_of(item)
        assert list(answer.deviations) == ["item_end_repeated"]
        assert answer.complete


def test_refusal_and_citations_are_parts_of_their_message() -> None:
    events = message("I")
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 1}
    events[3:] = [event("refusal.delta", **place, delta="No."), event("refusal.done", **place, refusal="No.")]
    citation = {"type": "url_citation", "url": "https://x.example", "start_index": 0, "end_index": 1, "title": "X"}
    content = [{"type": "output_text", "text": "I", "annotations": [citation]}, {"type": "refusal", "refusal": "No."}]
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
    events.append(event("output_item.done", output_index=0, item=item))
    answer = responses(stream(begin(), events, end()))
    first, second = parts(answer)
    assert isinstance(first, Text)
    assert isinstance(second, Refusal)
    assert first.extra["responses"]["annotations"] == [citation]
    assert second.text == "No."
    assert sent_back(answer) == [item]


def test_annotations_of_a_cut_stream_are_kept() -> None:
    citation = {"type": "file_citation", "file_id": "f", "index": 0}
    events = message("Hello.")[:4]
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    events.append(event("output_text.annotation.added", **place, annotation_index=0, annotation=citation))
    (part,) = parts(responses(stream(begin(), events)))
    assert isinstance(part, Text)
    assert part.extra["responses"]["annotations"] == [citation]


def test_custom_call_has_plain_text() -> None:
    item = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_9", "name": "shell", "input": ""}
    place = {"item_id": "ctc_1", "output_index": 0}
    events = [
        event("output_item.added", output_index=0, item=item),
        event("custom_tool_call_input.delta", **place, delta="ls "),
        event("custom_tool_call_input.done", **place, input="ls -l"),
        event("output_item.done", output_index=0, item={**item, "input": "ls -l"}),
    ]
    answer = responses(stream(begin(), events, end()))
    (part,) = parts(answer)
    assert isinstance(part, ToolCall)
    assert (part.free_text, part.arguments, part.id) == (True, "ls -l", "call_9")
    assert sent_back(answer) == items_of(events)


# ---- ends ------------------------------------------------------------------------------------------------------------


def test_limit_is_the_finish_reason_in_the_words_of_the_gateway() -> None:
    details = {"reason": "max_output_tokens"}
    last = event("incomplete", response=response("incomplete", incomplete_details=details))
    answer = responses(stream(begin(), call()[:2], last))
    assert answer.complete
    assert answer.choice(0).finish_reason == "max_output_tokens"
    plain = responses(stream(begin(), message(), event("incomplete", response=response("incomplete"))))
    assert plain.choice(0).finish_reason == "incomplete"


FAILED_RESPONSE = event("failed", response=response("failed", error={"code": "server_error", "message": "Broken."}))


@each_case(
    "last",
    [
        [FAILED_RESPONSE],
        [event("error", code="server_error", message="Broken.", param=None), FAILED_RESPONSE],
        [event("error", error={"type": "server_error", "code": "server_error", "message": "Broken."})],
    ],
)
def test_error_in_the_stream_is_told_once_and_the_text_stays(last: list[dict[str, Any]]) -> None:
    events = responses_events(stream(begin(), message()[:4], last))
    answer = fold(events)
    assert answer.failure is not None
    assert (answer.failure.message, answer.failure.code, answer.failure.kind) == (
        "Broken.",
        "server_error",
        FailureKind.STREAM,
    )
    assert text(answer) == "Hello."
    assert codes(events) == []


def test_end_marker_after_the_last_event_is_no_deviation_and_alone_no_end() -> None:
    events = responses_events(stream(begin(), message(), end()) + DONE)
    assert codes(events) == []
    alone = responses(stream(begin(), message()) + DONE)
    assert failure(alone) is FailureKind.CUT_OFF
    assert text(alone) == "Hello."


def test_error_without_a_type_fails_the_answer() -> None:
    answer = responses(stream(begin(), message()[:4]) + b'data: {"error": {"message": "overloaded", "code": 529}}\n\n')
    assert answer.failure is not None
    assert answer.failure.message == "overloaded"


def test_empty_response_is_told() -> None:
    assert failure(responses(stream(begin(), end()))) is FailureKind.EMPTY
    assert failure(responses(json.dumps(response()).encode())) is FailureKind.EMPTY
    assert failure(responses(b'{"id": "x", "hello": 1}')) is FailureKind.DECODE
    assert failure(responses(b'{"choices": [{"message": {"content": "x"}}]}')) is FailureKind.OTHER_PROTOCOL


# ---- oddities --------------------------------------------------------------------------------------------------------


def test_events_without_names_and_numbers_comments_and_keepalive_are_read() -> None:
    body = stream(begin(), message()[:3], numbered=False, named=False)
    body += b": OPENROUTER PROCESSING\n\n" + b'data: {"type": "keepalive", "sequence_number": 9}\n\n'
    body += stream(message()[3:], end(), named=False) + DONE
    events = responses_events(body)
    assert codes(events) == []
    assert text(fold(events)) == "Hello."


def test_data_before_its_event_line_is_read() -> None:
    body = b"".join(
        b"data: " + json.dumps(value).encode() + b"\nevent: " + value["type"].encode() + b"\n\n"
        for value in (begin(), *message(), end())
    )
    assert text(responses(body)) == "Hello."


def test_changing_ids_do_not_split_an_item() -> None:
    events = message("Hello.")
    for number, value in enumerate(events[1:]):
        value["item_id"] = f"other_{number}"
    events[-1]["item"] = {**events[-1]["item"], "id": "msg_last"}
    answer = responses(stream(begin(), events, end([{**events[-1]["item"], "id": "msg_again"}])))
    assert [part.kind for part in parts(answer)] == ["text"]
    assert sent_back(answer)[0]["id"] == "msg_last"


def test_events_without_indexes_find_their_items() -> None:
    events = [*reasoning(encrypted="", text="Hm."), *message("Hello.", 1), *call(2)]
    done = [value for value in events if value["type"] == "response.output_item.done"]
    events = [value for value in events if value not in done] + done
    names = ("output_index", "content_index", "summary_index", "sequence_number")
    bare = [{name: value for name, value in item.items() if name not in names} for item in events]
    answer = responses(stream(begin(), bare, end(), numbered=False))
    assert kinds(answer) == ["reasoning", "text", "tool_call"]
    assert sent_back(answer) == [value["item"] for value in done]


def test_reasoning_whose_index_counts_up_is_one_text() -> None:
    events = reasoning(encrypted="")
    place = {"item_id": "rs_0", "output_index": 0}
    events[1:1] = [
        event("reasoning_text.delta", **place, content_index=n, delta=piece) for n, piece in enumerate("abc")
    ]
    events[-1]["item"] = {**events[-1]["item"], "content": [{"type": "reasoning_text", "text": "abc"}]}
    answer = responses(stream(begin(), events, message("x", 1), end()))
    assert [part.text for part in parts(answer) if isinstance(part, Reasoning)] == ["abc"]
    named = [{**value, "type": value["type"].replace("reasoning_text", "reasoning")} for value in events]
    assert text(responses(stream(begin(), named, message("x", 1), end())), kind="reasoning") == "abc"


def test_null_deltas_and_null_items_are_ignored() -> None:
    events = message("Hello.")
    null = {**events[2], "delta": None}
    answer = responses(
        stream(begin(), event("output_item.added", output_index=0, item=None), events[:2], null, events[2:], end())
    )
    assert text(answer) == "Hello."
    assert answer.deviations == {}


def test_new_item_on_an_index_in_use_is_an_item_of_its_own() -> None:
    answer = responses(stream(begin(), message("One.", 0, "msg_1"), message("Two.", 0, "msg_2"), end()))
    assert [item["id"] for item in sent_back(answer)] == ["msg_1", "msg_2"]
    assert "item_index_shared" in answer.deviations


def test_call_ids_are_unique_within_an_answer() -> None:
    answer = responses(stream(begin(), call(0, "call_0"), call(1, "call_0"), call(2, ""), end()))
    assert [id_ for id_, _, _ in calls(answer)] == ["call_0", "made_1", "made_2"]
    assert set(answer.deviations) == {"tool_id_repeated", "tool_id_missing"}


def test_unknown_event_is_noted_and_does_not_end_the_stream() -> None:
    answer = responses(stream(begin(), event("telepathy.delta", delta="x"), {"type": "acme:x"}, message(), end()))
    assert text(answer) == "Hello."
    assert list(answer.deviations) == ["unknown_event"]


def test_surrogate_pair_in_two_deltas_is_one_character() -> None:
    place = b'"item_id": "m", "output_index": 0, "content_index": 0'
    pieces = [
        b'data: {"type": "response.output_text.delta", ' + place + b', "delta": "' + half + b'"}\n\n'
        for half in (b"a\\ud83d", b"\\ude00b")
    ]
    assert text(responses(stream(begin()), *pieces)) == "a\U0001f600b"
