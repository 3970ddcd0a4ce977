"""Requests and answers of a program pause at breakpoints, and go on as a person decides."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
from collections.abc import AsyncIterator
from functools import partial
from http.client import IncompleteRead
from typing import Any
from urllib.parse import urlsplit

import pytest

from playground.domain.accumulator import Accumulator
from playground.engine.listen.exchanges import EndedBy, Listened, Stage
from playground.engine.listen.mock_table import read_mock_table
from playground.engine.listen.pauses import (
    Breakpoints,
    Decision,
    Fail,
    GoOn,
    MadeCall,
    Pause,
    Reply,
    ReplyBody,
    SendRequest,
)
from playground.engine.listen.server import ListenServer
from playground.protocols.answer_format import AddCall, DropCall, SetCall, SetText
from playground.protocols.protocol import get_protocol
from playground.system.tasks import Tasks
from tests.engine.listen.conftest import PROGRAM_KEY, MakeServer, post
from tests.engine.listen.test_answer_streams import TOOLS, final_completion, final_message, final_response
from tests.protocols.answers import ANSWERS
from tests.support.each_case import each_case
from tests.support.eventually import eventually
from tests.support.fault_server import FaultServer, chunk, head, keep, send, whole
from tests.support.raw_http import Answer

TARGETS = {"chat": "/v1/chat/completions", "messages": "/v1/messages?beta=true", "responses": "/v1/responses"}
PROTOCOLS = tuple(TARGETS)
GZIP = "Content-Encoding", "gzip"
AT_CALLS = Breakpoints(calls=True)
AT_REQUESTS = Breakpoints(requests=True)


def request(protocol: str, *, stream: bool = True, **more: Any) -> bytes:
    """A request that offers tools."""
    conversation = {"input": "Hi"} if protocol == "responses" else {"messages": [{"role": "user", "content": "Hi"}]}
    return json.dumps({"model": "m-1", "stream": stream, **conversation, "tools": TOOLS[protocol], **more}).encode()


def stream_of(protocol: str, name: str = "call") -> bytes:
    return b"".join(get_protocol(protocol).answers.stream(ANSWERS[protocol][name]))


def streamed(body: bytes) -> Any:
    """The steps of a gateway that sends a stream."""
    return send(head(chunked=True)), send(chunk(body)), send(chunk(b"")), keep()


def answer_of(protocol: str, body: bytes, content_type: str = "text/event-stream") -> Accumulator:
    """The answer that a program reads."""
    decoder = get_protocol(protocol).decoder(content_type)
    answer = Accumulator()
    answer.add_events([*decoder.decode_bytes(body), *decoder.close()])
    return answer


def post_head(path: str, body: bytes) -> bytes:
    """The head of a request, for tests that leave before its answer."""
    lines = f"POST {path} HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json", f"Content-Length: {len(body)}"
    return "\r\n".join((*lines, "", "")).encode()


async def paused(server: ListenServer, number: int = 0) -> Pause:
    """Wait for the pause of an exchange."""
    await eventually(lambda: len(server.exchanges) > number and server.exchanges[number].pause is not None)
    pause = server.exchanges[number].pause
    assert pause is not None
    return pause


def at_least(listened: Listened, count: int) -> bool:
    """Return whether so many comments were sent."""
    return listened.keep_alives >= count


async def ended(server: ListenServer, number: int = 0) -> Listened:
    """Wait for the end of an exchange."""
    await eventually(lambda: server.exchanges[number].stage is Stage.ENDED)
    return server.exchanges[number]


@contextlib.asynccontextmanager
async def asked(
    server: ListenServer, protocol: str, body: bytes = b"", *headers: tuple[str, str]
) -> AsyncIterator[Any]:
    """Send a request while the test decides; gives the task with the answer."""
    task = Tasks(OSError).start(post(server, TARGETS[protocol], body or request(protocol), *headers))
    try:
        yield task
        await task
    finally:
        task.cancel()


async def decided(server: ListenServer, protocol: str, decision: Decision, body: bytes = b"") -> Answer:
    """Send a request, decide at its pause, and return the answer that the program gets."""
    async with asked(server, protocol, body) as answer:
        pause = await paused(server)
        assert pause.decide(decision) == ""
        result: Answer = await answer
    return result


# -- answers -----------------------------------------------------------------------------------------------------------


async def test_unedited_answer_with_a_call_is_released_byte_for_byte(listen: MakeServer, gateway: FaultServer) -> None:
    for protocol in PROTOCOLS:
        for decision in (GoOn(), ReplyBody(ANSWERS[protocol]["call"])):
            gateway.play(*streamed(stream_of(protocol)))
            server = await listen()
            server.breakpoints = AT_CALLS
            async with asked(server, protocol) as answer:
                pause = await paused(server)
                assert (pause.is_answer, server.exchanges[0].stage) == (True, Stage.ANSWER_PAUSED)
                assert pause.body == json.dumps(ANSWERS[protocol]["call"], ensure_ascii=False).encode()
                assert not answer.done()
                pause.decide(decision)
                assert (await answer).body == stream_of(protocol)
            assert (await ended(server)).changes == []


async def test_edited_answer_reaches_the_program_as_a_stream(listen: MakeServer, gateway: FaultServer) -> None:
    for protocol in PROTOCOLS:
        gateway.play(*streamed(stream_of(protocol, "parallel calls")))
        server = await listen()
        server.breakpoints = AT_CALLS
        async with asked(server, protocol) as answer:
            pause = await paused(server)
            answers, body = get_protocol(protocol).answers, json.loads(pause.body)
            first, second = answers.calls(body)
            edits: list[Any] = [
                SetCall(first.path, "get_sun", '{"day": 1}'),
                DropCall(second.path),
                AddCall(MadeCall("now", "{}")),
            ]
            pause.decide(ReplyBody(answers.edit(body, edits)))
            reply = await answer
        got = answer_of(protocol, reply.body)
        assert reply.headers["content-type"] == "text/event-stream"
        assert [(call.name, call.text or "{}") for call in got.choice(0).calls.values()] == [
            ("get_sun", '{"day": 1}'),
            ("now", "{}"),
        ]
        assert got.complete
        listened = await ended(server)
        assert listened.changes == [
            "call of get_weather changed to get_sun",
            "arguments of get_sun edited",
            "call of get_time dropped",
            "call of now added",
        ]
        assert listened.sent_answer == reply.body
        assert listened.exchange.body == stream_of(protocol, "parallel calls")
        assert listened.ended_by is EndedBy.UPSTREAM


async def test_edited_answer_in_one_piece_stays_in_one_piece(listen: MakeServer, gateway: FaultServer) -> None:
    body = ANSWERS["messages"]["signed thinking"]
    gateway.play(send(whole(200, "application/json", json.dumps(body).encode())), keep())
    server = await listen()
    server.breakpoints = AT_CALLS
    answers = get_protocol("messages").answers
    (call,) = answers.calls(body)
    edited = answers.edit(body, [SetCall(call.path, call.name, '{"city": "Bergen"}')])

    reply = await decided(server, "messages", ReplyBody(edited), request("messages", stream=False))

    assert json.loads(reply.body) == edited
    assert json.loads(reply.body)["content"][:2] == body["content"][:2]
    assert reply.headers["content-type"] == "application/json"


async def test_text_of_an_answer_with_a_call_is_edited(listen: MakeServer, gateway: FaultServer) -> None:
    body = ANSWERS["responses"]["call"]
    gateway.play(*streamed(stream_of("responses")))
    server = await listen()
    server.breakpoints = AT_CALLS
    answers = get_protocol("responses").answers
    (text,) = answers.texts(body)

    reply = await decided(server, "responses", ReplyBody(answers.edit(body, [SetText(text.path, "Two moments.")])))

    assert b"Two moments." in reply.body
    assert b"One moment." not in reply.body
    assert (await ended(server)).changes == ["text edited"]


async def test_answer_without_a_chosen_call_is_not_paused(listen: MakeServer, gateway: FaultServer) -> None:
    for tools, name in ((frozenset(), "text"), (frozenset({"get_time"}), "call")):
        gateway.play(*streamed(stream_of("chat", name)))
        server = await listen()
        server.breakpoints = Breakpoints(calls=True, tools=tools)
        assert (await post(server, TARGETS["chat"], request("chat"))).body == stream_of("chat", name)
        assert (await ended(server)).changes == []


async def test_answer_to_a_request_without_tools_arrives_before_its_end(
    listen: MakeServer, gateway: FaultServer
) -> None:
    part = stream_of("chat")[:300]
    gateway.play(send(head(chunked=True)), send(chunk(part)), keep())
    server = await listen()
    server.breakpoints = AT_CALLS
    address = urlsplit(server.base_url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    body = request("chat", tools=[])
    writer.write(post_head(f"{address.path}{TARGETS['chat']}", body) + body)
    assert await reader.readuntil(part[-20:])
    assert server.exchanges[0].stage is Stage.ANSWERING
    writer.transport.abort()
    await ended(server)


async def test_answer_that_cannot_be_written_in_one_piece_is_released_with_a_note(
    listen: MakeServer, gateway: FaultServer
) -> None:
    broken = stream_of("messages").replace(b'\\"Oslo\\"}', b'\\"Oslo')
    cut_off = stream_of("chat").partition(b"data: [DONE]")[0].replace(b'"tool_calls"}', b"null}")
    for protocol, body in (("messages", broken), ("chat", cut_off)):
        assert body != stream_of(protocol)
        gateway.play(*streamed(body))
        server = await listen()
        server.breakpoints = AT_CALLS
        assert (await post(server, TARGETS[protocol], request(protocol))).body == body
        assert any("was not paused" in note for note in (await ended(server)).notes)


async def test_answer_is_replaced_by_hand_and_by_an_error(listen: MakeServer, gateway: FaultServer) -> None:
    for protocol in PROTOCOLS:
        gateway.play(*streamed(stream_of(protocol)))
        server = await listen()
        server.breakpoints = AT_CALLS
        reply = await decided(server, protocol, Reply("No tools today."))
        got = answer_of(protocol, reply.body)
        assert ("".join(part.text for part in got.choice(0).parts), got.complete) == ("No tools today.", True)

        gateway.play(*streamed(stream_of(protocol)))
        server = await listen()
        server.breakpoints = AT_CALLS
        reply = await decided(server, protocol, Fail(529, "Overloaded, you see."))
        assert (reply.status, json.loads(reply.body)["error"]["message"]) == (529, "Overloaded, you see.")
        assert (await ended(server)).changes == ["answer replaced by an error with status 529"]


async def test_held_stream_gets_comments_and_an_error_as_an_event(listen: MakeServer, gateway: FaultServer) -> None:
    for decision in (GoOn(), Fail(500, "Broken.")):
        gateway.play(*streamed(stream_of("messages")))
        server = await listen(keep_alive=0.01)
        server.breakpoints = AT_CALLS
        async with asked(server, "messages") as answer:
            pause = await paused(server)
            listened = server.exchanges[0]
            await eventually(partial(at_least, listened, 2))
            pause.decide(decision)
            reply = await answer
        assert reply.status == 200
        comments, _, rest = reply.body.rpartition(b": held by Gateway Playground\n\n")
        assert comments.startswith(b": held")
        got = answer_of("messages", reply.body)
        if isinstance(decision, GoOn):
            assert rest == stream_of("messages")
        else:
            assert got.failure is not None
            assert got.failure.message == "Broken."
        await ended(server)
        assert b"held by" not in listened.exchange.body
        assert listened.keep_alives > 1


async def test_answer_that_breaks_off_while_held_reaches_the_program(listen: MakeServer, gateway: FaultServer) -> None:
    part = stream_of("chat")[:300]
    gateway.play(send(head(chunked=True)), send(chunk(part)))
    server = await listen()
    server.breakpoints = AT_CALLS

    with pytest.raises(IncompleteRead) as broken:
        await post(server, TARGETS["chat"], request("chat"))

    assert broken.value.partial == part
    listened = await ended(server)
    assert listened.exchange.body == part
    assert listened.ended_by is EndedBy.UPSTREAM
    assert listened.exchange.failure is not None


async def test_paused_answer_goes_on_after_the_time_limit(listen: MakeServer, gateway: FaultServer) -> None:
    gateway.play(*streamed(stream_of("chat")))
    server = await listen()
    server.breakpoints = Breakpoints(calls=True, time_limit=0.05)
    assert (await post(server, TARGETS["chat"], request("chat"))).body == stream_of("chat")
    assert any("time limit" in note for note in (await ended(server)).notes)


async def test_paused_answer_goes_on_when_its_breakpoint_is_switched_off(
    listen: MakeServer, gateway: FaultServer
) -> None:
    for later in (Breakpoints(), Breakpoints(requests=True), Breakpoints(calls=True, tools=frozenset({"get_time"}))):
        gateway.play(*streamed(stream_of("chat")))
        server = await listen()
        server.breakpoints = AT_CALLS
        async with asked(server, "chat") as answer:
            await paused(server)
            server.breakpoints = later
            assert (await answer).body == stream_of("chat")


async def test_many_paused_answers_go_on_together(listen: MakeServer, gateway: FaultServer) -> None:
    count = 5  # a thread for each
    gateway.play(*streamed(stream_of("chat")))
    server = await listen()
    server.breakpoints = AT_CALLS
    tasks = Tasks()
    answers = [tasks.start(post(server, TARGETS["chat"], request("chat"))) for _ in range(count)]
    await eventually(lambda: sum(listened.pause is not None for listened in server.exchanges) == count)
    server.breakpoints = Breakpoints()
    assert {answer.body for answer in await asyncio.gather(*answers)} == {stream_of("chat")}


async def test_paused_answer_stays_paused_when_other_breakpoints_change(
    listen: MakeServer, gateway: FaultServer
) -> None:
    gateway.play(*streamed(stream_of("chat")))
    server = await listen()
    server.breakpoints = AT_CALLS
    async with asked(server, "chat") as answer:
        pause = await paused(server)
        server.breakpoints = Breakpoints(requests=True, calls=True, tools=frozenset({"get_weather"}))
        await asyncio.sleep(0)
        assert server.exchanges[0].pause is pause
        pause.decide(GoOn())
        assert (await answer).body == stream_of("chat")


async def test_answer_is_kept_when_listen_stops_while_it_is_paused(listen: MakeServer, gateway: FaultServer) -> None:
    gateway.play(*streamed(stream_of("chat")))
    server = await listen()
    server.breakpoints = AT_CALLS
    task = Tasks(OSError).start(post(server, TARGETS["chat"], request("chat")))
    await paused(server)
    await server.aclose()
    with contextlib.suppress(OSError, ValueError):
        await task
    listened = await ended(server)
    assert (listened.ended_by, listened.pause) == (EndedBy.LISTENER, None)
    assert listened.exchange.body == stream_of("chat")
    assert listened.exchange.complete


async def test_compressed_answer_is_requested_plain_when_it_is_held(listen: MakeServer, gateway: FaultServer) -> None:
    gateway.play(*streamed(stream_of("chat")))
    server = await listen()
    server.breakpoints = AT_CALLS
    async with asked(server, "chat", b"", ("Accept-Encoding", "gzip, br")) as answer:
        (await paused(server)).decide(GoOn())
        await answer
    assert gateway.requests[0].header("accept-encoding") == "identity"
    assert any("without compression" in note for note in (await ended(server)).notes)


async def test_decision_that_cannot_be_expressed_leaves_the_answer_paused(
    listen: MakeServer, gateway: FaultServer
) -> None:
    gateway.play(*streamed(stream_of("messages")))
    server = await listen()
    server.breakpoints = AT_CALLS
    async with asked(server, "messages") as answer:
        pause = await paused(server)
        assert "must be a JSON object" in pause.decide(Reply("", (MadeCall("get_weather", "[]"),)))
        assert "was sent before" in pause.decide(SendRequest(b"{}"))
        assert "400 to 599" in pause.decide(Fail(200, "Fine."))
        assert server.exchanges[0].pause is pause
        pause.decide(GoOn())
        assert (await answer).body == stream_of("messages")


# -- requests ----------------------------------------------------------------------------------------------------------


async def test_paused_request_goes_on_as_the_same_bytes(listen: MakeServer, gateway: FaultServer) -> None:
    body = b'{"model":"m-1",  "messages":[]}'
    for decision in (GoOn(), SendRequest(body)):
        gateway.play(send(whole(200, "application/json", b"{}")), keep())
        server = await listen(stored_key=False)
        server.breakpoints = AT_REQUESTS
        await decided(server, "chat", decision, body)
        assert gateway.requests[-1].body == body
        assert (await ended(server)).changes == []


async def test_edited_request_is_sent_and_both_bodies_are_recorded(listen: MakeServer, gateway: FaultServer) -> None:
    gateway.play(send(whole(200, "application/json", b"{}")), keep())
    server = await listen(stored_key=False)
    server.breakpoints = AT_REQUESTS
    edited = b'{"model": "m-2", "messages": []}'
    extra = ("X-Note", "old"), ("X-User-Email", "a@b.example"), ("X-Trace", f"by {PROGRAM_KEY}")
    async with asked(server, "chat", b"", *extra) as answer:
        pause = await paused(server)
        assert PROGRAM_KEY not in str(pause.headers)
        assert "a@b.example" not in str(pause.headers)
        headers = tuple((name, "new" if name.lower() == "x-note" else value) for name, value in pause.headers)
        pause.decide(SendRequest(edited, headers))
        await answer

    sent = gateway.requests[0]
    assert sent.body == edited
    assert sent.header("authorization") == f"Bearer {PROGRAM_KEY}"
    assert sent.header("x-trace") == f"by {PROGRAM_KEY}"
    assert (sent.header("x-note"), sent.header("x-user-email")) == ("new", "a@b.example")
    listened = await ended(server)
    assert listened.changes == ["request body edited", "headers edited: x-note"]
    assert listened.exchange.request_body == edited
    assert json.loads(listened.original_request)["model"] == "m-1"
    assert PROGRAM_KEY not in str(listened)


async def test_paused_request_is_answered_by_hand(listen: MakeServer, gateway: FaultServer) -> None:
    call = MadeCall("get_weather", '{"city": "Oslo"}')
    for protocol in PROTOCOLS:
        for stream in (True, False):
            server = await listen()
            server.breakpoints = AT_REQUESTS
            reply = await decided(server, protocol, Reply("Now.", (call,)), request(protocol, stream=stream))
            kind = "text/event-stream" if stream else "application/json"
            got = answer_of(protocol, reply.body, kind)
            assert (reply.headers["content-type"], got.complete) == (kind, True)
            assert [(entry.name, json.loads(entry.text)) for entry in got.choice(0).calls.values()] == [
                ("get_weather", {"city": "Oslo"})
            ]
            listened = await ended(server)
            assert (listened.ended_by, listened.changes) == (EndedBy.LISTENER, ["answered by you"])
            assert listened.exchange.body == listened.sent_answer == reply.body
            assert listened.exchange.complete
    assert gateway.requests == []


async def test_paused_request_fails_as_chosen(listen: MakeServer, gateway: FaultServer) -> None:
    for protocol in PROTOCOLS:
        server = await listen()
        server.breakpoints = AT_REQUESTS
        reply = await decided(server, protocol, Fail(429, "Slow down."))
        assert reply.status == 429
        error = json.loads(reply.body)
        assert error["error"]["message"] == "Slow down."
        assert (await ended(server)).changes == ["failed by you with status 429"]
    assert gateway.requests == []


async def test_paused_request_is_not_sent_when_the_program_leaves(listen: MakeServer, gateway: FaultServer) -> None:
    server = await listen()
    server.breakpoints = AT_REQUESTS
    address = urlsplit(server.base_url)
    path, body = f"{address.path}{TARGETS['chat']}", request("chat")
    _, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(post_head(path, body) + body)
    await paused(server)
    writer.transport.abort()
    listened = await ended(server)
    assert (listened.ended_by, listened.pause) == (EndedBy.PROGRAM, None)
    assert listened.exchange.request_body == body
    assert gateway.requests == []


async def test_compressed_request_is_shown_plain_and_sent_as_received_unless_edited(
    listen: MakeServer, gateway: FaultServer
) -> None:
    plain, edited = request("chat"), b'{"model": "m-2", "messages": []}'
    for decision, sent in ((SendRequest(plain), gzip.compress(plain)), (SendRequest(edited), edited)):
        gateway.play(send(whole(200, "application/json", b"{}")), keep())
        server = await listen()
        server.breakpoints = AT_REQUESTS
        async with asked(server, "chat", sent if sent != edited else gzip.compress(plain), GZIP) as answer:
            pause = await paused(server)
            assert pause.body == plain
            pause.decide(decision)
            await answer
        assert gateway.requests[-1].body == sent
        assert (gateway.requests[-1].header("content-encoding") == "gzip") == (sent != edited)


async def test_request_in_an_unknown_encoding_is_passed_on_with_a_note(
    listen: MakeServer, gateway: FaultServer
) -> None:
    gateway.play(send(whole(200, "application/json", b"{}")), keep())
    server = await listen()
    server.breakpoints = AT_REQUESTS
    assert (await post(server, TARGETS["chat"], b"\x28\xb5\x2f\xfd", ("Content-Encoding", "zstd"))).status == 200
    assert gateway.requests[0].body == b"\x28\xb5\x2f\xfd"
    assert any("was not paused" in note for note in (await ended(server)).notes)


async def test_paused_answer_stays_recorded_when_the_program_leaves(listen: MakeServer, gateway: FaultServer) -> None:
    gateway.play(*streamed(stream_of("chat")))
    server = await listen()
    server.breakpoints = AT_CALLS
    address, body = urlsplit(server.base_url), request("chat")
    _, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(post_head(f"{address.path}{TARGETS['chat']}", body) + body)
    await paused(server)
    writer.transport.abort()
    listened = await ended(server)
    assert (listened.ended_by, listened.pause, listened.changes) == (EndedBy.PROGRAM, None, [])
    assert listened.exchange.body == stream_of("chat")


async def test_paused_requests_go_on_when_breakpoints_are_switched_off_or_time_is_over(
    listen: MakeServer, gateway: FaultServer
) -> None:
    for limit in (60.0, 0.05):
        gateway.play(send(whole(200, "application/json", b"{}")), keep())
        server = await listen()
        server.breakpoints = Breakpoints(requests=True, time_limit=limit)
        async with asked(server, "chat") as answer:
            if limit > 1:
                await paused(server)
                server.breakpoints = Breakpoints()
            assert (await answer).status == 200
        assert gateway.requests[-1].body == request("chat")


async def test_model_list_and_unknown_paths_are_not_paused(listen: MakeServer, gateway: FaultServer) -> None:
    server = await listen()
    server.breakpoints = Breakpoints(requests=True, calls=True)
    for target in ("/v1/embeddings", "/v1/messages/count_tokens"):
        gateway.play(send(whole(200, "application/json", b"{}")), keep())
        assert (await post(server, target, b"{}")).status == 200


# -- mock tables -------------------------------------------------------------------------------------------------------


async def test_mock_table_answers_fitting_requests_and_leaves_others_to_the_gateway(
    listen: MakeServer, gateway: FaultServer
) -> None:
    rows = [
        {"when": {"contains": "weather"}, "answer": {"calls": [{"name": "get_weather", "arguments": {"city": "Oslo"}}]}}
    ]
    server = await listen()
    server.table = read_mock_table(json.dumps({"playground_mock": 1, "rows": rows}))
    body = request("chat", messages=[{"role": "user", "content": "The WEATHER in Oslo?"}])
    reply = await post(server, TARGETS["chat"], body)
    (received,) = answer_of("chat", reply.body).choice(0).calls.values()
    assert (received.name, received.text) == ("get_weather", '{"city": "Oslo"}')
    assert (await ended(server)).changes == ["answered by row 1 of the mock table"]
    assert gateway.requests == []

    gateway.play(*streamed(stream_of("chat")))
    assert (await post(server, TARGETS["chat"], request("chat"))).body == stream_of("chat")
    assert (await ended(server, 1)).changes == []


async def test_row_that_the_protocol_cannot_express_is_noted(listen: MakeServer, gateway: FaultServer) -> None:
    gateway.play(*streamed(stream_of("messages")))
    server = await listen()
    rows = [{"answer": {"calls": [{"name": "get_weather", "arguments": "not JSON"}]}}]
    server.table = read_mock_table(json.dumps({"playground_mock": 1, "rows": rows}))
    assert (await post(server, TARGETS["messages"], request("messages"))).body == stream_of("messages")
    assert any("Row 1 of the mock table" in note for note in (await ended(server)).notes)


async def test_libraries_of_vendors_read_answers_of_a_mock_table(listen: MakeServer, gateway: FaultServer) -> None:
    server = await listen()
    call = {"name": "get_weather", "arguments": {"city": "Oslo"}}
    server.table = read_mock_table(json.dumps({"playground_mock": 1, "rows": [{"answer": {"calls": [call]}}]}))
    base_url = f"{server.base_url}/v1"
    completion = await asyncio.to_thread(final_completion, base_url)
    assert completion["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] == '{"city": "Oslo"}'
    message = await asyncio.to_thread(final_message, base_url)
    assert (message["content"][0]["input"], message["stop_reason"]) == ({"city": "Oslo"}, "tool_use")
    response, items = await asyncio.to_thread(final_response, base_url)
    assert response["output"][0]["arguments"] == items[0]["arguments"] == '{"city": "Oslo"}'
    assert gateway.requests == []


@each_case("protocol", PROTOCOLS)
def test_targets_are_those_of_the_protocols(protocol: str) -> None:
    assert get_protocol(protocol).endpoint in TARGETS[protocol]
