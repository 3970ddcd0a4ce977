"""The model list, a probe at an endpoint, and the demo gateway end to end."""

from __future__ import annotations

import json
from typing import Any

from playground.domain.errors import FailureKind
from playground.gateway.client import MOST_MODELS
from playground.gateway.connection import Auth, Timeouts
from playground.protocols.protocol import get_protocol
from tests.gateway.conftest import CANARY, MakeClient, run
from tests.support.fault_server import FaultServer, head, hold, keep, send, sse, whole


def listing(value: Any) -> bytes:
    return whole(200, "application/json", json.dumps(value).encode())


async def test_model_list_is_read(server: FaultServer, make_client: MakeClient) -> None:
    server.play(send(listing({"data": [{"id": "a", "display_name": "Model A", "owned_by": "x"}, {"id": "b"}]})))
    result = await make_client().list_models()
    assert result.failure is None
    assert result.ids == ("a", "b")
    assert (result.models[0].title, result.models[0].raw["owned_by"], result.models[1].title) == ("Model A", "x", "")
    request = server.requests[0]
    assert (request.method, request.target, request.body) == ("GET", "/v1/models", b"")
    assert request.header("Authorization") == f"Bearer {CANARY}"


async def test_pages_are_followed(server: FaultServer, make_client: MakeClient) -> None:
    server.play_next(send(listing({"data": [{"id": "a"}, {"id": "b&c"}], "has_more": True, "last_id": "b&c"})), keep())
    server.play_next(send(listing({"data": [{"id": "d"}], "has_more": True, "last_id": "d"})), keep())
    server.play_next(send(listing({"data": [{"id": "d"}], "has_more": True, "last_id": "d"})), keep())
    result = await make_client(auth={"messages": Auth.X_API_KEY}).list_models("messages")
    assert result.ids == ("a", "b&c", "d")
    assert [request.target for request in server.requests] == [
        "/v1/models",
        "/v1/models?after_id=b%26c",
        "/v1/models?after_id=d",  # it repeats itself, so that was the last
    ]
    assert server.requests[0].header("x-api-key") == CANARY
    assert server.connections == 1


async def test_model_list_pages_are_followed_at_the_own_address(server: FaultServer, make_client: MakeClient) -> None:
    client = make_client()
    pages: list[tuple[Any, str]] = [
        ({"models": [{"name": "a"}], "nextPageToken": "t/1"}, "pageToken=t%2F1"),
        ({"data": ["a"], "next_page_token": "t1"}, "page_token=t1"),
        ({"data": ["a"], "pagination": {"next_cursor": "c1"}}, "cursor=c1"),
        ({"data": ["a"], "next": "https://elsewhere.example/v1/models?page=2&size=1"}, "page=2&size=1"),
        ({"data": ["a"], "next_page": 2}, "page=2"),
        ({"data": ["a"], "next_page": "/v1/models?page=2"}, "page=2"),
        ({"data": ["a"], "links": {"next": {"href": "/models?page=2"}}}, "page=2"),
        ({"object": "list", "data": [{"id": 7}], "has_more": True, "last_id": 7}, "after_id=7&after=7"),
        ({"data": [{"id": "a"}, {"id": "c"}], "has_more": True}, "after_id=c"),
    ]
    for first, query in pages:
        server.play_next(send(listing(first)), keep())
        server.play_next(send(listing({"data": ["b"]})), keep())
        assert (await client.list_models()).ids[-1] == "b"
        assert server.requests[-1].target == f"/v1/models?{query}"


async def test_model_list_page_named_in_a_link_header_is_followed(server: FaultServer, make_client: MakeClient) -> None:
    link = 'Link: </v1/models?page=0>; rel="first", <https://x.example/v1/models?page=2>; title="x"; rel="next"'
    server.play_next(send(whole(200, "application/json", b'["a"]', link)), keep())
    server.play_next(send(listing(["b"])), keep())
    assert (await make_client().list_models()).ids == ("a", "b")
    assert server.requests[1].target == "/v1/models?page=2"


async def test_model_list_with_endless_models_stops_after_a_large_page(
    server: FaultServer, make_client: MakeClient
) -> None:
    server.play(send(listing({"data": [f"m{number}" for number in range(MOST_MODELS)], "next_page": 2})))
    result = await make_client().list_models()
    assert (len(result.ids), result.cut, len(server.requests)) == (MOST_MODELS, True, 1)


async def test_model_list_without_an_end_stops_at_the_most_pages(server: FaultServer, make_client: MakeClient) -> None:
    for number in range(9):
        page = {"data": [f"m{number}"], "next": f"/v1/models?page={number + 1}"}
        server.play_next(send(listing(page)), keep())
    result = await make_client().list_models(pages=4)
    assert (result.ids, result.cut) == (("m0", "m1", "m2", "m3"), True)


async def test_models_listed_before_a_failure_stay(server: FaultServer, make_client: MakeClient) -> None:
    server.play_next(send(listing({"data": [{"id": "a"}], "has_more": True, "last_id": "a"})), keep())
    server.play_next(send(whole(500, "application/json", b'{"message":"page lost"}')))
    result = await make_client().list_models()
    assert result.ids == ("a",)
    assert result.failure is not None
    assert result.failure.message == "page lost"


async def test_answers_that_are_no_model_list_are_failures(server: FaultServer, make_client: MakeClient) -> None:
    client = make_client()
    for answer, kind, word in (
        (whole(200, "text/html", b"<html>Login</html>"), FailureKind.DECODE, "not a model list"),
        (whole(200, "application/json", b""), FailureKind.DECODE, "not a model list"),
        (whole(200, "application/json", b"[" * 100_000), FailureKind.DECODE, "not a model list"),
        (listing({"error": {"message": "key expired"}}), FailureKind.STREAM, "key expired"),
        (whole(401, "application/json", b'{"code":1,"message":"bad key","data":null}'), FailureKind.HTTP, "bad key"),
        (head(200, "application/json", "Content-Length: 90") + b'{"data":[', FailureKind.CONNECTION, "broke"),
    ):
        broken = b"Content-Length: 90" in answer
        server.play(send(answer), *([] if broken else [keep()]))
        models = await client.list_models()
        assert models.ids == ()
        assert models.failure is not None
        assert (models.failure.kind, word in models.failure.message) == (kind, True), models.failure


async def test_probe_reports_the_status_of_an_endpoint(server: FaultServer, make_client: MakeClient) -> None:
    client = make_client()
    server.play_next(
        send(whole(400, "application/json", b'{"code":1,"message":"model is missing","data":null}')), keep()
    )
    probe = await client.probe(get_protocol("messages"))
    assert (probe.status, probe.method) == (400, "POST")
    assert probe.failure is not None
    assert probe.failure.message == "model is missing"
    assert (server.requests[0].target, server.requests[0].json) == ("/v1/messages", {})
    server.play_next(hold())
    probe = await make_client(timeouts=Timeouts(first=0.2)).probe(get_protocol("chat"))
    assert probe.failure is not None
    assert probe.failure.kind is FailureKind.TIMEOUT_FIRST


async def test_test_and_run_use_the_same_address(server: FaultServer, make_client: MakeClient) -> None:
    server.play(send(head()), send(sse("[DONE]")))
    client = make_client(base_url=f" {server.url}/v1/chat/completions/ ")
    await client.list_models()
    await run(client)
    assert [request.target for request in server.requests] == ["/v1/models", "/v1/chat/completions"]
