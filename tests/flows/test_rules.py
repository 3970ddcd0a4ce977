"""Answers without a hand: a table set in the window runs the loop to its end; one call goes on in three lanes."""

from __future__ import annotations

from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QWidget

from playground.domain.debugging import Answer, Policy
from playground.domain.transcript import Role
from playground.engine.compare.lanes import Lanes
from playground.engine.session.session import Session
from playground.ui.features.compare.lane import LaneColumn
from playground.ui.features.debugger.answers_dialog import AnswersDialog
from playground.ui.features.debugger.rules_dialog import RulesDialog
from playground.ui.shell.features import DEFAULT_RULE, PARAMETER_PANEL, TOOLS_PANEL
from playground.ui.widgets.elided_label import ElidedLabel
from tests.engine.debugging import WEATHER
from tests.flows.conftest import Person, Stage
from tests.flows.pages.steps import open_tab
from tests.flows.test_compare import SHIFT, columns, page

BOTH = pytest.mark.parametrize(("protocol", "model"), [("chat", "demo-tools"), ("messages", "demo-messages")])
TWO = "!calls=2 Is it warmer in Lisbon or Oslo?"


async def ready(person: Person, protocol: str = "chat", model: str = "demo-tools") -> None:
    """The weather tool on offer, on that protocol."""
    person.session.change(protocol=protocol)
    person.session.change(tools=(WEATHER,))
    await person.use_model(model)


async def write(person: Person, field: QWidget, text: str) -> None:
    """Click into a field of another window and type over what stands there."""
    await person.click(field)
    await person.do(partial(QTest.keyClick, field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier))
    await person.do(partial(QTest.keyClicks, field, text))


async def close(person: Person, dialog: QWidget) -> None:
    """Close a window; a desktop then gives the focus back to the one behind it."""
    await person.press("Close", dialog)
    await person.until(lambda: not dialog.isVisible(), "it to close")
    await to_the_front(person)


async def to_the_front(person: Person) -> None:
    window = person.app.window
    await person.do(window.activateWindow)
    await person.until(lambda: QApplication.activeWindow() is window, "the window in front")


def has_focus(widget: QWidget) -> bool:
    focus = QApplication.focusWidget()
    return focus is not None and widget.isAncestorOf(focus)


async def open_rules(person: Person) -> RulesDialog:
    """The rules, by the button in the Parameters panel."""
    await open_tab(person, "Parameters")
    button = person.app.window.panels.of(DEFAULT_RULE).rules
    await person.do(lambda: person.app.window.panels.of(PARAMETER_PANEL).ensureWidgetVisible(button))
    await person.click(button)
    await person.until(lambda: len(person.find(RulesDialog)) == 1, "the rules")
    return person.one(RulesDialog)


@BOTH
def test_a_table_answers_two_cities_and_the_loop_runs_to_its_end(stage: Stage, protocol: str, model: str) -> None:
    async def scene(person: Person) -> None:
        await ready(person, protocol, model)
        dialog = await open_rules(person)
        await person.do(lambda: dialog.list.setCurrentRow(1))
        await person.press("Table", dialog)
        table = dialog.editor.table
        await person.press("Add row", dialog)  # for any arguments
        await write(person, table.editor.answer.text, "no such city")
        for city, degrees in (("Lisbon", "21"), ("Oslo", "4")):
            await person.press("Add row", dialog)
            await person.press("JSONPath", table)
            await write(person, await person.seen(QWidget, "JSONPath the row is for", table), f"$[?@.city == '{city}']")
            await write(person, table.editor.answer.text, degrees)
        rule = person.session.debugger.debugging.rules["get_weather"]
        assert [row.answer.text for row in rule.rows] == ["21", "4", "no such city"]
        await close(person, dialog)
        await person.run(TWO)
        await person.idle(turns=5)
        assert [turn.role for turn in person.path] == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.TOOL, Role.ASSISTANT]
        results = [result for turn in person.path for result in turn.results]
        assert [(result.text, result.by) for result in results] == [("21", "table"), ("4", "table")]
        assert not person.path[-1].calls
        assert len([request for request in person.server.requests if request.method == "POST"]) == 2

    stage.play(scene)


def test_the_choice_in_the_parameters_holds_for_every_tool(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        window = person.app.window
        choice = window.panels.of(DEFAULT_RULE).policy
        await person.do(lambda: choice.setCurrentIndex(2))
        await person.do(lambda: choice.activated.emit(2))
        dialog = await person.seen(RulesDialog)
        assert dialog.tool == "", "a fixed answer was chosen and there is none yet"
        await write(person, dialog.editor.fixed.text, "always sunny")
        default = person.session.debugger.debugging.default
        assert (default.policy, default.fixed.text) == (Policy.FIXED, "always sunny")
        await close(person, dialog)
        await person.run(TWO)
        await person.idle(turns=5)
        assert {result.by for turn in person.path for result in turn.results} == {"fixed"}

        await person.do(lambda: person.app.window.action("experiment.new").trigger())
        assert choice.currentIndex() == 0, "another experiment has rules of its own"

    stage.play(scene)


def test_a_renamed_tool_keeps_its_rule(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        await open_tab(person, "Tools")
        tools = person.app.window.panels.of(TOOLS_PANEL)
        await person.press("Rule for this tool", tools)
        dialog = await person.seen(RulesDialog)
        assert dialog.tool == "get_weather"
        await person.press("Table", dialog)
        await close(person, dialog)
        await person.type_into(tools.editor.name, "weather_now")
        assert set(person.session.debugger.debugging.rules) == {"weather_now"}
        assert tools.editor.rule.words.text == "table, no rows"

    stage.play(scene)


def results(lane: Session) -> list[str]:
    return [result.text for turn in lane.transcript.path for result in turn.results]


async def start(person: Person, count: int) -> Lanes:
    """The lanes of so many answers, as the dialog makes them."""
    before = len(person.session.lanes)
    await person.press(f"Start {count} lanes", await person.seen(AnswersDialog))
    await person.until(lambda: person.pane.columns is not None, "the lanes")
    await person.until(lambda: len(columns(person)) == before + count, "a column for each answer")
    await to_the_front(person)
    return page(person).lanes


async def scroll_to_foot(person: Person, column: LaneColumn) -> None:
    """Scroll until the end of a column is in view: once more where the columns are laid out meanwhile."""

    def scrolled() -> bool:
        page(person).ensureWidgetVisible(column.foot, 0, 0)
        return not column.foot.visibleRegion().isEmpty()

    await person.until(scrolled, "the end of the column")


@BOTH
def test_one_call_goes_on_in_three_lanes_and_one_of_them_is_the_conversation_then(
    stage: Stage, protocol: str, model: str
) -> None:
    async def scene(person: Person) -> None:
        await ready(person, protocol, model)
        await person.run(TWO)
        await person.idle(turns=2)
        session = person.session
        (turn_id, first), _ = session.debugger.waiting
        session.debugger.send(turn_id, first.id, "21")
        await person.do(lambda: person.app.window.action("debug.answers").trigger())
        dialog = await person.seen(AnswersDialog)
        await write(person, await person.seen(QPlainTextEdit, "Answer of lane B", dialog), "4")
        await write(person, await person.seen(QPlainTextEdit, "Answer of lane C", dialog), "31")
        await person.do(lambda: dialog.add_answer(Answer(text="no such city", is_error=True)))
        lanes = await start(person, 3)
        three = lanes.all[1:]
        await person.until(
            lambda: not session.busy and all(lane.transcript.path[-1].outcome for lane in three), "three answers"
        )
        assert [results(lane) for lane in lanes.all] == [["21"], ["21", "4"], ["21", "31"], ["21", "no such city"]]
        assert len({lane.transcript.path[-1].text for lane in three}) == 3
        assert len([request for request in person.server.requests if request.method == "POST"]) == 4
        assert session.debugger.paused, "the conversation is where it was"
        fourth = columns(person)[3]
        await person.until(lambda: "gave the error no such city" in fourth.words.text(), "its answer above it")
        await person.until(lambda: "first token" in fourth.figures.text(), "figures below it")

        await scroll_to_foot(person, fourth)
        await person.press("Continue here", fourth)
        assert results(session) == ["21", "no such city"]
        third = columns(person)[2]
        await person.do(lambda: person.app.window.action("compare.mark").trigger())
        await person.until(lambda: "of the request differ" in third.request.text(), "what differs from lane A now")
        undo = person.app.window.action("edit.undo")
        await person.do(undo.trigger)
        assert (len(session.debugger.waiting), len(lanes.all)) == (1, 4)
        await person.do(undo.trigger)
        assert (len(session.debugger.waiting), len(lanes.all)) == (1, 1)
        await person.do(lambda: person.app.window.action("edit.redo").trigger())
        await person.until(lambda: len(columns(person)) == 4, "the lanes again")
        assert results(lanes.all[2]) == ["21", "31"]

    stage.play(scene)


async def with_answers(person: Person, *answers: Answer) -> None:
    """Two calls, the first of them answered, and these answers typed for the other one."""
    await ready(person)
    await person.run(TWO)
    await person.idle(turns=2)
    session = person.session
    (turn_id, first), (_, second) = session.debugger.waiting
    session.debugger.send(turn_id, first.id, "21")
    session.debugger.notes.set_fork_draft(turn_id, second.id, answers)
    await person.do(lambda: person.app.window.action("debug.answers").trigger())


def test_lanes_that_wait_for_their_answer_are_stopped_one_by_one_and_all_at_once(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        never = Answer(never=True)
        await with_answers(person, never, Answer(text="late", delay=600), never)
        lanes = await start(person, 3)
        session, second, third, _ = lanes.all
        await person.until(lambda: all(lane.debugger.pending for lane in lanes.all[1:]), "three answers on their way")
        assert not session.debugger.pending
        foot = columns(person)[2]
        await person.until(lambda: "is waited for" in foot.figures.text(), "its foot to say so")
        await scroll_to_foot(person, foot)
        await person.press("Stop this lane", foot)
        await person.until(lambda: not third.debugger.pending, "one lane to stop")
        assert second.debugger.pending
        await person.key(Qt.Key.Key_Escape, SHIFT)
        await person.until(lambda: not session.busy, "the lanes to end")
        assert [results(lane) for lane in lanes.all] == [["21"]] * 4
        assert all(lane.debugger.stopped for lane in lanes.all[1:])

    stage.play(scene)


def test_quitting_with_rules_and_lanes_open(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await with_answers(person, Answer(never=True), Answer(text="late", delay=600))
        await start(person, 2)
        await person.do(lambda: person.app.window.action("debug.rules").trigger())
        await person.seen(RulesDialog)

    stage.play(scene)


def test_the_call_that_has_the_focus_is_the_one_that_answers_are_asked_for(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        await person.run(TWO)
        await person.idle(turns=2)
        answers = person.app.window.action("debug.answers")
        await person.until(lambda: len(person.card(-1).calls) == 2, "two cards")
        for place, city in ((0, "Lisbon"), (1, "Oslo")):
            card = person.card(-1).calls[place]
            await person.do(card.focus_result)
            await person.until(partial(has_focus, card), "the focus in the card")
            await person.do(answers.trigger)
            dialog = await person.seen(AnswersDialog)
            words = await person.seen(ElidedLabel, "Arguments:", dialog)
            assert city in words.text
            await person.press("Cancel", dialog)
            await person.until(lambda: not person.find(AnswersDialog), "the dialog to close")
            await person.do(person.app.window.activateWindow)
        await person.do(person.message.setFocus)
        await person.do(answers.trigger)
        dialog = await person.seen(AnswersDialog)
        assert "Lisbon" in (await person.seen(ElidedLabel, "Arguments:", dialog)).text, "else the first that waits"
        await person.press("Cancel", dialog)

    stage.play(scene)
