"""The really running gateway, flat out and with room for many requests, and a client that speaks to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from playground.demo.server import DemoConfig, DemoServer

WEATHER: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]}},
    "required": ["city", "unit"],
    "additionalProperties": False,
}


def tool(
    name: str = "get_weather", schema: dict[str, Any] | None = None, about: str = "The weather now"
) -> dict[str, Any]:
    """A tool definition of the chat protocol."""
    return {"type": "function", "function": {"name": name, "description": about, "parameters": schema or WEATHER}}


@dataclass
class DemoClient:
    """The server and a client with a key."""

    server: DemoServer
    http: httpx.Client

    def chat(self, prompt: str = "Hello", **fields: Any) -> httpx.Response:
        """POST /chat/completions with one user message, or with the ``messages`` given."""
        body = {"model": "demo-chat", "messages": [{"role": "user", "content": prompt}], **fields}
        return self.http.post("/chat/completions", json=body)

    def native(self, prompt: str = "Hello", **fields: Any) -> httpx.Response:
        """POST /messages."""
        body = {
            "model": "demo-messages",
            "max_tokens": 4000,
            "messages": [{"role": "user", "content": prompt}],
            **fields,
        }
        return self.http.post("/messages", json=body)

    def chunks(self, prompt: str = "Hello", **fields: Any) -> list[dict[str, Any]]:
        """The chunks of a streamed chat answer, without [DONE]."""
        return datas(self.chat(prompt, stream=True, **fields).text)


def datas(text: str) -> list[dict[str, Any]]:
    """The JSON of each data line, without [DONE]."""
    lines = [line[6:] for line in text.split("\n") if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def joined(chunks: list[dict[str, Any]], name: str = "content", index: int = 0) -> str:
    """The text of one delta field over all chunks of a choice."""
    choices = [choice for chunk in chunks for choice in chunk["choices"] if choice["index"] == index]
    return "".join(choice["delta"].get(name) or "" for choice in choices)


def message(response: httpx.Response) -> dict[str, Any]:
    """The first choice's message of a whole answer."""
    assert response.status_code == 200, response.text
    result: dict[str, Any] = response.json()["choices"][0]["message"]
    return result


def refused(response: httpx.Response, status: int, *words: str) -> None:
    """Assert an answer in the service's error body whose message holds the words."""
    assert response.status_code == status, response.text
    body = response.json()
    assert list(body) == ["code", "message", "data", "type", "error"]
    assert isinstance(body["code"], int)
    assert body["data"] is None
    assert (body["error"]["code"], body["error"]["message"]) == (body["code"], body["message"])
    for word in words:
        assert word in body["message"], body["message"]


@pytest.fixture(scope="session")
def _server() -> Iterator[DemoServer]:
    config = DemoConfig(tokens_per_second=0, time_to_first_token=0, rate_limit=100_000)
    with DemoServer(config) as server:
        yield server


@pytest.fixture(scope="session")
def client(_server: DemoServer) -> Iterator[DemoClient]:
    """The shared gateway."""
    with httpx.Client(base_url=_server.base_url, headers={"Authorization": "Bearer any-key"}, timeout=20) as client:
        yield DemoClient(_server, client)
