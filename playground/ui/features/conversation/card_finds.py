"""What is looked for, in one card: its texts in order, their places numbered through."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import accumulate

from PySide6.QtCore import QRect
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QWidget

from playground.ui.features.conversation.finding import places_in
from playground.ui.features.conversation.large import found_places, is_large
from playground.ui.features.conversation.reasoning_view import ReasoningView
from playground.ui.features.conversation.text_view import TextView
from playground.ui.features.conversation.turn_parts import Folded, Searched, TurnParts


class CardFinds:
    """``show`` highlights; ``count`` says how many places there are, in what is folded, too."""

    def __init__(self, card: QWidget, parts: TurnParts, turn_to: Callable[[int], None]) -> None:
        """``turn_to`` shows the part of that number, all of it."""
        self._card = card
        self._parts = parts
        self._turn_to = turn_to
        self._pattern: re.Pattern[str] | None = None
        self._current: int | None = None
        self._unread: dict[Folded, tuple[str, re.Pattern[str], int]] = {}
        self._by_part: Sequence[int] = ()  # the places of each part of a turn that is shown in pages

    def show(self, pattern: re.Pattern[str] | None, current: int | None = None) -> None:
        """Highlight what ``pattern`` matches; the place of number ``current`` more than the others."""
        if pattern is not self._pattern:
            self._by_part = ()
        if pattern is not self._pattern or current != self._current:
            self._pattern, self._current = pattern, current
            self.follow()

    def know(self, by_part: Sequence[int]) -> None:
        """How many places each part of the turn has, in view or not; empty where nobody has looked."""
        if by_part != self._by_part:
            self._by_part = by_part
            self.follow()

    def follow(self) -> None:
        """The card may have other texts, or more text."""
        if self._pattern is None and not self._unread and all(text.found.pattern is None for text, _ in self._texts()):
            return
        before = self._before
        texts = self._texts()
        self._unread = {view: self._unread[view] for _, view in texts if view in self._unread}
        for text, folded in texts:
            text.show_found(self._pattern, None if self._current is None else self._current - before)
            before += self._count(text, folded)

    @property
    def count(self) -> int:
        """How many places there are."""
        parts = self._parts
        behind = sum(self._by_part[parts.first + len(parts.views) :])
        return self._before + sum(self._count(text, folded) for text, folded in self._texts()) + behind

    @property
    def _before(self) -> int:
        """How many places there are in the parts before the page in view."""
        return sum(self._by_part[: self._parts.first])

    def unfold(self) -> bool:
        """Make the current place visible if it is in something folded. Returns whether there is a current place."""
        if self._by_part and self._current is not None:
            reached = enumerate(accumulate(self._by_part))
            self._turn_to(next((at for at, count in reached if count > self._current), self._parts.first))
            self.follow()
        found = self._current_text()
        if found is None:
            return False
        folded = found[1]
        if folded is not None and not folded.is_open:
            folded.unfold()
            self.follow()
        if (place := found[0].found.chosen_at) is not None:
            found[0].show_place(place)
        return True

    def rect(self) -> QRect | None:
        """Where the current place is, in the card."""
        found = self._current_text()
        number = found[0].found.current if found is not None else None
        if found is None or number is None or not 0 <= number < len(found[0].found.places):
            return None
        text = found[0]
        begin, end = text.found.places[number]
        cursor = QTextCursor(text.document())
        cursor.setPosition(begin)
        rect = text.cursorRect(cursor)
        cursor.setPosition(end)
        rect = rect.united(text.cursorRect(cursor))
        return QRect(text.viewport().mapTo(self._card, rect.topLeft()), rect.size())

    def _current_text(self) -> tuple[TextView, Folded | None, int] | None:
        left = self._current - self._before if self._current is not None else -1
        if left < 0:
            return None
        for text, folded in self._texts():
            count = self._count(text, folded)
            if left < count:
                return text, folded, left
            left -= count
        return None

    def _count(self, text: TextView, folded: Folded | None) -> int:
        if folded is None or not folded.unread or self._pattern is None:
            return text.found.count
        source = folded.source
        if isinstance(folded, ReasoningView) and is_large(source, "markdown"):
            return len(found_places(source, self._pattern) or ())
        known = self._unread.get(folded)
        if known is None or known[0] != source or known[1] is not self._pattern:
            known = self._unread[folded] = (source, self._pattern, places_in(self._pattern, folded.source_lines))
        return known[2]

    def _texts(self) -> list[Searched]:
        return self._parts.texts()
