"""Callers of the demo gateway: programs that name this machine, never a web page under a name of its own."""

from __future__ import annotations

import json

from playground.demo.server import DemoConfig, DemoServer
from tests.demo.conftest import DemoClient
from tests.support.each_case import each_case
from tests.support.raw_http import LOOPBACK, STRANGERS, Answer, ask

KEY = ("Authorization", "Bearer any-key")
BODY = json.dumps({"model": "demo-chat", "messages": [{"role": "user", "content": "Hello"}]}).encode()


def models(url: str, host: str) -> Answer:
    return ask(url, "GET", "/v1/models", [("Host", host), KEY])


@each_case("host", LOOPBACK)
def test_loopback_host_is_answered(client: DemoClient, host: str) -> None:
    assert models(client.server.base_url, host).status == 200


@each_case("host", STRANGERS)
def test_other_host_is_refused(client: DemoClient, host: str) -> None:
    for target in ("/v1/models", "/", "/v1/none", "/v1/models/demo-chat"):
        answer = ask(client.server.base_url, "GET", target, [("Host", host), KEY])
        assert answer.status == 421
        error = json.loads(answer.body)
        assert "Only loopback names are answered" in error["message"]
        assert "playground demo --allow-host" in error["message"]
        assert b"demo-chat" not in answer.body
        assert len(answer.body) < 2000


def test_missing_host_is_answered_in_http_1_0_only(client: DemoClient) -> None:
    assert ask(client.server.base_url, "GET", "/v1/models", [KEY], version="HTTP/1.0").status == 200
    assert ask(client.server.base_url, "GET", "/v1/models", [KEY]).status == 400


@each_case("target", ["http://evil.example/v1/models", "http://localhost/v1/models"])
def test_request_to_a_proxy_is_refused(client: DemoClient, target: str) -> None:
    answer = ask(client.server.base_url, "GET", target, [("Host", "localhost"), KEY])
    assert answer.status >= 400
    assert b"demo-chat" not in answer.body


FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=json"
PLAIN = ["text/plain", "text/plain; charset=application/json", "text/json"]


@each_case("types", [[], *([kind] for kind in (FORM, MULTIPART, *PLAIN)), ["application/json", "text/plain"]])
def test_content_type_that_a_web_page_may_send_is_refused(client: DemoClient, types: list[str]) -> None:
    headers = [("Host", "localhost"), KEY, *(("Content-Type", kind) for kind in types)]
    answer = ask(client.server.base_url, "POST", "/v1/chat/completions", headers, BODY)
    assert answer.status == 415
    assert "Content-Type must be application/json" in json.loads(answer.body)["message"]
    headers = [("Host", "localhost"), ("Origin", "http://evil.example"), ("Access-Control-Request-Method", "POST")]
    preflight = ask(client.server.base_url, "OPTIONS", "/v1/chat/completions", headers)
    assert preflight.status == 405
    assert not [name for name in preflight.headers if name.startswith("access-control")]


@each_case("content_type", ["application/json", "Application/JSON; charset=utf-8", "application/vnd.api+json"])
def test_json_content_type_is_accepted(client: DemoClient, content_type: str) -> None:
    headers = [("Host", "localhost"), KEY, ("Content-Type", content_type)]
    assert ask(client.server.base_url, "POST", "/v1/chat/completions", headers, BODY).status == 200


def test_allowed_host_is_answered() -> None:
    with DemoServer(DemoConfig(allowed_hosts=("gateway.test",))) as server:
        assert models(server.base_url, "Gateway.TEST:8080").status == 200
        assert models(server.base_url, "evil.example").status == 421
        assert models(server.base_url, "localhost").status == 200
