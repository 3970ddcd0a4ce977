"""The dialog for several answers to one call."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from playground.domain.debugging import FAULTS, Answer, AnswerRow, Debugging, ResultDraft, ToolRule
from playground.engine.session.session import Session
from playground.engine.session.variants import MOST_LANES
from playground.ui.features.debugger.answers_dialog import AnswersDialog

ROWS = (AnswerRow(answer=Answer(text="sunny")),)
MOST = MOST_LANES - 1  # beside the conversation


def open_dialog(session: Session, window: QWidget, call_id: str = "two") -> AnswersDialog:
    dialog = AnswersDialog(session, session.transcript.path[1].id, call_id, window)
    dialog.open()
    return dialog


@pytest.fixture
def dialog(session: Session, window: QWidget) -> Iterator[AnswersDialog]:
    session.turns.answer("one", "21")
    dialog = open_dialog(session, window)
    yield dialog
    if isValid(dialog):
        dialog.reject()


def test_answers_are_limited_by_free_lanes(dialog: AnswersDialog) -> None:
    assert dialog.free_lanes.text() == f"{MOST - 2} more possible"
    for number in range(3, MOST + 1):
        dialog.add_answer(Answer(text=str(number)))
        assert dialog.start_button.text() == f"Start {number} lanes"
    assert not dialog.add_button.isEnabled()
    assert dialog.free_lanes.text() == "Lane limit reached"
    dialog.add_answer(Answer(text="one too many"))
    assert len(dialog.answers) == MOST
    assert dialog.start_button.isEnabled()
    dialog.columns[1].remove_button.click()
    assert [answer.text for answer in dialog.answers] == ["", "3", "4", "5"]
    assert [column.title.text() for column in dialog.columns] == ["Lane B", "Lane C", "Lane D", "Lane E"]
    dialog.columns[0].field.text.setPlainText("3")
    assert dialog.message.text() == "Answers 1 and 2 are the same."
    for _ in range(3):
        dialog.columns[-1].remove_button.click()
    assert dialog.start_button.text() == "Start 1 lane"
    assert not dialog.columns[0].remove_button.isVisible()


def test_answer_starts_from_a_draft_a_row_or_a_fault(dialog: AnswersDialog, session: Session) -> None:
    session.change(debugging=Debugging(rules={"get_weather": ToolRule(rows=ROWS)}))
    session.debugger.notes.set_draft(session.transcript.path[1].id, "two", ResultDraft(text="4"))
    menu = dialog.columns[0].start_button.menu()
    menu.aboutToShow.emit()
    actions = {action.text(): action for action in menu.actions() if not action.isSeparator()}
    assert list(actions) == ["Your draft: 4", "Row 1 (matches), any: sunny", *[name for name, _ in FAULTS]]
    actions["No reply (time out)"].trigger()
    assert dialog.answers[0] == Answer(never=True)
