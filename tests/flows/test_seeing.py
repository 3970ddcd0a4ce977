"""Looking at a run: the real window and the demo gateway; lists, the picture, a step asked many times, A against B."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QTabBar

from playground.domain.debugging import Answer, AnswerRow, Debugging, Policy, ToolRule
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, make_turn
from playground.engine.compare.lanes import Lanes
from playground.engine.session.changes import RunState
from playground.ui.features.debugger.call_list import CallList
from playground.ui.features.debugger.sequence_view import SequencePage
from playground.ui.features.debugger.stability_window import StabilityWindow
from playground.ui.features.tools.samples import SAMPLE
from tests.flows.conftest import Person, Stage
from tests.support.open_streams import open_streams

FORECAST = ToolDefinition(
    name="get_forecast",
    description="The weather of the next days",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1, "maximum": 3}},
        "required": ["city", "days"],
    },
)


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


async def repeat(person: Person, prompt: str) -> StabilityWindow:
    session = person.session
    session.change(model="demo-tools")
    session.change(tools=(FORECAST,))
    session.turns.add_turn(make_turn(Role.USER, prompt))
    person.app.window.action("debug.repeat").trigger()
    found = person.app.window.findChildren(StabilityWindow)
    assert len(found) == 1
    return found[0]


def bodies(person: Person) -> list[dict[str, Any]]:
    return [json.loads(request.body) for request in person.server.requests if request.method == "POST"]


def test_a_step_is_repeated_and_counted_and_the_conversation_stays(stage: Stage, tmp_path: Path) -> None:
    async def scene(person: Person) -> None:
        window = await repeat(person, "Is it warmer in Lisbon or Oslo? !tps=0")
        before = person.session.transcript
        assert not window.isModal()
        window.times.setValue(7)
        window.parallel.setValue(3)
        assert window.run_button.text() == "Run 7 times"
        window.run_button.click()
        assert window.running
        assert window.stop_button.isVisible()
        await person.until(lambda: not window.running, "seven answers")
        window._saved("Saved already.")  # the last of them may still be about to be drawn
        await person.until(lambda: not window._throttle._timer.isActive(), "all of them drawn")
        assert window.said.text() == "Saved already."
        assert person.session.transcript is before
        assert len(bodies(person)) == 7
        (view,) = window.views
        assert view.figure("Answers") == "7"
        assert view.figure("Fit the schema").replace("\u00a0", " ") == "14 of 14 calls · 100 %"
        assert sum(count for _, count in view.histogram.bars) == 7
        assert window.progress.value() == window.progress.maximum() == 7
        window.counted.buttons[1].click()
        assert sum(count for _, count in view.histogram.bars) == 14
        await person.do(window.export_button.click)
        await person.until(lambda: isinstance(QApplication.activeModalWidget(), QFileDialog), "the file dialog")
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, QFileDialog)
        name = dialog.findChild(QLineEdit, "fileNameEdit")
        assert isinstance(name, QLineEdit)
        name.setText(str(tmp_path / "repeated.csv"))
        await person.do(dialog.accept)
        await person.until(lambda: "Saved as" in window.said.text(), "the file")
        assert len((tmp_path / "repeated.csv").read_text(encoding="utf-8").splitlines()) == 8
        window.close()

    stage.play(scene)


@pytest.mark.parametrize("protocol", ["chat", "messages"])
def test_two_variants_go_out_as_they_were_edited(stage: Stage, protocol: str) -> None:
    async def scene(person: Person) -> None:
        person.session.change(protocol=protocol)
        window = await repeat(person, "Is it warmer in Lisbon or Oslo?")
        if protocol == "messages":
            person.session.change(model="demo-messages")
        window.times.setValue(2)
        window.compare.setChecked(True)
        window.editor.field.replace_text(window.editor.field.text.replace('"maximum": 3', '"maximum": 1'))
        window.editor.choice.setEditText("get_forecast")
        window.editor.check()
        said = window.editor.said.text()
        assert "get_forecast: schema (properties.days.maximum)" in said
        assert "tool choice: default →" in said
        window.run()
        await person.until(lambda: not window.running, "four answers")
        key = "input_schema" if protocol == "messages" else "function"
        sent = bodies(person)
        edited = [body for body in sent if '"maximum": 1' in json.dumps(body["tools"])]
        assert (len(sent), len(edited)) == (4, 2)
        assert all(key in body["tools"][0] for body in sent)
        assert all("tool_choice" in body for body in edited)
        assert sum("tool_choice" in body for body in sent) == 2
        first, second = window.views
        assert [label for label, _ in first.histogram.bars] == [label for label, _ in second.histogram.bars]
        assert first.title.text() == "A · the tools as set"
        assert person.session.settings.tools == (FORECAST,), "the experiment's own tools stay"
        window.close()

    stage.play(scene)


def test_stop_keeps_what_came_and_closing_ends_what_is_under_way(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        window = await repeat(person, "Is it warmer in Lisbon or Oslo? !tps=30")
        window.times.setValue(20)
        window.parallel.setValue(4)
        window.run()
        await person.until(lambda: window.progress.value() >= 3, "some answers")
        window.stop_button.click()
        await person.until(lambda: not window.running, "the end")
        assert window.said.text().startswith("Stopped after")
        assert window.export_button.isEnabled()
        assert sum(count for _, count in window.views[0].histogram.bars) >= 3
        window.run()
        await person.until(lambda: open_streams(person.server) > 0, "requests under way")
        window.close()
        await person.until(lambda: open_streams(person.server) == 0, "the end of all requests")
        assert person.app.window.isVisible()

    stage.play(scene)


def test_what_cannot_be_asked_is_said_and_the_step_that_suggests_itself_is_chosen(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        person.session.change(model="demo-tools")
        person.app.window.action("debug.repeat").trigger()
        (window,) = person.app.window.findChildren(StabilityWindow)
        window.run_button.click()
        assert not window.running
        assert window.said.text() == "Write a message first."
        person.session.change(tools=(FORECAST,))
        await person.do(person.app.window.activateWindow)
        person.session.turns.add_turn(make_turn(Role.USER, "Is it warmer in Lisbon or Oslo?"))
        await person.session.run()
        person.app.window.action("debug.repeat").trigger()
        assert person.app.window.findChildren(StabilityWindow) == [window], "one for each experiment"
        await person.until(lambda: window.step.count() == 2, "the steps")
        person.app.window.action("debug.repeat").trigger()
        assert window.step.currentText() == "The request that led to turn 2: get_forecast, get_forecast"
        window.times.setValue(2)
        window.run()
        await person.until(lambda: not window.running, "two answers")
        assert window.views[0].figure("Answers") == "2"
        window.choose_step("")
        window.run()
        assert window.said.text().startswith("Every tool call needs a result")
        window.compare.setChecked(True)
        window.choose_step(person.path[1].id)
        window.editor.field.replace_text("[")
        window.run()
        assert window.said.text().startswith("The tools of variant B cannot be read")
        assert not window.running
        window.close()

    stage.play(scene)


def test_quitting_while_a_step_is_repeated_leaves_nothing(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        window = await repeat(person, "Is it warmer in Lisbon or Oslo? !tps=5")
        window.run()
        await person.until(lambda: open_streams(person.server) > 0, "requests under way")

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
