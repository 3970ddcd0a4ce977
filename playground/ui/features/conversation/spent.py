"""The cost of all requests of an experiment."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from playground.domain.costs import Cost, PriceLookup, cost, total
from playground.domain.transcript import one_per_request
from playground.ui.widgets.loop import Throttle

if TYPE_CHECKING:  # the pane makes it
    from playground.ui.features.conversation.transcript_pane import TranscriptPane

MANY = 500  # turns above which costs are added up at intervals
ADD_MS = 250  # between two sums


class Spent(QObject):
    """``words`` say what the experiment on stage cost, on every branch; empty where nobody says, and until it is known.

    ``added_up`` comes when they are right.
    """

    added_up = Signal()

    def __init__(self, stage: TranscriptPane, entered: PriceLookup, parent: QObject) -> None:
        super().__init__(parent)
        self.words = ""
        self._stage = stage
        self._entered = entered
        self._session = stage.session
        self._adding = Throttle(self._add_up, self, ADD_MS)

    def count(self) -> None:
        """Add up anew: at once, or soon where there is much of it."""
        if self._session is not self._stage.session:
            self._session, self.words = self._stage.session, ""
        if len(self._session.transcript.turns) > MANY:
            self._adding.poke()
        else:
            self._adding.cancel()
            self._add_up()

    def _add_up(self) -> None:
        """Add up the costs; the words say "at least" where some are unknown."""
        here, entered = self._session.settings.profile_id, cache(self._entered)
        costs: list[Cost | None] = []
        for outcome in one_per_request(self._session.transcript.turns.values()):
            if outcome.usage:
                costs.append(cost(outcome, here, entered))
        known = [found for found in costs if found is not None]
        words = total(known)  # none for what a list says is free
        self.words = f"at least {words}" if words and len(known) < len(costs) else words
        self.added_up.emit()
