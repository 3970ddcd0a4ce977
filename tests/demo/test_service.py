"""Keys, statuses on demand, faults in streams, hostile bodies, paths and the page of the demo gateway."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from playground.demo import limits, service
from playground.demo.cheats import CHEATS
from playground.demo.models import MODELS
from playground.demo.server import DemoConfig, DemoServer
from tests.demo.conftest import WEATHER, DemoClient, datas, joined, refused, tool
from tests.support.each_case import each_case

JSON = {"Content-Type": "application/json"}
KEY = {"Authorization": "Bearer any-key"}


def test_failure_is_repeated_and_names_a_time_to_wait(client: DemoClient) -> None:
    assert [client.chat("!503x2 steady").status_code for _ in range(4)] == [503, 503, 200, 503]
    first = client.chat("!429x1=2 once")
    assert (first.status_code, first.headers["retry-after"]) == (429, "2")
    assert client.chat("!429x1=2 once").status_code == 200
    response = client.chat("!429=3")
    refused(response, 429, "RPM")
    assert response.headers["retry-after"] == "3"
    assert client.chat("!503=0.5").headers["retry-after"] == "0.5"


def test_field_or_role_on_demand_is_refused(client: DemoClient) -> None:
    text = "Hi !fast !refuse=stream_options !refuse=max_tokens !refuse=developer !refuse=tools.function.strict"
    request = {"model": "demo-chat", "messages": [{"role": "user", "content": text}]}
    tool = {"type": "function", "function": {"name": "f", "strict": True}}
    for more, message in (
        ({"stream": True, "stream_options": {"include_usage": True}}, "Unsupported parameter: 'stream_options'"),
        ({"max_tokens": 5}, "Use 'max_completion_tokens' instead."),
        ({"tools": [tool]}, "'tools.function.strict' is not supported"),
        ({"messages": [{"role": "developer", "content": "x"}, *request["messages"]]}, "Invalid value: 'developer'"),
    ):
        response = client.http.post("/chat/completions", json={**request, **more})
        assert response.status_code == 400
        assert message in response.json()["message"]
        assert response.json()["data"] is None
    assert client.http.post("/chat/completions", json=request).status_code == 200
    native = {**request, "model": "demo-messages", "max_tokens": 50}
    assert client.http.post("/messages", json=native).status_code == 400
    native["messages"] = [{"role": "user", "content": "Hi !fast !refuse=top_k"}]
    assert client.http.post("/messages", json=native).status_code == 200


def test_proxy_page_and_redirect_are_sent(client: DemoClient) -> None:
    page = client.chat("!html", stream=True)
    assert page.status_code == 502
    assert page.headers["content-type"].startswith("text/html")
    assert "502 Bad Gateway" in page.text
    moved = client.chat("!redirect")
    assert (moved.status_code, moved.headers["location"]) == (307, "https://gateway.example/v1/chat/completions")


def test_cut_stream_has_no_end(client: DemoClient) -> None:
    body = {"model": "demo-chat", "stream": True, "messages": [{"role": "user", "content": "!cut Hello"}]}
    received = bytearray()

    def read() -> None:
        with client.http.stream("POST", "/chat/completions", json=body) as response:
            for part in response.iter_raw():
                received.extend(part)

    with pytest.raises(httpx.RemoteProtocolError, match="incomplete chunked read"):
        read()
    chunks = datas(received.decode())
    assert len(joined(chunks)) > 100
    assert all(chunk["choices"][0]["finish_reason"] is None for chunk in chunks)
    assert b"[DONE]" not in received
    with pytest.raises(httpx.RemoteProtocolError):
        client.chat("!cut Hello")


def test_stalled_answer_is_kept_alive(client: DemoClient) -> None:
    response = client.chat("!stall=0.3 Hello", stream=True)
    assert response.text.count(": keep-alive\n\n") == 1
    assert response.text.endswith("data: [DONE]\n\n")
    complete = client.chat("!stall=0.1 Hello")
    assert complete.content.startswith(b"\n")
    assert complete.json()["choices"]


def test_faults_of_a_stream_are_sent(client: DemoClient) -> None:
    response = client.chat("!error Hello", stream=True)
    assert response.status_code == 200
    *chunks, last = datas(response.text)
    assert joined(chunks)
    assert set(last) == {"error"}
    assert "overloaded" in last["error"]["message"]
    assert "[DONE]" not in response.text
    refused(client.chat("!error Hello"), 503)
    response = client.chat("!error=0.1 Hello", stream=True)
    *_, error, alive = response.text.strip().split("\n\n")
    assert "overloaded" in error
    assert alive == ": keep-alive", "the connection stays open"
    response = client.chat("!nodone", stream=True)
    assert "[DONE]" not in response.text
    assert datas(response.text)[-1]["choices"][0]["finish_reason"] == "stop"
    response = client.chat("!empty", stream=True)
    assert joined(datas(response.text)) == ""
    assert response.text.endswith("data: [DONE]\n\n")
    assert client.chat("!empty").json()["choices"][0]["message"]["content"] == ""


@pytest.mark.parametrize("ask", [DemoClient.chat, DemoClient.native])
def test_event_that_is_no_json_is_sent_once(client: DemoClient, ask: Callable[..., httpx.Response]) -> None:
    response = ask(client, "!garble Hello", stream=True)
    lines = [line.removeprefix("data: ") for line in response.text.splitlines() if line.startswith("data: ")]
    broken = [number for number, line in enumerate(lines) if line != "[DONE]" and not _is_json(line)]
    assert len(broken) == 1
    assert 3 < broken[0] < len(lines) - 3, "in the middle"
    assert ask(client, "!garble Hello").json()


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


MESSAGES = b'"messages":[{"role":"user","content":"x"}]'


@each_case(
    "body",
    [
        *(b"", b"{", b"[]", b'"text"', b"null", b"\xff\xfe\x00", b'{"model": NaN}', b"[" * 100_000),
        b'{"a":' * 5000 + b"1" + b"}" * 5000,
        b'{"model":"demo-chat","messages":' + b"[" * 300 + b"]" * 300 + b"}",
        b'{"model":"demo-chat",' + MESSAGES + b',"n":' + b"9" * 6000 + b"}",
        b'{"model":"demo-messages","max_tokens":9,' + MESSAGES + b',"temperature":1e999}',
    ],
)
@each_case("path", ["/chat/completions", "/messages"])
def test_hostile_body_is_refused(client: DemoClient, path: str, body: bytes) -> None:
    refused(client.http.post(path, content=body, headers=JSON), 400)


def test_body_beyond_the_limit_is_refused(client: DemoClient) -> None:
    refused(client.http.post("/chat/completions", content=b" " * (service.MOST_BYTES + 1), headers=JSON), 413, "32 MiB")
    assert client.chat("\x00\u2028 `|` ``` </script>" * 50, seed=1).status_code == 200


def test_wrong_path_names_the_mistake(client: DemoClient) -> None:
    words = dict.fromkeys(("/v1/v1/models", "/v1/v1/chat/completions"), "repeats /v1")
    words |= dict.fromkeys(("/chat/completions", "/models/demo-chat", "/messages/count_tokens"), "/v1 is missing")
    words |= {f"/v1/chat/completions/{path}": "hold an endpoint path" for path in ("models", "v1/messages")}
    words |= {f"/v1/models/{path}": "hold an endpoint path" for path in ("models", "chat/completions")}
    words |= {"/v1/messages/batches": "Endpoints: GET /v1/models, GET /v1/models/{id}"}
    words |= {"/v1/embeddings": "GET /v1/models", "/favicon.ico": "There is no path"}
    root = client.server.base_url.removesuffix("/v1")
    with httpx.Client(base_url=root, headers=KEY) as http:
        for path, mistake in words.items():
            refused(http.post(path, json={}), 404, mistake)


def test_models_are_listed_and_described(client: DemoClient) -> None:
    body = client.http.get("/models").json()
    assert body["object"] == "list"
    assert [entry["id"] for entry in body["data"]] == [model.id for model in MODELS]
    for entry in body["data"]:
        assert (entry["object"], type(entry["created"])) == ("model", int)
        assert client.http.get(f"/models/{entry['id']}").json() == entry
    for expected in ("v1-large", "demo-chat/x", "%00", "🌀" * 200):
        missing = client.http.get(f"/models/{expected}")
        refused(missing, 404, "does not exist", "demo-chat")
        assert "address" not in missing.json()["message"]
    refused(client.chat(model="gpt-none"), 404, "gpt-none", "demo-chat")


def test_other_method_is_refused(client: DemoClient) -> None:
    answer = client.http.get("/chat/completions")
    refused(answer, 405, "POST")
    assert answer.headers["allow"] == "POST"
    refused(client.http.post("/models"), 405, "GET")
    refused(client.http.post("/models/demo-chat", json={}), 405, "GET")
    refused(client.http.request("TRACE", "/models"), 405, "TRACE")
    refused(client.http.get("/messages/count_tokens"), 405, "POST")


def test_tokens_are_counted(client: DemoClient) -> None:
    body = {"model": "demo-messages", "messages": [{"role": "user", "content": "Count this."}]}
    result = client.http.post("/messages/count_tokens", json=body)
    assert result.status_code == 200
    assert set(result.json()) == {"input_tokens"}
    more = client.http.post("/messages/count_tokens", json={**body, "system": "Be brief."})
    assert more.json()["input_tokens"] > result.json()["input_tokens"] > 0
    refused(client.http.post("/messages/count_tokens", content=b"{", headers=JSON), 400, "not valid JSON")
    refused(client.http.post("/messages/count_tokens", content=b"{}"), 415, "Content-Type")
    refused(client.http.post("/messages/count_tokens", json={"model": "demo-messages"}), 400, "messages is required")


def test_page_lists_address_and_directives(client: DemoClient) -> None:
    answer = httpx.get(client.server.base_url.removesuffix("v1"))
    assert answer.status_code == 200
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert client.server.base_url in answer.text
    assert "simulated" in answer.text
    assert "&lt;think&gt;" in answer.text
    assert "<script" not in answer.text
    assert "prefers-color-scheme: dark" in answer.text
    for cheat in CHEATS:
        assert f"<code>{cheat.typed.split()[0]}</code>" in answer.text


def test_key_is_checked_on_every_endpoint() -> None:
    native = {"model": "demo-messages", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
    endpoints: list[tuple[str, str, Any]] = [
        ("GET", "/models", None),
        ("GET", "/models/demo-chat", None),
        ("POST", "/chat/completions", {**native, "model": "demo-chat"}),
        ("POST", "/messages", native),
        ("POST", "/messages/count_tokens", native),
    ]
    config = DemoConfig(key="sk-right", tokens_per_second=0, time_to_first_token=0, rate_limit=0)
    with DemoServer(config) as server, httpx.Client(base_url=server.base_url) as client:
        for method, path, body in endpoints:
            for key, status in (("sk-right", 200), ("sk-wrong", 401), (" sk-right", 401), ("é", 401)):
                answer = client.request(method, path, json=body, headers={b"Authorization": b"Bearer " + key.encode()})
                assert answer.status_code == status, (path, key)
                if status == 401:
                    refused(answer, 401, "not valid")
            refused(client.request(method, path, json=body), 401, "No key")
            for value in ("Basic abc", "Bearer"):
                refused(client.request(method, path, json=body, headers={"Authorization": value}), 401, "Authorization")
            refused(client.request(method, path, json=body, headers={"x-api-key": "sk-wrong"}), 401)
        assert client.post("/messages", json=native, headers={"x-api-key": "sk-right"}).status_code == 200
    assert "sk-right" not in repr(server) + repr(config)


def test_rate_limit_counts_down_and_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    before, now = time.time(), [time.monotonic()]  # how long the requests take is no matter of this test
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: now[0], time=lambda: before))
    with DemoServer(DemoConfig(rate_limit=3, rate_window=0.6, time_to_first_token=0, tokens_per_second=0)) as server:
        client = httpx.Client(base_url=server.base_url, headers=KEY)
        with client:
            chat = {"model": "demo-chat", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
            answers = [client.get("/models"), client.post("/chat/completions", json=chat), client.get("/models")]
            assert [answer.status_code for answer in answers] == [200, 200, 200]
            assert [answer.headers["X-RateLimit-Remaining"] for answer in answers] == ["2", "1", "0"]
            assert {answer.headers["X-RateLimit-Limit"] for answer in answers} == {"3"}
            resets = {int(answer.headers["X-RateLimit-Reset"]) for answer in answers}
            assert len(resets) == 1
            assert before <= resets.pop() <= before + 2.5
            over = client.get("/models")
            refused(over, 429, "RPM")
            assert (over.headers["Retry-After"], over.headers["X-RateLimit-Remaining"]) == ("1", "0")
            now[0] += 0.65
            assert client.get("/models").headers["X-RateLimit-Remaining"] == "2"


CALL = {"name": "f", "arguments": "{}"}
CHAT: dict[str, Any] = {
    "model": "demo-tools",
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Weather in Rome"}]},
        {"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": CALL}]},
        {"role": "tool", "tool_call_id": "a", "content": "24"},
        {"role": "user", "content": "and 3 days in Oslo"},
    ],
    "tools": [tool()],
    "tool_choice": "auto",
    "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": WEATHER}},
    "stop": ["x"],
    "stream_options": {"include_usage": True},
}
NATIVE: dict[str, Any] = {
    "model": "demo-messages",
    "max_tokens": 3000,
    "system": [{"type": "text", "text": "s"}],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {"city": "x"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "24"}]},
    ],
    "tools": [{"name": "f", "input_schema": WEATHER}],
    "tool_choice": {"type": "auto"},
    "thinking": {"type": "enabled", "budget_tokens": 1024},
    "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": WEATHER}},
    "metadata": {"user_id": "u"},
}
RESPONSES: dict[str, Any] = {
    "model": "demo-responses",
    "instructions": "s",
    "input": [
        {
            "role": "user",
            "content": [{"type": "input_text", "text": "Hi"}, {"type": "input_file", "file_id": "file-1"}],
        },
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "x"}]},
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": [{"type": "input_text", "text": "24"}]},
        {"type": "custom_tool_call", "call_id": "b", "name": "g", "input": "x"},
        {"type": "custom_tool_call_output", "call_id": "b", "output": "y"},
        {"type": "mcp_approval_request", "id": "mcpr_1", "server_label": "s", "name": "t", "arguments": "{}"},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "refusal", "refusal": "x"}],
            "phase": "final_answer",
        },
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
    ],
    "tools": [
        {"type": "function", "name": "f", "parameters": WEATHER, "strict": True},
        {"type": "custom", "name": "g", "format": {"type": "grammar", "syntax": "regex", "definition": "[a-z]+"}},
        {"type": "mcp", "server_label": "s", "server_url": "https://example.org", "require_approval": "never"},
        {"type": "file_search", "vector_store_ids": ["vs_1"]},
    ],
    "tool_choice": {"type": "allowed_tools", "mode": "required", "tools": [{"type": "custom", "name": "g"}]},
    "text": {"format": {"type": "json_schema", "name": "x", "schema": WEATHER}, "verbosity": "low"},
    "reasoning": {"effort": "low", "summary": "auto"},
    "include": ["reasoning.encrypted_content", "message.output_text.logprobs"],
    "metadata": {"team": "blue"},
    "stream": True,
    "stream_options": {"include_obfuscation": False},
}
UNDERFLOW = {"type": "number", "minimum": 1e308, "multipleOf": 1e-300}
ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**30,
    "\ud800",
    [None],
    {"type": []},
    {"$ref": "#"},
    {"pattern": "("},
    UNDERFLOW,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value inside a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [result for key, child in inner for result in [(*path, key), *places(child, (*path, key))]]


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("path", "base"),
    [
        ("/chat/completions", CHAT),
        ("/messages", NATIVE),
        ("/messages/count_tokens", NATIVE),
        ("/responses", RESPONSES),
        ("/responses/input_tokens", RESPONSES),
    ],
)
def test_odd_value_anywhere_is_answered_or_refused(
    client: DemoClient, path: str, base: dict[str, Any], every: bool
) -> None:
    """Put each odd value in each place, or by default one of them in each."""
    assert client.http.post(path, json=base).status_code == 200
    for number, (*way, last) in enumerate(places(base)):
        for odd in ODD if every else [ODD[number % len(ODD)]]:
            body = copy.deepcopy(base)
            node: Any = body
            for key in way:
                node = node[key]
            node[last] = odd
            response = client.http.post(path, content=json.dumps(body), headers=JSON)
            assert response.status_code in (200, 400, 404), (way, last, odd, response.text)
