"""The end of a turn's card: errors, parts that could not be read, and what to do about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import groupby

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QMenu, QPushButton, QToolButton, QVBoxLayout, QWidget

from playground.domain.durations import countdown, span
from playground.domain.errors import Failure
from playground.domain.transcript import Ending, Turn
from playground.engine.advice import advise, headline, limit_words, own_words
from playground.engine.advice.parts import ASK_AGAIN, GIVE_UP, READ_CUMULATIVE, RETRY, RETRY_NOW, TRY_OFFER, Action
from playground.engine.inspect.endings import ending_details, ending_note
from playground.engine.session.request_executor import RetryWait
from playground.engine.session.session import is_cumulative
from playground.ui.features.conversation.commands import TurnCommands
from playground.ui.features.conversation.fold import Fold
from playground.ui.features.conversation.text_view import TextView
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import paragraph, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import show_hidden
from playground.ui.widgets.theme import tokens

TITLE = "Part of the answer could not be read"
LONGEST = 400  # characters of a note
LONGEST_BODY = 16_000  # characters of a body that are shown
SHOW_BODY, HIDE_BODY = "Show the error body", "Hide the error body"


class ErrorFrame(QFrame):
    """A frame in the colours of an error."""

    height_changed = Signal()

    def _begin(self, words: str) -> QVBoxLayout:
        """Return the layout of the frame with its title."""
        title = paragraph(words, "error")
        font = title.font()
        font.setBold(True)
        title.setFont(font)
        return in_column(title, of=self, margins=(14, 10, 12, 10), spacing=4)

    def paintEvent(self, event: QPaintEvent) -> None:
        t = tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(t.error))
        painter.setBrush(QColor(t.error_background))
        painter.drawRoundedRect(self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5), 7, 7)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.update()


class ErrorBody(Fold):
    """The body of an error as it was received, folded."""

    def __init__(self, body: str) -> None:
        self.copy = IconButton("copy", "Copy the whole body", size=14)
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(body))
        super().__init__(self.copy)
        self.text_view.setAccessibleName("Body of the error")
        more = len(body) - LONGEST_BODY
        self.set_source(body[:LONGEST_BODY] + (f"\n… and {more:,} more characters" if more > 0 else ""))
        self.refresh()

    def refresh(self) -> None:
        self.set_words(HIDE_BODY if self.is_open else SHOW_BODY, "Error body")
        super().refresh()


class ErrorCard(ErrorFrame):
    """Explains a failure and offers actions; `action_taken` carries the chosen one.

    Without `actions`, those of the advice are offered. `streamed` says whether streaming was on if the failure does not
    tell, `arrived` whether a part of the answer is above the card.
    """

    action_taken = Signal(object)

    def __init__(
        self,
        failure: Failure,
        *,
        streamed: bool | None,
        arrived: bool,
        actions: tuple[Action, ...] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("errorCard")
        self.failure = failure
        advice = advise(failure, streamed=streamed, arrived=arrived)
        layout = self._begin(headline(failure, advice))
        if words := own_words(failure, advice):
            message = TextView(mode="plain")
            message.setAccessibleName("The gateway's message")
            message.set_text(words[:4000])
            message.height_changed.connect(self.height_changed)
            layout.addWidget(message)
        facts = [
            f"{name} {value}"
            for name, value in (
                ("code", failure.code),
                ("type", failure.type),
                ("parameter", failure.param),
                ("limit:", limit_words(failure.dimension)),
                ("request", failure.request_id),
            )
            if value
        ]
        if facts:
            line = paragraph(" · ".join(facts)[:400], "small")
            layout.addWidget(line)
        actions = advice.actions if actions is None else actions
        if failure.retry_after is not None and RETRY in actions:
            wait = text_label(f"The gateway asks to wait {span(failure.retry_after)} before the next try.", "muted")
            layout.addWidget(wait)
        self._remedy = paragraph(advice.remedy, "muted")
        layout.addWidget(self._remedy)
        with_offer = (action for action in actions if action.offer)
        leads = bool(actions) and actions[0].offer is not None
        offers = [
            self._offer(list(offered), first=leads and not number)
            for number, (_, offered) in enumerate(groupby(with_offer, lambda action: action.offer))
        ]
        row = QWidget()
        flow = FlowLayout(row, 6)
        others = [action for action in actions if action.offer is None]
        for action in others:
            button = QPushButton(action.label)
            if action is actions[0]:
                button.setProperty("kind", "primary")
            button.clicked.connect(partial(self.action_taken.emit, action))
            flow.addWidget(button)
        self._wait = text_label("", "muted")
        flow.addWidget(self._wait)
        for number, widget in enumerate([*offers, row] if leads else [row, *offers]):
            layout.addSpacing(6 if number == 0 or widget is row else 0)
            layout.addWidget(widget)
        if failure.body.strip() and failure.body.strip() != failure.message:
            body = ErrorBody(failure.body)
            body.height_changed.connect(self.height_changed)
            layout.addWidget(body)
        self.setAccessibleName(f"Error: {advice.title}")

    def _offer(self, actions: list[Action], *, first: bool) -> QWidget:
        """Return the buttons of one offer: try it, save it, and further ways in a menu."""
        row = QWidget()
        flow = FlowLayout(row, 6)
        first_label = actions[0].label
        for number, action in enumerate(actions[:2]):
            button = QPushButton(action.label)
            if number:
                button.setAccessibleName(f"{action.label}: {first_label}")
            elif first:
                button.setProperty("kind", "primary")
            button.clicked.connect(partial(self.action_taken.emit, action))
            flow.addWidget(button)
        if more := actions[2:]:
            others = IconButton("more", f"Other ways to keep it: {first_label}")
            others.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
            menu = QMenu(others)
            for action in more:
                menu.addAction(action.label).triggered.connect(partial(self._take, action))
            others.setMenu(menu)
            flow.addWidget(others)
        return row

    def _take(self, action: Action, _checked: bool = False) -> None:
        self.action_taken.emit(action)

    def stay_open(self) -> None:
        """Replace the remedy while the answer is still being received."""
        self._remedy.setText("Still receiving.")

    def count_down(self, seconds: float, attempt: int, most: int) -> None:
        """Show when the next attempt begins, and its number."""
        self._wait.setText(f"Retrying in {countdown(seconds)} · {attempt + 1} of {most}")


class HoleCard(ErrorFrame):
    """Names the parts of an answer that could not be read; `calls` says that its tool calls wait because of it."""

    frame_asked = Signal()

    def __init__(self, notes: Iterable[str], *, calls: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("unreadPartCard")
        layout = self._begin(TITLE)
        excerpt = TextView(mode="plain")  # breaks lines anywhere: an excerpt of JSON may be one long word
        excerpt.setAccessibleName("Unread part")
        excerpt.set_text("\n".join(f"{note[:1].upper()}{note[1:LONGEST]}" for note in notes))
        excerpt.height_changed.connect(self.height_changed)
        layout.addWidget(excerpt)
        rest = " Review these tool calls before answering." if calls else ""
        layout.addWidget(paragraph(f"Readable part above; raw data in Events.{rest}", "muted"))
        button = QPushButton("Show event")
        button.setToolTip("Show the event that could not be read")
        button.clicked.connect(self.frame_asked)
        row = in_row(button, 1, margins=(0, 6, 0, 0))
        layout.addLayout(row)
        self.setAccessibleName(f"Error: {TITLE}")


class TurnEnd(QVBoxLayout):
    """A column of cards about what went wrong with the turn that `turn_id` gives, mostly empty."""

    height_changed = Signal()

    def __init__(self, commands: TurnCommands, turn_id: Callable[[], str]) -> None:
        super().__init__()
        self.setSpacing(8)
        self._commands = commands
        self._turn_id = turn_id
        self._cards: list[QWidget] = []
        self._about: object = None  # state that the cards show

    def __bool__(self) -> bool:
        return bool(self._cards)

    def show_turn(self, turn: Turn) -> None:
        """Show what went wrong with a turn that was received."""
        outcome = turn.outcome
        interrupted = outcome is not None and outcome.ending is Ending.INTERRUPTED
        repeats = is_cumulative(turn) and not self._commands.read_only
        details = ending_details(turn) if ending_note(turn) is not None else ""
        if outcome is None or not (outcome.failure or outcome.holes or interrupted or repeats or details):
            self.clear()
            return
        state = (outcome.failure, outcome.holes, outcome.deviations, bool(turn.calls), interrupted, details)
        if not self._begin(state):
            return
        if outcome.holes:
            notes = dict(outcome.deviations)
            card = HoleCard([notes[code] for code in outcome.holes if code in notes], calls=bool(turn.calls))
            card.frame_asked.connect(lambda: self._commands.hole_asked.emit(self._turn_id()))
            card.height_changed.connect(self.height_changed)
            self._add(card)
        if repeats:
            self._add(self._line(READ_CUMULATIVE, "Each delta repeats the whole text."))
        if details:
            self._add(paragraph(show_hidden(details), "muted"))
        if outcome.failure is not None:
            self._add(self._error(outcome.failure, streamed=outcome.streamed, arrived=bool(turn.parts)))
        elif interrupted:
            self._add(self._line(ASK_AGAIN, "The app ended while receiving."))

    def show_live(self, failure: Failure | None, *, arrived: bool) -> None:
        """Show what went wrong with a turn that is still being received; actions are offered at its end."""
        if failure is None:
            self.clear()
        elif self._begin(failure):
            card = self._error(failure, streamed=None, arrived=arrived, actions=())
            card.stay_open()
            self._add(card)

    def show_retry_wait(self, pause: RetryWait) -> None:
        """Show why the last attempt failed, and when the next one begins."""
        if self._begin(pause):
            self._add(self._error(pause.failure, streamed=None, arrived=False, actions=(RETRY_NOW, GIVE_UP)))
        for card in self._cards:
            if isinstance(card, ErrorCard):
                card.count_down(pause.remaining, pause.attempt, pause.most)

    def clear(self) -> None:
        """Remove all cards."""
        self._begin(None)

    def _begin(self, about: object) -> bool:
        """Remove cards about something else. Return whether new ones are needed."""
        if about == self._about:
            return False
        self._about = about
        for card in self._cards:
            card.hide()
            card.deleteLater()
        if self._cards:
            self._cards = []
            self.height_changed.emit()
        return True

    def _add(self, card: QWidget) -> None:
        self._cards.append(card)
        self.addWidget(card)
        card.show()
        self.height_changed.emit()

    def _take(self, action: Action) -> None:
        self._commands.take_advice(self._turn_id(), action)

    def _line(self, action: Action, words: str) -> QWidget:
        """Return a button with the sentence that says why it is offered."""
        line = QWidget()
        button = QPushButton(action.label)
        button.clicked.connect(lambda: self._take(action))
        in_row(button, (text_label(words, "muted", wrap=True), 1), of=line, margins=0, spacing=8)
        return line

    def _error(
        self, failure: Failure, *, streamed: bool | None, arrived: bool, actions: tuple[Action, ...] | None = None
    ) -> ErrorCard:
        if self._commands.read_only and actions is None:
            advised = advise(failure, streamed=streamed, arrived=arrived).actions
            actions = tuple(action for action in advised if action.name != TRY_OFFER)
        error = ErrorCard(failure, streamed=streamed, arrived=arrived, actions=actions)
        error.action_taken.connect(self._take)
        error.height_changed.connect(self.height_changed)
        return error
