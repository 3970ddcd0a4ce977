"""What is said with tool servers: the list of messages, one of them read, a long and odd one, nothing yet."""

from __future__ import annotations

import json

from playground.domain.tool_servers import Frame, ticket_id
from playground.engine.tool_servers.acceptance import arriving
from playground.jsonkit.values import JSONObject
from playground.ui.features.inspector.wire_views import TimelineView
from playground.ui.features.server_tape.page import TapePage, Wanted
from playground.ui.shell.features import DEBUGGER, SERVER_TAPE, WIRE
from tests.scenes.registry import SMALL, scene
from tests.scenes.stage import SceneError, Stage

ROOMY = 400  # pixels of the inspector when it is what one looks at
LONG = "a-server-with-a-name-that-somebody-never-thought-would-be-shown-in-a-narrow-column"


@scene()
async def servers_nothing_yet(stage: Stage) -> None:
    """No server was asked."""
    await _page(stage)


@scene()
async def servers_messages(stage: Stage) -> None:
    """A session with two servers: what they offer, calls, progress, an error, one that ended."""
    page = await _page(stage)
    stage.app.workspace.tool_servers.tape.add([*_talk("demo", 1_790_000_000.0), *_talk(LONG, 1_790_000_004.0), *_end()])
    page.finish()
    page.choose(4)


@scene(sizes=SMALL)
async def servers_large_message(stage: Stage) -> None:
    """A megabyte in one message, opened as other large bodies are; only errors and answers of one kind are listed."""
    page = await _page(stage)
    stage.app.workspace.tool_servers.tape.add([*_talk("demo", 1_790_000_000.0, "x\u202e\u200b" * 400_000)])
    page.finish()
    page.show_only(Wanted(method="tools/call"))
    page.choose(page.model.rows[-1].number)
    await stage.until(lambda: bool(page.detail.text.text()), "the message")


@scene()
async def servers_in_the_sequence(stage: Stage) -> None:
    """Two calls that the demo's own server answered, in the picture of the run."""
    await _served(stage)
    roomy = stage.window.inspector
    roomy.setMinimumHeight(260)
    stage.act("view.sequence")
    page = stage.app.actions.of(DEBUGGER).pages.sequence
    if page is None:
        raise SceneError("there is no sequence")
    await stage.until(lambda: sum(span.kind == "server" for span in page.view.spans) == 2, "the server's time")


@scene()
async def servers_in_the_timeline(stage: Stage) -> None:
    """What the servers did about the calls of an answer, behind it in the timeline of its exchange."""
    turn_id, _ = await _served(stage)
    stage.window.inspector.setMinimumHeight(300)
    await stage.settle()  # the last exchange is shown by then
    stage.app.actions.of(WIRE).show_frames(turn_id)
    page = stage.window.inspector.view(TimelineView).page
    await stage.until(lambda: len(page.picture.served) == 2, "the server's time")


@scene(sizes=SMALL)
async def servers_of_one_call(stage: Stage) -> None:
    """What was said with a server about one call, gone to from its card."""
    turn_id, call_id = await _served(stage)
    stage.window.inspector.setMinimumHeight(ROOMY)
    stage.app.actions.of(SERVER_TAPE).show_messages(turn_id, call_id)
    page = stage.app.actions.of(SERVER_TAPE).page
    if page is None:
        raise SceneError("there is no page of tool servers")
    await stage.until(lambda: page.table.currentIndex().isValid(), "the messages of the call")


async def _served(stage: Stage) -> tuple[str, str]:
    """Two calls of the demo's dice, answered by its server and sent; the ids of the first."""
    servers = stage.app.workspace.tool_servers
    live = await servers.start("demo")
    servers.book.accept("demo", live.tools)
    tools = arriving((), live.server, live.tools, {})
    wanted = ("roll_dice", "clock")
    stage.fresh("demo-chat")
    stage.session.change(tools=tuple(tool for tool in tools if tool.name_there in wanted))
    await stage.ask("Please use roll_dice with count 3, and clock")
    await stage.until(lambda: len(stage.session.debugger.waiting) == 2, "two calls that wait")
    waiting = [(turn_id, call.id) for turn_id, call in stage.session.debugger.waiting]
    for turn_id, call_id in waiting:
        await stage.session.debugger.ask(turn_id, call_id)
    await stage.until(lambda: len(servers.tape.of_call(*waiting[1])) >= 2, "the calls on the tape")
    for turn_id, call_id in waiting:
        stage.window.pane.calls.answer(turn_id, call_id, "13", False)
    await stage.until(lambda: len(stage.session.transcript.path) > 3, "the next request")
    await stage.idle()
    return waiting[0]


async def _page(stage: Stage) -> TapePage:
    stage.window.inspector.setMinimumHeight(ROOMY)
    stage.act("view.servers")
    page = stage.app.actions.of(SERVER_TAPE).page
    if page is None:
        raise SceneError("there is no page of tool servers")
    await stage.until(page.isVisible, "the page of tool servers")
    return page


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
