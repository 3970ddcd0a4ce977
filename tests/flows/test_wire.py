"""What went over the wire, in the real window: frames and text lead to each other, cassettes replay."""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QMenu, QPushButton

from playground.demo.server import DemoConfig
from playground.engine.cassette import open_file
from playground.ui.conversation.calls.call_menu import CallMenu
from playground.ui.conversation.text_view import TextView
from playground.ui.conversation.turn_header import TurnHeader
from playground.ui.inspector.compare_window import CompareWindow
from playground.ui.inspector.timeline.page import TimelinePage
from playground.ui.inspector.wire_views import DiffView, LintView, TimelineView
from tests.flows.conftest import PACE, Person, Stage, click_at

CALLING = DemoConfig(tokens_per_second=0, time_to_first_token=0, rate_limit=1_000_000)


def page_of(person: Person) -> TimelinePage:
    return person.app.window.inspector.view(TimelineView).page


async def use(person: Person, model: str) -> None:
    """Type a model's id, once those that there are have been listed: that sets the field, too."""
    await person.until(lambda: person.app.window.bar.model.ids, "the models")
    await person.use_model(model)


async def sample(person: Person) -> None:
    """The sample experiment, up to its calls."""
    await person.do(person.app.window.action("experiment.sample").trigger)
    await person.key(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    await person.until(lambda: len(person.session.transcript.unanswered()) > 1, "calls that wait")


def test_the_exact_frame_that_carried_a_call(stage: Stage) -> None:
    async def play(person: Person) -> None:
        await sample(person)
        turn = person.path[-1]
        second = turn.calls[1]
        card = person.card(len(person.path) - 1).calls[1]
        (more,) = person.find(CallMenu, "More for this call", card)
        await person.reveal(more)
        await person.choose(more, "Show the frame that carried it")
        page = page_of(person)
        await person.until(lambda: page.isVisible() and page.table.chosen, "the frame")
        (number,) = page.table.chosen
        assert page.trace is not None
        frame = page.trace.index.raw(number).decode()
        assert second.id in frame
        assert "tool_calls" in frame
        assert second.id in page.detail.text.text()
        body = page.trace.exchange.body
        assert body.index(second.id.encode()) == body.index(page.trace.index.raw(number)) + frame.index(second.id)

    stage.play(play, CALLING)


def test_selected_text_chooses_its_frames_and_a_frame_its_text(stage: Stage) -> None:
    async def play(person: Person) -> None:
        await use(person, "demo-reasoner")
        await person.run("Tell me about tides")
        await person.idle(2)
        await person.key(Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier)
        page = page_of(person)
        await person.until(lambda: page.table.frames.rowCount() > 40, "frames")
        (text,) = [view for view in person.card(1).body if isinstance(view, TextView)]
        cursor = text.document().find("demo gateway")
        assert not cursor.isNull()
        await person.do(lambda: text.setTextCursor(cursor))
        await person.until(lambda: page.table.chosen, "frames of the selection")
        index = page.trace.index if page.trace is not None else None
        assert index is not None
        carried = "".join(said(index.raw(number)) for number in page.table.chosen)
        assert "demo gateway" in carried
        assert len(carried) < 40, "and no frames but those"

        # back: one frame after the other, by key
        await person.do(lambda: text.setTextCursor(QTextCursor(text.document())))
        await person.until(lambda: not page.table.chosen, "the choice to go with the selection")
        for kind in ("content", "reasoning"):
            number = next(n for n in range(60, len(index)) if index.row(n).kind == kind) if kind == "content" else 8
            await person.do(lambda number=number: page.table.selectRow(number))
            await person.do(page.table.setFocus)
            await person.key(Qt.Key.Key_Down)
            await person.until(lambda number=number: page.table.chosen == [number + 1], "the next frame")
            view = text if kind == "content" else person.card(1).body[0].text_view  # type: ignore[attr-defined]
            await person.until(lambda view=view: view.linked.places, f"{kind} marked")
            begin, end = view.linked.places[0]
            marked = QTextCursor(view.document())
            marked.setPosition(begin)
            marked.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            assert marked.selectedText().strip() == said(index.raw(number + 1)).strip(" \n*#>`|-")
            assert not view.visibleRegion().isEmpty(), "it was scrolled to"

    stage.play(play, PACE)


def said(frame: bytes) -> str:
    """The words of one chat chunk."""
    delta = json.loads(frame.removeprefix(b"data: "))["choices"][0]["delta"]
    return str(delta.get("content") or delta.get("reasoning_content") or "")


def test_an_edited_turn_is_not_taken_for_what_came(stage: Stage) -> None:
    async def play(person: Person) -> None:
        await use(person, "demo-chat")
        await person.run("Hello")
        await person.idle(2)
        await person.do(person.app.window.action("wire.timeline").trigger)
        page = page_of(person)
        await person.until(lambda: page.table.frames.rowCount() > 10, "frames")
        person.session.edit_text(person.path[1].id, "Something else")
        await person.do(lambda: page.table.selectRow(8))
        await person.until(lambda: "edited since" in page.detail.says.text, "a word on the edit")

    stage.play(play, CALLING)


def test_deviations_lead_to_their_frame(stage: Stage) -> None:
    async def play(person: Person) -> None:
        await use(person, "demo-chat")
        await person.run("Hello !nodone")
        await person.idle(2)
        await person.do(person.app.window.action("wire.lint").trigger)
        lint = person.app.window.inspector.view(LintView).page
        await person.until(lambda: lint.found, "a finding")
        item = lint.table.item(0, 1)
        await person.do(lambda: click_at(lint.table.viewport(), lint.table.visualItemRect(item).center()))
        page = page_of(person)
        await person.until(lambda: page.isVisible() and page.table.chosen, "the frame")
        assert page.table.chosen == [lint.found[0].frame]
        await person.until(lambda: "DONE" in page.detail.odd.text(), "what is odd about it")

    stage.play(play, CALLING)


def test_a_request_against_the_one_before_and_two_answers_side_by_side(stage: Stage) -> None:
    async def play(person: Person) -> None:
        await use(person, "demo-chat")
        await person.run("Name a river in Europe")
        await person.idle(2)
        await person.run("And one in Asia")
        await person.idle(4)
        await person.do(person.app.window.action("wire.diff").trigger)
        diff = person.app.window.inspector.view(DiffView).page
        await person.until(lambda: "messages[2]" in diff.text.toPlainText(), "the difference")
        assert "And one in Asia" in diff.text.toPlainText()
        await person.press("Compare answers too", diff)
        window = await compare_window(person)
        assert "Europe" in window.texts[0][0].toPlainText()
        assert "Asia" in window.texts[0][1].toPlainText()
        assert {figure.label for figure in window.bars.figures} >= {"Whole time", "Completion tokens"}
        await person.do(window.close)
        header = person.card(1).findChild(TurnHeader)
        assert header is not None
        await menu_entry(person, header.menu, "Compare with…")
        window = await compare_window(person)
        assert window.sides[1].chosen == person.path[1].outcome.exchange  # type: ignore[union-attr]
        await person.do(window.close)

    stage.play(play, CALLING)


async def menu_entry(person: Person, menu: QMenu, entry: str) -> None:
    await person.do(menu.aboutToShow.emit)
    (action,) = [action for action in menu.actions() if action.text() == entry]
    await person.do(action.trigger)


async def compare_window(person: Person) -> CompareWindow:
    def seen() -> list[CompareWindow]:
        found = [w for w in QApplication.topLevelWidgets() if isinstance(w, CompareWindow) and w.isVisible()]
        return [window for window in found if window.found is not None]

    await person.until(seen, "the comparison")
    return seen()[0]


def test_a_cassette_is_saved_opened_and_replayed(stage: Stage, tmp_path: Path) -> None:
    file = tmp_path / "talk.cassette.json"

    async def play(person: Person) -> None:
        await use(person, "demo-reasoner")
        await person.run("Tell me about tides")
        await person.idle(2)
        first = person.session
        answer = first.transcript.path[1]
        await choose_file(person, "cassette.save", file)
        await person.until(file.exists, "the file")
        await person.until(lambda: "saved as" in person.pane.notice.words, "a word on it")
        (recorded,) = open_file(file).exchanges
        assert recorded.body == next(iter(first.exchanges.values())).body
        archive = tmp_path / "talk.har"
        await choose_file(person, "cassette.export", archive)
        await person.until(archive.exists, "the archive")
        assert json.loads(archive.read_text(encoding="utf-8"))["log"]["version"] == "1.2"

        await choose_file(person, "cassette.open", file)
        await person.until(lambda: person.session is not first, "the cassette's experiment")
        assert [turn.text for turn in person.path] == [turn.text for turn in first.transcript.path]
        assert (await person.seen(QPushButton, "1×")).isChecked()
        asked = len(person.server.requests)
        await person.press("At once")
        await person.do(lambda: person.pane.regenerate(person.path[1].id))
        await person.until(lambda: len(person.session.exchanges) == 2, "the replay to begin")
        await person.idle(2)
        assert person.path[1].id != answer.id
        assert person.path[1].text == answer.text
        assert person.path[1].reasoning == answer.reasoning

        # frame by frame
        await person.press("Step")
        await person.do(lambda: person.pane.regenerate(person.path[1].id))
        await person.until(lambda: person.session.active_run is not None, "a run")
        growing = lambda: len((next(iter(person.session.growing.values()), None) and last(person)) or b"")  # noqa: E731
        await person.until(lambda: len(person.session.exchanges) == 3, "its exchange")
        for _ in range(5):
            before = growing()
            await person.press("Next frame")
            await person.until(lambda before=before: growing() > before, "another frame")
        assert person.session.active_run is not None
        await person.press("At once")
        await person.idle(2)
        assert person.path[1].text == answer.text
        assert len(person.server.requests) == asked, "nobody was asked"

    def last(person: Person) -> bytes:
        return list(person.session.exchanges.values())[-1].body

    stage.play(play, PACE)


def test_a_file_that_is_no_cassette_is_said_to_be_none(stage: Stage, tmp_path: Path) -> None:
    file = tmp_path / "other.cassette.json"
    file.write_text('{"hello": 1}', encoding="utf-8")

    async def play(person: Person) -> None:
        await choose_file(person, "cassette.open", file)
        await person.until(lambda: "This is no cassette" in person.pane.notice.words, "a word on it")
        await person.do(person.app.window.action("cassette.save-all").trigger)
        await person.until(lambda: "no exchange yet" in person.pane.notice.words, "a word on that")

    stage.play(play, CALLING)


async def choose_file(person: Person, action: str, file: Path) -> None:
    """Carry out an action and choose a file in the dialog it opens."""
    await person.do(person.app.window.action(action).trigger)

    await person.until(lambda: isinstance(QApplication.activeModalWidget(), QFileDialog), "the file dialog")
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, QFileDialog)
    field = dialog.findChild(QLineEdit)
    assert field is not None
    await person.do(lambda: field.setText(str(file)))
    await person.do(dialog.accept)
    await person.until(lambda: QApplication.activeModalWidget() is None, "the dialog to close")
