"""Reviews of the demo gateway's answers over a real socket: none for ordinary ones, findings for faulty ones."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest

from playground.demo.server import DemoServer
from playground.domain.transcript import Role, make_turn
from playground.engine.inspect.lint import Review
from tests.engine.inspect.lint.answers import codes, reviewed
from tests.engine.session.conftest import Connect
from tests.support.eventually import eventually

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {"type": "function", "function": {"name": "get_weather", "description": "The weather", "parameters": CITY}}
NATIVE_TOOL = {"name": "get_weather", "description": "The weather", "input_schema": CITY}
USAGE: dict[str, Any] = {"stream_options": {"include_usage": True}}
NAMED = {"type": "function", "function": {"name": "get_weather"}}
SCHEMA = {"type": "json_schema", "json_schema": {"name": "city", "schema": CITY}}
TOOLS, WEATHER = {"tools": [TOOL]}, "The weather in Rome and Oslo?"
ONE_CALL = {"tools": [NATIVE_TOOL], "tool_choice": {"type": "any", "disable_parallel_tool_use": True}}
#: Model, prompt and fields of ordinary requests.
CHAT: list[tuple[str, str, dict[str, Any]]] = [
    ("demo-chat", "Hello", {}),
    ("demo-chat", "Hello", USAGE),
    ("demo-chat", "Hello", {"n": 3}),
    ("demo-chat", "Hello", {"max_completion_tokens": 7, **USAGE}),
    ("demo-chat", "Hello", {"max_tokens": 7, **USAGE}),
    ("demo-chat", "Hello", {"stop": ["simulated", "nowhere"]}),
    ("demo-chat", "Hello", {"response_format": {"type": "json_object"}}),
    ("demo-chat", "Hello", {"response_format": SCHEMA}),
    ("demo-chat", "Hello", {**TOOLS, "tool_choice": NAMED}),
    ("demo-reasoner", "What is 6 * 7?", USAGE),
    ("demo-reasoner", "Hello", {"max_completion_tokens": 7, "n": 2, **USAGE}),
    ("demo-tools", WEATHER, {**TOOLS, **USAGE}),
    ("demo-tools", WEATHER, {**TOOLS, "parallel_tool_calls": False}),
    ("demo-tools", "The weather in Rome?", {**TOOLS, "tool_choice": "none"}),
    ("demo-tools", "!cutargs The weather in Rome?", TOOLS),
    ("demo-chat", "!filter Hello", {}),
    ("demo-chat", "Hello", {"temperature": 5}),
    ("nobody", "Hello", {}),
    *(("demo-chat", f"!{status}", {}) for status in (400, 401, 402, 403, 404, 429, 500, 503, 504)),
]
MESSAGES: list[tuple[str, dict[str, Any]]] = [
    ("Hello", {}),
    ("Hello", {"max_tokens": 8}),
    ("Hello", {"stop_sequences": ["simulated"]}),
    ("Hello", {"thinking": {"type": "adaptive"}}),
    ("Hello", {"output_config": {"format": {"type": "json_schema", "schema": CITY}}}),
    (WEATHER, {"tools": [NATIVE_TOOL]}),
    (WEATHER, ONE_CALL),
    ("!filter", {}),
    ("!400", {}),
    ("!429", {}),
]


@pytest.fixture
def connect(connect_to: Connect, gateway: DemoServer) -> Connect:
    """A function that makes a session with a client of its own: a refusal for now holds back no other request."""
    return partial(connect_to, gateway.base_url)


async def asked(connect: Connect, protocol: str, model: str, prompt: str, fields: dict[str, Any]) -> Review:
    """Return the review of the answer to ``prompt``, with ``fields`` in the body of its request."""
    session = connect(protocol=protocol, model=model)
    session.turns.add_turn(make_turn(Role.USER, prompt))
    session.change(extra_body={"max_tokens": 3000, **fields} if protocol == "messages" else fields)
    await session.run()
    (tape,) = session.exchanges.values()
    return reviewed(tape)


@pytest.mark.parametrize("stream", [True, False])
async def test_ordinary_answers_have_no_findings(connect: Connect, stream: bool) -> None:
    requests = [("chat", *row) for row in CHAT] + [("messages", "demo-messages", *row) for row in MESSAGES]
    for protocol, model, prompt, fields in requests:
        sent = {name: value for name, value in fields.items() if stream or name != "stream_options"}
        review = await asked(connect, protocol, model, prompt, {**sent, "stream": stream})
        results = [(finding.code, finding.note) for finding in review.findings]
        assert (results, review.unseen) == ([], ""), (protocol, model, prompt, fields)


async def test_faulty_answers_have_their_findings(connect: Connect) -> None:
    for prompt, result, unseen in (
        ("!nodone", ["no_end_marker"], ""),
        ("!error", ["error_inside"], "An error ended the answer"),
        ("!cut", [], "The connection broke off"),
        ("!empty", ["empty"], ""),
        ("!html", ["status_undocumented", "error_shape"], ""),
        ("!redirect", ["status_undocumented"], ""),
        ("!think Hello", ["inline_think"], ""),
    ):
        review = await asked(connect, "chat", "demo-chat", prompt, {})
        assert codes(review.findings) == result, prompt
        assert review.unseen.startswith(unseen)
        assert bool(review.unseen) == bool(unseen)


async def test_stopped_answer_was_not_seen_to_its_end(connect: Connect) -> None:
    session = connect()
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
