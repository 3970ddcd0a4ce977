"""Runs from a file: what reaches which stream, and the exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from playground.demo.server import DemoServer
from playground.domain.debugging import Answer, AnswerRow, Debugging, ToolRule
from playground.domain.parts import ToolCall, ToolResult
from playground.domain.transcript import Role, Turn, make_turn
from playground.engine.files.experiment_file import write
from playground.engine.headless.exit_codes import ExitCode
from playground.engine.requests.request_file import BadInputError, read_request
from playground.engine.session.drafts import Draft
from playground.engine.session.snapshot import Snapshot
from playground.protocols.protocol import get_protocol, parameters_of
from tests.engine.headless.runs import CANARY, NOWHERE, Desk, experiment
from tests.protocols.responses.events import begin, end, event, message, reasoning, stream
from tests.support.fault_server import FaultServer, Step, head, keep, reset, send, sse, text_chunk, whole

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


async def test_what_the_file_says_is_what_is_sent(desk: Desk, demo: DemoServer) -> None:
    await desk.run(experiment(parameters={"temperature": 0.3}, extra_body={"provider": "x"}, tools=[WEATHER]))
    body = json.loads(demo.requests[-1].body)
    assert (body["temperature"], body["provider"], body["tools"]) == (0.3, "x", [WEATHER])
    assert demo.requests[-1].header("authorization") == f"Bearer {CANARY}"


async def test_a_saved_experiment_asks_what_the_window_would(desk: Desk, demo: DemoServer) -> None:
    saved = Snapshot(
        id="x",
        model="demo-chat",
        parameters={"chat": parameters_of("chat", {"temperature": 0.3, "stream": True})},
        variables={"city": "Oslo"},
        draft=Draft(text="And {{city}}?"),
    )
    ended = await desk.run(write(saved))
    assert ended.code == ExitCode.OK, ended.err
    sent = json.loads(demo.requests[-1].body)
    assert sent["messages"] == [{"role": "user", "content": "And Oslo?"}]
    assert (sent["temperature"], sent["stream"]) == (0.3, True)
    assert "And Oslo?" in ended.out
    for second, words in (
        (saved.model_copy(update={"variables": {}}), "{{city}} has no value yet"),
        (saved.model_copy(update={"model": ""}), "names no model"),
    ):
        refused = await desk.run(write(second))
        assert refused.code == ExitCode.BAD_INPUT
        assert words in refused.err


async def test_a_result_that_is_being_written_goes_to_its_call(desk: Desk, demo: DemoServer) -> None:
    names_sent = make_turn(Role.USER, "Weather?")
    maker = make_turn(Role.ASSISTANT, "", ToolCall(id="c1", name="get_weather", arguments="{}"))
    turns = (names_sent, maker.model_copy(update={"parent": names_sent.id}))
    draft = Draft(text="sunny", role=Role.TOOL)
    saved = Snapshot(id="x", model="demo-chat", turns=turns, head=maker.id, draft=draft)
    ended = await desk.run(write(saved))
    assert ended.code == ExitCode.OK, ended.err
    last = json.loads(demo.requests[-1].body)["messages"][-1]
    assert last == {"role": "tool", "tool_call_id": "c1", "content": "sunny"}
    lost = Turn(id="t", role=Role.TOOL, parent=maker.id, parts=(ToolResult(call_id="", text="sunny"),))
    refused = await desk.run(write(saved.model_copy(update={"turns": (*turns, lost), "head": "t", "draft": Draft()})))
    assert refused.code != ExitCode.OK
    assert "does not say which call it answers" in refused.err


async def test_text_and_reasoning_go_to_streams_of_their_own_or_into_json(desk: Desk) -> None:
    names_sent = experiment("What is 6 * 7?", model="demo-reasoner")
    ended = await desk.run(names_sent)
    assert ended.code == ExitCode.OK
    assert "42" in ended.out
    assert "The user says" in ended.err
    assert "The user says" not in ended.out
    ended = await desk.run(names_sent, as_json=True)
    turn = ended.json
    assert (ended.code, ended.err) == (ExitCode.OK, "")
    assert "42" in turn["content"]
    assert turn["reasoning"]
    assert (turn["role"], turn["finish_reason"], turn["complete"]) == ("assistant", "stop", True)
    assert (turn["error"], turn["tool_calls"], turn["deviations"]) == (None, [], [])
    assert turn["model"] == "demo-reasoner"


async def test_responses_write_reasoning_in_paragraphs_and_name_what_the_gateway_ran(
    server: FaultServer, server_desk: Desk
) -> None:
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"query": "tides"}}
    done = [event("output_item.done", output_index=7, item=search)]
    server.play(send(head(), stream(begin(), reasoning("First.", "Second."), done, message("Done.", 8), end())))
    ended = await server_desk.run(experiment(protocol="responses"))
    assert ended.code == ExitCode.OK, ended.err
    assert ended.out == "Done.\n"
    assert "First.\n\nSecond.\n" in ended.err
    assert "The gateway ran a tool itself: Web search · completed — tides" in ended.err
    result = await server_desk.run(experiment(protocol="responses"), as_json=True)
    assert result.json["reasoning"] == "First.\n\nSecond."


async def test_exit_code_says_how_the_run_ended(desk: Desk) -> None:
    for word, code in (
        ("!503", ExitCode.HTTP),
        ("!401", ExitCode.HTTP),
        ("!html", ExitCode.HTTP),
        ("!redirect", ExitCode.HTTP),
        ("!error", ExitCode.INCOMPLETE),
        ("!cut", ExitCode.INCOMPLETE),
        ("!empty", ExitCode.INCOMPLETE),
        ("!length", ExitCode.OK),
    ):
        ended = await desk.run(experiment(f"{word} Tell me something"))
        assert (ended.code, ended.err.startswith("playground: ")) == (code, True), word
        if word == "!503":
            assert "The gateway is overloaded (503): The service is temporarily unavailable" in ended.err
            assert ended.out == ""
    ended = await desk.run(experiment("!error Tell me something"), as_json=True)
    assert ended.json["error"]["kind"] == "stream"
    assert ended.json["content"]
    assert ended.json["complete"] is False


async def test_key_repeated_by_a_gateway_is_not_shown(server: FaultServer, server_desk: Desk) -> None:
    body = json.dumps({"error": {"message": f"Incorrect API key: {CANARY}"}}).encode()
    server.play(send(whole(401, "application/json", body)))
    for as_json in (False, True):  # the desk looks for the key
        assert (await server_desk.run(experiment(), as_json=as_json)).code == ExitCode.HTTP


UNUSABLE: list[tuple[object, str]] = [
    ("", "is not JSON"),
    ("{", "is not JSON"),
    ("[" * 100_000, "is not JSON"),
    (b"\xff\xfe\x00", "is not UTF-8 text"),
    ([], "must hold one JSON object"),
    ({}, '"playground": 1 is missing'),
    (experiment(playground=2), '"playground": 2 is a version from a newer application; this one knows 1'),
    (experiment(playground="1"), "must be 1, the version of the format, not '1'"),
    (experiment(extra=1, body=2), "unknown field 'body', 'extra'"),
    (experiment(model=""), '"model" must be the id of a model'),
    (experiment(protocol="telegraph"), "telegraph"),
    (experiment(messages="Hello"), "messages"),
    (experiment(messages=[{"role": "pope", "content": "x"}]), "pope"),
    (experiment(tools=[7]), "tools[0]"),
    (experiment(extra_body="x"), '"extra_body" must be an object'),
]


async def test_file_that_cannot_be_run_is_explained(tmp_path: Path) -> None:
    desk = Desk(tmp_path, NOWHERE)
    for content, words in UNUSABLE:
        ended = await desk.run(content)
        assert (ended.code, ended.out) == (ExitCode.BAD_INPUT, "")
        assert ended.err.startswith("playground: ")
        assert words in ended.err
        assert ended.err.count("\n") == 1
    for path in (tmp_path / "missing.json", tmp_path):
        ended = await desk.run_path(path)
        assert ended.code == ExitCode.BAD_INPUT
        assert f"{path.name} cannot be read" in ended.err


def test_what_no_file_sets_is_as_in_a_new_experiment() -> None:
    request = read_request(experiment())
    assert request.parameters.to_wire() == {"stream": True, "stream_options": {"include_usage": True}}
    off = read_request(experiment(parameters={"stream": False}))
    assert off.parameters.to_wire() == {"stream": False}
    for left_out in ({"stream_options": None}, {"stream_options": None, "temperature": None}):
        assert read_request(experiment(parameters=left_out)).parameters.to_wire() == {"stream": True}
    odd = read_request(experiment(parameters={"stream_options": {}, "top_k": None}))
    assert odd.parameters.to_wire() == {"stream": True, "stream_options": {}, "top_k": None}
    assert read_request(experiment(parameters={"stream": None})).parameters.to_wire() == {}
    with pytest.raises(BadInputError):
        read_request(None)


# What is not whole


async def test_answer_with_a_hole_is_not_complete(server: FaultServer, server_desk: Desk) -> None:
    server.play(send(head(), sse(text_chunk("Fine, "), '{"id": "c1", broken', text_chunk("thanks", "stop"), "[DONE]")))
    plain = await server_desk.run(experiment())
    as_json = await server_desk.run(experiment(), as_json=True)
    loop = await server_desk.run(experiment(), as_json=True, max_steps=3)
    assert (plain.code, plain.out) == (ExitCode.INCOMPLETE, "Fine, thanks\n")
    assert plain.err.startswith("playground: Part of the answer could not be read: ")
    assert as_json.code == loop.code == ExitCode.INCOMPLETE
    assert as_json.err == loop.err == plain.err
    assert as_json.json["complete"] is loop.json["turns"][-1]["complete"] is False
    assert [deviation["hole"] for deviation in as_json.json["deviations"]] == [True]


PAGE = whole(200, "text/html", b"<html><body>Sign in</body></html>")
GZIP = whole(200, "text/event-stream", b"this is not gzip", "Content-Encoding: gzip")
BROTLI = whole(200, "text/event-stream", b"x", "Content-Encoding: br")


BEGUN: list[tuple[list[Step], ExitCode]] = [
    ([send(PAGE)], ExitCode.INCOMPLETE),
    ([send(GZIP)], ExitCode.INCOMPLETE),
    ([send(BROTLI)], ExitCode.INCOMPLETE),
    ([send(whole(200, "application/json", b"[1, 2"))], ExitCode.INCOMPLETE),
    ([send(whole(200, "text/event-stream", b""))], ExitCode.INCOMPLETE),
    ([send(head(200, "text/event-stream", chunked=True)), reset()], ExitCode.INCOMPLETE),
    ([send(head(), sse(text_chunk("Half"))), reset()], ExitCode.INCOMPLETE),
    ([reset()], ExitCode.TRANSPORT),
    ([send(b"SSH-2.0-OpenSSH_9.2\r\n")], ExitCode.TRANSPORT),
    ([send(whole(404, "text/html", b"<html>none</html>"))], ExitCode.HTTP),
    ([send(whole(302, None, b"", "Location: https://elsewhere.example/"))], ExitCode.HTTP),
]


async def test_answer_that_began_is_told_from_one_that_did_not(server: FaultServer, server_desk: Desk) -> None:
    for script, code in BEGUN:
        server.play(*script)
        ended = await server_desk.run(experiment())
        assert (ended.code, ended.err.startswith("playground: ")) == (code, True)


def chat_body(message: dict[str, Any], reason: str | None, **more: Any) -> list[Step]:
    """A whole chat completion."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
    body = {"id": "c", "object": "chat.completion", "choices": [choice], **more}
    return [send(whole(200, "application/json", json.dumps(body).encode())), keep()]


def messages_body(content: list[Any], reason: str, **more: Any) -> list[Step]:
    """A whole answer of native messages."""
    body = {"id": "m", "type": "message", "role": "assistant", "content": content, "stop_reason": reason, **more}
    return [send(whole(200, "application/json", json.dumps(body).encode())), keep()]


EXPLAINED = {"type": "refusal", "category": "cyber", "explanation": "This may help an attack."}
FILTERED = {"violence": {"filtered": True, "severity": "medium"}}
SOME = {"content": "Half an ans"}
NONE = {"content": None}
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


ENDINGS: list[tuple[list[Step], int, list[str]]] = [
    (chat_body(NONE, "content_filter"), 5, ["content filter", "Change the messages"]),
    (chat_body(SOME, "content_filter"), 0, ["content filter"]),
    (chat_body(NONE, "content_filter", prompt_filter_results=[{"content_filter_results": FILTERED}]), 5, ["violence"]),
    (chat_body({"content": None, "refusal": "No."}, "stop"), 5, ["refused"]),
    (chat_body(SOME, "length"), 0, ["limit on completion tokens", "Raise"]),
    (chat_body({"content": "", "reasoning_content": "Hm"}, "length"), 5, ["Only reasoning came", "Raise"]),
    (chat_body({"content": "", "reasoning_content": "Hm"}, "stop"), 5, ["reasoning and no text"]),
    (chat_body({"content": ""}, "model_context_window_exceeded"), 5, ["context window"]),
    (chat_body({"content": ""}, "error"), 5, ["error", "Run it again"]),
    (chat_body(SOME, "error"), 5, ["error"]),
    (chat_body({"content": ""}, "odd_end"), 5, ["odd_end"]),
    (chat_body({"content": ""}, "function_call_filter: MALFORMED_FUNCTION_CALL"), 5, ["tool call"]),
    (chat_body({"content": ""}, "stop"), 5, ["Empty response"]),
    (chat_body({"content": "", "tool_calls": [CALL]}, "tool_calls"), 0, ["1 tool call", "--answers"]),
    (messages_body([], "refusal", stop_details=EXPLAINED), 5, ["refused", "This may help an attack.", "cyber"]),
    (
        chat_body({"content": None, "audio": {"id": "a", "data": "QUJD", "transcript": "Hi"}}, "stop"),
        0,
        ["transcript: Hi"],
    ),
    (messages_body([], "max_tokens"), 5, ["No text came"]),
    (messages_body([], "model_context_window_exceeded"), 5, ["context window"]),
    (messages_body([{"type": "text", "text": "x"}], "model_context_window_exceeded"), 0, ["context window"]),
]


async def test_answer_without_a_plain_end_is_explained(server: FaultServer, server_desk: Desk) -> None:
    for script, code, words in ENDINGS:
        protocol = "messages" if b'"stop_reason"' in repr(script).encode() else "chat"
        request = experiment(protocol=protocol, parameters={"stream": False})
        server.play(*script)
        ended = await server_desk.run(request)
        as_json = await server_desk.run(request, as_json=True)
        assert (ended.code, as_json.code) == (code, code), ended.err
        assert [word for word in words if word not in ended.err] == []
        text = json.dumps(as_json.json["choices"][0].get("ending") or as_json.json["error"] or "1 tool call, --answers")
        assert [word for word in words if word.lower() not in text.lower() and word != "Empty response"] == []
    server.play(*chat_body({"content": "Yes."}, "stop"))
    ended = await server_desk.run(experiment(parameters={"stream": False}))
    assert (ended.code, ended.out, ended.err) == (0, "Yes.\n", ""), "a plain end needs no words"


async def test_a_saved_experiment_brings_its_own_answers(desk: Desk) -> None:
    rows = (AnswerRow(answer=Answer(text='{"sky": "clear"}')),)
    saved = Snapshot(
        id="x",
        model="demo-tools",
        tools=(get_protocol("chat").read_tool(WEATHER),),
        debugging=Debugging(rules={"get_weather": ToolRule(rows=rows)}),
        draft=Draft(text="Weather in Oslo?"),
    )
    ended = await desk.run(write(saved), max_steps=5)
    assert ended.code == ExitCode.OK, ended.err
    assert '← {"sky": "clear"}' in ended.out
    assert (await desk.run(write(saved), max_steps=1)).code == ExitCode.STEP_LIMIT
