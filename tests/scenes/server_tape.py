"""What is said with tool servers: the list of messages, one of them read, a long and odd one, nothing yet."""

from __future__ import annotations

import json

from PySide6.QtWidgets import QTableView

from playground.domain.tool_servers import Frame, ticket_id
from playground.jsonkit.values import JSONObject
from tests.scenes.registry import scene
from tests.scenes.stage import Stage

ROOMY = 400  # pixels of the inspector when it is what one looks at
LONG = "a-server-with-a-name-that-somebody-never-thought-would-be-shown-in-a-narrow-column"


@scene()
async def servers_messages(stage: Stage) -> None:
    """A session with two servers: what they offer, calls, progress, an error, one that ended."""
    stage.window.inspector.setMinimumHeight(ROOMY)
    stage.act("view.servers")
    stage.app.workspace.tool_servers.tape.add([*_talk("demo", 1_790_000_000.0), *_talk(LONG, 1_790_000_004.0), *_end()])
    await stage.settle()
    stage.find(QTableView, inside=stage.window.inspector).selectRow(4)


def _talk(server: str, start: float, text: str = "hello") -> list[Frame]:
    call = ticket_id("turn", "call_1")
    said: list[tuple[float, bool, str, str, JSONObject, str]] = [
        (0.0, True, "initialize", "0", {"params": {"protocolVersion": "2025-11-25", "capabilities": {}}}, ""),
        (0.41, False, "initialize", "0", {"result": {"serverInfo": {"name": server, "version": "1.4.0"}}}, ""),
        (0.42, True, "tools/list", "1", {"params": {}}, ""),
        (0.5, False, "tools/list", "1", {"result": {"tools": [{"name": "roll"}, {"name": "echo"}]}}, ""),
        (2.0, True, "tools/call", "2", {"params": {"name": "echo", "arguments": {"text": text[:5]}}}, call),
        (2.2, False, "notifications/progress", "", {"params": {"progress": 1, "total": 3}}, call),
        (2.4, False, "notifications/message", "", {"params": {"level": "info", "data": "half-way there"}}, call),
        (2.513, False, "tools/call", "2", {"result": {"content": [{"type": "text", "text": text}]}}, call),
        (3.0, True, "prompts/get", "3", {"params": {"name": "none"}}, ""),
        (3.004, False, "prompts/get", "3", {"error": {"code": -32602, "message": "Unknown prompt: none"}}, ""),
    ]
    return [
        _frame(server, start + after, sent, method, number, value, ticket)
        for after, sent, method, number, value, ticket in said
    ]


def _frame(server: str, at: float, sent: bool, method: str, number: str, value: JSONObject, call: str) -> Frame:
    asks = not ("result" in value or "error" in value)
    whole: JSONObject = {"jsonrpc": "2.0"}
    whole |= {"id": int(number)} if number else {}
    whole |= {"method": method, **value} if asks else value
    text = json.dumps(whole)
    return Frame(
        server=server,
        at=at,
        sent=sent,
        text=text,
        size=len(text.encode()),
        method=method,
        id=number,
        call=call,
        error="error" in value,
    )


def _end() -> list[Frame]:
    words = "The server ended with code 1. Its last words: ModuleNotFoundError: No module named 'weather'"
    return [Frame(server=LONG, at=1_790_000_009.0, sent=False, text="", size=0, error=True, notice=words)]
