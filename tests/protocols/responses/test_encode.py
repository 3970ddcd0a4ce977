"""Turns as input items, input items as turns, and the members around them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.domain.parameter_conversion import convert_parameters
from playground.domain.parts import Image, Reasoning, Refusal, Text, ToolCall, ToolResult, Unknown
from playground.domain.request import Request
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Ending, Outcome, Role, Turn, make_turn
from playground.engine.requests.protocol_conversion import losses
from playground.engine.session.edits import with_arguments, with_text
from playground.protocols.chat.parameters import ChatParameters
from playground.protocols.protocol import get_protocol, protocol_of, protocol_of_tool
from playground.protocols.reading import MessageError
from playground.protocols.responses.parameters import ResponsesParameters
from tests.protocols.responses.events import begin, call, end, event, items_of, message, reasoning, response, stream
from tests.protocols.streams import fold, responses_events
from tests.support.each_case import each_case

PROTOCOL = get_protocol("responses")
TOOL = ToolDefinition(name="f", description="Does f.", parameters={"type": "object", "properties": {}})


def body_of(*turns: Turn, **more: Any) -> dict[str, Any]:
    return PROTOCOL.encode(Request(protocol="responses", model="m", turns=turns, **more))


def received(*events: Any) -> Turn:
    """The turn of an answer."""
    return make_turn(Role.ASSISTANT, "", *fold(responses_events(stream(*events, end()))).choice(0).freeze())


def test_conversation_is_one_list_of_items_below_the_instructions() -> None:
    body = body_of(
        make_turn(Role.SYSTEM, "Be brief."),
        make_turn(Role.USER, "Look.", Image(url="data:image/png;base64,aGk=", detail="low")),
        make_turn(Role.ASSISTANT, "Hm.", ToolCall(id="call_1", name="f", arguments="")),
        make_turn(Role.TOOL, "", ToolResult(call_id="call_1", text="4")),
        make_turn(Role.DEVELOPER, "Be long."),
        make_turn(Role.USER, "And?"),
        tools=(TOOL,),
    )
    assert body == {
        "model": "m",
        "instructions": "Be brief.",
        "input": [
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "Look."},
                    {"type": "input_image", "image_url": "data:image/png;base64,aGk=", "detail": "low"},
                ],
            },
            {"role": "assistant", "content": "Hm."},
            {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call_1", "output": "4"},
            {"role": "developer", "content": "Be long."},
            {"role": "user", "content": "And?"},
        ],
        "tools": [
            {
                "type": "function",
                "name": "f",
                "description": "Does f.",
                "parameters": {"type": "object", "properties": {}},
            }
        ],
    }


def test_results_have_pictures_and_those_of_custom_tools_a_type_of_their_own() -> None:
    picture = Image(url="data:image/png;base64,aGk=")
    body = body_of(
        make_turn(Role.ASSISTANT, "", ToolCall(id="a", name="sh", arguments="ls", free_text=True)),
        make_turn(Role.TOOL, "", ToolResult(call_id="a", text="x", images=(picture,))),
    )
    assert body["input"] == [
        {"type": "custom_tool_call", "call_id": "a", "name": "sh", "input": "ls"},
        {
            "type": "custom_tool_call_output",
            "call_id": "a",
            "output": [{"type": "input_text", "text": "x"}, {"type": "input_image", "image_url": picture.url}],
        },
    ]


BODIES: list[dict[str, Any]] = [
    {"model": "m", "input": "Hello"},
    {"model": "m", "input": [], "instructions": "Be brief."},
    {"model": "m", "input": [{"role": "user", "content": "Hello"}], "stream": True, "store": False},
    {"model": "m", "input": [{"role": "user", "content": [{"type": "input_text", "text": "Hello"}]}]},
    {"model": "m", "input": [{"type": "message", "role": "user", "content": "Hello"}]},
    {"model": "m", "input": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}]},
    {
        "model": "m",
        "input": [
            {
                "role": "user",
                "content": [
                    {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,aGk="},
                    {"type": "input_image", "file_id": "file_1", "detail": "auto"},
                    {"type": "input_text", "text": "What is it?"},
                ],
            },
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A file."}]},
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA", "status": None},
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "a",
                "name": "f",
                "arguments": "{}",
                "status": "completed",
            },
            {"type": "web_search_call", "id": "ws_1", "status": "completed"},
            {"type": "function_call_output", "call_id": "a", "output": [{"type": "input_text", "text": "4"}]},
            {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
            {"type": "item_reference", "id": "msg_1"},
        ],
        "tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": False}],
        "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]},
        "text": {"format": {"type": "json_schema", "name": "a", "schema": {}, "strict": True}, "verbosity": "low"},
        "reasoning": {"effort": "low", "summary": "auto", "context": "all_turns"},
        "include": ["reasoning.encrypted_content"],
        "prompt_cache_retention": "24h",
    },
]


@each_case("body", BODIES)
def test_body_that_was_read_is_encoded_to_the_same_body(body: dict[str, Any]) -> None:
    request, notes = PROTOCOL.read_body(body)
    assert PROTOCOL.encode(request) == body
    assert notes == ()
    assert protocol_of(body) == ("responses", True)


REORDERED: list[dict[str, Any]] = [
    {
        "id": "msg_1",
        "type": "message",
        "status": "completed",
        "content": [
            {"type": "output_text", "annotations": [], "logprobs": [], "text": "Hello."},
            {"refusal": "No.", "type": "refusal"},
        ],
        "role": "assistant",
    },
    {
        "id": "msg_2",
        "content": [{"type": "hologram", "rays": 2}, {"type": "output_text", "text": "Hello."}],
        "type": "message",
        "role": "assistant",
    },
    {
        "id": "rs_1",
        "type": "reasoning",
        "encrypted_content": "gAAA",
        "content": [{"type": "reasoning_text", "text": "Hm."}],
        "summary": [{"type": "summary_text", "text": "It thinks."}],
    },
    {"id": "fc_1", "type": "function_call", "arguments": "{}", "call_id": "a", "name": "f", "status": "completed"},
    {"output": "4", "call_id": "a", "type": "function_call_output", "id": "fco_1"},
    {"id": "ctc_1", "type": "custom_tool_call", "call_id": "b", "input": "ls", "name": "sh"},
    {"content": [{"text": "Hi.", "type": "input_text"}], "role": "user", "type": "message"},
    {"content": "Hi.", "role": "user"},
    {"role": "user", "content": [{"image_url": "data:image/png;base64,aGk=", "type": "input_image"}]},
]


@each_case("item", REORDERED)
def test_item_that_was_read_is_sent_with_its_members_in_their_order(item: dict[str, Any]) -> None:
    request, _ = PROTOCOL.read_body({"model": "m", "input": [item]})
    assert json.dumps(PROTOCOL.encode(request)["input"]) == json.dumps([item])


@each_case("item", [item for item in REORDERED if item.get("id") and "output" not in item])
def test_item_that_was_received_is_sent_with_its_members_in_their_order(item: dict[str, Any]) -> None:
    answer = fold(responses_events(json.dumps(response("completed", [item])).encode(), content_type="application/json"))
    turn = make_turn(Role.ASSISTANT, "", *answer.choice(0).freeze())
    assert json.dumps(body_of(turn)["input"]) == json.dumps([item])


@each_case("name", [{}, {"name": None}, {"name": ""}])
def test_call_without_a_name_is_kept_and_read_again(name: dict[str, Any]) -> None:
    item = {"type": "function_call", "id": "fc_1", "call_id": "a", "arguments": "{}", **name}
    (call_part,) = received(event("output_item.done", output_index=0, item=item)).parts
    assert isinstance(call_part, ToolCall)
    assert (call_part.id, call_part.name) == ("a", "")
    body = body_of(make_turn(Role.ASSISTANT, "", call_part))
    assert body["input"] == [{**item, "name": ""}]
    request, _ = PROTOCOL.read_body(body)
    assert PROTOCOL.encode(request)["input"] == body["input"]
    (unsent,) = PROTOCOL.read_body({"model": "m", "input": [item]})[0].turns[0].parts
    assert unsent.kind == "tool_call" if name.get("name") == "" else unsent == Unknown(value=item)


def test_files_and_images_by_id_are_parts_of_their_message() -> None:
    request, _ = PROTOCOL.read_body(BODIES[-1])
    user, answer, result, reference = request.turns
    assert [part.kind for part in user.parts] == ["unknown", "unknown", "text"]
    assert [part.kind for part in answer.parts] == ["text", "reasoning", "tool_call", "unknown"]
    assert [part.kind for part in result.parts] == ["tool_result", "unknown"]
    assert reference.parts == (Unknown(value={"type": "item_reference", "id": "msg_1"}),)


@each_case(
    ("item", "words"),
    [
        ({"role": "tool", "content": "x"}, "item 1|message 1"),
        ({"role": "user", "content": 5}, "“content” must be text or a list"),
        ({"type": "function_call_output", "output": "x"}, "“call_id” of a result"),
        ("x", "must be an object"),
    ],
)
def test_item_that_cannot_be_read_is_named(item: Any, words: str) -> None:
    with pytest.raises(MessageError, match=words):
        PROTOCOL.read_body({"model": "m", "input": [item]})


def test_reasoning_without_content_and_the_ids_after_it_are_not_sent_without_state() -> None:
    turn = received(reasoning("Hm.", encrypted=""), message("Hello.", 1))
    user = make_turn(Role.USER, "Go on.")
    stateless = body_of(turn, user, parameters=ResponsesParameters(store=False))
    (answer, _) = stateless["input"]
    assert answer["content"] == [{"type": "output_text", "text": "Hello.", "annotations": []}]
    assert "id" not in answer
    assert len(body_of(turn, user)["input"]) == 3, "a server with state resolves the ids"

    unchanged = received(reasoning("Hm."), message("Hello.", 1))
    items = body_of(unchanged, parameters=ResponsesParameters(store=False))["input"]
    assert items == items_of([*reasoning("Hm."), *message("Hello.", 1)])


def test_edited_text_of_an_answer_is_sent_in_its_item() -> None:
    turn = received(message("Hello."))
    (text,) = turn.parts
    edited = turn.model_copy(update={"parts": (text.model_copy(update={"text": "Bye."}),)})
    (item,) = body_of(edited)["input"]
    assert item["content"] == [{"type": "output_text", "text": "Bye.", "annotations": []}]


def test_edited_answer_and_those_after_it_are_sent_without_reasoning_and_ids() -> None:
    first, second = answered(reasoning("Hm."), message("Hello.", 1)), answered(reasoning("Oh."), call(1))
    user = make_turn(Role.USER, "Go on.")
    edited = with_text(first, "Bye.")
    before, first_text, _, later = body_of(second, edited, user, second)["input"][1:]
    assert before["id"] == "fc_1"
    assert first_text["content"] == [{"type": "output_text", "text": "Bye.", "annotations": []}]
    assert "id" not in first_text
    assert "id" not in later
    assert len(body_of(first, user, second)["input"]) == 5
    changed = with_arguments(second, "call_1", '{"x":2}')
    assert [item["type"] for item in body_of(changed)["input"]] == ["function_call"]


def test_reasoning_of_other_protocols_is_not_sent() -> None:
    turn = make_turn(Role.ASSISTANT, "", Reasoning(text="Hm.", field="reasoning_content"), Text(text="Hi."))
    assert body_of(turn)["input"] == [{"role": "assistant", "content": "Hi."}]
    assert body_of(make_turn(Role.ASSISTANT, "", Refusal(text="No.")))["input"] == [
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}
    ]


def test_schema_and_choice_are_flat() -> None:
    chat = ChatParameters(
        response_format={"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}},
        tool_choice={"type": "function", "function": {"name": "f"}},
        reasoning_effort="low",
        max_completion_tokens=100,
    )
    converted = convert_parameters(chat, ResponsesParameters())
    assert converted.to_wire() == {
        "max_output_tokens": 100,
        "reasoning": {"effort": "low"},
        "tool_choice": {"type": "function", "name": "f"},
        "text": {"format": {"type": "json_schema", "name": "answer", "schema": {"type": "object"}}},
    }
    back = convert_parameters(converted, ChatParameters())
    assert back.to_wire()["tool_choice"] == chat.tool_choice


def test_conversion_names_what_the_protocol_lacks_before_it_is_sent() -> None:
    request = Request(
        protocol="chat",
        model="m",
        turns=(make_turn(Role.USER, "Hi"),),
        parameters=ChatParameters(stop=("x",), n=2, seed=1, presence_penalty=0.5, max_completion_tokens=8),
        tools=(TOOL,),
    )
    words = " ".join(map(str, losses(request, "responses")))
    for name in ("stop", "n (2)", "seed", "presence_penalty"):
        assert name in words
    assert "Max output tokens 8 is below the documented minimum of 16" in words
    assert "f does not set strict" in words


def test_definitions_are_flat_and_custom_ones_keep_their_format() -> None:
    custom = {"type": "custom", "name": "sh", "description": "A shell.", "format": {"type": "text"}}
    assert PROTOCOL.write_tool(PROTOCOL.read_tool(custom)) == custom
    assert protocol_of_tool({"type": "function", "name": "f", "parameters": {}}) == "responses"
    assert protocol_of_tool({"type": "function", "function": {"name": "f"}}) == "chat"
    with pytest.raises(ValueError, match="runs at the vendor"):
        PROTOCOL.read_tool({"type": "web_search"})


def test_response_object_becomes_the_body_that_sends_it_back() -> None:
    items = items_of(message())
    assert PROTOCOL.body_of_answer(response("completed", items, instructions="Be brief.")) == {
        "model": "m-1",
        "instructions": "Be brief.",
        "input": items,
    }
    answer = fold(responses_events(stream(message(), end())))
    assert PROTOCOL.write_answer(answer, 5)["output"] == items
    assert PROTOCOL.write_answer(answer, 5)["created_at"] == 5


def test_contradictions_of_a_body_are_flagged() -> None:
    body = {
        "input": [],
        "tool_choice": "f",
        "tools": [{"type": "function", "name": "g"}],
        "top_logprobs": 5,
        "previous_response_id": "resp_1",
        "conversation": "conv_1",
        "max_output_tokens": 8,
    }
    assert [oddity.path[0] for oddity in PROTOCOL.oddities(body)] == [
        "tool_choice",
        "top_logprobs",
        "previous_response_id",
        "max_output_tokens",
    ]


def answered(*events: Any, id: str = "resp_1") -> Turn:
    """A complete answer that the server may have stored."""
    outcome = Outcome(ending=Ending.COMPLETE, response_id=id)
    return received(*events).model_copy(update={"outcome": outcome})


def test_continued_conversation_sends_only_what_the_server_does_not_have() -> None:
    parameters = ResponsesParameters.begin({}).with_value("previous_response_id", "latest")
    turns = (make_turn(Role.SYSTEM, "Be brief."), make_turn(Role.USER, "Hi"))
    first = Request(protocol="responses", model="m", turns=turns, parameters=parameters)
    body = PROTOCOL.encode(first)
    assert "previous_response_id" not in body
    assert body["store"] is True, "the answer has to be there for the next request"
    assert PROTOCOL.withheld(first) == ""

    later = (*turns, answered(message()), make_turn(Role.USER, "And?"))
    second = Request(protocol="responses", model="m", turns=later, parameters=parameters)
    body = PROTOCOL.encode(second)
    assert body["previous_response_id"] == "resp_1"
    assert body["instructions"] == "Be brief.", "instructions are not inherited"
    assert body["input"] == [{"role": "user", "content": "And?"}]
    assert PROTOCOL.withheld(second) == "3 earlier messages are not sent: the gateway has them as resp_1"

    stateless = PROTOCOL.encode(second.model_copy(update={"parameters": parameters.stateless()}))
    assert len(stateless["input"]) == 3
    assert stateless["store"] is False


def test_answers_of_other_protocols_and_incomplete_ones_are_not_continued() -> None:
    parameters = ResponsesParameters(previous_response_id="latest")
    foreign = make_turn(Role.ASSISTANT, "Hi.").model_copy(
        update={"outcome": Outcome(ending=Ending.COMPLETE, response_id="chatcmpl-1")}
    )
    cut = answered(message()).model_copy(update={"outcome": Outcome(ending=Ending.CUT_OFF, response_id="resp_9")})
    body = body_of(make_turn(Role.USER, "Hi"), foreign, cut, make_turn(Role.USER, "And?"), parameters=parameters)
    assert "previous_response_id" not in body
    assert len(body["input"]) == 4


def test_id_that_was_typed_is_sent_with_the_whole_input() -> None:
    parameters = ResponsesParameters(previous_response_id="resp_5", store=False)
    body = body_of(make_turn(Role.USER, "Hi"), answered(message()), parameters=parameters)
    assert body["previous_response_id"] == "resp_5"
    assert len(body["input"]) == 2
    assert [oddity.path[0] for oddity in PROTOCOL.oddities(body)] == ["store"]


def test_turn_without_sealed_reasoning_has_no_ids_that_the_server_pairs_with_it() -> None:
    items = [
        *reasoning("First.", "Second."),
        *message("Let me look.", 1, phase="commentary"),
        *call(2),
        *reasoning(index=3, encrypted="", text="raw thought"),
    ]
    turn = received(items)
    _, comment, called, raw = body_of(turn)["input"]
    left = PROTOCOL.without_sealed_reasoning(turn)
    del comment["id"], called["id"], raw["id"]
    assert body_of(left)["input"] == [comment, called, raw]
    assert PROTOCOL.without_sealed_reasoning(left) is left


def test_reasoning_without_the_item_that_followed_it_is_not_sent_without_state() -> None:
    turn = received(begin(), *message("Let me see."), *reasoning("First.", index=1), *reasoning(index=2, text="raw"))
    stateless = body_of(turn, parameters=ResponsesParameters(store=False))
    assert [item["type"] for item in stateless["input"]] == ["message"]
    assert [item["type"] for item in body_of(turn)["input"]] == ["message", "reasoning", "reasoning"]
