"""Stored responses of the demo gateway: continued, read, listed, deleted, counted and compacted."""

from __future__ import annotations

from typing import Any

from playground.demo.responses.store import ResponseStore
from tests.demo.conftest import DemoClient
from tests.demo.responding import WEATHER_TOOL, ask, create, items, refused, stream, text
from tests.support.raw_http import ask as ask_raw


def test_previous_response_brings_its_conversation(client: DemoClient) -> None:
    fields: dict[str, Any] = {"model": "demo-responses", "tools": [WEATHER_TOOL]}
    first = create(client, "Is it warm in Oslo?", instructions="Be brief", **fields)
    [call] = items(first, "function_call")
    result = [{"type": "function_call_output", "call_id": call["call_id"], "output": "21 °C"}]
    second = create(client, result, previous_response_id=first["id"], **fields)
    assert second["previous_response_id"] == first["id"]
    assert second["instructions"] is None, "instructions are not inherited"
    assert "get_weather(Oslo" in text(second)
    third = create(client, "Thanks !table", previous_response_id=second["id"], model="demo-responses")
    assert "| 5 | user |" in text(third)
    refused(
        ask(client, result, **fields),
        f"No tool call found for function call output with call_id {call['call_id']}.",
        code=None,
        param="input",
    )


def test_response_is_stored_unless_refused(client: DemoClient) -> None:
    stored = stream(client, "Hello")[-1]["response"]
    assert client.http.get(f"/responses/{stored['id']}").json() == stored
    dropped = create(client, "Hello", store=False)
    missing = f"Response with id '{dropped['id']}' not found."
    refused(client.http.get(f"/responses/{dropped['id']}"), missing, code=None, param=None, status=404)
    assert client.http.delete(f"/responses/{stored['id']}").json() == {
        "id": stored["id"],
        "object": "response",
        "deleted": True,
    }
    missing = f"Response with id '{stored['id']}' not found."
    for response in (client.http.get(f"/responses/{stored['id']}"), client.http.delete(f"/responses/{stored['id']}")):
        refused(response, missing, code=None, param=None, status=404)


def test_cut_stream_is_not_stored(client: DemoClient) -> None:
    body = {"model": "demo-chat", "input": "!error Hello", "stream": True}
    response_id = client.http.post("/responses", json=body).text.partition('"id":"')[2].partition('"')[0]
    assert response_id.startswith("resp_")
    assert client.http.get(f"/responses/{response_id}").status_code == 404


def test_input_items_are_listed_in_pages(client: DemoClient) -> None:
    sent = [{"role": "user", "content": f"Message {number}"} for number in range(3)]
    response_id = create(client, sent)["id"]
    listed = client.http.get(f"/responses/{response_id}/input_items").json()
    texts = [item["content"][0]["text"] for item in listed["data"]]
    assert texts == ["Message 2", "Message 1", "Message 0"]
    assert (listed["object"], listed["has_more"]) == ("list", False)
    assert (listed["first_id"], listed["last_id"]) == (listed["data"][0]["id"], listed["data"][-1]["id"])
    page = client.http.get(f"/responses/{response_id}/input_items?limit=2&order=asc").json()
    assert (len(page["data"]), page["has_more"]) == (2, True)
    rest = client.http.get(f"/responses/{response_id}/input_items?order=asc&after={page['last_id']}").json()
    assert [item["content"][0]["text"] for item in rest["data"]] == ["Message 2"]
    assert client.http.get(f"/responses/{response_id}/input_items?limit=0").status_code == 400
    assert client.http.get("/responses/resp_none/input_items").status_code == 404


def test_stored_item_is_found_by_reference(client: DemoClient) -> None:
    first = create(client, "Hello")
    reference = {"type": "item_reference", "id": first["output"][0]["id"]}
    question = {"role": "user", "content": "!table And now?"}
    assert "| 2 | assistant |" in text(create(client, [{"role": "user", "content": "Hello"}, reference, question]))


def test_tokens_are_counted_without_an_answer(client: DemoClient) -> None:
    body = {"model": "demo-chat", "input": "Hello there", "instructions": "Be brief"}
    counted = client.http.post("/responses/input_tokens", json=body).json()
    assert counted == {
        "object": "response.input_tokens",
        "input_tokens": create(client, **_sent(body))["usage"]["input_tokens"],
    }


def _sent(body: dict[str, Any]) -> dict[str, Any]:
    return {"sent" if name == "input" else name: value for name, value in body.items()}


def test_compacted_conversation_is_the_next_input(client: DemoClient) -> None:
    sent = [
        {"role": "user", "content": "We launch on Tuesday."},
        {"role": "assistant", "content": "Understood: Tuesday."},
    ]
    compacted = client.http.post("/responses/compact", json={"model": "demo-chat", "input": sent}).json()
    assert (compacted["object"], [item["type"] for item in compacted["output"]]) == (
        "response.compaction",
        ["message", "compaction"],
    )
    answer = create(client, [*compacted["output"], {"role": "user", "content": "!table When?"}])
    assert "| 1 | system |" in text(answer)
    response = client.http.post("/responses/compact", json={"input": sent})
    refused(response, "Missing required parameter: 'model'.", code="missing_required_parameter", param="model")


def test_cancel_is_for_background_responses_only(client: DemoClient) -> None:
    response_id = create(client)["id"]
    refused(
        client.http.post(f"/responses/{response_id}/cancel"),
        "Cannot cancel a synchronous response.",
        code=None,
        param=None,
    )


def test_websocket_upgrade_is_declined(client: DemoClient) -> None:
    headers = [
        ("Host", "localhost"),
        ("Authorization", "Bearer x"),
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ]
    answer = ask_raw(client.server.base_url, "GET", "/v1/responses", headers)
    assert answer.status == 426
    assert b"POST" in answer.body
    assert client.http.get("/responses").status_code == 405


def test_store_drops_the_oldest_response() -> None:
    store = ResponseStore()
    for number in range(250):
        store.add({"id": f"resp_{number}", "output": [{"id": f"msg_{number}"}]}, (), ())
    assert store.get("resp_49") is None
    assert store.get("resp_50") is not None
    assert store.item("msg_249") == {"id": "msg_249"}
    assert store.item("msg_49") is None
