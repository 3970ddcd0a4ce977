"""The official SDKs work through the proxy as they do without it, in Python and in JavaScript."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import anthropic
import openai
import pytest
from pydantic import SecretStr

from playground.demo.server import DemoConfig, DemoServer
from playground.engine.listen.exchanges import Listened, Summary
from playground.engine.listen.server import ListenSettings
from playground.engine.listen.thread import ListenThread
from playground.gateway.connection import Auth, Connection
from tests.support.eventually import eventually
from tests.support.required_tools import NODE, NODE_PACKAGES, requires
from tests.support.tool_servers import node_modules

KEY = "sk-demo-gateway-key-77"
TOOL_SCHEMA: Final[dict[str, object]] = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}
QUESTION = "What is the weather in Oslo? !calls=1"

JAVASCRIPT = """
import OpenAI from "openai";
import Anthropic from "@anthropic-ai/sdk";

const schema = {type: "object", properties: {city: {type: "string"}}, required: ["city"]};
const question = [{role: "user", content: "What is the weather in Oslo? !calls=1"}];
const greeting = [{role: "user", content: "Hi"}];

const openai = new OpenAI({maxRetries: 0});
let text = "";
const stream = await openai.chat.completions.create({model: "demo-chat", stream: true, messages: greeting});
for await (const chunk of stream) text += chunk.choices[0]?.delta?.content ?? "";
const functions = [{type: "function", function: {name: "get_weather", parameters: schema}}];
const called = await openai.chat.completions.create({model: "demo-chat", messages: question, tools: functions});
const response = await openai.responses.create({model: "demo-chat", input: "Hi"});

const anthropic = new Anthropic({maxRetries: 0});
const given = {model: "demo-messages", max_tokens: 100};
const message = await anthropic.messages.stream({...given, messages: greeting}).finalMessage();
const tools = [{name: "get_weather", input_schema: schema}];
const use = await anthropic.messages.create({...given, messages: question, tools});
console.log(JSON.stringify({
  chat: text.length > 0,
  call: called.choices[0].message.tool_calls[0].function.name,
  response: response.output_text.length > 0,
  message: message.content.some((block) => block.type === "text"),
  use: use.content.find((block) => block.type === "tool_use").name,
}));
"""


@pytest.fixture(scope="module")
def demo() -> Iterator[DemoServer]:
    config = DemoConfig(key=KEY, tokens_per_second=0, time_to_first_token=0, rate_limit=0)
    with DemoServer(config) as running:
        yield running


@pytest.fixture
def proxy(demo: DemoServer) -> Iterator[ListenThread]:
    connection = Connection(base_url=demo.base_url, key=SecretStr(KEY), auth={"messages": Auth.X_API_KEY})
    thread = ListenThread(ListenSettings(connection), reported.append)
    thread.start()
    yield thread
    thread.stop()
    reported.clear()


reported: list[list[Listened]] = []


async def rows(proxy: ListenThread, count: int) -> list[Summary]:
    """The rows of so many exchanges, once all have ended."""

    def complete() -> list[Summary]:
        summaries = [listened.summary for listened in proxy.server.exchanges]
        return [row for row in summaries if row is not None and row.ended_by]

    await eventually(lambda: len(complete()) == count)
    return complete()


async def test_openai_for_python_works_through_the_proxy(proxy: ListenThread) -> None:
    def use() -> tuple[str, str, str, int]:
        with openai.OpenAI(base_url=f"{proxy.server.base_url}/v1", api_key="any", max_retries=0) as client:
            models = len(list(client.models.list()))
            stream = client.chat.completions.create(
                model="demo-chat", stream=True, messages=[{"role": "user", "content": "Hi"}]
            )
            text = "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)
            called = client.chat.completions.create(
                model="demo-chat",
                messages=[{"role": "user", "content": QUESTION}],
                tools=[{"type": "function", "function": {"name": "get_weather", "parameters": TOOL_SCHEMA}}],
            )
            calls = called.choices[0].message.tool_calls or []
            with client.responses.stream(model="demo-chat", input="Hi") as events:
                response = events.get_final_response()
            return (
                text,
                ",".join(call.function.name for call in calls if call.type == "function"),
                response.output_text,
                models,
            )

    text, call, response, models = await asyncio.to_thread(use)

    assert text
    assert call == "get_weather"
    assert response
    assert models
    listed = await rows(proxy, 4)
    assert [row.protocol for row in listed] == ["", "chat", "chat", "responses"]
    assert {row.program for row in listed} == {"OpenAI SDK (Python)"}
    assert listed[2].calls == ("get_weather",)
    assert all(row.status == 200 and row.ended_by == "gateway" for row in listed)


async def test_anthropic_for_python_works_through_the_proxy(proxy: ListenThread) -> None:
    def use() -> tuple[str, str, int]:
        with anthropic.Anthropic(base_url=proxy.server.base_url, api_key="any", max_retries=0) as client:
            with client.messages.stream(
                model="demo-messages", max_tokens=1000, messages=[{"role": "user", "content": "Hi"}]
            ) as stream:
                text = stream.get_final_text()
            message = client.beta.messages.create(
                model="demo-messages",
                max_tokens=1000,
                messages=[{"role": "user", "content": QUESTION}],
                tools=[{"name": "get_weather", "input_schema": {**TOOL_SCHEMA, "type": "object"}}],
            )
            names = [block.name for block in message.content if block.type == "tool_use"]
            try:
                client.messages.count_tokens(model="demo-messages", messages=[{"role": "user", "content": "Hi"}])
                status = 200
            except anthropic.APIStatusError as error:
                status = error.status_code
            return text, ",".join(names), status

    text, call, status = await asyncio.to_thread(use)

    assert text
    assert call == "get_weather"
    listed = await rows(proxy, 3)
    assert [row.path for row in listed] == ["/v1/messages", "/v1/messages", "/v1/messages/count_tokens"]
    assert listed[1].calls == ("get_weather",)
    assert listed[2].status == status


async def test_error_of_gateway_reaches_the_sdk_unchanged(proxy: ListenThread) -> None:
    def use() -> openai.APIStatusError:
        with openai.OpenAI(base_url=f"{proxy.server.base_url}/v1", api_key="any", max_retries=1) as client:
            with pytest.raises(openai.APIStatusError) as raised:
                client.chat.completions.create(model="demo-chat", messages=[{"role": "user", "content": "!503"}])
            return raised.value

    error = await asyncio.to_thread(use)

    assert error.status_code == 503
    listed = await rows(proxy, 2)
    assert [row.retry for row in listed] == [0, 1]  # the SDK's own second try
    assert all(row.failure for row in listed)


async def test_changes_are_reported_by_the_thread_of_the_proxy(proxy: ListenThread) -> None:
    def use() -> None:
        with openai.OpenAI(base_url=f"{proxy.server.base_url}/v1", api_key="any") as client:
            client.models.list()

    await asyncio.to_thread(use)
    await rows(proxy, 1)
    await asyncio.to_thread(proxy.stop)

    last = reported[-1][-1]
    assert last is proxy.server.exchanges[0]
    assert last.summary is not None
    assert last.summary.ended_by


@requires(NODE, NODE_PACKAGES)
async def test_sdks_for_javascript_work_through_the_proxy(proxy: ListenThread, tmp_path: Path) -> None:
    (tmp_path / "node_modules").symlink_to(node_modules(), target_is_directory=True)
    script = tmp_path / "sdks.mjs"
    script.write_text(JAVASCRIPT, encoding="utf-8")
    base = proxy.server.base_url
    environment = {
        "PATH": os.environ["PATH"],
        "OPENAI_BASE_URL": f"{base}/v1",
        "OPENAI_API_KEY": "any",
        "ANTHROPIC_BASE_URL": base,
        "ANTHROPIC_API_KEY": "any",
    }

    done = await asyncio.to_thread(
        subprocess.run,
        ["node", str(script)],
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=90,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    expected = {"chat": True, "call": "get_weather", "response": True, "message": True, "use": "get_weather"}
    assert json.loads(done.stdout) == expected
    listed = await rows(proxy, 5)
    assert {row.program for row in listed} == {"OpenAI SDK (JavaScript)", "Anthropic SDK (JavaScript)"}
