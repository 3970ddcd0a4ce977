"""Tools over the chat protocol: when they are called, with what, how calls stream, and the loop."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from playground.demo.toolcalls import names_in
from tests.demo.conftest import WEATHER, DemoClient, message, tool

QUESTION = "Is it warmer in Lisbon or Oslo right now?"
TIME = tool("get_time", {"type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"]}, "Clock")


def arguments(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [json.loads(call["function"]["arguments"]) for call in found["tool_calls"]]


def test_two_cities_two_calls(client: DemoClient) -> None:
    response = client.chat(QUESTION, model="demo-tools", tools=[TIME, tool()])
    choice = response.json()["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] is None
    calls = choice["message"]["tool_calls"]
    assert [call["function"]["name"] for call in calls] == ["get_weather", "get_weather"]
    assert [one["city"] for one in arguments(choice["message"])] == ["Lisbon", "Oslo"]
    assert len({call["id"] for call in calls}) == 2
    assert all(call["id"].startswith("call_") and call["type"] == "function" for call in calls)


def test_arguments_fit_and_take_words_of_the_prompt(client: DemoClient) -> None:
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
    found = arguments(message(client.chat(prompt, model="demo-tools", tools=[tool(schema=schema)])))
    assert found == [{"city": "Kyōto", "unit": "fahrenheit", "days": 5}]


def test_best_tool_is_chosen(client: DemoClient) -> None:
    found = message(client.chat("What is the weather in Rome?", model="demo-tools", tools=[TIME, tool()]))
    assert [call["function"]["name"] for call in found["tool_calls"]] == ["get_weather"]


@pytest.mark.parametrize("model", ["demo-reasoner", "demo-messages", "demo-tools"])
def test_models_that_call_by_themselves(client: DemoClient, model: str) -> None:
    found = message(client.chat(QUESTION, model=model, tools=[tool()]))
    assert len(found["tool_calls"]) == 2
    assert bool(found.get("reasoning_content")) == (model != "demo-tools")


def test_chat_calls_only_when_told(client: DemoClient) -> None:
    assert "tool_calls" not in message(client.chat(QUESTION, tools=[tool()]))
    assert "tool_calls" in message(client.chat("Use get_weather for Rome", tools=[tool()]))
    assert "tool_calls" in message(client.chat(QUESTION, tools=[tool()], tool_choice="required"))
    named = {"type": "function", "function": {"name": "get_time"}}
    found = message(client.chat(QUESTION, tools=[tool(), TIME], tool_choice=named))
    assert {call["function"]["name"] for call in found["tool_calls"]} == {"get_time"}


def test_none_means_none(client: DemoClient) -> None:
    for model in ("demo-tools", "demo-reasoner", "demo-chat"):
        found = message(client.chat("get_weather !calls=2", model=model, tools=[tool()], tool_choice="none"))
        assert "tool_calls" not in found


def test_one_at_a_time(client: DemoClient) -> None:
    found = message(client.chat(QUESTION, model="demo-tools", tools=[tool()], parallel_tool_calls=False))
    assert len(found["tool_calls"]) == 1


def test_streamed_calls(client: DemoClient) -> None:
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


def test_the_loop(client: DemoClient) -> None:
    asked = {"role": "user", "content": QUESTION}
    called = message(client.chat(messages=[asked], model="demo-tools", tools=[tool()]))
    results = [
        {"role": "tool", "tool_call_id": call["id"], "content": json.dumps({"temperature": warm, "sky": "clear|blue"})}
        for call, warm in zip(called["tool_calls"], (24.5, 11), strict=True)
    ]
    for model in ("demo-tools", "demo-reasoner", "demo-chat"):
        found = message(client.chat(messages=[asked, called, *results], model=model, tools=[tool()]))
        assert "tool_calls" not in found
        assert '"temperature": 24.5' in found["content"]
        assert "**Lisbon** has the highest figure: 24.5 against 11" in found["content"]
    again = [asked, called, *results, {"role": "user", "content": "And in Rome?"}]
    assert arguments(message(client.chat(messages=again, model="demo-tools", tools=[tool()])))[0]["city"] == "Rome"
    forced = client.chat(messages=[asked, called, *results], tools=[tool()], tool_choice="required")
    assert message(forced)["tool_calls"]


def test_what_different_tools_tell_is_not_compared(client: DemoClient) -> None:
    asked = {"role": "user", "content": "What time is it? And roll two dice."}
    calls = [
        {"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}} for name in ("clock", "dice")
    ]
    called = {"role": "assistant", "content": None, "tool_calls": calls}
    results = [
        {"role": "tool", "tool_call_id": "clock", "content": '{"year": 2026}'},
        {"role": "tool", "tool_call_id": "dice", "content": '{"sum": 9}'},
    ]
    found = message(client.chat(messages=[asked, called, *results], model="demo-tools"))["content"]
    assert "2026" in found
    assert "highest figure" not in found


def test_calls_on_demand(client: DemoClient) -> None:
    assert len(message(client.chat("!calls=5 weather", tools=[tool()]))["tool_calls"]) == 5
    assert len(message(client.chat("!calls=999 weather", tools=[tool()]))["tool_calls"]) == 16
    assert "No tools were offered" in message(client.chat("!calls=5 weather"))["content"]


def test_faulty_arguments(client: DemoClient) -> None:
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


def fits(call: dict[str, Any]) -> bool:
    try:
        return bool(jsonschema.Draft202012Validator(WEATHER).is_valid(json.loads(call["function"]["arguments"])))
    except ValueError:
        return False


@pytest.mark.parametrize("word", ["broken", "badjson"])
def test_one_call_of_several_is_faulty(client: DemoClient, word: str) -> None:
    calls = message(client.chat(f"Compare Lisbon, Oslo and Rome !{word}=2", tools=[tool()]))["tool_calls"]
    assert [fits(call) for call in calls] == [True, False, True]


def answered(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"role": "tool", "tool_call_id": call["id"], "content": "fine"} for call in calls]


def cities_by_round(client: DemoClient, prompt: str, most: int = 6) -> list[list[str]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
    out: list[list[str]] = []
    while len(out) < most:
        found = message(client.chat(messages=messages, tools=[tool()]))
        if "tool_calls" not in found:
            break
        out.append([one["city"] for one in arguments(found)])
        messages += [found, *answered(found["tool_calls"])]
    return out


def test_a_chain_makes_its_calls_one_after_another(client: DemoClient) -> None:
    assert cities_by_round(client, "Compare Lisbon, Oslo and Rome !chain") == [["Lisbon"], ["Oslo"], ["Rome"]]


def test_a_loop_goes_on_as_often_as_told_or_for_ever(client: DemoClient) -> None:
    assert cities_by_round(client, "Weather in Lisbon and Oslo !loop=2") == [["Lisbon", "Oslo"]] * 2
    assert cities_by_round(client, "Weather in Oslo !loop") == [["Oslo"]] * 6


def test_a_chain_on_the_native_protocol(client: DemoClient) -> None:
    native = {"name": "get_weather", "description": "The weather now", "input_schema": WEATHER}
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Compare Lisbon and Oslo !chain"}]
    seen: list[str] = []
    for _ in range(5):
        content = client.native(messages=messages, tools=[native]).json()["content"]
        uses = [block for block in content if block["type"] == "tool_use"]
        if not uses:
            break
        seen += [use["input"]["city"] for use in uses]
        results = [{"type": "tool_result", "tool_use_id": use["id"], "content": "fine"} for use in uses]
        messages += [{"role": "assistant", "content": content}, {"role": "user", "content": results}]
    assert seen == ["Lisbon", "Oslo"]


def test_tool_without_arguments(client: DemoClient) -> None:
    bare = {"type": "function", "function": {"name": "ping"}}
    found = message(client.chat("ping", tools=[bare]))
    assert found["tool_calls"][0]["function"]["arguments"] == "{}"


@pytest.mark.parametrize(
    ("prompt", "names"),
    [
        ("Weather in New York and San Francisco", ["New York", "San Francisco"]),
        ("Compare Lisbon, Oslo and Zürich", ["Lisbon", "Oslo", "Zürich"]),
        ("Paris vs Rome", ["Paris", "Rome"]),
        ("Lisbon", ["Lisbon"]),
        ("what is it like", []),
        ('Look up "deep sea" and “high tide”', ["deep sea", "high tide"]),
        ("I like Mars. Then I like Venus, and Mars.", ["Mars", "Venus"]),
    ],
)
def test_names(prompt: str, names: list[str]) -> None:
    assert names_in(prompt) == names


@pytest.mark.parametrize(
    ("prompt", "called"),
    [
        ("What time is it? And roll three dice.", [("clock", {}), ("roll_dice", {"count": 3, "sides": 6})]),
        ("Draw me a chart of 3, 5 and 8.5", [("draw_chart", {"values": [3, 5, 8.5]})]),
        ('Delete the note "Shopping"', [("delete_note", {"title": "Shopping"})]),
        ("Divide 22 by 7", [("divide", {"dividend": 22, "divisor": 7})]),
        ("Please sum up my notes", [("sum_up_notes", {"words": 30})]),
    ],
)
def test_it_calls_the_tools_of_the_demo_server_that_are_meant(
    client: DemoClient, prompt: str, called: list[tuple[str, dict[str, Any]]]
) -> None:
    from playground.demo.tool_offers import TOOLS

    offered = [tool(each.name, dict(each.input_schema), each.description or "") for each in TOOLS]
    calls = message(client.chat(prompt, model="demo-tools", tools=offered))["tool_calls"]
    assert [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in calls] == called
