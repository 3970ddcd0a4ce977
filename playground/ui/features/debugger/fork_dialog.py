"""Several answers to one call, to run on side by side. Start hands them to the debugger and opens the lanes.

What is typed is kept in ``session.debugger`` as it is typed, so that a closed dialog loses nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QScrollArea,
    QToolButton,
    QWidget,
)

from playground.domain.debugging import FAULTS, Answer, Policy
from playground.domain.errors import RunRefusedError
from playground.domain.parts import ToolCall
from playground.engine.checks import checking
from playground.engine.checks.questions import RowFits
from playground.engine.session.changes import Change, DebugChanged, PathChanged, RunStateChanged, SettingsChanged
from playground.engine.session.debugger import FEWEST_ANSWERS, MOST_ANSWERS
from playground.engine.session.session import Session
from playground.ui.features.debugger.answer_field import AnswerField
from playground.ui.features.debugger.rule_words import answer_words, match_words, one_line
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import look, styled, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import discard, in_column, in_row
from playground.ui.widgets.loop import Throttle, spawn
from playground.ui.widgets.plain_text import show_hidden, shown_name, tip
from playground.ui.widgets.session_window import main_window
from playground.ui.widgets.theme import code_font

TALL = 480

COLUMN = 262  # least width, pixels

MOST_ROWS = 20
LABEL = 48  # characters of an answer in a menu


class Start(NamedTuple):
    """One entry: ``group`` parts the kinds of them."""

    group: str
    words: str
    answer: Answer


def starts(session: Session, turn_id: str, call: ToolCall) -> list[Start]:
    """All there is to start from, the likeliest first."""
    debugger = session.debugger
    out: list[Start] = []
    draft = debugger.notes.draft(turn_id, call.id)
    if draft is not None and draft.text:
        answer = Answer(text=draft.text, is_error=draft.is_error)
        out.append(_start("given", "What you typed", answer))
    for turn in session.transcript.path:
        for result in turn.results:
            if result.call_id == call.id and _follows(session, turn.id, turn_id):
                answer = Answer(text=result.text, is_error=result.is_error)
                out.append(_start("given", "The answer it got", answer))
    rule = debugger.debugging.rule(call.name)
    if rule.policy is Policy.FIXED:
        out.append(_start("rule", "The fixed answer", rule.fixed))
    for number, row in enumerate(rule.rows[:MOST_ROWS], 1):
        found = checking.now(RowFits(row, call.arguments))
        fits = " (fits)" if found is not None and found.fits else ""
        out.append(_start("rule", f"Row {number}{fits}, {match_words(row)[:LABEL]}", row.answer))
    out += [Start("fault", name, row.answer) for name, row in FAULTS]
    return out


def first_answers(session: Session, turn_id: str, call: ToolCall) -> tuple[Answer, ...]:
    """What a fork of this call begins with: what was typed for it last, else the likeliest answer and an error."""
    kept = session.debugger.notes.fork_drafts.get((turn_id, call.id))
    if kept is not None:
        return kept
    likely = [start.answer for start in starts(session, turn_id, call) if start.group == "given"]
    ready = session.debugger.answer_ready(turn_id, call.id)
    if not likely and ready is not None:
        likely = [ready.answer]
    return (*(likely[:1] or [Answer()]), dict(FAULTS)["Error text"].answer)


def _follows(session: Session, turn_id: str, maker: str) -> bool:
    """Whether a turn on the path stands behind another on it: a gateway may use an id again."""
    ids = [turn.id for turn in session.transcript.path]
    return maker in ids and ids.index(maker) < ids.index(turn_id)


def _start(group: str, name: str, answer: Answer) -> Start:
    return Start(group, f"{name}: {answer_words(answer, LABEL)}", answer)


class StartMenu(QMenu):
    """What an answer may start from, looked up when it opens. ``chosen`` gives the answer."""

    chosen = Signal(object)

    def __init__(self, starts: Callable[[], list[Start]], parent: QWidget, *, empty: bool = False) -> None:
        super().__init__(parent)
        self._starts = starts
        self._empty = empty
        self.aboutToShow.connect(self._fill)

    def _fill(self) -> None:
        self.clear()
        if self._empty:
            self.addAction("To be typed").triggered.connect(partial(self._choose, Answer()))
        group = "" if not self._empty else "empty"
        for start in self._starts():
            if group and start.group != group:
                self.addSeparator()
            group = start.group
            self.addAction(start.words.replace("&", "&&")).triggered.connect(partial(self._choose, start.answer))

    def _choose(self, answer: Answer, _checked: bool = False) -> None:
        self.chosen.emit(answer)


class AnswerColumn(QFrame):
    """``changed`` whenever the answer is another."""

    changed = Signal()
    remove_asked = Signal()

    def __init__(self, starts: Callable[[], list[Start]]) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self.setMinimumWidth(COLUMN)
        self.title = text_label("", "heading")
        self.start_button = styled(QToolButton(), "button")
        self.start_button.setText("Start from")
        self.start_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = StartMenu(starts, self.start_button)
        menu.chosen.connect(self.take)
        self.start_button.setMenu(menu)
        self.remove_button = IconButton("close", "Remove this answer", size=14)
        self.remove_button.setFixedSize(22, 22)
        self.field = AnswerField("Answer", least=6, fills=True)
        head = in_row((self.title, 1), self.start_button, self.remove_button, spacing=4)
        in_column(head, (self.field, 1), of=self, margins=(12, 10, 12, 12), spacing=6)
        self.field.changed.connect(self._changed)
        self.remove_button.clicked.connect(self.remove_asked)
        for button in self.findChildren(QPushButton):
            button.setAutoDefault(False)
        self.setFocusProxy(self.field)

    def show_answer(self, number: int, answer: Answer, *, removable: bool) -> None:
        """Show an answer without telling anyone, and the number of its lane."""
        self.title.setText(f"Lane {number}")
        self.start_button.setAccessibleName(f"Start lane {number} from")
        self.field.text.setAccessibleName(f"Answer of lane {number}")
        self.remove_button.say(f"Remove lane {number}")
        self.remove_button.setVisible(removable)
        self.field.set_answer(answer)

    def take(self, answer: Answer) -> None:
        """Another answer to go on from."""
        self.field.set_answer(answer)
        self.field.text.setFocus()
        self.changed.emit()

    def _changed(self, _answer: Answer) -> None:
        self.changed.emit()


class ForkDialog(QDialog):
    """For one call of a turn on the path. Raises KeyError for a call that is not there."""

    def __init__(self, session: Session, turn_id: str, call_id: str, parent: QWidget) -> None:
        super().__init__(main_window(parent))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._session = session
        self._turn_id = turn_id
        self._call = next((c for c in session.transcript.turns[turn_id].calls if c.id == call_id), None) or _no(call_id)
        self._forks = len(session.debugger.forks)
        self._starting = False
        self.setWindowTitle(f"Compare several answers to {shown_name(self._call.name)}")
        self.columns: list[AnswerColumn] = []
        self.add_button = styled(QToolButton(), "button")
        self.add_button.setText("Add an answer")
        self.add_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = StartMenu(self._starts, self.add_button, empty=True)
        menu.chosen.connect(self.add_answer)
        self.add_button.setMenu(menu)
        self.said = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.start_button = styled(QPushButton("Start"), "primary")
        self._row = QHBoxLayout()
        self._area = QScrollArea()
        self._arrange()
        self._draw = Throttle(self._judge, self)
        self._cancel = session.subscribe(self._changed, DebugChanged, PathChanged, SettingsChanged, RunStateChanged)
        self.finished.connect(self._closed)
        self.show_answers(first_answers(session, turn_id, self._call))
        self.columns[0].field.text.setFocus()

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The answers as edited, one for each lane."""
        return tuple(column.field.answer for column in self.columns)

    def show_answers(self, answers: tuple[Answer, ...]) -> None:
        """Show these answers, each in a column."""
        while len(self.columns) > len(answers):
            column = self.columns.pop()
            discard(self._row, column)
        while len(self.columns) < len(answers):
            column = AnswerColumn(self._starts)
            column.changed.connect(self._edited)
            column.remove_asked.connect(partial(self._remove, column))
            self.columns.append(column)
            self._row.addWidget(column, 1)
        for number, (column, answer) in enumerate(zip(self.columns, answers, strict=True), 1):
            column.show_answer(number, answer, removable=len(answers) > FEWEST_ANSWERS)
        self._judge()

    def add_answer(self, answer: Answer) -> None:
        """One more answer, up to the most there may be."""
        if len(self.columns) < MOST_ANSWERS:
            self.show_answers((*self.answers, answer))
            self._keep()
            self.columns[-1].field.text.setFocus()
            QTimer.singleShot(0, self, self._show_last)

    def start(self) -> None:
        """Run them; the lanes open as soon as they have begun."""
        self._judge()
        if self.start_button.isEnabled():
            self._starting = True
            self.start_button.setEnabled(False)
            self._keep()
            spawn(self._fork(self._session, self.answers), name="fork")

    async def _fork(self, session: Session, answers: tuple[Answer, ...]) -> None:
        """Goes on when the dialog is gone: it ends when all lanes have."""
        try:
            await session.debugger.fork(self._turn_id, self._call.id, answers)
        except RunRefusedError as error:
            if self._starting:  # else it was closed before this began
                self._starting = False
                self._say(str(error), "error")

    # Inside

    def _arrange(self) -> None:
        name = text_label(shown_name(self._call.name), "heading")
        arguments = ElidedLabel("Arguments", elide=Qt.TextElideMode.ElideRight)
        arguments.setFont(code_font())
        arguments.set_text(one_line(self._call.arguments, 2000))
        title = in_row(name, (arguments, 1), spacing=8)
        says = QLabel(
            "Each answer runs on at once, by the rules, on a branch of its own. One undo takes all of them back.",
            textFormat=Qt.TextFormat.PlainText,
            wordWrap=True,
        )
        says.setProperty("kind", "muted")
        inner = QWidget()
        self._row.setContentsMargins(0, 0, 0, 4)
        self._row.setSpacing(10)
        inner.setLayout(self._row)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setWidgetResizable(True)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._area.setWidget(inner)
        cancel = QPushButton("Cancel")
        cancel.clicked.connect(self.reject)
        self.start_button.clicked.connect(self.start)
        foot = in_row(self.add_button, (self.said, 1), cancel, self.start_button, spacing=8)
        for button in (cancel, self.start_button):
            button.setAutoDefault(False)
        in_column(title, says, (self._area, 1), foot, of=self, margins=(16, 14, 16, 14), spacing=8)
        room = main_window(self).size()
        self.resize(min(3 * (COLUMN + 24) + 40, room.width() - 40), min(TALL, room.height() - 60))

    def _starts(self) -> list[Start]:
        return starts(self._session, self._turn_id, self._call)

    def _show_last(self) -> None:
        bar = self._area.horizontalScrollBar()
        bar.setValue(bar.maximum())

    def _remove(self, column: AnswerColumn) -> None:
        at = self.columns.index(column)
        answers = self.answers
        self.show_answers((*answers[:at], *answers[at + 1 :]))
        self._keep()

    def _edited(self) -> None:
        self._keep()
        self._judge()

    def _keep(self) -> None:
        self._session.debugger.notes.set_fork_draft(self._turn_id, self._call.id, self.answers)

    def _judge(self) -> None:
        """Whether it may start, and why not."""
        number = len(self.columns)
        self.add_button.setEnabled(number < MOST_ANSWERS)
        self.add_button.setToolTip(tip("" if number < MOST_ANSWERS else f"No more than {MOST_ANSWERS} at once"))
        self.start_button.setText(f"Start {number} lanes")
        if self._starting:
            return
        session = self._session
        gone = self._turn_id not in session.transcript.turns
        refusal = "The call is gone." if gone else session.debugger.fork_refusal(self._turn_id, self._call.id)
        self.start_button.setEnabled(not refusal)
        self._say(refusal or _same(self.answers), "error" if refusal else "small")

    def _say(self, words: str, kind: str) -> None:
        self.said.setText(show_hidden(words))
        look(self.said, kind)

    def _changed(self, change: Change) -> None:
        if isinstance(change, DebugChanged) and self._starting and len(self._session.debugger.forks) > self._forks:
            self._starting = False
            QTimer.singleShot(0, self, self._open_lanes)
        else:
            self._draw.poke()

    def _open_lanes(self) -> None:
        from playground.ui.features.debugger.lanes_view import LanesView

        fork = self._session.debugger.forks[-1]
        self.accept()
        LanesView.shown_for(self._session, self).show_fork(fork)

    def _closed(self) -> None:
        self._starting = False
        self._cancel()


def _same(answers: tuple[Answer, ...]) -> str:
    """Words for lanes that are given the same answer."""
    for number, answer in enumerate(answers):
        if answer in answers[:number]:
            return f"Lanes {answers.index(answer) + 1} and {number + 1} get the same answer."
    return ""


def _no(call_id: str) -> ToolCall:
    raise KeyError(call_id)
