"""From a call to what was said with its server, and back; and where that stands in the picture of the run."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QPushButton

from playground.domain.parts import ToolCall
from playground.engine.tool_servers.acceptance import arriving
from playground.ui.features.conversation.calls.call_card import CallCard, CallMenu
from playground.ui.shell.features import DEBUGGER, SERVER_TAPE
from tests.flows.conftest import Person, Stage


async def asked_of_the_demo(person: Person) -> tuple[str, ToolCall]:
    """A call of the demo's dice, answered by its server; the answer stands as a draft."""
    servers = person.app.workspace.tool_servers
    live = await servers.start("demo")
    tools = arriving((), live.server, live.tools, {})
    servers.book.accept("demo", live.tools)
    person.session.change(tools=tuple(tool for tool in tools if tool.name_there == "roll_dice"))
    await person.use_model("demo-chat")
    await person.run("Please use roll_dice with count 3")
    await person.until(lambda: bool(person.session.debugger.waiting), "a call that waits")
    (turn_id, call), *_ = person.session.debugger.waiting
    await person.session.debugger.ask(turn_id, call.id)
    return turn_id, call


def test_a_call_leads_to_its_messages_and_they_lead_back(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        turn_id, call = await asked_of_the_demo(person)
        tape = person.app.workspace.tool_servers.tape
        await person.until(lambda: len(tape.of_call(turn_id, call.id)) >= 2, "the call on the tape")
        card = person.find(CallCard)[0]
        await person.choose(person.one(CallMenu, inside=card), "Show what was said with its server")
        page = person.app.actions.of(SERVER_TAPE).page
        assert page is not None
        await person.until(page.isVisible, "the page of servers")
        await person.until(lambda: page.table.currentIndex().row() == 0, "the call's first message")
        assert page.model.rows == tape.of_call(turn_id, call.id)
        assert len(page.model.rows) < len(tape)
        assert [entry.method for entry in page.model.rows][:2] == ["tools/call", "tools/call"]
        assert "roll_dice" in page.detail.text.text()
        await person.do(partial(person.message.setFocus))
        await person.click(page.to_call)
        await person.until(lambda: person.pane.view.focused_turn() == turn_id, "the call's turn with the focus")
        await person.press("Show the messages of all calls again")
        await person.until(lambda: page.model.rowCount() == len(tape), "all messages")

        await person.do(person.app.window.action("view.sequence").trigger)
        sequence = person.app.actions.of(DEBUGGER).pages.sequence
        assert sequence is not None
        await person.until(lambda: any(span.kind == "server" for span in sequence.view.spans), "the server's time")
        (span,) = [span for span in sequence.view.spans if span.kind == "server"]
        assert (span.turn_id, span.call_id, span.ok) == (turn_id, call.id, True)
        assert span.end > span.start > 0
        first = person.session
        await person.do(person.app.window.action("experiment.new").trigger)
        await person.until(lambda: person.session is not first, "another experiment")
        await person.do(partial(page.show_call, turn_id, call.id))
        await person.do(page.to_call.click)
        await person.press("Go there")
        await person.until(lambda: person.session is first, "the call's experiment")
        await person.until(lambda: person.pane.view.focused_turn() == turn_id, "the call's turn with the focus again")
        card = await person.seen(CallCard)
        send = person.find(QPushButton, "Send", card)[0]
        await person.click(send)
        await person.idle(4)

    stage.play(scene)
