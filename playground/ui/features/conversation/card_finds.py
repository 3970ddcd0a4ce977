"""The matches of a search in one card: its texts in order, their matches numbered through."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import accumulate

from PySide6.QtCore import QRect
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QWidget

from playground.ui.features.conversation.finding import count_in_part, matches
from playground.ui.features.conversation.rows import Row
from playground.ui.features.conversation.shown_parts import shown_parts
from playground.ui.features.conversation.text_view import Span, TextView
from playground.ui.features.conversation.turn_parts import Folded, Searched, TurnParts


class CardFinds:
    """Matches in one card: ``show`` highlights them; ``count`` includes folded parts and other pages."""

    def __init__(self, card: QWidget, row: Callable[[], Row], parts: TurnParts, turn_to: Callable[[int], None]) -> None:
        """``row`` returns the row of the card; ``turn_to`` shows a part by its number."""
        self._card = card
        self._row = row
        self._parts = parts
        self._turn_to = turn_to
        self._pattern: re.Pattern[str] | None = None
        self._current: int | None = None

    def show(self, pattern: re.Pattern[str] | None, current: int | None = None) -> None:
        """Highlight the matches of ``pattern``; the match of number ``current`` more than the others."""
        if pattern is not self._pattern or current != self._current:
            self._pattern, self._current = pattern, current
            self._highlight()

    def follow(self) -> None:
        """Update the highlights after a change of the texts."""
        if self._pattern is not None:
            self._highlight()

    def _highlight(self) -> None:
        first = sum(self._counts[: self._parts.first]) if self._current is not None else 0
        for view, folded in self._texts():
            spans = self._matches(view, folded)
            current = self._current - first if self._current is not None else -1
            view.show_matches(spans, current if 0 <= current < len(spans) else None)
            first += len(spans)

    @property
    def count(self) -> int:
        """The number of matches."""
        counts, parts = self._counts, self._parts
        drawn = sum(len(self._matches(*text)) for text in self._texts())
        return sum(counts[: parts.first]) + drawn + sum(counts[parts.first + len(parts.views) :])

    @property
    def _counts(self) -> list[int]:
        """Return the number of matches of each complete part of the turn."""
        pattern, row = self._pattern, self._row()
        return [count_in_part(pattern, row, part) for part in shown_parts(row.turn)] if pattern is not None else []

    def unfold(self) -> bool:
        """Show the part with the current match, and open what it is folded in. Return whether there is one."""
        if self._current is None:
            return False
        totals = accumulate(self._counts)
        self._turn_to(next((index for index, total in enumerate(totals) if total > self._current), self._parts.first))
        self._highlight()
        current = self._current_text()
        if current is None:
            return False
        view, folded, span = current
        if folded is not None and not folded.is_open:
            folded.unfold()
            self._highlight()
        view.show_place(span[0])
        return True

    def rect(self) -> QRect | None:
        """Return where the current match is, in the card."""
        current = self._current_text()
        place = current[0].marks.current_place if current is not None else None
        if current is None or place is None:
            return None
        view, cursor = current[0], QTextCursor(current[0].document())
        cursor.setPosition(place[0])
        rect = view.cursorRect(cursor)
        cursor.setPosition(place[1])
        rect = rect.united(view.cursorRect(cursor))
        return QRect(view.viewport().mapTo(self._card, rect.topLeft()), rect.size())

    def _current_text(self) -> tuple[TextView, Folded | None, Span] | None:
        remaining = self._current - sum(self._counts[: self._parts.first]) if self._current is not None else -1
        for view, folded in self._texts() if remaining >= 0 else ():
            spans = self._matches(view, folded)
            if remaining < len(spans):
                return view, folded, spans[remaining]
            remaining -= len(spans)
        return None

    def _matches(self, view: TextView, folded: Folded | None) -> list[Span]:
        text = folded.source if folded is not None and folded.unread else view.marks.source
        return list(matches(self._pattern, text)) if self._pattern is not None else []

    def _texts(self) -> list[Searched]:
        return self._parts.texts()
