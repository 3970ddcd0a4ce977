"""Text in an open editor counts: it is sent as it is on the screen, and is restored after a kill."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QPushButton

from playground.app import store_path
from playground.domain.transcript import Role, make_turn
from playground.engine.session.session import Session
from tests.flows.conftest import Person, Stage, flow
from tests.flows.pages.experiments import ExperimentList, wait_for_store, wait_for_turns
from tests.flows.pages.inspector import RequestPage
from tests.flows.test_debugger import calls_sent, pause

OSLO = '{"city": "Oslo", "unit": "celsius"}'
CONTROL = Qt.KeyboardModifier.ControlModifier
TURN, ARGUMENTS = "Edit the user message", "Arguments of the call"


def in_file(text: str) -> bool:
    """Return whether the file of the store has this text in a draft, while the application runs."""
    with closing(sqlite3.connect(f"file:{store_path()}?mode=ro", uri=True)) as file:
        return any(text in row for (row,) in file.execute("SELECT json FROM drafts"))


async def edit(person: Person, number: int, text: str) -> None:
    """Open the editor of a message and type into it."""
    await person.type_into(await (await person.conversation.wait_for_message(number)).edit(), text)


async def leave_and_return(person: Person) -> Session:
    """Open another experiment, and then the first again."""
    session = person.session
    await person.do(person.app.workspace.new)
    await person.until(lambda: person.session is not session and not editors(person), "another experiment")
    await person.do(lambda: person.app.workspace.open(session.id))
    await person.until(lambda: person.session is session, "the first again")
    return session


def editors(person: Person) -> list[QPlainTextEdit]:
    """The open editors of messages and arguments."""
    return [*person.conversation.find(QPlainTextEdit, "Edit the"), *person.conversation.find(QPlainTextEdit, ARGUMENTS)]


@flow()
async def test_result_is_sent_with_the_arguments_on_the_screen(person: Person) -> None:
    (call,) = await pause(person, "!broken=1 The weather in Lisbon")
    sent = person.path[1].calls[0].arguments
    await person.type_into(await call.edit_arguments(), OSLO)
    await call.send_result("sunny")
    await person.idle(4)
    assert calls_sent(person.body(), "chat") == [json.loads(OSLO)]
    assert person.path[1].calls[0].received == sent
    assert editors(person) == []
    await person.do(person.conversation.messages.widget.setFocus)
    for _ in range(3):  # the answer of the model stays; the result and the edit are undone one by one
        await person.key(Qt.Key.Key_Z, CONTROL)
    await person.until(lambda: person.path[1].calls[0].arguments == sent, "the arguments as sent")


@flow()
async def test_run_sends_the_texts_on_the_screen_without_those_given_up(person: Person) -> None:
    await person.use_model("demo-chat")
    for text in ("one", "two", "three"):
        person.session.turns.add_turn(make_turn(Role.USER, text))
    request = RequestPage(person)
    await edit(person, 0, "eins")
    await edit(person, 1, "zwei")
    await edit(person, 2, "drei")
    assert len(editors(person)) == 3
    await person.until(lambda: '"drei"' in request.next_text, "the edit in the next request")
    assert person.path[2].text == "three"
    await person.key(Qt.Key.Key_Escape)
    await person.until(lambda: len(editors(person)) == 2, "the third to close")
    await person.until(lambda: '"three"' in request.next_text, "the text before the edit in the next request")
    await person.type_into(person.message, "four")
    await person.key(Qt.Key.Key_Return, CONTROL)
    await person.idle(5)
    expected = ["eins", "zwei", "three", "four"]
    assert [message["content"] for message in person.body()["messages"]] == expected
    assert [turn.text for turn in person.path[:4]] == expected
    assert editors(person) == []


@flow()
async def test_discarded_edit_comes_back_by_undo(person: Person) -> None:
    person.session.turns.add_turn(make_turn(Role.USER, "one"))
    await edit(person, 0, "eins")
    await person.key(Qt.Key.Key_Escape)
    await person.until(lambda: editors(person) == [], "the editor to close")
    await person.conversation.notice.wait_for_text("Edit discarded.")
    await person.conversation.notice.press("Undo")
    await person.until(lambda: len(editors(person)) == 1, "the editor again")
    assert editors(person)[0].toPlainText() == "eins"
    assert editors(person)[0].hasFocus()
    assert person.path[0].text == "one"

    # An editor in which nothing was changed closes without a word
    await person.type_into(editors(person)[0], "one")
    await person.key(Qt.Key.Key_Escape)
    await person.until(lambda: editors(person) == [], "the editor to close")
    assert not person.conversation.notice.visible


def test_open_editors_survive_another_experiment_and_the_end(stage: Stage) -> None:
    async def write(person: Person) -> None:
        await wait_for_store(person)
        first, second = await pause(person, "!calls=2 The weather in Lisbon and Oslo")
        message = person.conversation.message(1)
        await person.type_into(await first.edit_arguments(), '{"city": "Fa')
        await second.choose("Edit name, id and arguments…")
        form = await message.wait_for_call_form()
        await person.type_into(form.id, "mine")
        await message.choose("Add a tool call…")
        await person.until(lambda: len(message.call_forms) == 2, "one more call")
        await edit(person, 0, "half a thou")
        await leave_and_return(person)
        await find_all(person)
        await person.until(lambda: in_file("half a thou"), "the edit in the file")

    async def find_all(person: Person) -> None:
        messages = person.conversation
        await person.until(lambda: len(person.path) == 2, "the messages")
        field = await (await messages.wait_for_message(0)).wait_for(QPlainTextEdit, TURN)
        assert field.toPlainText() == "half a thou"
        message = await messages.wait_for_message(1)
        await person.until(lambda: [form.id.text() for form in message.call_forms] == ["mine", ""], "both forms")
        (first,) = message.calls  # a form is in the place of the second
        assert (await first.wait_for(QPlainTextEdit, ARGUMENTS)).toPlainText() == '{"city": "Fa'

    async def go_on(person: Person) -> None:
        await wait_for_turns(person, 2)
        await find_all(person)
        message = person.conversation.message(1)
        (first,) = message.calls
        await person.type_into(first.get(QPlainTextEdit, ARGUMENTS), OSLO)
        keep = [button for button in message.find(QPushButton, "Save") if not first.widget.isAncestorOf(button)]
        await person.click(keep[0])
        await person.until(lambda: person.path[1].calls[1].id == "mine", "the call to be saved")

    stage.play(write)
    stage.play(go_on)


def test_body_edited_by_hand_survives_the_end_but_a_key_in_it_is_not_written(stage: Stage) -> None:
    key = "sk-looks-like-one-0123456789"

    async def write(person: Person) -> None:
        await wait_for_store(person)
        person.session.turns.add_turn(make_turn(Role.USER, "one"))
        request = RequestPage(person)
        await person.until(lambda: '"one"' in request.next_text, "the message in the next request")
        text = request.next_text
        await request.edit_next(text.replace('"one"', '"half a bo'))
        await person.until(lambda: in_file("half a bo"), "the edit in the file")
        await request.edit_next(text.replace('"one"', f'"{key}", "half a body'))
        await person.until(lambda: not in_file("half a bo"), "no edit with a key in the file")
        await request.edit_next(text.replace('"one"', '"half a body'))
        await leave_and_return(person)
        await person.until(lambda: '"half a body' in request.next_text, "the edit again")

    async def go_on(person: Person) -> None:
        await wait_for_turns(person, 1)
        request = RequestPage(person)
        await person.until(lambda: '"half a body' in request.next_text, "the edit again")
        await request.press("Discard")
        await person.until(lambda: '"one"' in request.next_text, "the body before the edit")
        await person.until(lambda: not in_file("half a body"), "no edit in the file")

    stage.play(write)
    stage.play(go_on)


def test_title_being_typed_survives_a_kill_and_is_given_up_by_escape(stage: Stage, tmp_path: Path) -> None:
    as_killed = tmp_path / "as it was"

    async def type_title(person: Person, text: str, *keys: Qt.Key) -> QLineEdit:
        field = await person.seen(QLineEdit, "Title of the experiment")
        await person.do(partial(QTest.keyClicks, field, text))
        for key in keys:
            await person.do(partial(QTest.keyClick, field, key))
        return field

    async def write(person: Person) -> None:
        await wait_for_store(person)
        person.session.turns.add_turn(make_turn(Role.USER, "one"))
        await ExperimentList(person).wait_for_titles("one")
        await person.key(Qt.Key.Key_F2)
        await type_title(person, "A title half ty")
        await person.until(lambda: in_file("A title half ty"), "the title in the file")
        assert person.session.settings.title == ""
        with closing(sqlite3.connect(store_path())) as file, closing(sqlite3.connect(as_killed)) as copy, copy:
            file.backup(copy)

    async def reopen(person: Person) -> None:
        await wait_for_turns(person, 1)
        if not ExperimentList(person).visible:  # a title waits until its list is in view
            await person.trigger("view.experiments")
        field = await person.seen(QLineEdit, "Title of the experiment")
        assert field.text() == "A title half ty"
        await type_title(person, "ped", Qt.Key.Key_Return)
        await person.until(lambda: person.session.settings.title == "A title half typed", "the title")
        await person.until(lambda: not person.session.editors.open, "no open editor")
        await person.key(Qt.Key.Key_F2)
        await type_title(person, "Another")
        assert person.session.editors.open
        await type_title(person, "", Qt.Key.Key_Escape)
        await person.until(lambda: not person.session.editors.open, "the edit given up")
        assert person.session.settings.title == "A title half typed"

    stage.play(write)
    for store_file in store_path().parent.glob(f"{store_path().name}*"):
        if store_file.is_file():
            store_file.unlink()
    store_path().write_bytes(as_killed.read_bytes())
    stage.play(reopen)
