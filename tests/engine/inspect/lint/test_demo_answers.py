"""The demo gateway's ordinary answers, over a real socket, are as they should be; those asked to be odd are not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from playground.domain.transcript import Role, make_turn
from playground.engine.gateways.offered import DEMO_ID, Gateways
from playground.engine.inspect.lint import Review
from playground.engine.session.session import Session
from tests.engine.inspect.lint.answers import codes, reviewed
from tests.support.eventually import eventually

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {"type": "function", "function": {"name": "get_weather", "description": "The weather", "parameters": CITY}}
NATIVE_TOOL = {"name": "get_weather", "description": "The weather", "input_schema": CITY}
USAGE = {"stream_options": {"include_usage": True}}
NAMED = {"type": "function", "function": {"name": "get_weather"}}
SCHEMA = {"type": "json_schema", "json_schema": {"name": "city", "schema": CITY}}


async def asked(gateways: Gateways, protocol: str, model: str, prompt: str, fields: dict[str, Any]) -> Review:
    """What there is to say of the answer to ``prompt``, asked for with ``fields`` in the body."""
    session = Session(gateways.client, profile_id=DEMO_ID, protocol=protocol, model=model)
    session.turns.add_turn(make_turn(Role.USER, prompt))
    session.change(extra_body={"max_tokens": 3000, **fields} if protocol == "messages" else fields)
    await session.run()
    (tape,) = session.exchanges.values()
    return reviewed(tape)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("model", "prompt", "fields"),
    [
        ("demo-chat", "Hello", {}),
        ("demo-chat", "Hello", USAGE),
        ("demo-chat", "Hello", {"n": 3}),
        ("demo-chat", "Hello", {"max_completion_tokens": 7, **USAGE}),
        ("demo-chat", "Hello", {"max_tokens": 7, **USAGE}),
        ("demo-chat", "Hello", {"stop": ["simulated", "nowhere"]}),
        ("demo-chat", "Hello", {"response_format": {"type": "json_object"}}),
        ("demo-chat", "Hello", {"response_format": SCHEMA}),
        ("demo-chat", "Hello", {"tools": [TOOL], "tool_choice": NAMED}),
        ("demo-reasoner", "What is 6 * 7?", USAGE),
        ("demo-reasoner", "Hello", {"max_completion_tokens": 7, "n": 2, **USAGE}),
        ("demo-tools", "The weather in Rome and Oslo?", {"tools": [TOOL], **USAGE}),
        ("demo-tools", "The weather in Rome and Oslo?", {"tools": [TOOL], "parallel_tool_calls": False}),
        ("demo-tools", "The weather in Rome?", {"tools": [TOOL], "tool_choice": "none"}),
        ("demo-tools", "!cutargs The weather in Rome?", {"tools": [TOOL]}),
        ("demo-chat", "!filter Hello", {}),
        ("demo-chat", "Hello", {"temperature": 5}),
        ("nobody", "Hello", {}),
        *(("demo-chat", f"!{status}", {}) for status in (400, 401, 402, 403, 404, 429, 500, 503, 504)),
    ],
)
async def test_chat_completions(
    gateways: Gateways, model: str, prompt: str, fields: dict[str, Any], stream: bool
) -> None:
    fields = {name: value for name, value in fields.items() if stream or name != "stream_options"}
    review = await asked(gateways, "chat", model, prompt, {**fields, "stream": stream})
    assert [(one.code, one.note) for one in review.findings] == []
    assert review.unseen == ""


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("prompt", "fields"),
    [
        ("Hello", {}),
        ("Hello", {"max_tokens": 8}),
        ("Hello", {"stop_sequences": ["simulated"]}),
        ("Hello", {"thinking": {"type": "adaptive"}}),
        ("Hello", {"output_config": {"format": {"type": "json_schema", "schema": CITY}}}),
        ("The weather in Rome and Oslo?", {"tools": [NATIVE_TOOL]}),
        (
            "The weather in Rome and Oslo?",
            {"tools": [NATIVE_TOOL], "tool_choice": {"type": "any", "disable_parallel_tool_use": True}},
        ),
        ("!filter", {}),
        ("!400", {}),
        ("!429", {}),
    ],
)
async def test_native_messages(gateways: Gateways, prompt: str, fields: dict[str, Any], stream: bool) -> None:
    review = await asked(gateways, "messages", "demo-messages", prompt, {**fields, "stream": stream})
    assert [(one.code, one.note) for one in review.findings] == []
    assert review.unseen == ""


@pytest.mark.parametrize(
    ("prompt", "found", "unseen"),
    [
        ("!nodone", ["no_end_marker"], ""),
        ("!error", ["error_inside"], "An error ended the answer"),
        ("!cut", [], "The connection broke off"),
        ("!empty", ["empty"], ""),
        ("!html", ["status_undocumented", "error_shape"], ""),
        ("!redirect", ["status_undocumented"], ""),
        ("!think Hello", ["inline_think"], ""),
    ],
)
async def test_odd_answers(gateways: Gateways, prompt: str, found: list[str], unseen: str) -> None:
    review = await asked(gateways, "chat", "demo-chat", prompt, {})
    assert codes(review.findings) == found
    assert review.unseen.startswith(unseen)
    assert bool(review.unseen) == bool(unseen)


async def test_a_stopped_answer_is_not_called_right(gateways: Gateways) -> None:
    session = Session(gateways.client, profile_id=DEMO_ID, model="demo-chat")
    session.turns.add_turn(make_turn(Role.USER, "!long=2000 !slow"))
    session.change(extra_body={"n": 2, "stream_options": {"include_usage": True}})
    async with asyncio.TaskGroup() as group:
        group.create_task(session.run())
        await eventually(lambda: any(choice.deltas for choice in session.growing.values()))
        session.stop()
    (tape,) = session.exchanges.values()
    review = reviewed(tape)
    assert review.findings == ()
    assert review.unseen == "The answer was stopped: what would have followed was not seen."
