"""The tool server of the demo as a process with lines of JSON, and over HTTP."""

from __future__ import annotations

import base64
import json
import signal
import socket
import struct
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from playground.demo import tool_media
from tests.support.command import run_process

COMMAND = [sys.executable, "-m", "playground", "demo-tools"]
MODERN = "2026-07-28"
CLIENT = {"name": "test", "version": "1"}


class Peer:
    """A minimal client over standard input and output."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.notices: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self.answers: dict[str, Any] = {}
        self._count = 0

    def send(self, message: dict[str, Any]) -> None:
        """Send a message to the server."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the answer to a request; requests of the server meanwhile are answered from ``answers``."""
        assert self.process.stdout is not None
        self._count += 1
        self.send({"id": self._count, "method": method, "params": params})
        for line in self.process.stdout:
            document: dict[str, Any] = json.loads(line)
            if "method" not in document:
                assert document["id"] == self._count
                return document
            if "id" in document:
                self.asked.append(document)
                self.send({"id": document["id"], "result": self.answers[document["method"]]})
            else:
                self.notices.append(document)
        raise AssertionError("it ended")

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Return the result of a call."""
        answer = self.request("tools/call", name=name, arguments=arguments, _meta={"progressToken": "p"})
        result: dict[str, Any] = answer["result"]
        return result

    def end(self) -> int:
        """Close the connection and return the exit code of the server."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        try:
            return self.process.wait(20)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()


@pytest.fixture(scope="module")
def connection() -> Iterator[Peer]:
    """One server for the tests of this module, initialized as clients of 2025 do."""
    peer = Peer()
    can: dict[str, Any] = {"elicitation": {}, "sampling": {}}
    answer = peer.request("initialize", protocolVersion="2025-06-18", capabilities=can, clientInfo=CLIENT)
    assert answer["result"]["serverInfo"]["title"] == "Demo tools"
    assert set(answer["result"]["capabilities"]) >= {"tools", "prompts", "resources", "completions", "logging"}
    peer.send({"method": "notifications/initialized"})
    yield peer
    assert peer.end() == 0


@pytest.fixture
def peer(connection: Peer) -> Peer:
    connection.notices.clear()
    connection.asked.clear()
    return connection


def test_each_tool_answers_as_described(peer: Peer) -> None:
    tools = {tool["name"]: tool for tool in peer.request("tools/list")["result"]["tools"]}
    assert tools["clock"]["annotations"]["readOnlyHint"] is True
    assert tools["delete_note"]["annotations"]["destructiveHint"] is True
    clock = peer.call("clock")
    assert set(clock["structuredContent"]) == set(tools["clock"]["outputSchema"]["required"])
    rolled = peer.call("roll_dice", count=3, sides=4)["structuredContent"]
    assert len(rolled["rolled"]) == 3
    assert rolled["sum"] == sum(rolled["rolled"])
    assert set(rolled["rolled"]) <= {1, 2, 3, 4}
    link = peer.call("add_note", title="A b/c", text="x")["content"][1]
    assert peer.request("resources/read", uri=link["uri"])["result"]["contents"][0]["text"] == "x"
    assert "A b/c" in peer.call("list_notes")["structuredContent"]["titles"]
    peer.call("delete_note", title="A b/c")
    assert peer.call("read_note", title="A b/c")["isError"] is True
    picture = peer.call("draw_chart", values=[1, 2])["content"][1]
    assert base64.b64decode(picture["data"]).startswith(b"\x89PNG")
    assert base64.b64decode(peer.call("play_tone")["content"][1]["data"]).startswith(b"RIFF")
    assert peer.call("divide", dividend=1, divisor=4)["structuredContent"] == {"quotient": 0.25}
    failed = peer.call("divide", dividend=1, divisor=0)
    assert failed["isError"] is True
    assert "division by zero" in failed["content"][0]["text"]
    assert "less than or equal to 20" in peer.call("roll_dice", count=99)["content"][0]["text"]
    assert peer.call("nothing")["isError"] is True


def test_slow_tool_reports_progress_and_log(peer: Peer) -> None:
    assert peer.call("count_slowly", to=3, pause=0)["content"][0]["text"] == "Counted to 3."
    messages = [notice["params"] for notice in peer.notices if notice["method"] == "notifications/progress"]
    assert [(part["progress"], part["total"]) for part in messages] == [(1, 3), (2, 3), (3, 3)]
    logged = [notice["params"]["data"] for notice in peer.notices if notice["method"] == "notifications/message"]
    assert logged == ["counted to 3"]
    peer.request("logging/setLevel", level="debug")
    peer.call("count_slowly", to=2, pause=0)
    assert any(notice["params"].get("level") == "debug" for notice in peer.notices)


def test_tools_ask_the_person_and_the_model(peer: Peer) -> None:
    peer.answers["elicitation/create"] = {"action": "accept", "content": {"name": "Ada", "guests": 3}}
    assert '"Ada"' in peer.call("book_table")["content"][0]["text"]
    assert "enum" in peer.asked[0]["params"]["requestedSchema"]["properties"]["day"]
    peer.answers["elicitation/create"] = {"action": "decline"}
    assert "decline" in peer.call("book_table")["content"][0]["text"]
    message = {
        "role": "assistant",
        "content": {"type": "text", "text": "Honey."},
        "model": "m",
        "stopReason": "endTurn",
    }
    peer.answers["sampling/createMessage"] = message
    assert peer.call("sum_up_notes")["content"][0]["text"] == "m says: Honey."
    assert "honey" in peer.asked[-1]["params"]["messages"][0]["content"]["text"]


def test_changed_lists_and_resources_are_notified(peer: Peer) -> None:
    peer.request("resources/subscribe", uri="notes://all")
    peer.call("add_note", title="New", text="x")
    assert any(notice["method"] == "notifications/resources/updated" for notice in peer.notices)
    assert "surprise" not in str(peer.request("tools/list"))
    peer.call("more_tools", on=True)
    assert any(notice["method"] == "notifications/tools/list_changed" for notice in peer.notices)
    assert "surprise" in str(peer.request("tools/list"))


def test_prompts_are_listed_and_completed(peer: Peer) -> None:
    prompts = peer.request("prompts/list")["result"]["prompts"]
    assert [prompt["name"] for prompt in prompts] == ["try_me", "explain"]
    got = peer.request("prompts/get", name="explain", arguments={"title": "Welcome", "tone": "formal"})
    assert [message["content"]["type"] for message in got["result"]["messages"]] == ["text", "resource"]
    reference = {"type": "ref/prompt", "name": "explain"}
    result = peer.request("completion/complete", ref=reference, argument={"name": "title", "value": "sh"})
    assert result["result"]["completion"]["values"] == ["Shopping"]
    template = peer.request("resources/templates/list")["result"]["resourceTemplates"][0]["uriTemplate"]
    reference = {"type": "ref/resource", "uri": template}
    result = peer.request("completion/complete", ref=reference, argument={"name": "title", "value": "w"})
    assert result["result"]["completion"]["values"] == ["Welcome"]
    assert "error" in peer.request("resources/read", uri="notes://note/none")


def test_stateless_client_is_asked_for_input() -> None:
    peer = Peer()
    prefix = "io.modelcontextprotocol/"
    meta = {
        f"{prefix}protocolVersion": MODERN,
        f"{prefix}clientInfo": CLIENT,
        f"{prefix}clientCapabilities": {"elicitation": {"form": {}}},
    }
    request = peer.request("tools/call", name="book_table", arguments={}, _meta=meta)["result"]
    assert request["resultType"] == "input_required"
    assert request["inputRequests"]["table"]["method"] == "elicitation/create"
    message = {"table": {"action": "accept", "content": {"name": "Ada", "guests": 3}}}
    notices = peer.request("tools/call", name="book_table", arguments={}, _meta=meta, inputResponses=message)["result"]
    assert '"Ada"' in notices["content"][0]["text"]
    assert peer.end() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="platform: no Ctrl+C for another process")
def test_server_over_http_answers_this_machine_only() -> None:
    with subprocess.Popen([*COMMAND, "--http", "0"], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().split(" at ")[1].split(". ")[0]
            params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT}
            body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
            heads = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
            data = json.dumps(body).encode()
            with urllib.request.urlopen(urllib.request.Request(url, data, heads), timeout=20) as answer:
                assert b"Demo tools" in answer.read()
            foreign = urllib.request.Request(url, data, heads | {"Origin": "http://evil.example"})
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(foreign, timeout=20)
            refused.value.close()
            assert refused.value.code == 403
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 0
        finally:
            process.kill()


def test_port_in_use_is_reported_in_a_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as occupied:
        ended = run_process("demo-tools", "--http", str(occupied.getsockname()[1]))
    assert ended.returncode == 2
    assert ended.err.startswith("playground: ")
    assert len(ended.err.splitlines()) == 1


def test_chart_has_its_size() -> None:
    data = tool_media.bar_chart([0, 0], 40, 30)
    assert struct.unpack(">II", data[16:24]) == (40, 30)
    assert data != tool_media.bar_chart([1], 40, 30)
