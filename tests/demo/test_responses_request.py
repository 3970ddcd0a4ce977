"""Requests of the Responses protocol that the demo gateway refuses, with the words of the public one."""

from __future__ import annotations

from typing import Any

from tests.demo.conftest import DemoClient
from tests.demo.responding import WEATHER_TOOL, ask, create, items, refused
from tests.support.each_case import each_case

USER = {"role": "user", "content": "Hi"}
CALL = {"type": "function_call", "call_id": "call_1", "name": "get_weather", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "call_1", "output": "4"}
LOOSE = {"type": "object", "properties": {"city": {"type": "string"}}}
STRICT_FAULT = "In context=(), 'additionalProperties' is required to be supplied and to be false."
INCLUDES = (
    "'reasoning.encrypted_content', 'message.output_text.logprobs', 'message.input_image.image_url', "
    "'file_search_call.results', 'web_search_call.results', 'web_search_call.action.sources', "
    "'code_interpreter_call.outputs', and 'computer_call_output.output.image_url'"
)

FIELDS: list[tuple[dict[str, Any], str, str | None, str | None]] = [
    ({"stop": ["x"]}, "Unknown parameter: 'stop'. Did you mean 'store'?", "unknown_parameter", "stop"),
    ({"seed": 1}, "Unknown parameter: 'seed'.", "unknown_parameter", "seed"),
    ({"messages": [USER]}, "Unknown parameter: 'messages'.", "unknown_parameter", "messages"),
    (
        {"tools": [{"type": "function", "function": {"name": "get_weather"}}]},
        "Missing required parameter: 'tools[0].name'.",
        "missing_required_parameter",
        "tools[0].name",
    ),
    (
        {"input": []},
        "Invalid 'input': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        "empty_array",
        "input",
    ),
    ({"input": None}, "Missing required parameter: 'input'.", "missing_required_parameter", "input"),
    (
        {"input": 5},
        "Invalid type for 'input': expected one of a string or an array, but got an integer instead.",
        "invalid_type",
        "input",
    ),
    (
        {"max_output_tokens": 5},
        "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 5 instead.",
        "integer_below_min_value",
        "max_output_tokens",
    ),
    (
        {"temperature": 2.5},
        "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 2.5 instead.",
        "decimal_above_max_value",
        "temperature",
    ),
    (
        {"stream": "yes"},
        "Invalid type for 'stream': expected a boolean, but got a string instead.",
        "invalid_type",
        "stream",
    ),
    (
        {"input": [USER, {"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}]},
        "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
        "invalid_value",
        "input[1].content[0]",
    ),
    (
        {"input": [{"role": "tool", "content": "x"}]},
        "Invalid value: 'tool'. Supported values are: 'user', 'assistant', 'system', and 'developer'.",
        "invalid_value",
        "input[0].role",
    ),
    (
        {"input": [{"content": "x"}]},
        "Missing required parameter: 'input[0].type'.",
        "missing_required_parameter",
        "input[0].type",
    ),
    (
        {"input": [{**USER, "name": "Ann"}]},
        "Unknown parameter: 'input[0].name'.",
        "unknown_parameter",
        "input[0].name",
    ),
    ({"input": [USER, CALL]}, "No tool output found for function call call_1.", None, "input"),
    ({"input": [USER, CALL, USER]}, "No tool output found for function call call_1.", None, "input"),
    (
        {"input": [USER, RESULT]},
        "No tool call found for function call output with call_id call_1.",
        None,
        "input",
    ),
    ({"model": "gpt-none"}, "The requested model 'gpt-none' does not exist.", "model_not_found", "model"),
    (
        {"previous_response_id": "resp_none"},
        "Previous response with id 'resp_none' not found.",
        "previous_response_not_found",
        "previous_response_id",
    ),
    (
        {"include": ["reasoning.encrypted_content"]},
        "Encrypted content is not supported with this model.",
        "unsupported_parameter",
        "include",
    ),
    (
        {"include": ["everything"]},
        f"Invalid value: 'everything'. Supported values are: {INCLUDES}.",
        "invalid_value",
        "include[0]",
    ),
    (
        {"reasoning": {"effort": "max"}},
        (
            "Unsupported value: 'max' is not supported with the 'demo-chat' model. "
            "Supported values are: 'minimal', 'low', 'medium', 'high'."
        ),
        "unsupported_value",
        "reasoning.effort",
    ),
    (
        {"model": "demo-reasoner", "temperature": 0.2},
        "Unsupported parameter: 'temperature' is not supported with this model.",
        "unsupported_parameter",
        "temperature",
    ),
    (
        {"tools": [{**WEATHER_TOOL, "parameters": LOOSE, "strict": True}]},
        f"Invalid schema for function 'get_weather': {STRICT_FAULT}",
        "invalid_function_parameters",
        "tools[0].parameters",
    ),
    (
        {"text": {"format": {"type": "json_schema", "name": "place", "schema": LOOSE, "strict": True}}},
        f"Invalid schema for response_format 'place': {STRICT_FAULT}",
        "invalid_json_schema",
        "text.format.schema",
    ),
    (
        {"text": {"format": {"type": "json_object"}}, "instructions": "Answer in JSON."},
        "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
        None,
        "input",
    ),
    (
        {"tool_choice": "sometimes"},
        "Invalid value: 'sometimes'. Supported values are: 'auto', 'none', and 'required'.",
        "invalid_value",
        "tool_choice",
    ),
    (
        {"tools": [WEATHER_TOOL], "tool_choice": {"type": "function", "name": "other"}},
        "Tool choice 'other' not found in 'tools' parameter.",
        None,
        "tool_choice",
    ),
    (
        {"metadata": {"key": "x" * 513}},
        (
            "Invalid 'metadata.key': string too long. Expected a string with maximum length 512, but got a string with "
            "length 513 instead."
        ),
        "string_above_max_length",
        "metadata.key",
    ),
    (
        {"stream_options": {"include_obfuscation": True}},
        "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
        "invalid_value",
        "stream_options",
    ),
    (
        {"background": True},
        "Unsupported parameter: 'background' is not supported by the demo gateway.",
        "unsupported_parameter",
        "background",
    ),
    (
        {"input": [USER, {"type": "item_reference", "id": "msg_none"}]},
        (
            "Item with id 'msg_none' not found. Items are not persisted when `store` is set to false. "
            "Try again with `store` set to true, or remove this item from your input."
        ),
        None,
        "input",
    ),
]


@each_case("fields, message, code, param", FIELDS)
def test_request_with_a_fault_is_refused(
    client: DemoClient, fields: dict[str, Any], message: str, code: str | None, param: str | None
) -> None:
    status = 404 if "not found. Items" in message else 400
    refused(ask(client, **{"sent": "Hi", **_sent(fields)}), message, code=code, param=param, status=status)


def _sent(fields: dict[str, Any]) -> dict[str, Any]:
    return {"sent" if name == "input" else name: value for name, value in fields.items()}


def test_reasoning_is_accepted_back_only_unchanged_and_in_its_place(client: DemoClient) -> None:
    fields: dict[str, Any] = {"model": "demo-responses", "store": False}
    reasoning, message = create(client, "Hi", **fields)["output"]
    question = {"role": "user", "content": "Hi"}
    assert create(client, [question, reasoning, message, question], **fields)["status"] == "completed"
    without_id = {name: value for name, value in reasoning.items() if name != "id"}
    assert create(client, [question, without_id, message, question], **fields)["status"] == "completed"
    unsealed = (
        f"The encrypted content for item {reasoning['id']} could not be verified. "
        "Reason: Encrypted content could not be decrypted or parsed."
    )
    changed = {**reasoning, "encrypted_content": reasoning["encrypted_content"][:-4] + "AAAA"}
    response = ask(client, [question, changed, message, question], **fields)
    refused(response, unsealed, code="invalid_encrypted_content", param="input")
    response = ask(client, [question, reasoning, message, question], model="demo-reasoner")
    refused(response, unsealed, code="invalid_encrypted_content", param="input")
    alone = f"Item '{reasoning['id']}' of type 'reasoning' was provided without its required following item."
    refused(ask(client, [question, reasoning, question], **fields), alone, code=None, param="input")
    bare = {"type": "reasoning", "id": "rs_none", "summary": []}
    response = ask(client, [question, bare, message, question], **fields)
    assert (response.status_code, "rs_none" in response.text) == (404, True)


def test_hosted_tool_without_its_settings_is_refused(client: DemoClient) -> None:
    for tool, member in (
        ({"type": "file_search"}, "vector_store_ids"),
        ({"type": "code_interpreter"}, "container"),
        ({"type": "mcp", "server_url": "https://example.org"}, "server_label"),
    ):
        error = ask(client, tools=[tool]).json()["error"]
        assert (error["code"], error["param"]) == ("missing_required_parameter", f"tools[0].{member}")
    error = ask(client, tools=[{"type": "teleport"}]).json()["error"]
    assert (error["code"], error["param"]) == ("invalid_value", "tools[0].type")
    assert "'function', 'custom', 'web_search'" in error["message"]
    error = ask(client, [{"type": "teleport"}]).json()["error"]
    assert (error["code"], error["param"]) == ("invalid_value", "input[0].type")


def test_refused_status_is_sent_before_the_answer(client: DemoClient) -> None:
    response = ask(client, "!429=3 Hi", stream=True)
    assert (response.status_code, response.headers["retry-after"]) == (429, "3")
    assert response.json()["error"]["message"].startswith("Rate limit exceeded")
    assert ask(client, "Hi !html").status_code == 502
    moved = ask(client, "Hi !redirect")
    assert (moved.status_code, moved.headers["location"]) == (307, "https://gateway.example/v1/responses")
    response = ask(client, "Hi !refuse=max_output_tokens", max_output_tokens=50)
    assert response.status_code == 400
    assert "'max_output_tokens' is not supported" in response.json()["error"]["message"]
    assert not items(create(client, "Hi !refuse=developer"), "function_call")
    response = ask(client, [{"role": "developer", "content": "x"}, {"role": "user", "content": "!refuse=developer"}])
    assert "input[0].role" in response.json()["error"]["message"]
