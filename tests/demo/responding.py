"""A client of the Responses protocol of the demo gateway: whole answers, events, and what they add up to."""

from __future__ import annotations

import json
from typing import Any

import httpx

from tests.demo.conftest import WEATHER, DemoClient

FUNCTION: dict[str, Any] = {"type": "function", "name": "get_weather", "description": "The weather now"}
WEATHER_TOOL: dict[str, Any] = {**FUNCTION, "parameters": WEATHER}


def ask(client: DemoClient, sent: Any = "Hello", **fields: Any) -> httpx.Response:
    """POST /responses."""
    return client.http.post("/responses", json={"model": "demo-chat", "input": sent, **fields})


def create(client: DemoClient, sent: Any = "Hello", **fields: Any) -> dict[str, Any]:
    """Return the response object in one piece."""
    response = ask(client, sent, **fields)
    assert response.status_code == 200, response.text
    result: dict[str, Any] = response.json()
    return result


def stream(client: DemoClient, sent: Any = "Hello", **fields: Any) -> list[dict[str, Any]]:
    """Return the events of a streamed response."""
    response = ask(client, sent, stream=True, **fields)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    return events(response.text)


def events(text: str) -> list[dict[str, Any]]:
    """Return the data of all events of a stream, without [DONE]."""
    lines = [line[6:] for line in text.split("\n") if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def types(stream: list[dict[str, Any]]) -> list[str]:
    """Return the types of the events, each run of deltas once."""
    names = [event["type"] for event in stream]
    return [name for i, name in enumerate(names) if not (i and name == names[i - 1] and name.endswith(".delta"))]


def joined(stream: list[dict[str, Any]], kind: str) -> str:
    """Return the deltas of one type of event, joined."""
    return "".join(event["delta"] for event in stream if event["type"] == kind)


def items(response: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """Return the output items of one type."""
    return [item for item in response["output"] if item["type"] == kind]


def text(response: dict[str, Any]) -> str:
    """Return the text of the only message."""
    [message] = items(response, "message")
    result: str = message["content"][0]["text"]
    return result


def refused(response: httpx.Response, message: str, *, code: str | None, param: str | None, status: int = 400) -> None:
    """Assert a refusal in the error body of the public protocol."""
    assert response.status_code == status, response.text
    error = response.json()["error"]
    assert (error["message"], error["type"], error["code"], error["param"]) == (
        message,
        "invalid_request_error",
        code,
        param,
    )
