"""A run looked at afterwards, in the real window and with the demo gateway: the list of calls and the picture."""

from __future__ import annotations

import csv
from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractScrollArea, QLineEdit, QToolButton

from playground.domain.debugging import Answer, AnswerRow, Debugging, Policy, ToolRule
from playground.domain.transcript import Role, Turn, make_turn
from playground.engine.compare.lanes import Lanes
from tests.engine.debugging import WEATHER
from tests.flows.conftest import Person, Stage, flow
from tests.flows.pages.conversation import focus_in
from tests.flows.pages.dialogs import find_windows, name_file
from tests.flows.pages.evaluate import EvaluatePage, plan_of
from tests.flows.pages.inspector import CallsPage, SequencePage, Timeline
from tests.flows.pages.steps import click_cell
from tests.flows.test_debugger import pause


async def run_loop(person: Person) -> Turn:
    """Run with three calls that a table answers, one with arguments that do not fit. Return the turn of the calls."""
    row = AnswerRow(answer=Answer(text="sunny"))
    rule = ToolRule(policy=Policy.TABLE, rows=(row,), pause_on_misfit=False)
    person.session.change(model="demo-tools", tools=(WEATHER,), debugging=Debugging(default=rule))
    await person.run("Compare Lisbon, Oslo and Rome !calls=3 !broken=2")
    await person.idle(turns=6)
    return person.path[1]


def is_in_view(person: Person, turn: Turn, call: int) -> bool:
    """Return whether a person sees the head of a call's card."""
    area = person.conversation.messages.widget
    assert isinstance(area, QAbstractScrollArea)
    message = person.conversation.messages.find_message(turn)
    cards = message.calls if message is not None else []
    matches = [card.widget for card in cards if card.call_id == turn.calls[call].id]
    tops = [card.mapTo(area.viewport(), QPoint(0, 0)).y() for card in matches]
    return any(-1 <= top < area.viewport().height() for top in tops)


def test_list_of_calls_leads_to_a_call_and_into_a_file(stage: Stage, tmp_path: Path) -> None:
    async def scene(person: Person) -> None:
        turn = await run_loop(person)
        calls = CallsPage(person)
        await calls.show_tab("Tool calls", "List")
        await person.until(lambda: calls.row_count == 3, "three calls")
        valid = [status == "Valid" for status in calls.column("Status")]
        assert valid == [True, False, True]
        assert calls.column("Answered") == ["from the mock table"] * 3
        for number in range(8):
            person.session.turns.add_turn(make_turn(Role.USER, f"{number}\n\n" * 20))
        await person.conversation.wait_for_message(-1)
        await person.until(lambda: not is_in_view(person, turn, 1), "the call out of view")
        await person.type_into(calls.get(QLineEdit, "Filter calls"), "oslo")
        await person.until(lambda: calls.row_count == 1, "one call")
        await click_cell(person, calls.table, 0, 1)
        await person.until(lambda: is_in_view(person, turn, 1), "the call in view")
        message = await person.conversation.messages.wait_for_message(turn)
        await person.until(focus_in(message.widget), "the focus in its message")

        target = tmp_path / "out.csv"
        await person.choose(calls.get(QToolButton, "Export the calls shown"), "Save as CSV…")
        await person.until(lambda: find_windows("Save 1 call as CSV"), "the file dialog")
        await name_file(person, target)
        await person.until(lambda: "Saved as" in calls.status, "the file")
        (row,) = csv.DictReader(target.read_text(encoding="utf-8").splitlines())
        assert (row["tool"], row["verdict"], row["answered"]) == ("get_weather", "misfit", "table")

        events = Timeline(person)
        await calls.choose(0, "Show its events")
        await person.until(lambda: events.selected, "the first event of the call")
        assert turn.calls[1].id in events.frame_text

    stage.play(scene)
    assert [path.name for path in tmp_path.glob("*.csv*")] == ["out.csv"]


@flow()
async def test_picture_and_list_lead_to_a_call_on_any_branch(person: Person) -> None:
    await person.trigger("view.sequence")
    sequence = SequencePage(person)
    assert sequence.picture is None
    turn = await run_loop(person)
    expected = "2 requests · 3 calls · 1 invalid"
    await person.until(lambda: sequence.summary.startswith(expected), "the whole run")
    await sequence.select("The arguments are not valid.")
    await person.key(Qt.Key.Key_Return)
    await person.until(lambda: is_in_view(person, turn, 1), "the call")
    await sequence.press("Copy as text")
    assert QGuiApplication.clipboard().text().startswith(expected)

    answers = [Answer(text="rain"), Answer(text="snow")]
    await Lanes(person.session).add_answers(person.session, turn.id, turn.calls[0].id, answers)
    await person.trigger("view.calls")
    calls = CallsPage(person)
    await person.until(lambda: calls.row_count >= 5, "an entry for each answer")
    row = next(row for row, text in enumerate(calls.column("Message")) if text.endswith("other branch"))
    calls.table.setFocus()
    calls.table.setCurrentIndex(calls.table.model().index(row, 0))
    await person.key(Qt.Key.Key_Return)
    await person.until(
        lambda: {result.text for turn in person.path for result in turn.results} & {"rain", "snow"}, "its branch"
    )
    await person.until(lambda: is_in_view(person, turn, 0), "the call in view")


@flow()
async def test_step_is_repeated_in_evaluate_and_the_conversation_stays(person: Person) -> None:
    notice = person.conversation.notice
    await person.trigger("evaluate.step")
    assert notice.text.startswith("Run a message first")
    await pause(person, "Is it warmer in Lisbon or Oslo?")
    before = person.session.transcript
    await person.trigger("evaluate.step")
    page = await EvaluatePage.wait(person)
    plan = plan_of(person)
    (case,) = plan.cases
    assert [turn.text for turn in case.turns] == ["Is it warmer in Lisbon or Oslo?"]
    await person.trigger("evaluate.step")
    assert "replaces 1 case" in notice.text
    assert EvaluatePage.count(person) == 1
    await notice.press("Undo")
    assert plan_of(person) == plan
    await page.run()
    assert (page.answers, page.failed) == (plan.repeats, 0)
    assert person.session.transcript is before
