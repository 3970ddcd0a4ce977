"""Ties the conversation to the frames: what is selected in a turn chooses the frames that carried it, and back.

Works only while the list of frames is seen; a conversation without it costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QObject, QPoint
from PySide6.QtWidgets import QApplication
from shiboken6 import isValid

from playground.domain.transcript import Turn
from playground.engine.inspect.frames import FrameIndex
from playground.engine.session.session import Session
from playground.ui.features.conversation.card_texts import CardText, Spot, mark, place_of, selected_in, texts_of
from playground.ui.features.conversation.text_view import TextView
from playground.ui.features.conversation.transcript_view import TranscriptView
from playground.ui.features.conversation.turn_card import TurnCard
from playground.ui.features.inspector.timeline.page import TimelinePage
from playground.ui.features.inspector.traces import Trace
from playground.ui.widgets.loop import Throttle

SELECT_MS = 80  # a selection is being drawn with the mouse: not every step of it is looked up
MARKED_AT_MOST = 10_000  # frames whose characters are marked
ABOVE, BELOW = 64, 40  # pixels: a place that is nearer to an edge is scrolled to
EDITED = "the turn was edited since"
ELSEWHERE = "its turn is not on this branch"
UNSEEN = "its characters are not shown as they came"


class Answer(NamedTuple):
    """A turn and where on the wire it came from."""

    turn: Turn
    trace: Trace
    choice: int

    def part(self, kind: str, nth: int) -> int | None:
        """The number among the parts of the answer of the ``nth`` one of a kind."""
        parts = self.trace.index.parts(self.choice)
        found = [at for at, part in enumerate(parts) if part.kind == kind]
        return found[nth] if nth < len(found) else None

    def spot(self, part: int, start: int, end: int) -> Spot | None:
        """The reverse: characters of the answer's part of that number."""
        parts = self.trace.index.parts(self.choice)
        if part >= len(parts):
            return None
        kind = parts[part].kind
        return Spot(kind, sum(before.kind == kind for before in parts[:part]), start, end)


class Linking(QObject):
    """``session`` gives the experiment looked at, ``trace_of`` the trace of an exchange by id, ``show`` shows one."""

    def __init__(
        self,
        view: TranscriptView,
        page: TimelinePage,
        session: Callable[[], Session],
        trace_of: Callable[[str], Trace | None],
        show: Callable[[str], None],
    ) -> None:
        super().__init__(page)
        self._view = view
        self._page = page
        self._session = session
        self._trace_of = trace_of
        self._show = show
        self._spots: dict[str, list[Spot]] = {}  # what is marked, by turn
        self._from_card = False  # the frames were chosen by a selection in a card
        self._selecting: TextView | None = None
        self._look = Throttle(self._look_at_selection, self, interval=SELECT_MS)
        view.laid_out.connect(self._follow_cards)
        page.frames_chosen.connect(self._frames_chosen)
        page.seen.connect(self._seen)

    # From the conversation to the frames

    def _seen(self) -> None:
        """What was selected before the frames came into view chooses them as well."""
        self._follow_cards()
        focus = QApplication.focusWidget()
        if isinstance(focus, TextView) and focus.textCursor().hasSelection():
            self._selected(focus)

    def _follow_cards(self) -> None:
        """Cards may be new, or show other turns."""
        if not self._page.isVisible():
            if self._spots:
                self._mark({})
            return
        for turn_id, card in self._view.cards.items():
            for text in texts_of(card):
                if not text.view.property("linked"):
                    text.view.setProperty("linked", True)
                    text.view.selectionChanged.connect(partial(self._selected, text.view))
            mark(card, self._spots.get(turn_id, ()))

    def _selected(self, view: TextView) -> None:
        if self._page.isVisible():
            self._selecting = view
            self._look.poke()

    def _look_at_selection(self) -> None:
        view, self._selecting = self._selecting, None
        if view is not None and isValid(view):
            self.show_selection(view)

    def show_selection(self, view: TextView) -> bool:
        """Choose the frames that carried what is selected in a view. Returns whether there are any."""
        card = _card_of(view)
        text = next((text for text in texts_of(card) if text.view is view), None) if card is not None else None
        if card is None or text is None:
            return False
        spots = [spot for text in texts_of(card) if text.view is view and (spot := selected_in(text)) is not None]
        if not spots:
            if self._from_card:
                self._from_card = False
                self._page.choose(())
            return False
        answer = self._answer(card.turn)
        if answer is None:
            return False
        numbers: set[int] = set()
        for spot in spots:
            part = answer.part(spot.kind, spot.nth)
            if part is not None and self._as_it_came(answer, part, text):
                numbers.update(answer.trace.index.frames_of(answer.choice, part, spot.start, spot.end))
        self._show(answer.trace.exchange.id)
        self._from_card = True
        self._page.choose(sorted(numbers))
        return bool(numbers)

    def show_call(self, turn_id: str, call_id: str) -> bool:
        """Choose the frame that carried a call: its name, or else the first of its arguments."""
        turn = self._session().transcript.turns.get(turn_id)
        answer = self._answer(turn) if turn is not None else None
        if turn is None or answer is None:
            return False
        nth = next((at for at, call in enumerate(turn.calls) if call.id == call_id), None)
        part = answer.part("tool_call", nth) if nth is not None else None
        return part is not None and self._show_part(answer, part)

    def show_turn(self, turn_id: str) -> bool:
        """Choose the first frame that brought something of a turn."""
        turn = self._session().transcript.turns.get(turn_id)
        answer = self._answer(turn) if turn is not None else None
        if answer is None:
            return False
        if not answer.trace.index.parts(answer.choice):
            self._show(answer.trace.exchange.id)
            return True
        return self._show_part(answer, 0)

    def show_hole(self, turn_id: str) -> bool:
        """Choose the frames in which something could not be read that may belong to a turn."""
        turn = self._session().transcript.turns.get(turn_id)
        answer = self._answer(turn) if turn is not None else None
        if answer is None or not answer.trace.index.holes:
            return False
        self._selecting = None
        self._show(answer.trace.exchange.id)
        self._page.choose(answer.trace.index.holes)
        self._page.table.setFocus()
        return True

    def _show_part(self, answer: Answer, part: int) -> bool:
        frame = answer.trace.index.parts(answer.choice)[part].frame
        self._selecting = None
        self._show(answer.trace.exchange.id)
        self._page.choose([frame])
        self._page.table.setFocus()
        return True

    # From the frames to the conversation

    def _frames_chosen(self, numbers: Sequence[int], by_hand: bool) -> None:
        if by_hand:
            self._from_card = False
        trace = self._page.trace
        if trace is None or not numbers:
            self._mark({})
            self._page.detail.say_more("")
            return
        answers = self._answers(trace)
        spots: dict[str, list[Spot]] = {}
        said = ""
        for choice, part, start, end in _joined(trace.index, numbers[:MARKED_AT_MOST]):
            answer = answers.get(choice)
            if answer is None:
                said = ELSEWHERE
                continue
            spot = answer.spot(part, start, end)
            if spot is not None and self._unchanged(answer, spot, part):
                spots.setdefault(answer.turn.id, []).append(spot)
            else:
                said = EDITED
        self._mark(spots)
        if by_hand and spots:
            turn_id, (spot, *_) = next(iter(spots.items()))
            said = self._reveal(turn_id, spot) or said
        self._page.detail.say_more(said)

    def _mark(self, spots: dict[str, list[Spot]]) -> None:
        self._spots = spots
        for turn_id, card in self._view.cards.items():
            mark(card, spots.get(turn_id, ()))

    def _reveal(self, turn_id: str, spot: Spot) -> str:
        """Scroll the conversation to a place. Returns what is to be said about it, if anything."""
        view = self._view
        before = view.cards.get(turn_id)
        card = view.card(turn_id)
        if card is None:
            return ELSEWHERE
        if card is not before:
            mark(card, self._spots.get(turn_id, ()))
        place_of(card, spot)  # may unfold
        mark(card, self._spots.get(turn_id, ()))
        view.settle()
        rect = place_of(card, spot)
        if rect is None:
            return ""
        y, height = card.mapTo(view.viewport(), QPoint(0, rect.top())).y(), view.viewport().height()
        if y < ABOVE or y + min(rect.height(), height // 2) > height - BELOW:
            bar = view.verticalScrollBar()
            bar.setValue(bar.value() + y - max(height // 3, ABOVE))
        texts = [text for text in texts_of(card) if (text.kind, text.nth) == (spot.kind, spot.nth)]
        drawn = any(text.view.marks.linked_places for text in texts)
        return "" if drawn or spot.start == spot.end else UNSEEN

    # Which turn came from where

    def _answer(self, turn: Turn) -> Answer | None:
        """Where a turn came from; None for one that came from nowhere, or whose exchange is gone."""
        session = self._session()
        outcome = turn.outcome
        run = session.run_of(turn.id)
        growing = session.growing.get(turn.id)
        if growing is not None and run is not None and run.exchange is not None:
            exchange, choice = run.exchange.id, growing.index
        elif outcome is not None and outcome.exchange:
            exchange, choice = outcome.exchange, outcome.choice
        else:
            return None
        trace = self._trace_of(exchange)
        if trace is None:
            return None
        trace.read_frames(most=None)
        return Answer(turn, trace, choice)

    def _answers(self, trace: Trace) -> dict[int, Answer]:
        """The turns on the path that an exchange brought, by choice."""
        found: dict[int, Answer] = {}
        for turn in self._session().transcript.path:
            outcome = turn.outcome
            mine = outcome is not None and outcome.exchange == trace.exchange.id
            if mine or turn.id in self._session().growing:
                answer = self._answer(turn)
                if answer is not None and answer.trace is trace:
                    found[answer.choice] = answer
        return found

    def _as_it_came(self, answer: Answer, part: int, text: CardText) -> bool:
        return text.text is None or len(text.text) == answer.trace.index.parts(answer.choice)[part].length

    def _unchanged(self, answer: Answer, spot: Spot, part: int) -> bool:
        """Whether the turn still says there what the gateway sent."""
        same = [one for one in answer.turn.parts if one.kind == spot.kind]
        if not answer.turn.parts:
            return True
        if spot.nth >= len(same):
            return False
        one = same[spot.nth]
        match one.kind:
            case "text" | "reasoning" | "refusal":
                said = one.text
            case "tool_call":
                said = one.arguments if one.received is None else one.received
            case _:
                return True
        return len(said) == answer.trace.index.parts(answer.choice)[part].length


def _card_of(view: TextView) -> TurnCard | None:
    widget = view.parentWidget()
    while widget is not None and not isinstance(widget, TurnCard):
        widget = widget.parentWidget()
    return widget


def _joined(index: FrameIndex, numbers: Sequence[int]) -> list[tuple[int, int, int, int]]:
    """What the frames carried as (choice, part, start, end), stretches that follow one another made one."""
    out: list[tuple[int, int, int, int]] = []
    for number in numbers:
        for position in index.span_of(number):
            last = out[-1] if out else None
            if last is not None and last[:2] == position[:2] and last[3] == position.start:
                out[-1] = (*last[:3], position.end)
            else:
                out.append((position.choice, position.part, position.start, position.end))
    return out
