"""Read-only view of a saved answer, drawn like a conversation; commands on it become signals."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, cast

from PySide6.QtCore import QTimer, Signal

from playground.domain.transcript import Turn
from playground.engine.advice.parts import ASK_AGAIN, GIVE_UP, KEEP_OFFER, RETRY, RETRY_NOW, STREAM_ON, TURNS, Action
from playground.engine.compare.lanes import keeping
from playground.engine.evaluation.variants import begin_with_answer
from playground.engine.session.session import Experiment, Session
from playground.ui.features.conversation.commands import TurnCommands
from playground.ui.features.conversation.transcript_pane import TranscriptPane
from playground.ui.widgets.page_parts import empty_words

if TYPE_CHECKING:
    from playground.domain.adaptations import Adaptation
    from playground.domain.costs import PriceLookup
    from playground.engine.evaluation.answers import SavedAnswer
    from playground.engine.evaluation.resolved import EvalVariant, ResolvedEvaluation

_AGAIN: Final = (RETRY, ASK_AGAIN, RETRY_NOW, GIVE_UP)
NOTHING = "Only the summary was saved."


class AnswerCommands(TurnCommands):
    """Commands on the turns of a saved answer: they run nothing and emit signals to the evaluation."""

    @property
    def _answer_pane(self) -> AnswerPane:
        return cast("AnswerPane", self._pane)

    def regenerate(self, turn_id: str, once: tuple[Adaptation, ...] = ()) -> None:
        self._answer_pane.again_asked.emit()

    def take_advice(self, turn_id: str, action: Action) -> None:
        pane = self._answer_pane
        if action == STREAM_ON:
            pane.stream_asked.emit()
        elif action in _AGAIN:
            pane.again_asked.emit()
        elif action == TURNS:
            super().take_advice(turn_id, action)
        elif action.name == KEEP_OFFER:
            outcome = pane.session.transcript.turns[turn_id].outcome
            self.advice_asked.emit(keeping(action, outcome, pane.session.settings.profile_id))
            pane.again_asked.emit()
        else:
            self.advice_asked.emit(action)


class AnswerPane(TranscriptPane):
    """A saved answer; ``again_asked`` requests to run it again, ``stream_asked`` to run it again with streaming."""

    again_asked = Signal()
    stream_asked = Signal()
    commands_type = AnswerCommands
    least_messages = (0, 0)  # the details of an evaluation can be lower than a conversation

    def __init__(self, session: Session, entered: PriceLookup, name: str = "The answer") -> None:
        super().__init__(session, entered, empty_words(NOTHING), fixed=True)
        self.view.setAccessibleName(name)
        self._first = ""  # id of the turn to scroll to the top after the layout
        self.view.laid_out.connect(self._place)
        self.begin()

    def show_from(self, turn: Turn | None) -> None:
        """Scroll a turn to the top when it becomes visible; None scrolls to the end."""
        self._first = turn.id if turn is not None else ""
        self._place()

    def _place(self) -> None:
        row = self.view.row_of(self._first) if self._first and self.view.isVisible() else None
        if row is not None:
            self._first = ""
            QTimer.singleShot(0, self, partial(self._scroll, row))

    def _scroll(self, row: int) -> None:
        if row:
            self.view.show_place(row, 0.0)
        else:
            self.view.verticalScrollBar().setValue(0)


def session_of(resolved: ResolvedEvaluation, column: EvalVariant, answer: SavedAnswer) -> Session:
    """Return a session of its own with the request and the response of a saved answer."""
    session = Experiment(resolved.connect, profile_id=column.settings.profile_id, profile_of=resolved.profile_of).main
    begin_with_answer(session, column, answer)
    return session
