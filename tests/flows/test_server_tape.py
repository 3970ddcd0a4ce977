"""From a tool call to the messages exchanged with its server, and back; and the server's time in the sequence."""

from __future__ import annotations

import re

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from playground.domain.parts import ToolCall
from playground.engine.tool_servers.tools import new_tools
from tests.flows.conftest import Person, flow
from tests.flows.pages.conversation import focus_in
from tests.flows.pages.server_requests import ServerMessagesPage


async def call_demo_server(person: Person) -> tuple[str, ToolCall]:
    """A call of the demo server's dice, whose result from the server is prepared but not sent."""
    servers = person.app.workspace.tool_servers
    live = await servers.start("demo")
    tools = new_tools((), live.server, live.tools, {})
    servers.book.accept("demo", live.tools)
    person.session.change(tools=tuple(tool for tool in tools if tool.name_there == "roll_dice"))
    await person.use_model("demo-chat")
    await person.run("Please use roll_dice with count 3")
    await person.until(lambda: bool(person.session.debugger.waiting), "a call that waits")
    (turn_id, call), *_ = person.session.debugger.waiting
    await person.session.debugger.ask(turn_id, call.id)
    return turn_id, call


@flow()
async def test_tool_call_leads_to_its_messages_and_they_lead_back(person: Person) -> None:
    turn_id, call = await call_demo_server(person)
    tape = person.app.workspace.tool_servers.tape
    await person.until(lambda: len(tape.of_call(turn_id, call.id)) >= 2, "the messages of the call")
    (card,) = person.conversation.message(-1).calls
    await card.choose("Show tool server messages")
    page = await ServerMessagesPage.wait(person)
    await person.until(lambda: page.selected_row == 0, "the call's first message")
    assert page.row_count == len(tape.of_call(turn_id, call.id)) < len(tape)
    assert all("tools/call" in name for name in page.column(2)[:2])
    assert "roll_dice" in page.detail
    message = person.conversation.message(-1)
    await person.do(person.message.setFocus)
    await page.press("Show the call in the conversation")
    await person.until(focus_in(message.widget), "the focus in the call's message")
    await page.press("Show the messages of all calls")
    await person.until(lambda: page.row_count == len(tape), "all messages")

    await person.trigger("view.sequence")
    await person.seen(QWidget, "Sequence of requests, calls and answers")
    await person.press("Copy as text")
    sequence = QGuiApplication.clipboard().text()
    assert re.search(r"call of roll_dice; server Demo tools [1-9]\d* ms$", sequence), sequence
    first = person.session
    await card.choose("Show tool server messages")
    await person.until(lambda: page.selected_row == 0, "the call's first message")
    await person.trigger("experiment.new")
    await person.until(lambda: person.session is not first, "another experiment")
    await person.trigger("view.servers")
    await page.press("Show the call in the conversation")
    await person.press("Go to it")
    await person.until(lambda: person.session is first, "the call's experiment")
    message = await person.conversation.wait_for_message(1)
    await person.until(focus_in(message.widget), "the focus in the call's message again")
    (card,) = message.calls
    await card.send_result()
    await person.idle(4)
