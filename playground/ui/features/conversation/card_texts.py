"""Texts of a card: the characters of its parts that are selected or marked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QTextCursor

from playground.domain.parts import Part
from playground.ui.features.conversation.calls.call_card import CallCard
from playground.ui.features.conversation.folded_parts import ReasoningView
from playground.ui.features.conversation.rows import shown_parts
from playground.ui.features.conversation.text_view import TextView
from playground.ui.features.conversation.turn_card import TurnCard
from playground.ui.features.conversation.verdict_view import AnswerCheckView


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
