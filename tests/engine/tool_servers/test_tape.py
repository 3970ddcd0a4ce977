"""The tape of tool servers: in order, bounded for each server, answers tied to requests, no secret in its lines."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from playground.domain.tool_servers import Frame, ticket_id
from playground.engine.tool_servers import tape as module
from playground.engine.tool_servers.tape import ServerTape
from playground.gateway.redact import Redactor

CANARY = "canary-Zq7-secret-91x"


def frame(server: str = "files", seconds: float = 0.0, *, text: str = "{}", **fields: Any) -> Frame:
    size = len(text.encode("utf-8", "replace"))
    return Frame(**{"server": server, "time": seconds, "sent": False, "text": text, "size": size, **fields})


def tape_of(frames: Iterable[Frame] = (), *secrets: str) -> ServerTape:
    tape = ServerTape(lambda: Redactor(secrets))
    tape.add(frames)
    return tape


def test_answer_is_tied_to_its_request() -> None:
    ticket = ticket_id("turn", "call/1")
    tape = tape_of(
        [
            frame(seconds=1.0, sent=True, method="tools/call", id="7", call=ticket),
            frame("other", seconds=1.1, id="7"),  # another server's: it answers nothing of ours
            frame(seconds=1.2, method="ping", id="7"),  # the server's own request of that id
            frame(seconds=1.5, id="7", error=True),
            frame(seconds=1.6, sent=True, id="7"),
            frame(seconds=1.7, id="7"),
        ]
    )
    request, another, ping, answer, pong, second = tape.entries
    assert (answer.method, answer.call, answer.request) == ("tools/call", ticket, request.number)
    assert answer.seconds == pytest.approx(0.5)
    assert (pong.method, pong.request) == ("ping", ping.number)
    assert (another.method, another.seconds) == (second.method, second.seconds) == ("", None)
    assert tape.partner(request) is answer
    assert tape.partner(answer) is request
    assert tape.partner(another) is None
    assert tape.of_call("turn", "call/1") == [request, answer]
    assert (tape.methods, tape.servers) == (("ping", "tools/call"), ("files", "other"))


def test_answer_with_a_method_is_no_request() -> None:
    tape = tape_of(
        [
            frame(seconds=1, sent=True, method="ping", id="1", text='{"method": "ping", "id": 1}'),
            frame(seconds=2, method="ping", id="1", text='{"jsonrpc": "2.0", "id": 1, "method": "ping"}'),
            frame(seconds=3, sent=True, method="ping", id="1", text='{"id": 1, "result": {}}'),
            frame(seconds=4, method="ping", id="1", text='{"id": 1, "result": {"method": 1}}'),
        ]
    )
    assert [(entry.request, entry.seconds) for entry in tape.entries] == [(0, None), (0, None), (2, 1.0), (1, 3.0)]


def test_server_with_many_frames_loses_its_own_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_FRAMES", 100)
    tape = tape_of([frame("quiet", text="keep me", method="x", id="1", sent=True)])
    sizes: list[int] = []
    unsubscribe = tape.subscribe(lambda: sizes.append(len(tape)))
    tape.add(frame("loud", text=str(number), method="noise", id=str(number)) for number in range(1000))
    assert len(tape) <= 100
    assert tape.count == 1001
    assert tape.lost == 1001 - len(tape)
    assert (tape.entries[0].frame.text, tape.entries[-1].frame.text) == ("keep me", "999")
    assert [entry.number for entry in tape.entries] == sorted(entry.number for entry in tape.entries)
    assert tape.get(2) is None
    last = tape.entries[-1]
    assert tape.get(last.number) is last
    assert tape.holds(last)
    assert list(tape.after(last.number - 1)) == [last]
    tape.clear("loud")
    assert (tape.servers, tape.methods) == (("quiet",), ("x",))
    unsubscribe()
    tape.clear()
    assert (len(sizes), sizes[-1]) == (2, 1), "a notice for each change, not for each frame"


def test_exported_lines_are_json_without_secrets() -> None:
    sent = json.dumps({"method": "tools/call", "params": {"key": CANARY, "e": f"\u202e{CANARY}"}})
    tape = tape_of(
        [
            frame(seconds=1_700_000_000.5, sent=True, text=sent, method="tools/call", id="1", call="c"),
            frame(seconds=1_700_000_001.0, text=f"not json {CANARY} \ud800", id="1", error=True),
            frame(text="[" * 5000 + "]" * 5000),
            frame(text='{"n": NaN}'),
            frame(text="", notice=f"ended with code 1: {CANARY}"),
        ],
        CANARY,
    )
    lines = list(tape.lines(tape.entries))
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in lines)
    assert CANARY not in "".join(lines)
    values = [json.loads(line) for line in lines]
    assert (values[0]["message"]["params"], values[0]["direction"]) == ({"key": "••••", "e": "\u202e••••"}, "sent")
    assert values[0]["at"] == "2023-11-14T22:13:20.500000+00:00"
    assert values[1]["text"].startswith("not json ••••")
    assert values[1]["error"] is True
    assert values[1]["seconds"] == 0.5
    assert values[2]["text"].startswith("[[[")
    assert (values[3]["text"], values[4]["notice"]) == ('{"n": NaN}', "ended with code 1: ••••")
    assert "".join(lines).encode()
    assert CANARY not in tape.text(tape.entries[0])
    assert CANARY not in tape.front(tape.entries[0], 60)
