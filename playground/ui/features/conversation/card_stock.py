"""The cards that exist: made for rows that come into view, given up when they leave it, used again where it is cheaper.

What is being looked for outlives the card; what is typed into one is kept by the session. All that a card is made of is
loaded with the first of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from playground.domain.tools import ToolDefinition
from playground.ui.features.conversation.commands import Growth, TurnCommands
from playground.ui.features.conversation.rows import Row

if TYPE_CHECKING:
    from playground.ui.features.conversation.turn_card import TurnCard

#: What has arrived so far for a turn being received, the seconds since its run began, and the wait for the next try
#: if there is one; None for other turns.
Growing = Callable[[str], Growth | None]


class CardStock:
    """Cards by turn id. ``parent`` is where they live, ``changed`` is called when one may have another height."""

    def __init__(self, commands: TurnCommands, growing: Growing, parent: QWidget, changed: Callable[[], None]) -> None:
        self._commands = commands
        self._growing = growing
        self._parent = parent
        self._changed = changed
        self._found: re.Pattern[str] | None = None
        self._found_at: tuple[str, int] | None = None
        self.zoom = 1.0
        self.width = 0  # of a card, in pixels
        self.tools: tuple[ToolDefinition, ...] = ()
        self.cards: dict[str, TurnCard] = {}

    def __contains__(self, turn_id: object) -> bool:
        return turn_id in self.cards

    def __iter__(self) -> Iterator[TurnCard]:
        return iter(self.cards.values())

    def heads(self) -> Iterator[tuple[int, int]]:
        """Upper and lower edges of the headers of all cards, in pixels of the parent."""
        return (head for card in self for head in card.heads())

    def make(self, row: Row) -> TurnCard:
        """A card that shows ``row``."""
        from playground.ui.features.conversation.turn_card import TurnCard

        card = TurnCard(row, self._commands, self.tools, zoom=self.zoom, parent=self._parent, width=self.width)
        card.height_changed.connect(self._changed)
        self.cards[row.id] = card
        self.draw_growing_card(row.id)
        if self._found is not None:
            card.finds.show(self._found, self._number(row.id))
        return card

    def drop(self, turn_id: str) -> None:
        """The card of that turn is not needed now."""
        card = self.cards.pop(turn_id)
        focus, view = card.window().focusWidget(), self._parent.parentWidget()
        if view is not None and (focus is card or card.isAncestorOf(focus)):
            view.setFocus(Qt.FocusReason.OtherFocusReason)  # Qt would search for it among widgets being deleted
        card.hide()
        card.deleteLater()

    def draw_growing_card(self, turn_id: str) -> bool:
        """Draw what has arrived for a turn. Returns whether it has a card and is being received."""
        card = self.cards.get(turn_id)
        state = self._growing(turn_id) if card is not None else None
        if card is None or state is None:
            return False
        card.draw_growth(state)
        return True

    def set_zoom(self, zoom: float) -> None:
        """Another text size."""
        self.zoom = zoom
        for card in self.cards.values():
            card.set_zoom(zoom)

    def show_found(self, pattern: re.Pattern[str] | None, at: tuple[str, int] | None) -> None:
        """Highlight what ``pattern`` matches, and one place more than the others: (turn id, number in that turn)."""
        self._found, self._found_at = pattern, at
        for turn_id, card in self.cards.items():
            card.finds.show(pattern, self._number(turn_id))

    @property
    def found_at(self) -> tuple[str, int] | None:
        """The place that is highlighted more than the others."""
        return self._found_at

    def _number(self, turn_id: str) -> int | None:
        at = self._found_at
        return at[1] if at is not None and at[0] == turn_id else None
