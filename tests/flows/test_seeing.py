"""Looking at a run: the real window and the demo gateway; lists and the picture."""

from __future__ import annotations

import csv
from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QTabBar

from playground.domain.debugging import Answer, AnswerRow, Debugging, Policy, ToolRule
from playground.domain.transcript import Role, make_turn
from playground.engine.compare.lanes import Lanes
from playground.engine.session.changes import RunState
from playground.ui.features.debugger.call_list import CallList
from playground.ui.features.debugger.sequence_view import SequencePage
from playground.ui.features.evaluate.page import EvaluatePage
from playground.ui.features.tools.samples import SAMPLE
from tests.flows.conftest import Person, Stage


async def loop(person: Person, prompt: str = "Compare Lisbon, Oslo and Rome !broken=2") -> None:
    """A run whose calls are answered from the table, a misfit too."""
    session = person.session
    rule = ToolRule(policy=Policy.TABLE, rows=(AnswerRow(answer=Answer(text="sunny")),), pause_on_misfit=False)
    session.change(model="demo-tools")
    session.change(tools=(SAMPLE,))
    session.change(debugging=Debugging(default=rule))
    await person.run(prompt)
    await person.until(lambda: len(person.path) == 6 and session.state is RunState.IDLE, "the loop to end")


async def tab(person: Person, title: str) -> None:
    bar = person.one(QTabBar, "Inspector")
    at = next(n for n in range(bar.count()) if bar.tabText(n) == title)
    await person.do(lambda: QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(at).center()))


def in_view(person: Person, turn_id: str, call_id: str) -> bool:
    card = person.pane.view.cards.get(turn_id)
    part = next((call for call in card.calls if call.call.id == call_id), None) if card else None
    if part is None:
        return False
    top = part.mapTo(person.pane.view.viewport(), QPoint(0, 0)).y()
    return -1 <= top < person.pane.view.viewport().height()


def test_the_list_leads_to_the_call_and_into_a_file(stage: Stage, tmp_path: Path) -> None:
    async def scene(person: Person) -> None:
        await loop(person)
        await tab(person, "Calls")
        calls = await person.seen(CallList)
        await person.until(lambda: calls.model.rowCount() == 3, "three calls")
        assert [entry.verdict.code for entry in calls.model.entries] == ["fits", "misfit", "fits"]
        assert {entry.answered for entry in calls.model.entries} == {"table"}
        turn = person.path[1]
        for number in range(8):  # so that there is somewhere to come from
            person.session.turns.add_turn(make_turn(Role.USER, f"{number}\n\n" * 20))
        await person.do(person.pane.view.jump_to_latest)
        second = turn.calls[1].id
        assert not in_view(person, turn.id, second)
        await person.type_into(person.one(QLineEdit, "Filter the calls"), "oslo")
        await person.until(lambda: calls.model.rowCount() == 1, "one call")
        centre = calls.table.visualRect(calls.model.index(0, 1)).center()
        viewport = calls.table.viewport()
        await person.do(lambda: QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=centre))
        await person.until(lambda: in_view(person, turn.id, second), "the call in view")
        await person.until(lambda: person.pane.view.focused_turn() == turn.id, "the focus at its turn")
        # a file, without the window standing still
        target = tmp_path / "out.csv"
        await person.do(lambda: calls.export_button.menu().actions()[1].trigger())
        await person.until(lambda: isinstance(QApplication.activeModalWidget(), QFileDialog), "the file dialog")
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, QFileDialog)
        assert dialog.windowTitle() == "Save 1 call as CSV"
        name = dialog.findChild(QLineEdit, "fileNameEdit")
        assert isinstance(name, QLineEdit)
        name.setText(str(target))
        await person.do(dialog.accept)
        await person.until(lambda: "Saved as" in calls.count.text, "the file")
        calls.slices.begin()
        assert "Saved as" in calls.count.text, "read anew, the list lets it stand for a while"
        (row,) = csv.DictReader(target.read_text(encoding="utf-8").splitlines())
        assert (row["tool"], row["verdict"], row["answered"]) == ("get_weather", "misfit", "table")

    stage.play(scene)
    assert [path.name for path in tmp_path.glob("*.csv*")] == ["out.csv"], "nothing half is left"


def test_a_call_on_another_branch_is_shown_with_its_branch(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await loop(person)
        session = person.session
        turn = person.path[1]
        answers = [Answer(text="rain"), Answer(text="snow")]
        await Lanes(session).add_answers(session, turn.id, turn.calls[0].id, answers)
        person.app.window.action("view.calls").trigger()
        calls = await person.seen(CallList)
        await person.until(lambda: calls.model.rowCount() >= 5, "an entry for each answer")
        entry = next(e for e in calls.model.entries if e.result is not None and e.result.text == "snow")
        assert not entry.on_path
        row = calls.model.entries.index(entry)
        calls.table.setFocus()
        calls.table.setCurrentIndex(calls.model.index(row, 0))
        await person.key(Qt.Key.Key_Return)
        await person.until(lambda: any(r.text == "snow" for t in person.path for r in t.results), "its branch")
        await person.until(lambda: in_view(person, turn.id, entry.call.id), "the call in view")

    stage.play(scene)


def test_the_picture_follows_the_run_and_leads_to_the_turn(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        person.app.window.action("view.sequence").trigger()
        page = await person.seen(SequencePage)
        assert page.empty.isVisible()
        await loop(person)
        await person.until(lambda: len(page.view.spans) >= 8, "the spans")
        kinds = [span.kind for span in page.view.spans]
        assert (kinds.count("request"), kinds.count("call"), kinds.count("result")) == (2, 3, 3)
        assert [span.ok for span in page.view.spans if span.kind == "call"] == [True, False, True]
        at = next(n for n, span in enumerate(page.view.spans) if span.kind == "call" and not span.ok)
        page.view.choose(at)
        centre = page.view.rect_of(at).center().toPoint()
        await person.do(lambda: QTest.mouseClick(page.view.viewport(), Qt.MouseButton.LeftButton, pos=centre))
        await person.until(lambda: in_view(person, person.path[1].id, person.path[1].calls[1].id), "the call")

    stage.play(scene)


def test_the_clipboard_gets_the_picture_in_words(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await loop(person)
        person.app.window.action("view.sequence").trigger()
        page = await person.seen(SequencePage)
        await person.until(lambda: len(page.view.spans) >= 8, "the spans")
        await person.press("Copy as text", page)
        assert QGuiApplication.clipboard().text().startswith("2 requests · 3 calls · 1 does not fit")

    stage.play(scene)


def test_a_step_is_repeated_in_evaluate_and_the_conversation_stays(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        repeat, notice = person.app.window.action("evaluate.step"), person.pane.notice
        await person.do(repeat.trigger)
        assert notice.words.startswith("Write a message and run it first")
        person.session.change(model="demo-tools")
        person.session.change(tools=(SAMPLE,))
        await person.run("Is it warmer in Lisbon or Oslo?")
        await person.until(lambda: len(person.session.debugger.waiting) == 2, "two calls that wait")
        before = person.session.transcript
        await person.do(repeat.trigger)
        page = await person.seen(EvaluatePage)
        plan = person.session.settings.evaluation
        assert plan is not None
        (case,) = plan.cases
        assert [turn.text for turn in case.turns] == ["Is it warmer in Lisbon or Oslo?"]
        await person.do(repeat.trigger)
        assert "in the place of 1 case" in notice.words
        assert person.one(EvaluatePage) is page
        await person.press("Put back", notice)
        assert person.session.settings.evaluation == plan
        page.run_bar.asked.emit("run")
        look = page._look
        await person.until(lambda: len(look.results.answers) == plan.repeats and not look.under_way, "all answers")
        assert person.session.transcript is before
        assert not any(one.failure for one in look.results.answers.values())

    stage.play(scene)
