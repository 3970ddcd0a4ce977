"""The line above the composer while calls wait: its buttons say what they do."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from playground.engine.debugger import FILLING
from playground.engine.session import Session
from playground.ui.debugger.debug_bar import DebugBar


def test_the_button_that_answers_all_with_an_error_says_so(session: Session, window: QWidget) -> None:
    bar = DebugBar(session, window)
    assert "Error" in bar.fill_button.text()
    assert bar.fill_button.accessibleName() == "Answer all with an error"
    assert FILLING in bar.fill_button.toolTip(), "the text that nobody wrote"
    bar.fill_button.click()
    results = [turn.results[0] for turn in session.transcript.path[2:]]
    assert [(result.text, result.is_error) for result in results] == [(FILLING, True)] * 2
    assert session.undo()
    assert len(session.debugger.waiting) == 2
