"""Rules that answer tool calls, set in the window, run the loop to its end; and one call goes on in several lanes."""

from __future__ import annotations

from PySide6.QtWidgets import QComboBox, QLineEdit

from playground.domain.debugging import Policy
from playground.domain.transcript import Role
from playground.engine.session.session import Session
from tests.flows.conftest import Person, flow
from tests.flows.pages.compare import ComparePage
from tests.flows.pages.dialogs import select_entry
from tests.flows.pages.rules import AnswersWindow, RulesWindow
from tests.flows.pages.steps import open_tab
from tests.flows.pages.tools import ToolsPage
from tests.flows.test_debugger import pause, ready

TWO = "!calls=2 Is it warmer in Lisbon or Oslo?"


def results(lane: Session) -> list[str]:
    return [result.text for turn in lane.transcript.path for result in turn.results]


def posts(person: Person) -> int:
    return sum(request.method == "POST" for request in person.server.requests)


@flow()
async def test_table_answers_two_calls_and_the_loop_ends(person: Person) -> None:
    await ready(person)
    rules = await RulesWindow.open(person)
    await rules.select_row(1)
    await rules.press("Mock table")
    await rules.add_row("", "no such city")
    await rules.add_row("$[?@.city == 'Lisbon']", "21")
    await rules.add_row("$[?@.city == 'Oslo']", "4")
    rows = person.session.debugger.debugging.rules["get_weather"].rows
    assert [row.answer.text for row in rows] == ["21", "4", "no such city"]
    await rules.leave()
    await person.run(TWO)
    await person.idle(turns=5)
    assert [turn.role for turn in person.path] == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.TOOL, Role.ASSISTANT]
    answers = [(result.text, result.by) for turn in person.path for result in turn.results]
    assert answers == [("21", "table"), ("4", "table")]
    assert not person.path[-1].calls
    assert posts(person) == 2


@flow()
async def test_default_rule_holds_for_all_tools_and_a_tool_keeps_its_own_under_a_new_name(person: Person) -> None:
    await ready(person)
    await open_tab(person, "Tools")
    choice = await person.seen(QComboBox, "When the model calls a tool")
    await select_entry(person, choice, 2)
    rules = await RulesWindow.opened(person)
    assert rules.tool == "Default", "a fixed answer was chosen, and there is none yet"
    await rules.type_answer("always sunny")
    default = person.session.debugger.debugging.default
    assert (default.policy, default.fixed.text) == (Policy.FIXED, "always sunny")
    await rules.leave()
    await person.run(TWO)
    await person.idle(turns=5)
    assert {result.by for turn in person.path for result in turn.results} == {"fixed"}

    tools = await ToolsPage.open(person)
    await tools.press("Edit results of this tool")
    rules = await RulesWindow.opened(person)
    assert rules.tool == "get_weather"
    await rules.press("Mock table")
    await rules.leave()
    await person.type_into(tools.get(QLineEdit, "Tool name"), "weather_now")
    assert set(person.session.debugger.debugging.rules) == {"weather_now"}
    assert "Mock table, no rows" in tools.texts

    await person.trigger("experiment.new")
    assert choice.currentIndex() == 0, "another experiment has rules of its own"


@flow()
async def test_call_goes_on_in_lanes_and_one_becomes_the_conversation(person: Person) -> None:
    compare = ComparePage(person)
    first, _ = await pause(person, TWO)
    await first.send_result("21")
    await person.until(lambda: len(person.session.debugger.waiting) == 1, "one call that waits")
    session = person.session
    answers = await AnswersWindow.opened(person, "debug.answers")
    await answers.type_answer("B", "4")
    await answers.type_answer("C", "no such city")
    lanes = await answers.start(2)
    await person.until(
        lambda: not session.experiment.busy and all(lane.transcript.path[-1].outcome for lane in lanes.all[1:]),
        "answers",
    )
    assert [results(lane) for lane in lanes.all] == [["21"], ["21", "4"], ["21", "no such city"]]
    assert lanes.all[1].transcript.path[-1].text != lanes.all[2].transcript.path[-1].text
    assert posts(person) == 3
    assert session.debugger.paused, "the conversation is where it was"
    third = compare.lanes[2]
    await person.until(lambda: "gave the error no such city" in third.settings, "its answer above it")
    await person.until(lambda: "first token" in third.metrics, "its metrics below it")

    await third.press("Continue here")
    assert results(session) == ["21", "no such city"]
    await person.trigger("compare.mark")
    second = compare.lanes[1]
    await person.until(lambda: "of the request differ" in second.request_difference, "differences from lane A")
    await person.trigger("edit.undo")
    assert (len(session.debugger.waiting), len(lanes.all)) == (1, 3)
    await person.trigger("edit.undo")
    assert (len(session.debugger.waiting), len(lanes.all)) == (1, 1)
    await person.trigger("edit.redo")
    await compare.wait_for_lanes(3)
    assert results(lanes.all[2]) == ["21", "no such city"]
