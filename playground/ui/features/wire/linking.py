"""Links between texts and events: selected text selects its events, and a selected event marks its text.

The links are computed only while the list of events is visible.
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

SELECT_MS = 80  # between two look-ups while a selection is drawn with the mouse
MARKED_AT_MOST = 10_000  # events whose characters are marked
ABOVE, BELOW = 64, 40  # pixels; a mark nearer to an edge is scrolled into view
EDITED = "the message was edited later"
OTHER_BRANCH = "the message is on another branch"
NOT_DRAWN = "its characters are not displayed literally"


class Answer(NamedTuple):
    """A turn, and the exchange and choice that it was received in."""

    turn: Turn
    trace: Trace
    choice: int

    def part(self, kind: str, nth: int) -> int | None:
        """Return the number, among all parts, of the ``nth`` part of a kind."""
        parts = self.trace.index.parts(self.choice)
        numbers = [number for number, part in enumerate(parts) if part.kind == kind]
        return numbers[nth] if nth < len(numbers) else None

    def spot(self, part: int, start: int, end: int) -> Spot | None:
        """Return characters of the part of a number as a place in the turn."""
        parts = self.trace.index.parts(self.choice)
        if part >= len(parts):
            return None
        kind = parts[part].kind
        return Spot(kind, sum(earlier.kind == kind for earlier in parts[:part]), start, end)


class Linking(QObject):
    """``session`` returns the current lane, ``trace_of`` the events of an exchange by its id; ``show`` shows it."""

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
        self._spots: dict[str, list[Spot]] = {}  # marked places by turn
        self._from_card = False  # a selection in a card selected the events
        self._selecting: TextView | None = None
        self._look_up = Throttle(self._look_up_selection, self, interval=SELECT_MS)
        view.laid_out.connect(self._follow_cards)
        page.frames_chosen.connect(self._frames_chosen)
        page.seen.connect(self._page_shown)

    # From the conversation to the events

    def _page_shown(self) -> None:
        """Link the text that was selected before the list of events was visible."""
        self._follow_cards()
        focus = QApplication.focusWidget()
        if isinstance(focus, TextView) and focus.textCursor().hasSelection():
            self._selected(focus)

    def _follow_cards(self) -> None:
        """Connect new cards, and mark the places of those that show other turns."""
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
            self._look_up.poke()

    def _look_up_selection(self) -> None:
        view, self._selecting = self._selecting, None
        if view is not None and isValid(view):
            self.show_selection(view)

    def show_selection(self, view: TextView) -> bool:
        """Select the events of the text selected in a view. Return whether there are any."""
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
            if part is not None and self._is_verbatim(answer, part, text):
                numbers.update(answer.trace.index.frames_of(answer.choice, part, spot.start, spot.end))
        self._show(answer.trace.exchange.id)
        self._from_card = True
        self._page.choose(sorted(numbers))
        return bool(numbers)

    def show_call(self, turn_id: str, call_id: str) -> bool:
        """Select the event of a call: of its name, or of its first arguments. Return whether there is one."""
        turn = self._session().transcript.turns.get(turn_id)
        answer = self._answer(turn) if turn is not None else None
        if turn is None or answer is None:
            return False
        nth = next((number for number, call in enumerate(turn.calls) if call.id == call_id), None)
        part = answer.part("tool_call", nth) if nth is not None else None
        return part is not None and self._show_part(answer, part)

    def show_turn(self, turn_id: str) -> bool:
        """Select the first event of a turn. Return whether the turn has any."""
        turn = self._session().transcript.turns.get(turn_id)
        answer = self._answer(turn) if turn is not None else None
        if answer is None:
            return False
        if not answer.trace.index.parts(answer.choice):
            self._show(answer.trace.exchange.id)
            return True
        return self._show_part(answer, 0)

    def show_lost_data(self, turn_id: str) -> bool:
        """Select the events of which data was lost that may belong to a turn. Return whether there are any."""
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

    # From the events to the conversation

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
        remark = ""
        for choice, part, start, end in _joined(trace.index, numbers[:MARKED_AT_MOST]):
            answer = answers.get(choice)
            if answer is None:
                remark = OTHER_BRANCH
                continue
            spot = answer.spot(part, start, end)
            if spot is not None and self._unchanged(answer, spot, part):
                spots.setdefault(answer.turn.id, []).append(spot)
            else:
                remark = EDITED
        self._mark(spots)
        if by_hand and spots:
            turn_id, (spot, *_) = next(iter(spots.items()))
            remark = self._reveal(turn_id, spot) or remark
        self._page.detail.say_more(remark)

    def _mark(self, spots: dict[str, list[Spot]]) -> None:
        self._spots = spots
        for turn_id, card in self._view.cards.items():
            mark(card, spots.get(turn_id, ()))

    def _reveal(self, turn_id: str, spot: Spot) -> str:
        """Scroll the conversation to a place. Return a remark, empty for none."""
        view = self._view
        existing = view.cards.get(turn_id)
        card = view.card(turn_id)
        if card is None:
            return OTHER_BRANCH
        if card is not existing:
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
        return "" if drawn or spot.start == spot.end else NOT_DRAWN

    # Turns and their exchanges

    def _answer(self, turn: Turn) -> Answer | None:
        """Return the exchange of a turn; None for one that was not received, or whose exchange is gone."""
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
        """Return the turns on the path that were received in an exchange, by choice."""
        answers: dict[int, Answer] = {}
        for turn in self._session().transcript.path:
            outcome = turn.outcome
            received = outcome is not None and outcome.exchange == trace.exchange.id
            if received or turn.id in self._session().growing:
                answer = self._answer(turn)
                if answer is not None and answer.trace is trace:
                    answers[answer.choice] = answer
        return answers

    def _is_verbatim(self, answer: Answer, part: int, text: CardText) -> bool:
        return text.text is None or len(text.text) == answer.trace.index.parts(answer.choice)[part].length

    def _unchanged(self, answer: Answer, spot: Spot, part: int) -> bool:
        """Return whether the turn still has the text that was received."""
        parts = [part for part in answer.turn.parts if part.kind == spot.kind]
        if not answer.turn.parts:
            return True
        if spot.nth >= len(parts):
            return False
        current = parts[spot.nth]
        match current.kind:
            case "text" | "reasoning" | "refusal":
                text = current.text
            case "tool_call":
                text = current.arguments if current.received is None else current.received
            case _:
                return True
        return len(text) == answer.trace.index.parts(answer.choice)[part].length


def _card_of(view: TextView) -> TurnCard | None:
    widget = view.parentWidget()
    while widget is not None and not isinstance(widget, TurnCard):
        widget = widget.parentWidget()
    return widget


def _joined(index: FrameIndex, numbers: Sequence[int]) -> list[tuple[int, int, int, int]]:
    """Return the texts of events as (choice, part, start, end), with adjacent ones merged."""
    out: list[tuple[int, int, int, int]] = []
    for number in numbers:
        for position in index.span_of(number):
            last = out[-1] if out else None
            if last is not None and last[:2] == position[:2] and last[3] == position.start:
                out[-1] = (*last[:3], position.end)
            else:
                out.append((position.choice, position.part, position.start, position.end))
    return out
