"""Calls that are asked of a real tool server from their cards, and what such a server asks back, through the real
window: nothing is sent, asked or opened before a person presses a button.
"""

from __future__ import annotations

import asyncio
import base64
import json
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget

from playground.domain.parts import ToolCall, ToolResult
from playground.domain.tool_servers import ServerAnswer, TextBlock, ToolServer
from playground.domain.transcript import Ending, Outcome, Role, Turn, make_turn, new_id
from playground.engine.session.tool_calls import Ticket
from playground.engine.tool_servers.content import BY_HAND
from playground.engine.tool_servers.tools import definition_of
from playground.jsonkit.values import JSONObject
from tests.flows.conftest import Person, flow
from tests.flows.pages.conversation import CallCard
from tests.flows.pages.dialogs import name_file
from tests.flows.pages.server_requests import ModelRequestDialog, ServerFormDialog, ServerRequestBar

NAME, EMAIL, GUESTS = "Name", "E-mail", "Guests"  # the fields of the form of "book_table"


async def add_call(person: Person, tool: str, arguments: JSONObject) -> CallCard:
    """The card of an open call of a tool of the demo's server, in an experiment of its own."""
    await person.do(person.app.workspace.new)
    servers = person.app.workspace.tool_servers
    live = await servers.start("demo")
    servers.book.accept("demo", live.tools)
    definition = next(definition_of(live.server, it, tool) for it in live.tools if it.name == tool)
    person.session.change(tools=(definition,), model="demo-tools")
    call = ToolCall(id="call_1", name=tool, arguments=json.dumps(arguments))
    done = Outcome(ending=Ending.COMPLETE, model="demo-tools", finish_reason="tool_calls")
    person.session.turns.add_turn(make_turn(Role.USER, "Do it."))
    person.session.turns.add_turn(Turn(id=new_id(), role=Role.ASSISTANT, parts=(call,), outcome=done))
    return await CallCard.wait(person)


async def call_server(person: Person, tool: str, arguments: JSONObject) -> asyncio.Task[ServerAnswer]:
    """A call that the demo's server works at, and that asks something."""
    servers = person.app.workspace.tool_servers
    await servers.start("demo")
    task = asyncio.get_running_loop().create_task(servers.call("demo", tool, arguments, Ticket()))
    await ServerRequestBar.wait(person)
    return task


async def open_request(person: Person) -> ServerRequestBar:
    """The bar, after its button was pressed."""
    bar = await ServerRequestBar.wait(person)
    await bar.press("Answer…")
    return bar


def text_of(answer: ServerAnswer) -> str:
    (block,) = answer.blocks
    assert isinstance(block, TextBlock)
    return block.text


@flow()
async def test_call_is_asked_of_server_cancelled_edited_and_sent(person: Person) -> None:
    card = await add_call(person, "count_slowly", {"to": 1000, "pause": 1})
    await card.press("Call server")
    await person.until(lambda: card.server_is_called, "the call to be asked")
    await card.press("Cancel the server call")
    await person.until(lambda: not card.server_is_called and card.says("ancelled"), "the end of it")

    card = await add_call(person, "count_slowly", {"to": 4, "pause": 0.3})
    await person.click(card.result_field)
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    await person.key(Qt.Key.Key_Return, both)
    await person.until(lambda: card.says("of 4") and card.progress.maximum() > 0, "how far it is")
    await person.until(lambda: card.says("Answer from"), "the server's answer")
    await person.until(lambda: not card.server_is_called and card.result_text, "the result")
    answer = card.result_text
    assert answer
    assert not person.posts, "nothing was sent"
    await person.type_into(card.result_field, "I counted myself.")
    await person.until(lambda: card.says("Text edited"), "that it was changed")
    await card.press("Restore the server's answer")
    await person.until(lambda: card.result_text == answer, "the answer as it came")
    await card.press("Send result")
    await person.idle(4)
    result = person.path[2].parts[0]
    assert isinstance(result, ToolResult)
    assert (result.by, result.text) == ("server", answer)
    assert result.served is not None
    assert person.body()["messages"][-1] == {"role": "tool", "tool_call_id": "call_1", "content": answer}
    await person.until(lambda: card.says("Answer from"), "whose answer it was")


@flow()
async def test_pictures_and_sounds_of_server_are_shown_and_saved(person: Person, tmp_path: Path) -> None:
    card = await add_call(person, "draw_chart", {"values": [1, 2, 3]})
    await card.call_server()
    names = (widget.accessibleName() for widget in card.find(QWidget))
    assert any(name.endswith(": show larger") for name in names)
    await person.until(lambda: card.says("this result is text only"), "what is sent instead")
    person.session.change(protocol="messages")
    await person.until(lambda: not card.says("this result is text only"), "pictures to be sent")

    card = await add_call(person, "play_tone", {"hertz": 440})
    await card.call_server()
    path = tmp_path / "tone.wav"
    await card.press("Save the audio")
    await name_file(person, path)
    await person.until(path.exists, "the file")
    draft = person.session.debugger.notes.draft(person.path[-1].id, "call_1")
    assert draft is not None
    assert draft.served is not None
    data = next(block.data for block in draft.served.blocks if block.kind == "audio")
    assert path.read_bytes() == base64.b64decode(data)

    card = await add_call(person, "clock", {})
    assert card.call_server_button.isEnabled()
    servers = person.app.workspace.tool_servers
    added = servers.book.add(ToolServer(id="mine", name="mine", command="nothing-of-that-name"))
    tool = person.session.settings.tools[0].model_copy(update={"server": added.name})
    person.session.change(tools=(tool,))
    await person.do(partial(servers.book.remove, added.id))
    await person.until(lambda: not card.call_server_button.isEnabled(), "the refusal")
    assert "mine" in card.call_server_button.toolTip()


@flow()
async def test_form_of_server_is_filled_in_declined_cancelled_and_gone_with_its_server(person: Person) -> None:
    await person.click(person.message)
    task = await call_server(person, "book_table", {"restaurant": "Blue <b>Door</b>"})
    bar = await ServerRequestBar.wait(person)
    assert "Blue <b>Door</b>" in bar.text
    await person.keys("still typing")
    await person.until(lambda: person.message.toPlainText() == "still typing", "the typed text")
    await open_request(person)
    form = await ServerFormDialog.wait(person)
    await form.press("Send")
    await person.until(lambda: form.problem(NAME), "the problem of the name")
    assert not task.done()
    for field, text in ((NAME, "Ada"), (EMAIL, "nowhere"), (GUESTS, "20")):
        await form.type_into(field, text)
    await form.press("Send")
    await person.until(lambda: "e-mail" in form.problem(EMAIL), "what is wrong with the address")
    await form.type_into(EMAIL, "")
    await person.until(lambda: "12" in form.problem(GUESTS), "that there are too many guests")
    await form.type_into(GUESTS, "3")
    await form.press("Send")
    content = json.loads(text_of(await task).partition(": ")[2])
    assert content == {"name": "Ada", "guests": 3, "day": "saturday", "window": True}
    await person.until(lambda: not bar.visible, "the line to be gone")

    for button, word in (("Decline", "decline"), ("Cancel", "cancel")):
        task = await call_server(person, "book_table", {"restaurant": "Here"})
        await open_request(person)
        form = await ServerFormDialog.wait(person)
        await person.key(Qt.Key.Key_Escape)
        await form.press(button)
        assert f"chose to {word}" in text_of(await task)
    task = await call_server(person, "book_table", {"restaurant": "Here"})
    await open_request(person)
    await ServerFormDialog.wait(person)
    await person.app.workspace.tool_servers.stop("demo")
    await asyncio.wait([task])
    assert task.exception() is not None
    await person.until(
        lambda: not ServerFormDialog.count(person) and not ServerRequestBar.count(person), "all of it gone"
    )


@flow()
async def test_model_is_asked_for_server_only_after_person_agrees(person: Person) -> None:
    task = await call_server(person, "sum_up_notes", {"words": 20})
    await open_request(person)
    dialog = await ModelRequestDialog.wait(person)
    await dialog.press("Refuse")
    answer = await task
    assert answer.is_error
    assert "refused" in text_of(answer)
    assert not person.posts
    assert not person.app.workspace.tool_servers.asks
    await person.until(lambda: not ServerRequestBar.count(person), "the line to be gone")

    person.session.change(model="demo-chat")
    task = await call_server(person, "sum_up_notes", {"words": 20})
    await person.do(lambda: person.app.window.resize(960, 600))
    await open_request(person)
    dialog = await ModelRequestDialog.wait(person)
    for label in ("Ask model", "Refuse", "Send to the server"):
        button = dialog.get(QPushButton, label)
        assert button.visibleRegion().boundingRect() == button.rect(), f"{label} is in view without scrolling"
    assert dialog.text("System prompt") == "You sum up notes. You say nothing else."
    assert dialog.text("Max tokens") == "400"
    assert not person.posts, "no model was asked yet"
    assert not dialog.can_send
    await dialog.set_text("System prompt", "Be brief.")
    await dialog.set_text("Max tokens", "many")
    await dialog.press("Ask model")
    await person.until(lambda: "whole number" in dialog.problem, "the problem")
    await dialog.set_text("Max tokens", "50")
    await dialog.press("Ask model")
    await person.until(lambda: dialog.can_send, "the answer")
    body = person.body()
    assert body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert 50 in (body.get("max_tokens"), body.get("max_completion_tokens"))
    assert body["temperature"] == 0.2
    assert not task.done(), "the server has nothing yet"
    await dialog.set_text("Answer for the server", "An edited sum.")
    await dialog.press("Save as experiment")
    await dialog.press("Send to the server")
    text = text_of(await task)
    assert "An edited sum." in text
    assert BY_HAND not in text
    await person.until(lambda: person.path and person.path[0].text == "Be brief.", "the experiment")
    await person.until(lambda: not ServerRequestBar.count(person), "no request")
