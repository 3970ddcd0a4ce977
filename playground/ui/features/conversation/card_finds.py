"""Matches of a search in one card: highlighted, counted and scrolled to, also in folded parts and on other pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from PySide6.QtCore import QRect
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QWidget

from playground.ui.features.conversation.finding import matches, part_texts
from playground.ui.features.conversation.part_view import Searched
from playground.ui.features.conversation.rows import Row, shown_parts
from playground.ui.features.conversation.text_view import Span
from playground.ui.features.conversation.turn_parts import TurnParts


class Match(NamedTuple):
    """A match: its characters in a text of a part, by the numbers of the part and of its text."""

    part: int
    text: int
    span: Span


class CardFinds:
    """Matches in one card, also in folded parts and on other pages. `turn_to` shows a part by its number."""

    def __init__(self, card: QWidget, row: Callable[[], Row], parts: TurnParts, turn_to: Callable[[int], None]) -> None:
        self._card = card
        self._row = row
        self._parts = parts
        self._turn_to = turn_to
        self._pattern: re.Pattern[str] | None = None
        self._current: int | None = None

    def show(self, pattern: re.Pattern[str] | None, current: int | None = None) -> None:
        """Highlight the matches of `pattern`; the match of number `current` more than the others."""
        if pattern is not self._pattern or current != self._current:
            self._pattern, self._current = pattern, current
            self._highlight()

    def follow(self) -> None:
        """Update the highlights after a change of the texts."""
        if self._pattern is not None:
            self._highlight()

    @property
    def count(self) -> int:
        """The number of matches."""
        return len(self._matches())

    def unfold(self) -> bool:
        """Show the part with the current match, and open what it is folded in. Return whether there is one."""
        match = self._current_match()
        if match is None:
            return False
        self._turn_to(match.part)
        view, fold = self._searched(match)
        if fold is not None and not fold.is_open:
            fold.unfold()
        self._highlight()
        view.show_place(match.span[0])
        return True

    def rect(self) -> QRect | None:
        """Return where the current match is, in the card."""
        match = self._current_match()
        view = self._searched(match)[0] if match is not None else None
        place = view.marks.current_place if view is not None else None
        if view is None or place is None:
            return None
        cursor = QTextCursor(view.document())
        cursor.setPosition(place[0])
        rect = view.cursorRect(cursor)
        cursor.setPosition(place[1])
        rect = rect.united(view.cursorRect(cursor))
        return QRect(view.viewport().mapTo(self._card, rect.topLeft()), rect.size())

    def _highlight(self) -> None:
        results, current = self._matches(), self._current_match()
        for number, view in enumerate(self._parts.part_views, self._parts.first):
            for text, (text_view, _) in enumerate(view.texts()):
                spans = matches(self._pattern, text_view.marks.source) if self._pattern is not None else ()
                own = [match for match in results if match[:2] == (number, text)]
                index = own.index(current) if current is not None and current in own else len(spans)
                text_view.show_matches(spans, index if index < len(spans) else None)

    def _current_match(self) -> Match | None:
        result = self._matches() if self._current is not None else []
        return result[self._current] if self._current is not None and self._current < len(result) else None

    def _searched(self, match: Match) -> Searched:
        return self._parts.part_views[match.part - self._parts.first].texts()[match.text]

    def _matches(self) -> list[Match]:
        if self._pattern is None:
            return []
        return [Match(part, n, span) for part, n, text in self._texts() for span in matches(self._pattern, text)]

    def _texts(self) -> Iterator[tuple[int, int, str]]:
        """Yield the number of the part, the own number and the text of each text; of a growing turn, those in view."""
        row = self._row()
        if row.turn.parts:
            for number, part in enumerate(shown_parts(row.turn)):
                yield from ((number, n, text) for n, text in enumerate(part_texts(row, part)))
            return
        for number, view in enumerate(self._parts.part_views, self._parts.first):
            for n, (text_view, fold) in enumerate(view.texts()):
                yield number, n, fold.source if fold is not None else text_view.source
