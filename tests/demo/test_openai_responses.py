"""The library of OpenAI against the Responses protocol of the demo gateway: whole, streamed, parsed, in a tool loop."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from openai.types.responses import FunctionToolParam, ResponseInputItemParam
from pydantic import BaseModel

from playground.demo.server import DemoConfig, DemoServer
from tests.demo.conftest import WEATHER
from tests.support.each_case import each_case

TOOL: FunctionToolParam = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather now",
    "parameters": WEATHER,
    "strict": True,
}


class Place(BaseModel):
    """A place as the model has to name it."""

    city: str
    inhabitants: int


@pytest.fixture(scope="module")
def sdk() -> Iterator[openai.OpenAI]:
    with (
        DemoServer(DemoConfig(tokens_per_second=0, time_to_first_token=0, rate_limit=0)) as server,
        openai.OpenAI(base_url=server.base_url, api_key="sk-demo", max_retries=0) as client,
    ):
        yield client


def test_response_is_created(sdk: openai.OpenAI) -> None:
    response = sdk.responses.create(model="demo-chat", input="Hello", instructions="Be brief")
    assert response.status == "completed"
    assert "Hello" in response.output_text
    assert response.usage is not None
    assert response.usage.total_tokens == response.usage.input_tokens + response.usage.output_tokens
    assert set(response.model_extra or ()) == {"presence_penalty", "frequency_penalty", "store"}
    again = sdk.responses.retrieve(response.id)
    assert again.output_text == response.output_text
    listed = sdk.responses.input_items.list(response.id)
    assert [item.type for item in listed] == ["message"]
    sdk.responses.delete(response.id)
    with pytest.raises(openai.NotFoundError, match=f"Response with id '{response.id}' not found"):
        sdk.responses.retrieve(response.id)


def test_events_are_iterated(sdk: openai.OpenAI) -> None:
    events = list(
        sdk.responses.create(model="demo-reasoner", input="Hello", stream=True, reasoning={"summary": "auto"})
    )
    assert (events[0].type, events[-1].type) == ("response.created", "response.completed")
    assert [event.sequence_number for event in events] == list(range(len(events)))


def test_stream_helper_returns_the_final_response(sdk: openai.OpenAI) -> None:
    with sdk.responses.stream(model="demo-tools", input="Is it warm in Oslo?", tools=[TOOL]) as stream:
        names = [event.type for event in stream]
        final = stream.get_final_response()
    assert (names[0], names[-1]) == ("response.created", "response.completed")
    [call] = final.output
    assert call.type == "function_call"
    assert call.parsed_arguments == json.loads(call.arguments)
    with sdk.responses.stream(model="demo-chat", input="Hello") as stream:
        text = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
        assert stream.get_final_response().output_text == text


def test_answer_is_parsed_into_a_model(sdk: openai.OpenAI) -> None:
    response = sdk.responses.parse(model="demo-chat", input="A city", text_format=Place)
    assert isinstance(response.output_parsed, Place)


def test_tool_loop_ends_with_an_answer(sdk: openai.OpenAI) -> None:
    conversation: list[ResponseInputItemParam] = [{"role": "user", "content": "Compare Lisbon and Oslo"}]
    fields: dict[str, Any] = {"model": "demo-responses", "tools": [TOOL], "store": False}
    first = sdk.responses.create(input=conversation, **fields)
    for item in first.output:
        conversation.append(item.to_dict())
    calls = [item for item in first.output if item.type == "function_call"]
    for call in calls:
        output = json.dumps({"celsius": len(json.loads(call.arguments)["city"])})
        conversation.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
    assert len(calls) == 2
    second = sdk.responses.create(input=conversation, **fields)
    assert "Both calls came back" in second.output_text


def test_faults_raise_the_errors_of_the_library(sdk: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as error:
        sdk.responses.create(model="gpt-none", input="Hello")
    assert (error.value.code, error.value.param, error.value.type) == (
        "model_not_found",
        "model",
        "invalid_request_error",
    )
    with pytest.raises(openai.RateLimitError):
        sdk.responses.create(model="demo-chat", input="!429 Hello")
    with pytest.raises(openai.APIError, match="overloaded"):
        list(sdk.responses.create(model="demo-chat", input="!nested Hello", stream=True))
    flat = list(sdk.responses.create(model="demo-chat", input="!error Hello", stream=True))
    assert [event.type for event in flat[-2:]] == ["error", "response.failed"]


@each_case("gateway", ["bedrock", "copilot", "deepseek", "litellm", "lmstudio", "ollama", "openrouter"])
def test_imitated_gateway_is_read(sdk: openai.OpenAI, gateway: str) -> None:
    events = list(sdk.responses.create(model="demo-reasoner", input=f"Hello !like={gateway}", stream=True))
    assert events[-1].type == "response.completed"


def test_counts_and_compaction_are_read(sdk: openai.OpenAI) -> None:
    assert sdk.responses.input_tokens.count(model="demo-chat", input="Hello").input_tokens > 0
    compacted = sdk.responses.compact(model="demo-chat", input="We launch on Tuesday.")
    assert [item.type for item in compacted.output] == ["message", "compaction"]
