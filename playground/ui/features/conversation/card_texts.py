"""Texts of a card: the characters of its parts that are selected or marked, and the matches of a search."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QWidget

from playground.domain.parts import Part
from playground.ui.features.conversation.calls.call_card import CallCard
from playground.ui.features.conversation.finding import matches, part_texts
from playground.ui.features.conversation.fold import ReasoningView
from playground.ui.features.conversation.part_view import Searched
from playground.ui.features.conversation.rows import Row, shown_parts
from playground.ui.features.conversation.text_view import Span, TextView
from playground.ui.features.conversation.turn_parts import TurnParts
from playground.ui.features.conversation.verdict_view import AnswerCheckView

if TYPE_CHECKING:
    from collections.abc import Iterable

    from playground.ui.features.conversation.turn_card import TurnCard


class Spot(NamedTuple):
    """Characters of a part: ``nth`` counts the parts of its ``kind`` in the turn, from 0."""

    kind: str
    nth: int
    start: int
    end: int


class CardText(NamedTuple):
    """A part and the view that shows it.

    ``text`` is the part's text as received, None while it is streaming. The view's text begins ``offset`` characters
    before it. ``original`` is the source of the view's text if the view formats it.
    """

    view: TextView
    kind: str
    nth: int
    text: str | None
    offset: int = 0
    original: str | None = None
    folded: ReasoningView | None = None


def texts_of(card: TurnCard) -> list[CardText]:
    """Return the texts of a card in order; those of calls only if the answer is complete."""
    if not card.turn.parts:
        return _growing(card)
    out: list[CardText] = []
    numbers = _numbers(card.turn.parts)
    for view, part in zip(card.body, card.parts.parts_in_view, strict=False):
        kind, nth = numbers.get(id(part), (part.kind, 0))
        if isinstance(view, AnswerCheckView):
            offset = 0
            for text in (part for part in card.turn.parts if part.kind == "text"):
                out.append(CardText(view.view, "text", numbers[id(text)][1], text.text, offset, card.turn.text))
                offset += len(text.text)
        elif isinstance(view, CallCard) and part.kind == "tool_call":
            sent = part.arguments if part.received is None else part.received
            out.append(CardText(view.arguments_view, kind, nth, sent, original=part.received))
        elif isinstance(view, ReasoningView) and part.kind == "reasoning":
            out.append(CardText(view.text_view, kind, nth, part.text, folded=view))
        elif isinstance(view, TextView) and part.kind in ("text", "refusal"):
            out.append(CardText(view, kind, nth, part.text))
    return out


def selected_in(text: CardText) -> Spot | None:
    """Return the selected characters of a part; None for none."""
    text.view.marks.set_original(text.original)
    span = text.view.marks.selected(text.view.textCursor())
    if span is None:
        return None
    start, end = span[0] - text.offset, span[1] - text.offset
    length = len(text.text) if text.text is not None else end
    start, end = max(start, 0), min(end, length)
    return Spot(text.kind, text.nth, start, end) if start < end else None


def mark(card: TurnCard, spots: Iterable[Spot]) -> None:
    """Mark these characters in a card, and nothing else."""
    spans_by_view: dict[TextView, list[tuple[int, int]]] = {}
    spots = list(spots)
    for text in texts_of(card):
        text.view.marks.set_original(text.original)
        spans = spans_by_view.setdefault(text.view, [])
        for kind, nth, start, end in spots:
            if (kind, nth) == (text.kind, text.nth) and start < end:
                spans.append((start + text.offset, end + text.offset))
    for view, spans in spans_by_view.items():
        view.show_linked(spans)


def place_of(card: TurnCard, spot: Spot) -> QRect | None:
    """Return the rectangle of a part's first marked character in the card, after unfolding reasoning.

    Returns the rectangle of the part if the character is not drawn, and None if the part is not in the card.
    """
    numbers = _numbers(card.turn.parts)
    card.turn_to(
        next(
            (index for index, part in enumerate(shown_parts(card.turn)) if numbers.get(id(part)) == spot[:2]),
            card.parts.first,
        )
    )
    text = next((text for text in texts_of(card) if (text.kind, text.nth) == (spot.kind, spot.nth)), None)
    if text is None:
        return None
    if text.folded is not None and not text.folded.is_open:
        text.folded.unfold()
    view = text.view
    view.show_place(text.offset + spot.start)
    places = view.marks.linked_places
    begin = QTextCursor(view.document())
    rect = QRect(QPoint(0, 0), view.size())
    if places and spot.start < spot.end:
        begin.setPosition(places[0][0])
        rect = view.cursorRect(begin)
    return QRect(view.viewport().mapTo(card, rect.topLeft()), rect.size())


def _growing(card: TurnCard) -> list[CardText]:
    out: list[CardText] = []
    numbers = Counter(card.parts.before)
    for view in card.body:
        if isinstance(view, ReasoningView) and view.source:
            out.append(CardText(view.text_view, "reasoning", numbers["reasoning"], None, folded=view))
            numbers["reasoning"] += 1
        elif isinstance(view, TextView) and view.source:
            out.append(CardText(view, "text", numbers["text"], None))
            numbers["text"] += 1
    return out


def _numbers(parts: Iterable[Part]) -> dict[int, tuple[str, int]]:
    seen: Counter[str] = Counter()
    out: dict[int, tuple[str, int]] = {}
    for part in parts:
        out[id(part)] = (part.kind, seen[part.kind])
        seen[part.kind] += 1
    return out


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
