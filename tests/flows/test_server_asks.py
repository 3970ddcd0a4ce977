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
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QPushButton

from playground.domain.parts import ToolCall, ToolResult
from playground.domain.tool_servers import ServerAnswer, TextBlock, ToolServer
from playground.domain.transcript import Ending, Outcome, Role, Turn, make_turn, new_id
from playground.engine.session.serving import Ticket
from playground.engine.tool_servers.model_asked import BY_HAND
from playground.engine.tool_servers.naming import definition_of
from playground.jsonkit.values import JSONObject
from playground.ui.features.conversation.calls.call_card import CallCard
from playground.ui.features.conversation.calls.served_view import ServedView
from playground.ui.features.conversation.image_view import Thumb
from playground.ui.features.server_asks.bar import AsksBar
from playground.ui.features.server_asks.elicitation_dialog import ElicitationDialog
from playground.ui.features.server_asks.form import AskForm
from playground.ui.features.server_asks.sampling_dialog import SamplingDialog
from playground.ui.shell.features import SERVER_ASKS
from tests.flows.conftest import Person, Stage


async def calling(person: Person, tool: str, arguments: JSONObject) -> CallCard:
    """The card of a call that waits, of a tool of the demo's own server."""
    servers = person.app.workspace.tool_servers
    live = await servers.start("demo")
    servers.book.accept("demo", live.tools)
    found = next(one for one in live.tools if one.name == tool)
    person.session.change(tools=(definition_of(live.server, found, tool),), model="demo-tools")
    call = ToolCall(id="call_1", name=tool, arguments=json.dumps(arguments))
    done = Outcome(ending=Ending.COMPLETE, model="demo-tools", finish_reason="tool_calls")
    person.session.turns.add_turn(make_turn(Role.USER, "Do it."))
    person.session.turns.add_turn(Turn(id=new_id(), role=Role.ASSISTANT, parts=(call,), outcome=done))
    return await person.seen(CallCard)


def served_of(card: CallCard) -> ServedView:
    """What a card shows of a server's answer."""
    assert card.server is not None
    return card.server.served


async def asked(person: Person, card: CallCard) -> None:
    """Ask the server with the card's button, and wait for what it answers."""
    assert card.field is not None
    await person.click(card.field.ask_button)
    await person.until(lambda: card.server is not None and served_of(card).isVisible(), "what the server answers")


async def called(person: Person, tool: str, arguments: JSONObject) -> asyncio.Task[ServerAnswer]:
    """A call that the demo's server works at."""
    servers = person.app.workspace.tool_servers
    await servers.start("demo")
    task = asyncio.get_running_loop().create_task(servers.call("demo", tool, arguments, Ticket()))
    await person.seen(AsksBar)
    return task


def posts(person: Person) -> int:
    """How many requests a model was asked with."""
    return sum(request.method == "POST" for request in person.server.requests)


def text_of(answer: ServerAnswer) -> str:
    (block,) = answer.blocks
    assert isinstance(block, TextBlock)
    return block.text


def test_a_call_is_asked_seen_edited_and_sent(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        card = await calling(person, "count_slowly", {"to": 4, "pause": 0.3})
        assert card.field is not None
        await person.click(card.field.field)
        both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        await person.key(Qt.Key.Key_Return, both)
        await person.until(
            lambda: card.server is not None and "of 4" in card.server.asked.words.text(), "how far it is"
        )
        assert card.server is not None
        assert card.server.asked.bar.maximum() > 0
        await person.until(lambda: card.server is not None and served_of(card).isVisible(), "what the server answers")
        assert card.server.asked.isHidden()
        came = card.field.text
        assert came
        assert not posts(person), "nothing was sent"
        await person.type_into(card.field.field, "I counted myself.")
        await person.until(lambda: "changed since" in served_of(card).source.text(), "that it was changed")
        await person.click(card.server.served.restore)
        await person.until(lambda: card.field is not None and card.field.text == came, "what came")
        await person.click(card.field.send_button)
        await person.idle(4)
        result = person.path[2].parts[0]
        assert isinstance(result, ToolResult)
        assert (result.by, result.text) == ("server", came)
        assert result.served is not None
        assert person.body()["messages"][-1] == {"role": "tool", "tool_call_id": "call_1", "content": came}
        await person.until(lambda: "Answered by the server" in served_of(card).source.text(), "whose answer it was")

    stage.play(scene)


def test_what_is_asked_can_be_called_off(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        card = await calling(person, "count_slowly", {"to": 1000, "pause": 1})
        assert card.field is not None
        await person.click(card.field.ask_button)
        await person.until(lambda: card.server is not None and card.server.asked.isVisible(), "the call to be asked")
        await person.press("Cancel asking the server", card)
        await person.until(lambda: card.server is not None and card.server.asked.isHidden(), "it to be called off")
        assert "ancelled" in card._why.text()
        assert not posts(person)

    stage.play(scene)


def test_a_picture_is_drawn_and_goes_along_where_it_can(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        card = await calling(person, "draw_chart", {"values": [1, 2, 3]})
        await asked(person, card)
        assert card.server is not None
        thumb = await person.seen(Thumb, "", card)
        await person.until(lambda: thumb.loaded, "the picture")
        assert "this result is text only" in card.server.served.fate.text()
        person.session.change(protocol="messages")
        await person.until(lambda: served_of(card).fate.isHidden(), "pictures to go along")

    stage.play(scene)


def test_sound_is_saved(stage: Stage, tmp_path: Path) -> None:
    async def scene(person: Person) -> None:
        card = await calling(person, "play_tone", {"hertz": 440})
        await asked(person, card)
        place = tmp_path / "tone.wav"
        await person.press("Save the sound", card)
        await person.until(lambda: isinstance(QApplication.activeModalWidget(), QFileDialog), "the file dialog")
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, QFileDialog)
        await person.do(partial(dialog.selectFile, str(place)))
        line = dialog.findChild(QLineEdit)
        assert line is not None
        await person.do(partial(line.setText, str(place)))
        await person.press("Save", dialog)
        await person.until(place.exists, "the file")
        draft = person.session.debugger.notes.draft(person.path[-1].id, "call_1")
        assert draft is not None
        assert draft.served is not None
        data = next(block.data for block in draft.served.blocks if block.kind == "audio")
        assert place.read_bytes() == base64.b64decode(data)

    stage.play(scene)


def test_a_form_waits_until_somebody_fills_it_in(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await person.click(person.message)
        task = await called(person, "book_table", {"restaurant": "Blue <b>Door</b>"})
        bar = person.one(AsksBar)
        assert "Blue <b>Door</b>" in bar.words.text()
        await person.keys("still typing")
        assert person.message.toPlainText() == "still typing", "the keys were not taken away"
        await person.press("Answer…", bar)
        dialog = await person.seen(ElicitationDialog)
        form = dialog.form
        assert isinstance(form, AskForm)
        rows = {row.field.name: row for row in form.rows}
        await person.click(dialog.accept_button)
        assert rows["name"].problem.isVisible()
        assert not task.done()
        for name, text in (("name", "Ada"), ("email", "nowhere"), ("guests", "20")):
            line = rows[name].line
            assert isinstance(line, QLineEdit)
            await person.do(line.selectAll)
            await person.do(partial(QTest.keyClicks, line, text))
        await person.click(dialog.accept_button)
        await person.until(lambda: "e-mail" in rows["email"].problem.text(), "what is wrong with the address")
        email, guests = rows["email"].line, rows["guests"].line
        assert isinstance(email, QLineEdit)
        assert isinstance(guests, QLineEdit)
        await person.do(email.clear)
        await person.do(partial(email.textEdited.emit, ""))
        await person.until(lambda: "12" in rows["guests"].problem.text(), "that there are too many guests")
        await person.do(guests.clear)
        await person.do(partial(QTest.keyClicks, guests, "3"))
        await person.click(dialog.accept_button)
        said = text_of(await task)
        told = json.loads(said.partition(": ")[2])
        assert told == {"name": "Ada", "guests": 3, "day": "saturday", "window": True}
        await person.until(lambda: not bar.isVisible(), "the line to be gone")

    stage.play(scene)


def test_a_form_can_be_declined_put_aside_and_is_gone_with_its_server(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        for name, word in (("Decline", "decline"), ("Cancel", "cancel")):
            task = await called(person, "book_table", {"restaurant": "Here"})
            await person.press("Answer…", person.one(AsksBar))
            dialog = await person.seen(ElicitationDialog)
            await person.key(Qt.Key.Key_Escape)
            await person.press(name, dialog)
            assert f"chose to {word}" in text_of(await task)
        task = await called(person, "book_table", {"restaurant": "Here"})
        await person.press("Answer…", person.one(AsksBar))
        await person.seen(ElicitationDialog)
        await person.app.workspace.tool_servers.stop("demo")
        await asyncio.wait([task])
        assert task.exception() is not None
        await person.until(lambda: not person.find(ElicitationDialog) and not person.find(AsksBar), "all of it gone")

    stage.play(scene)


def test_a_model_is_asked_only_when_a_person_says_so(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        person.session.change(model="demo-chat")
        task = await called(person, "sum_up_notes", {"words": 20})
        await person.press("Answer…", person.one(AsksBar))
        dialog = await person.seen(SamplingDialog)
        assert dialog.system.text() == "You sum up notes. You say nothing else."
        assert dialog.limit.text() == "400"
        assert not posts(person), "nobody was asked yet"
        assert not dialog.send_button.isEnabled()
        await person.do(partial(dialog.system.set_text, "Be brief."))
        await person.do(partial(dialog.limit.setText, "many"))
        await person.click(dialog.ask_button)
        assert "whole number" in dialog.wrong.text()
        await person.do(partial(dialog.limit.setText, "50"))
        await person.click(dialog.ask_button)
        await person.until(dialog.send_button.isEnabled, "the answer")
        body = person.body()
        assert body["messages"][0] == {"role": "system", "content": "Be brief."}
        assert 50 in (body.get("max_tokens"), body.get("max_completion_tokens"))
        assert body["temperature"] == 0.2
        assert not task.done(), "the server has nothing yet"
        answer = dialog.answer.text()
        await person.do(partial(dialog.answer.set_text, f"{answer} Edited."))
        await person.click(dialog.keep_button)
        await person.click(dialog.send_button)
        said = text_of(await task)
        assert "Edited." in said
        assert BY_HAND not in said
        assert person.session.transcript.path[0].text == "Be brief.", "it is an experiment now"
        assert not person.find(AsksBar)

    stage.play(scene)


def test_a_model_is_not_asked_where_a_person_refuses(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        task = await called(person, "sum_up_notes", {"words": 20})
        await person.press("Answer…", person.one(AsksBar))
        dialog = await person.seen(SamplingDialog)
        await person.click(dialog.refuse_button)
        answer = await task
        assert answer.is_error
        assert "refused" in text_of(answer)
        assert not posts(person)
        assert person.app.actions.of(SERVER_ASKS).waiting == ()
        assert not person.find(QPushButton, "Answer…")

    stage.play(scene)


def test_a_server_that_is_no_longer_there_cannot_be_asked_and_says_so(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        card = await calling(person, "clock", {})
        assert card.field is not None
        assert card.field.ask_button.isEnabled()
        servers = person.app.workspace.tool_servers
        added = servers.book.add(ToolServer(id="mine", name="mine", command="nothing-of-that-name"))
        tool = person.session.settings.tools[0].model_copy(update={"server": added.name})
        person.session.change(tools=(tool,))
        await person.do(partial(servers.book.remove, added.id))
        await person.until(lambda: card.field is not None and not card.field.ask_button.isEnabled(), "the refusal")
        assert "mine" in card.field.ask_button.toolTip()

    stage.play(scene)
