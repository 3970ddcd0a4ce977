"""The line above the composer while calls wait: its buttons say what they do."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from playground.domain.debugging import STOPPED, ResultDraft
from playground.domain.transcript import Ending, Outcome, Role, make_turn
from playground.engine.session.debugger import FILLING
from playground.engine.session.session import Session
from playground.ui.features.conversation.calls.debug_bar import DebugBar
from tests.ui.features.debugger.conftest import nowhere


def test_the_button_that_answers_all_with_an_error_says_so(session: Session, window: QWidget) -> None:
    bar = DebugBar(session, window)
    assert bar.fill_button.text() == "Fill with errors"
    assert FILLING in bar.fill_button.toolTip(), "the text that nobody wrote"
    bar.fill_button.click()
    results = [turn.results[0] for turn in session.transcript.path[2:]]
    assert [(result.text, result.is_error) for result in results] == [(FILLING, True)] * 2
    assert session.undo()
    assert len(session.debugger.waiting) == 2


def test_filling_keeps_what_was_typed_and_says_what_goes_on(session: Session, window: QWidget) -> None:
    bar, told = DebugBar(session, window), list[str]()
    bar.told.connect(told.append)
    (turn_id, first), _ = session.debugger.waiting
    session.debugger.notes.set_draft(turn_id, first.id, ResultDraft(text="21 degrees"))
    bar.fill_button.click()
    results = [turn.results[0] for turn in session.transcript.path[2:]]
    assert [(result.text, result.is_error) for result in results] == [("21 degrees", False), (FILLING, True)]
    assert told == ["2 calls are answered: 1 as typed and 1 with an error. Run (Ctrl+Enter) goes on."]


def test_stop_of_a_paused_loop_says_what_is_left(session: Session, window: QWidget, qtbot: QtBot) -> None:
    bar = DebugBar(session, window)
    assert not bar.stop_button.isHidden()
    before = session.transcript
    bar.stop_button.click()
    qtbot.waitUntil(lambda: bar.words.startswith("Stopped at 2 calls"))
    assert session.transcript is before
    assert "nothing is sent until you answer or go on" in bar.words
    assert bar.stop_button.isHidden()
    assert not bar.continue_button.isHidden(), "it can be gone on with all the same"
    assert [session.debugger.reason(turn_id, call.id) for turn_id, call in session.debugger.waiting] == [STOPPED] * 2


def test_an_answer_that_the_gateway_paused_has_a_button_to_continue(window: QWidget) -> None:
    session = Session(nowhere, profile_id="p", protocol="messages", model="m")
    session.turns.add_turn(make_turn(Role.USER, "Tea?"))
    outcome = Outcome(ending=Ending.COMPLETE, finish_reason="pause_turn")
    session.turns.add_turn(make_turn(Role.ASSISTANT, "Let me look.").model_copy(update={"outcome": outcome}))
    bar = DebugBar(session, window)
    assert not bar.isHidden()
    assert bar.words.startswith("The gateway paused this answer (pause_turn). Press Continue")
    buttons = (bar.continue_button, bar.step_button, bar.end_button, bar.fill_button, bar.stop_button)
    assert [not button.isHidden() for button in buttons] == [True, False, False, False, False]
