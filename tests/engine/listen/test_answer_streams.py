"""Streams of answers made by hand: the spec check finds nothing wrong, and the vendors' libraries read them."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator, Callable
from typing import Any

import anthropic
import openai
import pytest

from playground.engine.cassettes.cassette import Cassette
from playground.engine.cassettes.server import PlaybackClock, ReplayServer
from playground.engine.inspect.lint import findings
from playground.protocols.answer_format import AddCall, MadeCall, SetCall
from playground.protocols.protocol import get_protocol
from tests.engine.exchanges import exchange, indexed
from tests.protocols.answers import ANSWERS, NAMES
from tests.support.each_case import each_case

TOOL_NAMES = ("get_weather", "get_time", "sql")
TOOLS: dict[str, list[Any]] = {
    "chat": [{"type": "function", "function": {"name": name}} for name in TOOL_NAMES],
    "messages": [{"name": name, "input_schema": {"type": "object"}} for name in TOOL_NAMES],
    "responses": [{"type": "function", "name": name} for name in TOOL_NAMES],
}


def asked(protocol: str, answer: dict[str, Any]) -> dict[str, Any]:
    """A request that such an answer is for."""
    choices = len(answer.get("choices", [None]))
    return {
        "model": "m-1",
        "stream": True,
        "tools": TOOLS[protocol],
        **({"stream_options": {"include_usage": True}} if protocol == "chat" else {}),
        **({"n": choices} if choices > 1 else {}),
    }


def problems(protocol: str, request: dict[str, Any], body: dict[str, Any]) -> list[str]:
    """The notes of the spec check on the stream and on the body in one piece."""
    answers = get_protocol(protocol).answers
    streamed = exchange([(0.1, b"".join(answers.stream(body)))], protocol=protocol, asked=request)
    whole = exchange(
        [(0.1, json.dumps(body).encode())],
        protocol=protocol,
        asked={**request, "stream": False},
        content_type="application/json",
    )
    all_findings = [finding for tape in (streamed, whole) for finding in findings(indexed(tape))]
    return [finding.note for finding in all_findings if finding.frame is not None]


@each_case("protocol, name", NAMES)
def test_spec_check_of_a_stream_finds_nothing(protocol: str, name: str) -> None:
    body = ANSWERS[protocol][name]
    assert problems(protocol, asked(protocol, body), body) == []


@each_case("protocol", tuple(ANSWERS))
def test_spec_check_of_a_made_answer_finds_nothing(protocol: str) -> None:
    answers = get_protocol(protocol).answers
    request = {**asked(protocol, {}), "input": "Hi", "instructions": "Be brief."}
    calls = (MadeCall("get_weather", '{"city": "Oslo"}'), MadeCall("sql", "{}"))
    for text, chosen in (("Hello.", ()), ("Now.", calls[:1]), ("", calls)):
        body = answers.make(request, text, chosen, created=1_700_000_000)
        # No model made the answer, so it has no tokens to pay for.
        assert [note for note in problems(protocol, request, body) if "no output token" not in note] == []


Serve = Callable[[str, dict[str, Any]], Any]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Serve the stream of an answer; return the base address."""
    servers: list[ReplayServer] = []

    async def start(protocol: str, body: dict[str, Any]) -> str:
        tape = exchange([(0.0, b"".join(get_protocol(protocol).answers.stream(body)))], protocol=protocol)
        servers.append(ReplayServer(Cassette((tape,)), PlaybackClock(math.inf)))
        return await servers[-1].start()

    yield start
    for server in servers:
        await server.aclose()


def edited(protocol: str, name: str) -> dict[str, Any]:
    """An answer with another city in its first call, and one more call."""
    answers, body = get_protocol(protocol).answers, ANSWERS[protocol][name]
    edits: list[Any] = [AddCall(MadeCall("get_time", '{"zone": "Ålesund"}', "own_id"))]
    for call in list(answers.calls(body))[:1]:
        edits.append(SetCall(call.path, call.name, "SELECT 2" if call.free_text else '{"city": "Bergen"}'))
    return answers.edit(body, edits)


def has(got: Any, expected: Any) -> bool:
    """Return whether ``got`` has all that ``expected`` has; libraries add members."""
    if isinstance(expected, dict):
        return isinstance(got, dict) and all(has(got.get(name), value) for name, value in expected.items())
    if isinstance(expected, list):
        return isinstance(got, list) and len(got) == len(expected) and all(map(has, got, expected))
    return bool(got == expected)


async def test_openai_reads_edited_completions(serve: Serve) -> None:
    for name in ANSWERS["chat"]:
        body = edited("chat", name)
        base_url = await serve("chat", body)
        if name == "limit":
            with pytest.raises(openai.LengthFinishReasonError):
                await asyncio.to_thread(final_completion, base_url)
        elif name == "custom call":  # the helper of this library fails at them
            chunks = await asyncio.to_thread(completion_chunks, base_url)
            deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
            calls = [call for delta in deltas for call in delta["tool_calls"] or ()]
            assert "".join((call.get("custom") or {}).get("input", "") for call in calls) == "SELECT 2"
        else:
            completion = await asyncio.to_thread(final_completion, base_url)
            assert has(completion["choices"], body["choices"])
            assert completion["usage"]["total_tokens"] == 19


def final_completion(base_url: str) -> dict[str, Any]:
    """Return the completion that OpenAI's library makes of a stream."""
    with (
        openai.OpenAI(base_url=base_url, api_key="k", max_retries=0) as client,
        client.chat.completions.stream(model="m-1", messages=[]) as stream,
    ):
        return stream.get_final_completion().model_dump()


def completion_chunks(base_url: str) -> list[dict[str, Any]]:
    """Return the chunks of a stream that OpenAI's library reads."""
    with (
        openai.OpenAI(base_url=base_url, api_key="k", max_retries=0) as client,
        client.chat.completions.create(model="m-1", messages=[], stream=True) as stream,
    ):
        return [chunk.model_dump() for chunk in stream]


async def test_anthropic_reads_edited_messages(serve: Serve) -> None:
    for name in ANSWERS["messages"]:
        body = edited("messages", name)
        base_url = await serve("messages", body)
        assert has(await asyncio.to_thread(final_message, base_url), body)


def final_message(base_url: str) -> dict[str, Any]:
    """Return the message that Anthropic's library makes of a stream."""
    with (
        anthropic.Anthropic(base_url=base_url.removesuffix("/v1"), api_key="k", max_retries=0) as client,
        client.messages.stream(model="m-1", max_tokens=9, messages=[]) as stream,
    ):
        return stream.get_final_message().model_dump()


async def test_openai_reads_edited_responses(serve: Serve) -> None:
    for name in ANSWERS["responses"]:
        body = edited("responses", name)
        base_url = await serve("responses", body)
        if name == "limit":  # this library waits for response.completed alone
            with pytest.raises(RuntimeError):
                await asyncio.to_thread(final_response, base_url)
            continue
        response, items = await asyncio.to_thread(final_response, base_url)
        assert has(items, body["output"])
        assert has(response, body)


def final_response(base_url: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the response that OpenAI's library makes of a stream, and the items of the events before its end."""
    with (
        openai.OpenAI(base_url=base_url, api_key="k", max_retries=0) as client,
        client.responses.stream(model="m-1", input="Hi") as stream,
    ):
        items = [event.item.model_dump() for event in stream if event.type == "response.output_item.done"]
        return stream.get_final_response().model_dump(), items
