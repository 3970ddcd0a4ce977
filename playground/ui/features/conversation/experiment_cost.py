"""The cost of all requests of an experiment."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from playground.domain.costs import PriceLookup, cost, total
from playground.domain.transcript import one_per_request
from playground.ui.widgets.loop import Throttle

if TYPE_CHECKING:  # the pane makes it
    from playground.ui.features.conversation.transcript_pane import TranscriptPane

MANY = 500  # turns above which costs are added up at intervals
INTERVAL_MS = 250


class ExperimentCost(QObject):
    """The cost of the experiment that a pane shows, on all branches: `words`, empty while it is not known.

    `added_up` follows each change of `words`.
    """

    added_up = Signal()

    def __init__(self, pane: TranscriptPane, price_of: PriceLookup, parent: QObject) -> None:
        super().__init__(parent)
        self.words = ""
        self._pane = pane
        self._price_of = price_of
        self._session = pane.session
        self._later = Throttle(self._add_up, self, INTERVAL_MS)

    def count(self) -> None:
        """Add the costs up: at once, or soon if there are many turns."""
        if self._session is not self._pane.session:
            self._session, self.words = self._pane.session, ""
        if len(self._session.transcript.turns) > MANY:
            self._later.poke()
        else:
            self._later.cancel()
            self._add_up()

    def _add_up(self) -> None:
        profile_id, price_of = self._session.settings.profile_id, cache(self._price_of)
        outcomes = one_per_request(self._session.transcript.turns.values())
        costs = [cost(outcome, profile_id, price_of) for outcome in outcomes if outcome.usage]
        priced = [price for price in costs if price is not None]
        words = total(priced)
        self.words = f"at least {words}" if words and len(priced) < len(costs) else words
        self.added_up.emit()
