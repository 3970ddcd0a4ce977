"""Tools that the demo gateway runs itself, under the Responses protocol."""

from __future__ import annotations

import base64
from typing import Any

from playground.demo.images import measure
from tests.demo.conftest import DemoClient
from tests.demo.responding import WEATHER_TOOL, ask, create, items, joined, stream, text, types
from tests.support.each_case import each_case

SERVER: dict[str, Any] = {"type": "mcp", "server_label": "words", "server_url": "https://example.org/mcp"}
FILES = {"type": "file_search", "vector_store_ids": ["vs_1"]}
PYTHON = {"type": "code_interpreter", "container": {"type": "auto"}}


@each_case(
    "tool, kind, states",
    [
        ({"type": "web_search"}, "web_search_call", ["in_progress", "searching", "completed"]),
        (FILES, "file_search_call", ["in_progress", "searching", "completed"]),
        (PYTHON, "code_interpreter_call", ["in_progress", "interpreting", "completed"]),
        ({"type": "image_generation"}, "image_generation_call", ["in_progress", "generating", "completed"]),
    ],
)
def test_hosted_tool_is_an_item_with_progress(client: DemoClient, tool: Any, kind: str, states: list[str]) -> None:
    received = stream(client, "What is new?", tools=[tool], tool_choice={"type": tool["type"]})
    begun = next(event["item"] for event in received if event["type"] == "response.output_item.added")
    [item] = items(received[-1]["response"], kind)
    assert (begun["id"], begun["status"], item["status"]) == (item["id"], "in_progress", "completed")
    progress = [event for event in received if event["type"].startswith(f"response.{kind}.")]
    names = [event["type"].rpartition(".")[2] for event in progress]
    assert [name for name in names if name != "partial_image"] == states
    assert {(event["item_id"], event["output_index"]) for event in progress} == {(item["id"], 0)}
    assert items(received[-1]["response"], "message")


def test_hosted_tool_is_used_by_name_or_by_habit(client: DemoClient) -> None:
    tools = [{"type": "web_search"}]
    assert not items(create(client, "Hello", tools=tools), "web_search_call")
    assert items(create(client, "Search the web, please", tools=tools), "web_search_call")
    assert items(create(client, "Hello", model="demo-tools", tools=tools), "web_search_call")
    assert not items(create(client, "web search", tools=tools, tool_choice="none"), "web_search_call")
    both = create(client, "web search", model="demo-tools", tools=[*tools, WEATHER_TOOL])
    assert [item["type"] for item in both["output"]] == ["web_search_call", "message"]
    assert items(create(client, "web search", max_tool_calls=1, tools=[FILES, *tools]), "web_search_call")
    limited = create(client, "file search and web search", max_tool_calls=1, tools=[FILES, *tools])
    assert [item["type"] for item in limited["output"]] == ["file_search_call", "message"]


def test_citation_names_its_place_in_the_text(client: DemoClient) -> None:
    tools = [{"type": "web_search"}, FILES]
    received = stream(client, "web search, file search", tools=tools)
    final = received[-1]["response"]
    [message] = items(final, "message")
    url, file = message["content"][0]["annotations"]
    assert text(final)[url["start_index"] : url["end_index"]] == f"([example.org]({url['url']}))"
    assert (file["type"], text(final)[: file["index"]].endswith("would say more.")) == ("file_citation", True)
    order = types(received)
    added = [event for event in received if event["type"] == "response.output_text.annotation.added"]
    assert [event["annotation"] for event in added] == [url, file]
    assert order.index("response.output_text.annotation.added") < order.index("response.output_text.done")


def test_details_of_hosted_tools_come_with_include_only(client: DemoClient) -> None:
    tools = [{"type": "web_search"}, FILES, PYTHON]
    prompt = "web search, file search, code interpreter"
    plain = create(client, prompt, tools=tools)
    names = ["web_search_call.action.sources", "file_search_call.results", "code_interpreter_call.outputs"]
    detailed = create(client, prompt, tools=tools, include=names)
    for answer, expected in ((plain, False), (detailed, True)):
        web, files, code = answer["output"][:3]
        assert ("sources" in web["action"], files["results"] is not None, code["outputs"] is not None) == (
            expected,
            expected,
            expected,
        )


def test_code_and_image_are_streamed(client: DemoClient) -> None:
    received = stream(client, "code interpreter", tools=[PYTHON])
    [item] = items(received[-1]["response"], "code_interpreter_call")
    assert joined(received, "response.code_interpreter_call_code.delta") == item["code"]
    received = stream(client, "image generation", tools=[{"type": "image_generation"}])
    [image] = items(received[-1]["response"], "image_generation_call")
    assert measure(base64.b64decode(image["result"])) == ("image/png", 120, 80)
    assert [event for event in received if event["type"] == "response.image_generation_call.partial_image"]


def test_server_of_tools_is_listed_once_and_called(client: DemoClient) -> None:
    tools = [{**SERVER, "require_approval": "never", "authorization": "sk-secret", "headers": {"X-Key": "sk-secret"}}]
    response = ask(client, "Ask words", tools=tools)
    assert "sk-secret" not in response.text
    first = response.json()
    assert [item["type"] for item in first["output"]] == ["mcp_list_tools", "mcp_call", "message"]
    assert first["output"][1]["output"]
    again = create(client, "Ask words", tools=tools, previous_response_id=first["id"])
    assert [item["type"] for item in again["output"]] == ["mcp_call", "message"]
    received = stream(client, "Ask words", tools=tools)
    assert joined(received, "response.mcp_call_arguments.delta") == first["output"][1]["arguments"]
    assert types(received)[2:6] == [
        "response.output_item.added",
        "response.mcp_list_tools.in_progress",
        "response.mcp_list_tools.completed",
        "response.output_item.done",
    ]


def test_call_of_a_server_waits_for_approval(client: DemoClient) -> None:
    first = create(client, "Ask words", tools=[SERVER])
    question = first["output"][-1]
    assert question["type"] == "mcp_approval_request"
    decision = {"type": "mcp_approval_response", "approval_request_id": question["id"], "approve": True}
    fields: dict[str, Any] = {"tools": [SERVER], "previous_response_id": first["id"]}
    approved = create(client, [decision], **fields)
    assert approved["output"][0]["type"] == "mcp_call"
    assert approved["output"][0]["approval_request_id"] == question["id"]
    assert approved["output"][0]["arguments"] == question["arguments"]
    declined = create(client, [{**decision, "approve": False}], **fields)
    assert [item["type"] for item in declined["output"]] == ["message"]
    unknown = ask(client, [{**decision, "approval_request_id": "mcpr_none"}], **fields)
    assert unknown.status_code == 404
