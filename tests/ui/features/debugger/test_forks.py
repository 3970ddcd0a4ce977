"""The dialog for a fork and the reports of its lanes, on a session that sends nothing. The running ones are flows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from playground.domain.debugging import FAULTS, Answer, AnswerRow, Debugging, ResultDraft, ToolRule
from playground.engine.session.debugger import MOST_ANSWERS
from playground.engine.session.session import Session
from playground.ui.features.debugger.fork_dialog import ForkDialog
from playground.ui.features.debugger.lane_column import OutcomeText
from playground.ui.features.debugger.lane_report import differences
from playground.ui.features.debugger.lanes_view import LanesView

ROWS = (AnswerRow(answer=Answer(text="sunny")),)
ERROR = dict(FAULTS)["Error text"].answer


def opened(session: Session, window: QWidget, call_id: str = "two") -> ForkDialog:
    dialog = ForkDialog(session, session.transcript.path[1].id, call_id, window)
    dialog.open()
    return dialog


@pytest.fixture
def dialog(session: Session, window: QWidget) -> Iterator[ForkDialog]:
    session.turns.answer("one", "21")
    dialog = opened(session, window)
    yield dialog
    if isValid(dialog):
        dialog.reject()


def menu_of(dialog: ForkDialog, at: int) -> list[str]:
    menu = dialog.columns[at].start_button.menu()
    menu.aboutToShow.emit()
    return [action.text() for action in menu.actions() if not action.isSeparator()]


def test_it_begins_with_the_likeliest_answer_and_an_error(session: Session, window: QWidget) -> None:
    turn_id = session.transcript.path[1].id
    dialog = opened(session, window)
    assert dialog.answers == (Answer(), ERROR)
    dialog.reject()
    session.change(debugging=Debugging(default=ToolRule(rows=ROWS)))
    dialog = opened(session, window)
    assert dialog.answers == (Answer(text="sunny"), ERROR)
    dialog.reject()
    session.debugger.notes.set_draft(turn_id, "two", ResultDraft(text="4", is_error=True))
    dialog = opened(session, window)
    assert dialog.answers == (Answer(text="4", is_error=True), ERROR)
    dialog.reject()


def test_an_answer_may_start_from_whatever_there_is(dialog: ForkDialog, session: Session) -> None:
    session.change(debugging=Debugging(rules={"get_weather": ToolRule(rows=ROWS)}))
    session.debugger.notes.set_draft(session.transcript.path[1].id, "two", ResultDraft(text="4"))
    words = menu_of(dialog, 0)
    assert words[:2] == ["What you typed: 4", "Row 1 (fits), any: sunny"]
    assert words[2:] == [name for name, _ in FAULTS]
    action = next(a for a in dialog.columns[0].start_button.menu().actions() if a.text() == "Never")
    action.trigger()
    assert dialog.answers[0] == Answer(never=True)


def test_two_to_five_answers(dialog: ForkDialog) -> None:
    assert not dialog.columns[0].remove_button.isVisible()
    for number in range(3, MOST_ANSWERS + 1):
        dialog.add_answer(Answer(text=str(number)))
        assert dialog.start_button.text() == f"Start {number} lanes"
    assert not dialog.add_button.isEnabled()
    dialog.add_answer(Answer(text="one too many"))
    assert len(dialog.answers) == MOST_ANSWERS
    dialog.columns[1].remove_button.click()
    assert [answer.text for answer in dialog.answers] == ["", "3", "4", "5"]
    assert [column.title.text() for column in dialog.columns] == ["Lane 1", "Lane 2", "Lane 3", "Lane 4"]
    dialog.columns[0].field.text.setPlainText("3")
    assert dialog.said.text() == "Lanes 1 and 2 get the same answer."


def test_what_is_typed_is_there_again(dialog: ForkDialog, session: Session, window: QWidget) -> None:
    dialog.columns[0].field.text.setPlainText("four degrees")
    dialog.add_answer(Answer(text="x"))
    typed = dialog.answers
    dialog.reject()
    again = opened(session, window)
    assert again.answers == typed
    again.reject()


def test_why_it_cannot_begin_is_said_and_goes_when_it_can(session: Session, window: QWidget, qtbot: QtBot) -> None:
    dialog = opened(session, window)
    assert not dialog.start_button.isEnabled()
    assert dialog.said.text().startswith("The other calls of this turn need an answer first.")
    session.turns.answer("one", "21")
    qtbot.waitUntil(dialog.start_button.isEnabled)
    assert dialog.said.text() == ""
    session.delete_turn(session.transcript.path[1].id)
    qtbot.waitUntil(lambda: not dialog.start_button.isEnabled())
    assert dialog.said.text() == "The call is gone."
    dialog.reject()


def test_a_call_that_is_not_there_is_refused(session: Session, window: QWidget) -> None:
    with pytest.raises(KeyError):
        ForkDialog(session, session.transcript.path[1].id, "three", window)


def test_without_a_fork_the_window_says_what_one_is(session: Session, window: QWidget) -> None:
    lanes = LanesView.shown_for(session, window)
    said = [label.text() for label in lanes.findChildren(QLabel) if label.isVisible()]
    assert any("No call was forked yet" in words for words in said)
    assert lanes.fork is None
    lanes.close()


# What differs


@pytest.mark.parametrize(
    ("text", "base", "marked"),
    [
        ("It is 4 degrees.", "It is 31 degrees.", ["4"]),
        ("same", "same", []),
        ("new words here", "", ["new words here"]),
        ("", "gone", []),
        ("a b c", "a c", ["b"]),
    ],
)
def test_differences_are_found_word_by_word(text: str, base: str, marked: list[str]) -> None:
    assert [text[begin:end].strip() for begin, end in differences(text, base)] == marked


def test_long_texts_are_compared_by_lines_and_endless_ones_not_at_all() -> None:
    long = "a word and another\n" * 1000
    assert [(long + "new\n" + long)[begin:end] for begin, end in differences(long + "new\n", long)] == ["new\n"]
    endless = "line\n" * 5000
    assert differences(endless + "new", endless) == []


def test_an_outcome_grows_is_marked_and_shows_what_is_hidden(qtbot: QtBot) -> None:
    view = OutcomeText("Outcome")
    qtbot.addWidget(view)
    view.show_text("It is 😀 ", None)
    view.show_text("It is 😀 4\u202e", None)
    assert view.toPlainText() == "It is 😀 4‹U+202E›"
    assert view.extraSelections() == []
    view.show_text("It is 😀 4", "It is 😀 5")
    (mark,) = view.extraSelections()
    assert mark.cursor.selectedText() == "4"
    assert mark.format.fontUnderline(), "never by colour alone"
    view.show_text("Other", None)
    assert (view.toPlainText(), view.extraSelections()) == ("Other", [])
