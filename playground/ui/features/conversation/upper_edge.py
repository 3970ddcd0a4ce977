"""What crosses the upper edge of the view, so that it can be kept there while things above it in its card change."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtWidgets import QWidget

from playground.ui.features.conversation.turn_card import TurnCard


class UpperEdge:
    """``note`` when everything is in its place, ``shift`` when it has been placed anew."""

    def __init__(self) -> None:
        self._at: tuple[TurnCard, QWidget, int] | None = None  # a card, a part of it, where that part begins in it

    def note(self, cards: Iterable[TurnCard]) -> None:
        """Remember which part of which card lies across the edge."""
        self._at = None
        for card in cards:
            if card.y() < 0 < card.y() + card.height():
                for part in card.body:
                    top = card.y() + part.y()
                    if part.isVisible() and top <= 0 < top + part.height():
                        self._at = (card, part, part.y())
                return

    def shift(self, cards: Iterable[TurnCard]) -> int:
        """How far down that part has moved within its card since, in pixels."""
        if self._at is None:
            return 0
        card, part, y = self._at
        there = any(card is other for other in cards) and any(part is other for other in card.body)
        return part.y() - y if there and part.isVisible() else 0
