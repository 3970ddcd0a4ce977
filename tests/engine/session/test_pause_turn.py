"""An answer that the gateway paused (``pause_turn``) goes back unchanged, and the loop goes on until its limit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from playground.domain.checks.check import Facts
from playground.domain.transcript import Role, last_answer, make_turn
from playground.engine.compare.metrics import lane_metrics
from playground.engine.evaluation.provider import preview
from playground.engine.headless.exit_codes import ExitCode
from playground.engine.session.run import Mode
from playground.engine.session.session import Session
from tests.engine.headless.runs import Desk
from tests.engine.session.conftest import Connect
from tests.protocols.messages.test_decode import block, start, stop, text_block
from tests.support.fault_server import FaultServer, head, send

SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "tea"}}
SEARCH_RESULT = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": [{"type": "web_search_result", "url": "u", "title": "t", "encrypted_content": "EEE"}],
}
#: Blocks of a paused answer in an order that no request would be written in by itself.
PAUSED: list[dict[str, Any]] = [
    {"type": "text", "text": "Let me look."},
    SEARCH,
    SEARCH_RESULT,
    {"type": "thinking", "thinking": "hm", "signature": "SIG"},
    {"type": "thinking", "thinking": "", "signature": "EMPTY"},
    {"type": "redacted_thinking", "data": "RR"},
    {"type": "thinking", "thinking": "blank", "signature": ""},
    {"type": "thinking", "thinking": "unsigned"},
    {**SEARCH, "id": "srvtoolu_2"},
]
ASKED = [{"role": "user", "content": "Tea?"}]


def streamed(value: dict[str, Any], index: int) -> bytes:
    """Return a content block as the events of a stream."""
    begun, deltas = dict(value), []
    for member, kind, name in (
        ("text", "text_delta", "text"),
        ("thinking", "thinking_delta", "thinking"),
        ("signature", "signature_delta", "signature"),
    ):
        if begun.get(member):
            deltas.append({"type": kind, name: begun[member]})
        if member in begun:
            begun[member] = ""
    if "input" in begun:
        deltas.append({"type": "input_json_delta", "partial_json": json.dumps(begun["input"])})
        begun["input"] = {}
    return block(index, begun, *deltas)


def paused_stream() -> bytes:
    return b"".join([start(), *(streamed(value, index) for index, value in enumerate(PAUSED)), stop("pause_turn")])


def paused_body() -> bytes:
    message = {"type": "message", "role": "assistant", "id": "m", "model": "c", "content": PAUSED}
    return json.dumps({**message, "stop_reason": "pause_turn"}).encode()


ANSWERED = b"".join([start(), text_block(" It is green."), stop()])


@pytest.fixture
def session(server: FaultServer, connect_to: Connect) -> Session:
    session = connect_to(server.url, protocol="messages")
    session.turns.add_turn(make_turn(Role.USER, "Tea?"))
    return session


@pytest.mark.parametrize("answer", [paused_stream(), paused_body()], ids=["streamed", "whole"])
async def test_paused_answer_is_continued(server: FaultServer, session: Session, answer: bytes) -> None:
    server.play_next(send(head()), send(answer))
    server.play(send(head()), send(ANSWERED))
    await session.run()
    assert [request.json["messages"] for request in server.requests] == [
        ASKED,
        [*ASKED, {"role": "assistant", "content": PAUSED}],
    ]
    assert session.debugger.requests == 2
    assert not session.debugger.answer_paused
    parts = last_answer(session.transcript.path)
    assert [turn.text for turn in parts] == ["Let me look.", " It is green."]
    assert Facts(turns=parts).text == preview(parts) == "Let me look. It is green."
    session.turns.add_turn(make_turn(Role.USER, "Why?"))
    await session.run()
    sent = server.requests[-1].json["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "user"]
    assert sent[1]["content"] == [*PAUSED, {"type": "text", "text": " It is green."}]


async def test_step_limit_counts_continued_answers(server: FaultServer, session: Session) -> None:
    session.change(debugging=session.debugger.debugging.model_copy(update={"step_limit": 2}))
    server.play(send(head()), send(paused_stream()))
    await session.run()
    debugger = session.debugger
    assert len(server.requests) == 2
    assert (debugger.paused, debugger.answer_paused, debugger.stopped) == (True, True, False)
    assert "paused this answer" in debugger.pause_words
    assert "2 requests" in debugger.pause_words
    assert not lane_metrics(session, lambda _profile, _model: None).whole
    server.play(send(head()), send(ANSWERED))
    await debugger.go_on()
    assert not debugger.paused
    assert len(server.requests) == 3


async def test_single_request_or_step_leaves_the_answer_paused(server: FaultServer, session: Session) -> None:
    server.play(send(head()), send(paused_stream()))
    for number, mode in enumerate((Mode.ONCE, Mode.STEP), 1):
        await session.runs.start(mode)
        assert (len(server.requests), session.debugger.answer_paused) == (number, True)


@pytest.mark.parametrize(
    ("steps", "requests", "code", "words"),
    [
        (5, 2, ExitCode.OK, ""),
        (1, 1, ExitCode.STEP_LIMIT, "Raise --max-steps"),
        (None, 1, ExitCode.INCOMPLETE, "--max-steps 20"),
    ],
)
async def test_headless_run_continues_a_paused_answer_or_names_the_option(
    server: FaultServer, tmp_path: Path, steps: int | None, requests: int, code: ExitCode, words: str
) -> None:
    server.play_next(send(head()), send(paused_stream()))
    server.play(send(head()), send(ANSWERED))
    content = {"playground": 1, "protocol": "messages", "model": "m", "messages": ASKED}
    ended = await Desk(tmp_path, server.url).run(content, max_steps=steps)
    assert (ended.code, len(server.requests)) == (code, requests)
    assert words in ended.err
    assert ("paused" in ended.err) is bool(words)
    if code is ExitCode.OK:
        assert ended.out == "Let me look. It is green.\n"
