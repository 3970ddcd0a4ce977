"""What stands below the parts of a turn: how it went wrong, and while it still comes, what is already known of that."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from playground.domain.errors import Failure
from playground.domain.transcript import Ending, Turn
from playground.engine.advice import ASK_AGAIN, GIVE_UP, RETRY_NOW, Action
from playground.engine.session.retry_wait import RetryWait
from playground.ui.features.conversation.error_card import ErrorCard
from playground.ui.features.conversation.hole_card import HoleCard


class TurnEnd(QVBoxLayout):
    """A column of cards, mostly empty. What is shown already stays as it is."""

    action_taken = Signal(object)  # an Action
    frame_asked = Signal()
    height_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setSpacing(8)
        self._cards: list[QWidget] = []
        self._about: object = None  # what the cards were made from

    def __bool__(self) -> bool:
        return bool(self._cards)

    def show_turn(self, turn: Turn) -> None:
        """What is to be said of a turn that is whole."""
        outcome = turn.outcome
        interrupted = outcome is not None and outcome.ending is Ending.INTERRUPTED
        if outcome is None or not (outcome.failure or outcome.holes or interrupted):
            self.clear()
            return
        if not self._begin((outcome.failure, outcome.holes, outcome.deviations, bool(turn.calls), interrupted)):
            return
        if outcome.holes:
            notes = dict(outcome.deviations)
            card = HoleCard([notes[code] for code in outcome.holes if code in notes], calls=bool(turn.calls))
            card.frame_asked.connect(self.frame_asked)
            card.height_changed.connect(self.height_changed)
            self._add(card)
        if outcome.failure is not None:
            self._add(self._error(outcome.failure, streamed=outcome.streamed, arrived=bool(turn.parts)))
        elif interrupted:
            self._add(self._again())

    def show_live(self, failure: Failure | None, *, arrived: bool) -> None:
        """What went wrong with a turn that is still being received; what there is to do is offered in its end.

        ``arrived`` says whether any of it is there.
        """
        if failure is None:
            self.clear()
        elif self._begin(failure):
            card = self._error(failure, streamed=None, arrived=arrived, actions=())
            card.stay_open()
            self._add(card)

    def show_retry_wait(self, pause: RetryWait) -> None:
        """Why the last try failed, and how long the next one is waited for."""
        if self._begin(pause):
            self._add(self._error(pause.failure, streamed=None, arrived=False, actions=(RETRY_NOW, GIVE_UP)))
        for card in self._cards:
            if isinstance(card, ErrorCard):
                card.count_down(pause.remaining, pause.attempt, pause.most)

    def clear(self) -> None:
        """Say nothing."""
        self._begin(None)

    def _begin(self, about: object) -> bool:
        """Take away what is shown unless it is about the same; whether cards are to be made for it."""
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

    def _again(self) -> QWidget:
        """Below what came of a turn when the application ended: the way to the whole of it."""
        line = QWidget()
        button = QPushButton(ASK_AGAIN.label)
        button.clicked.connect(lambda: self.action_taken.emit(ASK_AGAIN))
        words = QLabel("The application ended while this was being received.")
        words.setProperty("kind", "muted")
        row = QHBoxLayout(line)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(button)
        row.addWidget(words, 1)
        return line

    def _error(
        self, failure: Failure, *, streamed: bool | None, arrived: bool, actions: tuple[Action, ...] | None = None
    ) -> ErrorCard:
        error = ErrorCard(failure, streamed=streamed, arrived=arrived, actions=actions)
        error.action_taken.connect(self.action_taken)
        error.height_changed.connect(self.height_changed)
        return error
