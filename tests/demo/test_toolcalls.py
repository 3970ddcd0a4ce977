"""Tool calls of the demo gateway over the chat protocol: choice, arguments, streams, results, faults."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import jsonschema
import pytest

from playground.demo.tool_server import server
from playground.demo.toolcalls import names_in
from tests.demo.conftest import WEATHER, DemoClient, message, tool

QUESTION = "Is it warmer in Lisbon or Oslo right now?"
TIME = tool("get_time", {"type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"]}, "Clock")


def arguments(expected: dict[str, Any]) -> list[dict[str, Any]]:
    return [json.loads(call["function"]["arguments"]) for call in expected["tool_calls"]]


def test_two_cities_give_two_calls_of_the_best_tool(client: DemoClient) -> None:
    response = client.chat(QUESTION, model="demo-tools", tools=[TIME, tool()])
    choice = response.json()["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] is None
    calls = choice["message"]["tool_calls"]
    assert [call["function"]["name"] for call in calls] == ["get_weather", "get_weather"]
    assert [argument["city"] for argument in arguments(choice["message"])] == ["Lisbon", "Oslo"]
    assert len({call["id"] for call in calls}) == 2
    assert all(call["id"].startswith("call_") and call["type"] == "function" for call in calls)
    single = message(client.chat(QUESTION, model="demo-tools", tools=[tool()], parallel_tool_calls=False))
    assert len(single["tool_calls"]) == 1
    bare = {"type": "function", "function": {"name": "ping"}}
    assert message(client.chat("ping", tools=[bare]))["tool_calls"][0]["function"]["arguments"] == "{}"


def test_arguments_come_from_the_prompt(client: DemoClient) -> None:
    schema = {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "unit": {"enum": ["celsius", "fahrenheit"]},
            "days": {"type": "integer", "minimum": 1, "maximum": 14},
        },
        "required": ["city", "unit", "days"],
    }
    prompt = "Forecast for Kyōto, 5 days, in fahrenheit please"
    result = arguments(message(client.chat(prompt, model="demo-tools", tools=[tool(schema=schema)])))
    assert result == [{"city": "Kyōto", "unit": "fahrenheit", "days": 5}]


def test_streamed_calls_have_the_documented_shape(client: DemoClient) -> None:
    chunks = client.chunks(QUESTION, model="demo-tools", tools=[tool()], seed=9)
    deltas = [c["choices"][0]["delta"]["tool_calls"][0] for c in chunks if "tool_calls" in c["choices"][0]["delta"]]
    for index in (0, 1):
        mine = [delta for delta in deltas if delta["index"] == index]
        assert set(mine[0]) == {"index", "id", "type", "function"}
        assert mine[0]["function"] == {"name": "get_weather", "arguments": ""}
        assert all(
            set(delta) == {"index", "function"} and set(delta["function"]) == {"arguments"} for delta in mine[1:]
        )
        assert len(mine) > 3
        jsonschema.validate(json.loads("".join(delta["function"]["arguments"] for delta in mine)), WEATHER)
    assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_results_of_calls_are_compared_in_the_answer(client: DemoClient) -> None:
    request = {"role": "user", "content": QUESTION}
    called = message(client.chat(messages=[request], model="demo-tools", tools=[tool()]))
    results = [
        {"role": "tool", "tool_call_id": call["id"], "content": json.dumps({"temperature": warm, "sky": "clear|blue"})}
        for call, warm in zip(called["tool_calls"], (24.5, 11), strict=True)
    ]
    for model in ("demo-tools", "demo-reasoner", "demo-chat"):
        result = message(client.chat(messages=[request, called, *results], model=model, tools=[tool()]))
        assert "tool_calls" not in result
        assert '"temperature": 24.5' in result["content"]
        assert "**Lisbon** has the highest figure: 24.5 against 11" in result["content"]
    again = [request, called, *results, {"role": "user", "content": "And in Rome?"}]
    assert arguments(message(client.chat(messages=again, model="demo-tools", tools=[tool()])))[0]["city"] == "Rome"
    forced = client.chat(messages=[request, called, *results], tools=[tool()], tool_choice="required")
    assert message(forced)["tool_calls"]


def test_number_of_calls_on_demand_is_kept(client: DemoClient) -> None:
    assert len(message(client.chat("!calls=5 weather", tools=[tool()]))["tool_calls"]) == 5
    assert len(message(client.chat("!calls=999 weather", tools=[tool()]))["tool_calls"]) == 16
    assert "No tools were offered" in message(client.chat("!calls=5 weather"))["content"]


def test_faulty_arguments_on_demand_are_sent(client: DemoClient) -> None:
    broken = arguments(message(client.chat("!broken Rome", tools=[tool()])))[0]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, WEATHER)
    assert broken["unit"] not in WEATHER["properties"]["unit"]["enum"]
    bad = message(client.chat("!badjson Rome", tools=[tool()]))["tool_calls"][0]["function"]["arguments"]
    with pytest.raises(ValueError, match="Expecting"):
        json.loads(bad)
    cut = client.chat("!cutargs Rome", tools=[tool()]).json()["choices"][0]
    assert cut["finish_reason"] == "length"
    with pytest.raises(ValueError, match=r"Expecting|Unterminated"):
        json.loads(cut["message"]["tool_calls"][0]["function"]["arguments"])


def cities_by_round(client: DemoClient, prompt: str, most: int = 6) -> list[list[str]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
    out: list[list[str]] = []
    while len(out) < most:
        result = message(client.chat(messages=messages, tools=[tool()]))
        if "tool_calls" not in result:
            break
        out.append([argument["city"] for argument in arguments(result)])
        results = [{"role": "tool", "tool_call_id": call["id"], "content": "fine"} for call in result["tool_calls"]]
        messages += [result, *results]
    return out


def test_chain_and_loop_on_demand_are_kept(client: DemoClient) -> None:
    assert cities_by_round(client, "Compare Lisbon, Oslo and Rome !chain") == [["Lisbon"], ["Oslo"], ["Rome"]]
    assert cities_by_round(client, "Weather in Lisbon and Oslo !loop=2") == [["Lisbon", "Oslo"]] * 2
    assert cities_by_round(client, "Weather in Oslo !loop") == [["Oslo"]] * 6


def test_names_are_found_in_a_prompt() -> None:
    names = {
        "Weather in New York and San Francisco": ["New York", "San Francisco"],
        "Compare Lisbon, Oslo and Zürich": ["Lisbon", "Oslo", "Zürich"],
        "what is it like": [],
        'Look up "deep sea" and “high tide”': ["deep sea", "high tide"],
        "I like Mars. Then I like Venus, and Mars.": ["Mars", "Venus"],
    }
    assert {prompt: names_in(prompt) for prompt in names} == names


def test_prompt_calls_the_tools_of_the_demo_server(client: DemoClient) -> None:
    tools = asyncio.run(server.list_tools())
    offered = [tool(each.name, dict(each.input_schema), each.description or "") for each in tools]
    for prompt, calls in (
        ("What time is it? And roll three dice.", {"clock": {}, "roll_dice": {"count": 3, "sides": 6}}),
        ("Draw me a chart of 3, 5 and 8.5", {"draw_chart": {"values": [3, 5, 8.5]}}),
        ('Delete the note "Shopping"', {"delete_note": {"title": "Shopping"}}),
        ("Divide 22 by 7", {"divide": {"dividend": 22, "divisor": 7}}),
        ("Please sum up my notes", {"sum_up_notes": {"words": 30}}),
    ):
        result = message(client.chat(prompt, model="demo-tools", tools=offered))["tool_calls"]
        assert {call["function"]["name"]: json.loads(call["function"]["arguments"]) for call in result} == calls
