"""Answers without a hand: a table set in the window runs the loop to its end; one call is forked into three lanes."""

from __future__ import annotations

from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit, QWidget

from playground.domain.debugging import Answer, Policy
from playground.domain.transcript import Role
from playground.engine.session.tool_loop import ToolLoopEnd
from playground.ui.features.debugger.fork_dialog import ForkDialog
from playground.ui.features.debugger.lanes_view import LanesView
from playground.ui.features.debugger.rules_dialog import RulesDialog
from playground.ui.shell.features import DEFAULT_RULE, PARAMETER_PANEL, TOOLS_PANEL
from playground.ui.widgets.elided_label import ElidedLabel
from tests.engine.debugging import WEATHER
from tests.flows.conftest import Person, Stage
from tests.flows.test_panels import open_tab

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
        await person.press("From the table", dialog)
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
        await person.press("From the table", dialog)
        await close(person, dialog)
        await person.type_into(tools.editor.name, "weather_now")
        assert set(person.session.debugger.debugging.rules) == {"weather_now"}
        assert tools.editor.rule.words.text == "table, no rows"

    stage.play(scene)


@BOTH
def test_one_call_goes_on_in_three_lanes(stage: Stage, protocol: str, model: str) -> None:
    async def scene(person: Person) -> None:
        await ready(person, protocol, model)
        await person.run(TWO)
        await person.idle(turns=2)
        session = person.session
        (turn_id, first), (_, second) = session.debugger.waiting
        session.debugger.send(turn_id, first.id, "21")
        await person.do(lambda: person.app.window.action("debug.fork").trigger())
        dialog = await person.seen(ForkDialog)
        await write(person, await person.seen(QPlainTextEdit, "Answer of lane 1", dialog), "4")
        await write(person, await person.seen(QPlainTextEdit, "Answer of lane 2", dialog), "31")
        await person.do(lambda: dialog.add_answer(Answer(text="no such city", is_error=True)))
        await person.press("Start 3 lanes", dialog)
        lanes = await person.seen(LanesView)
        await person.until(lambda: not session.debugger.loops, "the lanes to end")
        fork = session.debugger.forks[-1]
        assert (fork.call_id, [lane.ending for lane in fork.loops]) == (second.id, [ToolLoopEnd.DONE] * 3)
        await person.until(
            lambda: [column.state.text() for column in lanes.columns] == ["done"] * 3, "three lanes that say done"
        )
        texts = [column.outcome.toPlainText() for column in lanes.columns]
        assert all(texts)
        assert len(set(texts)) == 3
        assert lanes.columns[1].outcome.extraSelections(), "what differs is marked"
        posts = [request for request in person.server.requests if request.method == "POST"]
        assert len(posts) == 4

        await person.press("Show the branch of lane 3", lanes)
        assert [result.text for turn in person.path for result in turn.results] == ["21", "no such city"]
        await person.until(lambda: not lanes.columns[2].show_button.isEnabled(), "lane 3 to be the one shown")
        await person.do(lanes.close)
        await person.do(lambda: person.app.window.action("edit.undo").trigger())  # the choice of the branch
        await person.do(lambda: person.app.window.action("edit.undo").trigger())  # the fork
        assert len(session.debugger.waiting) == 1
        await person.do(lambda: person.app.window.action("debug.forks").trigger())
        await person.seen(LanesView)
        assert {column.state.text() for column in lanes.columns} == {"taken back"}

    stage.play(scene)


def test_lanes_are_stopped_one_by_one_and_all_at_once(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        await person.run(TWO)
        await person.idle(turns=2)
        session = person.session
        (turn_id, first), (_, second) = session.debugger.waiting
        session.debugger.send(turn_id, first.id, "21")
        never = Answer(never=True)
        session.debugger.notes.fork_drafts[turn_id, second.id] = (never, Answer(text="late", delay=60), never)
        await person.do(lambda: person.app.window.action("debug.fork").trigger())
        await person.press("Start 3 lanes", await person.seen(ForkDialog))
        lanes = await person.seen(LanesView)
        await person.until(lambda: len(lanes.columns) == 3 and lanes.columns[1].state.text(), "three lanes")
        await person.until(lambda: lanes.columns[0].state.text() == "no answer comes", "the first lane to wait")
        assert lanes.columns[1].state.text().startswith("answer in")
        await person.press("Stop lane 2", lanes)
        await person.until(lambda: lanes.columns[1].state.text() == "stopped", "lane 2 to stop")
        assert lanes.columns[0].state.text() == "no answer comes"
        await person.press("Stop all", lanes)
        await person.until(lambda: not session.debugger.loops, "the lanes to end")
        await person.until(lambda: not lanes.stop_button.isVisible(), "nothing to stop")
        why = [label.text() for label in person.find(QLabel, inside=lanes)]
        assert why.count("Stopped. What had arrived is kept.") == 3

    stage.play(scene)


def test_quitting_with_rules_and_lanes_open(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        await person.run(TWO)
        await person.idle(turns=2)
        session = person.session
        (turn_id, first), (_, second) = session.debugger.waiting
        session.debugger.send(turn_id, first.id, "21")
        session.debugger.notes.fork_drafts[turn_id, second.id] = (Answer(never=True), Answer(text="late", delay=60))
        await person.do(lambda: person.app.window.action("debug.fork").trigger())
        await person.press("Start 2 lanes", await person.seen(ForkDialog))
        await person.seen(LanesView)
        await person.do(lambda: person.app.window.action("debug.rules").trigger())
        await person.seen(RulesDialog)

    stage.play(scene)


def test_the_call_that_has_the_focus_is_the_one_to_fork(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person)
        await person.run(TWO)
        await person.idle(turns=2)
        fork = person.app.window.action("debug.fork")
        await person.until(lambda: len(person.card(-1).calls) == 2, "two cards")
        for place, city in ((0, "Lisbon"), (1, "Oslo")):
            card = person.card(-1).calls[place]
            await person.do(card.focus_result)
            await person.until(partial(has_focus, card), "the focus in the card")
            await person.do(fork.trigger)
            dialog = await person.seen(ForkDialog)
            words = await person.seen(ElidedLabel, "Arguments:", dialog)
            assert city in words.text
            await person.press("Cancel", dialog)
            await person.until(lambda: not person.find(ForkDialog), "the dialog to close")
            await person.do(person.app.window.activateWindow)
        await person.do(person.message.setFocus)
        await person.do(fork.trigger)
        dialog = await person.seen(ForkDialog)
        assert "Lisbon" in (await person.seen(ElidedLabel, "Arguments:", dialog)).text, "else the first that waits"
        await person.press("Cancel", dialog)

    stage.play(scene)
