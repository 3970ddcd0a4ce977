"""Text in an open editor counts: what is on the screen is what is sent, and it is there again whatever happens."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QPlainTextEdit, QToolButton

from playground.app import store_path
from playground.domain.transcript import Role, make_turn
from playground.engine.session.draft import Draft
from playground.ui.features.conversation.calls.call_form import CallForm
from playground.ui.features.conversation.inline_editor import InlineEditor
from playground.ui.features.inspector.next_request import NextRequest
from playground.ui.features.inspector.views import RequestView
from playground.ui.shell.features import TOOLS
from tests.flows.conftest import Person, Stage
from tests.flows.test_debugger import calls_of, calls_sent, ready
from tests.flows.test_store import back, opened, titles

OSLO = '{"city": "Oslo", "unit": "celsius"}'
CONTROL = Qt.KeyboardModifier.ControlModifier
TURN, ARGUMENTS, RESULT = "Edit the user turn", "Arguments of the call", "Result of the call"


async def open_editor(person: Person, at: int, text: str) -> None:
    await person.press("Edit this turn", person.card(at))
    await person.type_into(await person.seen(QPlainTextEdit, TURN, person.card(at)), text)


def test_send_result_sends_the_arguments_on_the_screen(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        await person.run("!broken=1 The weather in Lisbon")
        (call,) = await calls_of(person)
        sent = call.call.arguments
        await person.press("Edit the arguments", call)
        await person.type_into(await person.seen(QPlainTextEdit, ARGUMENTS, call), OSLO)
        await person.type_into(await person.seen(QPlainTextEdit, RESULT, call), "sunny")
        await person.press("Send result", call)
        await person.idle(4)
        assert calls_sent(person.body(), "chat") == [json.loads(OSLO)]
        assert person.path[1].calls[0].received == sent
        assert person.find(InlineEditor) == []
        await person.do(person.pane.view.setFocus)
        for _ in range(3):  # the answer of the model stays; the result and the edit are taken back one by one
            await person.key(Qt.Key.Key_Z, CONTROL)
        await person.until(lambda: person.path[1].calls[0].arguments == sent, "the edit to be one of its own")

    stage.play(scene)


def test_run_sends_the_texts_on_the_screen_and_escape_forgets(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await person.use_model("demo-chat")
        for text in ("one", "two", "three"):
            person.session.turns.add_turn(make_turn(Role.USER, text))
        await open_editor(person, 0, "eins")
        await open_editor(person, 1, "zwei")
        await open_editor(person, 2, "drei")
        assert len(person.find(QPlainTextEdit, TURN)) == 3, "each stays open beside the others"
        await person.key(Qt.Key.Key_Escape)
        await person.until(lambda: len(person.find(QPlainTextEdit, TURN)) == 2, "the third to close")
        await person.type_into(person.message, "four")
        await person.key(Qt.Key.Key_Return, CONTROL)
        await person.idle(5)
        assert [m["content"] for m in person.body()["messages"]] == ["eins", "zwei", "three", "four"]
        assert [turn.text for turn in person.path[:4]] == ["eins", "zwei", "three", "four"]
        assert person.find(InlineEditor) == []

    stage.play(scene)


def test_another_experiment_and_back_scrolling_and_the_end_of_the_application_keep_what_is_open(stage: Stage) -> None:
    async def write(person: Person) -> None:
        await opened(person)
        await ready(person)
        await person.run("!calls=2 The weather in Lisbon and Oslo")
        first, second = await calls_of(person)
        await person.press("Edit the arguments", first)
        await person.type_into(await person.seen(QPlainTextEdit, ARGUMENTS, first), '{"city": "Fa')
        await person.choose(second.more, "Edit its name, id and arguments…")
        form = await person.seen(CallForm, inside=person.card(1))
        await person.type_into(form.id, "mine")
        await person.choose(await person.seen(QToolButton, "More for this turn", person.card(1)), "Add a tool call…")
        await person.until(lambda: len(person.find(CallForm, inside=person.card(1))) == 2, "one more call")
        await open_editor(person, 0, "half a thou")
        there = person.session
        await person.do(person.app.workspace.new)
        await person.until(lambda: person.session is not there and not person.find(InlineEditor), "another one")
        await person.do(lambda: person.app.workspace.open(there.id))
        await person.until(lambda: person.session is there, "the first again")
        await everything(person)

        def stored() -> bool:
            with closing(sqlite3.connect(f"file:{store_path()}?mode=ro", uri=True)) as file:
                return any("half a thou" in text for (text,) in file.execute("SELECT json FROM drafts"))

        await person.until(stored, "it to be in the file, while nothing was closed")

    async def everything(person: Person) -> None:
        await person.until(lambda: len(person.path) == 2 and len(person.card(1).calls) == 2, "the calls")
        field = await person.seen(QPlainTextEdit, TURN, person.card(0))
        assert field.toPlainText() == "half a thou"
        first, second = person.card(1).calls
        assert (await person.seen(QPlainTextEdit, ARGUMENTS, first)).toPlainText() == '{"city": "Fa'
        assert not second.isVisible()
        assert [form.id.text() for form in person.find(CallForm, inside=person.card(1))] == ["mine", ""]

    async def go_on(person: Person) -> None:
        await back(person, 2)
        await everything(person)
        first, _ = person.card(1).calls
        await person.type_into(await person.seen(QPlainTextEdit, ARGUMENTS, first), OSLO)
        for button in person.find(QAbstractButton, "Keep", person.card(1)):
            if button.isVisible() and not first.isAncestorOf(button):
                await person.click(button)
                break
        await person.until(lambda: person.path[1].calls[1].id == "mine", "the call to be kept")

    stage.play(write)
    stage.play(go_on)


def test_a_body_edited_by_hand_is_there_after_a_kill_and_a_key_in_it_is_in_no_file(stage: Stage) -> None:
    key = "sk-looks-like-one-0123456789"

    def request(person: Person) -> NextRequest:
        return next(view for view in person.app.window.inspector.views if isinstance(view, RequestView)).next

    def stored(words: str) -> bool:
        with closing(sqlite3.connect(f"file:{store_path()}?mode=ro", uri=True)) as file:
            return any(words in text for (text,) in file.execute("SELECT json FROM drafts"))

    async def write(person: Person) -> None:
        await opened(person)
        person.session.turns.add_turn(make_turn(Role.USER, "one"))
        page = request(person)
        await person.until(lambda: '"one"' in page.editor.text(), "the turn in the next request")
        text = page.editor.text()
        await person.do(lambda: page.editor.setPlainText(text.replace('"one"', '"half a bo')))
        await person.until(lambda: stored("half a bo"), "it to be in the file, while nothing was closed")
        await person.do(lambda: page.editor.setPlainText(text.replace('"one"', f'"{key}", "half a body')))
        await person.until(lambda: not stored("half a bo"), "what holds a key to be in no file")
        await person.do(lambda: page.editor.setPlainText(text.replace('"one"', '"half a body')))
        there = person.session
        await person.do(person.app.workspace.new)
        await person.until(lambda: person.session is not there and "half a" not in page.editor.text(), "another one")
        await person.do(lambda: person.app.workspace.open(there.id))
        await person.until(lambda: '"half a body' in page.editor.text(), "the first again")

    async def go_on(person: Person) -> None:
        await back(person, 1)
        page = request(person)
        await person.until(lambda: '"half a body' in page.editor.text(), "what was typed")
        assert page.editor.pending
        await person.do(page.discard)
        await person.until(lambda: '"one"' in page.editor.text(), "what the panels say")
        await person.until(lambda: not stored("half a body"), "it to be gone from the file")

    stage.play(write)
    stage.play(go_on)


def test_the_next_request_is_shown_with_it_before_anything_is_kept(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        person.session.turns.add_turn(make_turn(Role.USER, "one"))
        tab = next(view for view in person.app.window.inspector.views if isinstance(view, RequestView))
        await person.until(lambda: '"one"' in tab.next.editor.text(), "the turn in the next request")
        await open_editor(person, 0, "eins")
        await person.until(lambda: '"eins"' in tab.next.editor.text(), "what is typed in the next request")
        assert person.path[0].text == "one"
        await person.key(Qt.Key.Key_Escape)
        await person.until(lambda: '"one"' in tab.next.editor.text(), "what is there in the next request")

    stage.play(scene)


def test_a_title_being_typed_outlives_a_kill_and_is_forgotten_by_escape(stage: Stage, tmp_path: Path) -> None:
    as_killed = tmp_path / "as it was"

    def stored(words: str) -> bool:
        with closing(sqlite3.connect(f"file:{store_path()}?mode=ro", uri=True)) as file:
            return any(words in text for (text,) in file.execute("SELECT json FROM drafts"))

    async def field(person: Person) -> QLineEdit:
        return await person.seen(QLineEdit, "Title of the experiment")

    async def write(person: Person) -> None:
        await opened(person)
        person.session.turns.add_turn(make_turn(Role.USER, "one"))
        await person.until(lambda: titles(person) == ["one"], "it in the list")
        await person.key(Qt.Key.Key_F2)
        typed = await field(person)
        await person.do(lambda: QTest.keyClicks(typed, "A title half ty"))
        await person.until(lambda: stored("A title half ty"), "it to be in the file, while nothing was closed")
        assert person.session.settings.title == ""
        with closing(sqlite3.connect(store_path())) as file, closing(sqlite3.connect(as_killed)) as copy, copy:
            file.backup(copy)

    async def reopen(person: Person) -> None:
        await back(person, 1)
        if not person.app.window.left_dock.isVisible():  # a title waits until its list is seen
            await person.do(person.app.window.left_dock.show)
        typed = await field(person)
        assert typed.text() == "A title half ty"
        await person.do(lambda: QTest.keyClicks(typed, "ped"))
        await person.do(lambda: QTest.keyClick(typed, Qt.Key.Key_Return))
        await person.until(lambda: person.session.settings.title == "A title half typed", "the title")
        await person.until(lambda: not person.session.editors.open, "nothing to be left open")
        await person.key(Qt.Key.Key_F2)
        typed = await field(person)
        await person.do(lambda: QTest.keyClicks(typed, "Another"))
        assert person.session.editors.open
        await person.do(lambda: QTest.keyClick(typed, Qt.Key.Key_Escape))
        await person.until(lambda: not person.session.editors.open, "what was typed to be forgotten")
        assert person.session.settings.title == "A title half typed"

    stage.play(write)
    for left in store_path().parent.glob(f"{store_path().name}*"):
        if left.is_file():
            left.unlink()
    store_path().write_bytes(as_killed.read_bytes())
    stage.play(reopen)


def test_names_and_values_are_in_the_store_as_they_are_typed(stage: Stage) -> None:
    """The name of a tool and the value of a variable need no editor that is kept: each key is a change."""

    def stored(words: str) -> bool:
        with closing(sqlite3.connect(f"file:{store_path()}?mode=ro", uri=True)) as file:
            return any(words in text for (text,) in file.execute("SELECT json FROM settings"))

    async def scene(person: Person) -> None:
        await opened(person)
        await ready(person)
        await person.do(lambda: person.session.with_draft(Draft(text="Weather in {{city}}?")))
        value = await person.seen(QPlainTextEdit, "Value of city")
        await person.do(value.setFocus)
        await person.do(lambda: QTest.keyClicks(value, "Half a ci"))
        await person.until(lambda: stored("Half a ci"), "the value in the file, while it is typed")
        await person.do(person.app.actions.of(TOOLS).show)
        name = await person.seen(QLineEdit, "Tool name")
        await person.do(name.setFocus)
        await person.do(name.selectAll)
        await person.do(lambda: QTest.keyClicks(name, "half_a_na"))
        await person.until(lambda: stored("half_a_na"), "the name in the file, while it is typed")
        assert name.hasFocus()

    stage.play(scene)
