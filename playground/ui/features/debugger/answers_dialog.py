"""Several results of one call, compared side by side: each continues in a lane of Compare.

Texts are saved in `session.debugger` as they are typed, so that a closed dialog loses nothing.
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
from playground.engine.compare.lanes import Lanes, LanesError
from playground.engine.questions import checking
from playground.engine.questions.kinds import RowFits
from playground.engine.session.call_notes import given_as
from playground.engine.session.changes import Change, DebugChanged, PathChanged, RunStateChanged, SettingsChanged
from playground.engine.session.session import Session
from playground.engine.session.variants import MOST_LANES, letter_of
from playground.jsonkit.texts import quantity
from playground.ui.features.debugger.fields import AnswerField
from playground.ui.features.debugger.texts import answer_words, match_words, one_line
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import look, styled, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import discard, in_column, in_row
from playground.ui.widgets.loop import Throttle, spawn
from playground.ui.widgets.plain_text import show_hidden, shown_name, tip
from playground.ui.widgets.session_window import main_window
from playground.ui.widgets.theme import code_font

TALL = 480

COLUMN = 262  # pixels, the least width of a column

MOST_ROWS = 20
MAX_LABEL = 48  # characters of an answer in a menu
HELP = "Each answer continues in a lane of its own. Undo removes all of them."


class Start(NamedTuple):
    """An entry of the menu; a separator comes between groups."""

    group: str
    words: str
    answer: Answer


def starts(session: Session, turn_id: str, call: ToolCall) -> list[Start]:
    """Return all answers to start from, the likeliest first."""
    debugger = session.debugger
    out: list[Start] = []
    draft = debugger.notes.draft(turn_id, call.id)
    if draft is not None and draft.prepared is None and draft.ready and (typed := draft.answer) is not None:
        out.append(_start("given", "Your draft" if draft.served is None else "Server's answer", typed))
    for turn in session.transcript.path:
        for result in turn.results:
            if result.call_id == call.id and _follows(session, turn.id, turn_id):
                out.append(_start("given", "Result", given_as(result)))
    rule = debugger.debugging.rule(call.name)
    if rule.policy is Policy.FIXED:
        out.append(_start("rule", "Fixed reply", rule.fixed))
    for number, row in enumerate(rule.rows[:MOST_ROWS], 1):
        fit = checking.now(RowFits(row, call.arguments_json))
        match = " (matches)" if fit is not None and fit.fits else ""
        out.append(_start("rule", f"Row {number}{match}, {match_words(row)[:MAX_LABEL]}", row.answer))
    out += [Start("fault", name, row.answer) for name, row in FAULTS]
    return out


def first_answers(session: Session, turn_id: str, call: ToolCall) -> tuple[Answer, ...]:
    """Return the drafts of this call, else its likeliest answer and an error."""
    drafts = session.debugger.notes.fork_drafts.get((turn_id, call.id))
    if drafts is not None:
        return drafts
    likely = [start.answer for start in starts(session, turn_id, call) if start.group == "given"]
    ready = session.debugger.answer_ready(turn_id, call.id)
    if not likely and ready is not None:
        likely = [ready.answer]
    answers = (*(likely[:1] or [Answer()]), dict(FAULTS)["Error text"].answer)
    return answers[: max(Lanes(session).free, 1)]


def _follows(session: Session, turn_id: str, maker: str) -> bool:
    """Return whether a turn follows another on the path: a gateway may use an id again."""
    ids = [turn.id for turn in session.transcript.path]
    return maker in ids and ids.index(maker) < ids.index(turn_id)


def _start(group: str, name: str, answer: Answer) -> Start:
    return Start(group, f"{name}: {answer_words(answer, MAX_LABEL)}", answer)


class StartMenu(QMenu):
    """Answers to start from, read when the menu opens. `chosen` carries one."""

    chosen = Signal(object)

    def __init__(self, starts: Callable[[], list[Start]], parent: QWidget, *, empty: bool = False) -> None:
        super().__init__(parent)
        self._starts = starts
        self._empty = empty
        self.aboutToShow.connect(self._fill)

    def _fill(self) -> None:
        self.clear()
        if self._empty:
            self.addAction("Empty").triggered.connect(partial(self._choose, Answer()))
        group = "" if not self._empty else "empty"
        for start in self._starts():
            if group and start.group != group:
                self.addSeparator()
            group = start.group
            self.addAction(start.words.replace("&", "&&")).triggered.connect(partial(self._choose, start.answer))

    def _choose(self, answer: Answer, _checked: bool = False) -> None:
        self.chosen.emit(answer)


class AnswerColumn(QFrame):
    """One answer. `changed` after every edit."""

    changed = Signal()
    remove_asked = Signal()

    def __init__(self, starts: Callable[[], list[Start]]) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self.setMinimumWidth(COLUMN)
        self.title = text_label("", "heading")
        self.start_button = styled(QToolButton(), "button")
        self.start_button.setText("Insert")
        self.start_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = StartMenu(starts, self.start_button)
        menu.chosen.connect(self.take)
        self.start_button.setMenu(menu)
        self.remove_button = IconButton("close", "Remove answer", size=14)
        self.remove_button.setFixedSize(22, 22)
        self.field = AnswerField("Answer", least=6, fills=True)
        head = in_row((self.title, 1), self.start_button, self.remove_button, spacing=4)
        in_column(head, (self.field, 1), parent=self, margins=(12, 10, 12, 12), spacing=6)
        self.field.changed.connect(self._changed)
        self.remove_button.clicked.connect(self.remove_asked)
        for button in self.findChildren(QPushButton):
            button.setAutoDefault(False)
        self.setFocusProxy(self.field)

    def show_answer(self, answer: Answer) -> None:
        """Show an answer without a signal."""
        self.field.set_answer(answer)

    def show_lane(self, name: str, *, removable: bool) -> None:
        """Name the lane of the answer."""
        self.title.setText(f"{name[:1].upper()}{name[1:]}")
        self.start_button.setAccessibleName(f"Insert an answer for {name}")
        self.field.text.setAccessibleName(f"Answer of {name}")
        self.remove_button.say(f"Remove {name}")
        self.remove_button.setVisible(removable)

    def take(self, answer: Answer) -> None:
        """Replace the answer."""
        self.field.set_answer(answer)
        self.field.text.setFocus()
        self.changed.emit()

    def _changed(self, _answer: Answer) -> None:
        self.changed.emit()


class AnswersDialog(QDialog):
    """Edits answers to a call of a turn on the path. `started` after the lanes are created. KeyError without the call.

    Drafts may exceed the free lanes: none is dropped, and starting waits for enough free lanes.
    """

    started = Signal()

    def __init__(self, session: Session, turn_id: str, call_id: str, parent: QWidget) -> None:
        super().__init__(main_window(parent))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._session = session
        self._turn_id = turn_id
        calls = {call.id: call for call in session.transcript.turns[turn_id].calls}
        self._call = calls[call_id]
        self._lanes = Lanes(session)
        self.setWindowTitle(f"Compare answers to {shown_name(self._call.name)}")
        self.columns: list[AnswerColumn] = []
        self.add_button = styled(QToolButton(), "button")
        self.add_button.setText("Add answer")
        self.add_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = StartMenu(self._starts, self.add_button, empty=True)
        menu.chosen.connect(self.add_answer)
        self.add_button.setMenu(menu)
        self.free_lanes = text_label("", "muted")
        self.message = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.start_button = styled(QPushButton("Start"), "primary")
        self._row = QHBoxLayout()
        self._area = QScrollArea()
        self._arrange()
        self._draw = Throttle(self._update, self)
        self._cancel = session.subscribe(self._changed, DebugChanged, PathChanged, SettingsChanged, RunStateChanged)
        self.finished.connect(self._closed)
        self.show_answers(first_answers(session, turn_id, self._call))
        self.columns[0].field.text.setFocus()

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The answers as edited, one for each lane."""
        return tuple(column.field.answer for column in self.columns)

    def show_answers(self, answers: tuple[Answer, ...]) -> None:
        """Show answers, each in a column."""
        while len(self.columns) > len(answers):
            column = self.columns.pop()
            discard(self._row, column)
        while len(self.columns) < len(answers):
            column = AnswerColumn(self._starts)
            column.changed.connect(self._edited)
            column.remove_asked.connect(partial(self._remove, column))
            self.columns.append(column)
            self._row.addWidget(column, 1)
        for column, answer in zip(self.columns, answers, strict=True):
            column.show_answer(answer)
        self._update()

    def add_answer(self, answer: Answer) -> None:
        """Add an answer if a lane is free."""
        if len(self.columns) < self._lanes.free:
            self.show_answers((*self.answers, answer))
            self._save()
            self.columns[-1].field.text.setFocus()
            QTimer.singleShot(0, self, self._show_last)

    def start(self) -> None:
        """Create the lanes and run them."""
        self._update()
        if not self.start_button.isEnabled():
            return
        self._save()
        try:
            runs = self._lanes.add_answers(self._session, self._turn_id, self._call.id, self.answers)
        except (LanesError, RunRefusedError) as error:
            self._notify(str(error), "error")
            return
        spawn(runs, name="answers in lanes")
        self.accept()
        self.started.emit()

    def _arrange(self) -> None:
        name = text_label(shown_name(self._call.name), "heading")
        arguments = ElidedLabel("Arguments", elide=Qt.TextElideMode.ElideRight)
        arguments.setFont(code_font())
        arguments.set_text(one_line(self._call.arguments, 2000))
        title = in_row(name, (arguments, 1), spacing=8)
        says = styled(QLabel(HELP, textFormat=Qt.TextFormat.PlainText, wordWrap=True), "muted")
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
        foot = in_row(self.add_button, self.free_lanes, (self.message, 1), cancel, self.start_button, spacing=8)
        for button in (cancel, self.start_button):
            button.setAutoDefault(False)
        in_column(title, says, (self._area, 1), foot, parent=self, margins=(16, 14, 16, 14), spacing=8)
        room = main_window(self).size()
        self.resize(min(3 * (COLUMN + 24) + 40, room.width() - 40), min(TALL, room.height() - 60))

    def _starts(self) -> list[Start]:
        return starts(self._session, self._turn_id, self._call)

    def _show_last(self) -> None:
        bar = self._area.horizontalScrollBar()
        bar.setValue(bar.maximum())

    def _remove(self, column: AnswerColumn) -> None:
        index = self.columns.index(column)
        answers = self.answers
        self.show_answers((*answers[:index], *answers[index + 1 :]))
        self._save()

    def _edited(self) -> None:
        self._save()
        self._update()

    def _save(self) -> None:
        self._session.debugger.notes.set_fork_draft(self._turn_id, self._call.id, self.answers)

    def _update(self) -> None:
        """Name the lanes, and enable Start or show why it is not possible."""
        session, number, free = self._session, len(self.columns), self._lanes.free
        for place, column in enumerate(self.columns, MOST_LANES - free):
            name = f"lane {letter_of(place)}" if place < MOST_LANES else f"answer {place - MOST_LANES + free + 1}"
            column.show_lane(name, removable=number > 1)
        self.add_button.setEnabled(number < free)
        self.add_button.setToolTip(tip("" if number < free else f"At most {MOST_LANES} lanes"))
        self.free_lanes.setText(f"{free - number} more possible" if number < free else "Lane limit reached")
        self.start_button.setText(f"Start {quantity(number, 'lane')}")
        deleted = self._turn_id not in session.transcript.turns
        refusal = "The call was deleted." if deleted else session.debugger.fork_refusal(self._turn_id, self._call.id)
        if number > free:
            refusal = refusal or _too_many_words(number, free)
        self.start_button.setEnabled(not refusal)
        self._notify(refusal or _duplicate_words(self.answers), "error" if refusal else "small")

    def _notify(self, words: str, kind: str) -> None:
        self.message.setText(show_hidden(words))
        look(self.message, kind)

    def _changed(self, _change: Change) -> None:
        self._draw.poke()

    def _closed(self) -> None:
        self._cancel()


def _too_many_words(number: int, free: int) -> str:
    """Return why more answers than free lanes cannot start."""
    more = number - free
    remedy = f"Remove {quantity(more, 'answer')}, or close lanes." if free else "Close lanes first."
    return f"Only {free} of {MOST_LANES} lanes {'is' if free == 1 else 'are'} free. {remedy}"


def _duplicate_words(answers: tuple[Answer, ...]) -> str:
    """Return which answers are the same."""
    for number, answer in enumerate(answers):
        if answer in answers[:number]:
            return f"Answers {answers.index(answer) + 1} and {number + 1} are the same."
    return ""
