"""The exchange compared with another one of the experiment, or its request with the next one.

Requests, answers and metrics, one at a time, compared on another thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QComboBox, QWidget

from playground.engine.inspect.compare import (
    CUT,
    Comparison,
    Difference,
    Sent,
    TooLargeError,
    compare,
    diff_sent,
    sent,
)
from playground.engine.inspect.frames import FrameIndex
from playground.engine.library.store import StoreError
from playground.jsonkit.texts import quantity
from playground.ui.features.inspector.change_text import ChangeText
from playground.ui.features.inspector.field_table import HeaderTable
from playground.ui.features.inspector.next_request import Preview
from playground.ui.features.inspector.view import ExchangeView, describe_exchange
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.layouts import in_column, in_pages, in_row
from playground.ui.widgets.loop import spawn

if TYPE_CHECKING:
    from playground.engine.session.session import Exchange


REQUEST, ANSWER, REASONING, UNKNOWN, METRICS = range(5)
PARTS = ("Request", "Answer", "Reasoning", "Unknown fields", "Metrics")
PREVIOUS, NEXT, LANE_A, NEXT_OF_A = "previous", "next", "lane A", "next of lane A"
UNSENT = (NEXT, NEXT_OF_A)
NO_REQUEST = "No request sent yet. Run the conversation twice to compare its requests."
NO_PREVIOUS = "There is no previous request. Choose another one to compare with."
NO_LANE_A = "Lane A has no request of the same round. Choose another one to compare with."
NO_NEXT = "The next request cannot be sent yet. The segment Next shows why."
DATA_GONE = "The data of one of these exchanges was discarded to save memory and is not stored."
NO_ANSWER = "The next request has no answer yet. Only the requests can be compared."
RUNNING = "One of these answers is not complete yet."
NOTHING = "Neither of them has any."
SAME = "Both requests are the same."


class ComparePage(QWidget):
    """``bar`` holds the choices and is placed by the owner. ``next_asked``: the next request is needed."""

    next_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._exchange: ExchangeView | None = None
        self._preview: Preview | None = None
        self._listed: object = None  # what the list of exchanges was made from
        self._chosen = ""  # the other exchange that a person chose; empty for the first of the list
        self._number = 0  # of the comparison, so that an outdated result is dropped
        self._comparison: Comparison | None = None
        self._running: list[Exchange] = []  # the compared exchanges that had not ended
        adjust = QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        self.part = styled(QComboBox(sizeAdjustPolicy=adjust, minimumContentsLength=8), "field")
        self.part.setAccessibleName("Part to compare")
        self.part.addItems(PARTS)
        self.second = styled(QComboBox(sizeAdjustPolicy=adjust, minimumContentsLength=12), "field")
        self.second.setAccessibleName("Compare with")
        self.summary = ElidedLabel("Result", elide=Qt.TextElideMode.ElideRight)
        self.summary.setObjectName("compareSummary")
        self.text = ChangeText("Differences")
        self.metrics = HeaderTable("Times and tokens of both")
        metrics_page = QWidget()
        in_column(self.metrics, parent=metrics_page, margins=(8, 4, 8, 0))
        self._metrics_page = metrics_page
        self._pages = in_pages(self.text, metrics_page)
        self.bar = QWidget()
        in_row(self.part, (self.second, 2), (self.summary, 1), parent=self.bar, margins=0, spacing=8)
        in_column((self._pages, 1), parent=self, margins=0, spacing=0)
        self.second.currentIndexChanged.connect(self._other_chosen)
        self.part.currentIndexChanged.connect(self._part_chosen)
        self._list()

    def show_exchange(self, view: ExchangeView | None) -> None:
        """Show another exchange, or the same one while it grows."""
        if view is self._exchange:
            return
        self._exchange = view
        listed = (view.id, len(view.choices), view.lane_a_id is None) if view is not None else None
        ended = bool(self._running) and all(exchange.ended is not None for exchange in self._running)
        if listed is not None and listed == self._listed and not ended:
            return
        self._listed = listed
        self._list()

    def show_preview(self, preview: Preview) -> None:
        """Use this next request."""
        changed = (preview.base is None) != (self._preview is None or self._preview.base is None)
        self._preview = preview
        if changed and self._exchange is None:
            self._list()
        elif self.needs_next:
            self._compare()

    @property
    def needs_next(self) -> bool:
        """Return whether the next request is compared, or would be."""
        return self._exchange is None or self.second.currentData() in UNSENT

    def choose_lane_a(self) -> None:
        """Compare the request with the first lane's of the same round."""
        self.choose(REQUEST, LANE_A)

    def choose_answer(self) -> None:
        """Compare the answer with the previous one, or else with the last one."""
        self.choose(ANSWER, "")
        other_exchange, own = self._sides()
        if own is not None and other_exchange is None and self._exchange is not None:
            exchanges = [exchange for _, exchange in self._exchange.choices if exchange is not own]
            if exchanges:
                self.second.setCurrentIndex(max(self.second.findData(exchanges[-1].id), 0))

    def choose(self, part: int, choice: str) -> None:
        """Compare a part with another exchange, by its id, or by one of the special choices; "" for the first."""
        self._chosen = choice
        with QSignalBlocker(self.part):
            self.part.setCurrentIndex(part)
        self._list()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self.needs_next:
            self.next_asked.emit()

    def _list(self) -> None:
        """Fill the list of exchanges; the chosen one stays if it is still there."""
        view, box = self._exchange, self.second
        with QSignalBlocker(box):
            box.clear()
            if view is None:
                in_lane = self._preview is not None and self._preview.base is not None
            else:
                in_lane = view.lane_a_id is not None
                if in_lane:
                    box.addItem("Lane A, same round" if view.lane_a_id else "Lane A, same round (none)", LANE_A)
            if view is not None and view.session is not None:
                box.addItem("Previous request" if view.previous_id else "Previous request (none)", PREVIOUS)
                box.addItem("Next request", NEXT)
            if in_lane:
                box.addItem("Next requests: lane A and this lane", NEXT_OF_A)
            for number, exchange in reversed(view.choices if view is not None else []):
                if view is not None and exchange.id != view.id:
                    box.addItem(describe_exchange(number, exchange), exchange.id)
            box.setCurrentIndex(max(box.findData(self._chosen), 0) if self._chosen else 0)
            box.setEnabled(box.count() > 0)
        if self.needs_next and self.isVisible():
            self.next_asked.emit()
        self._compare()

    def _other_chosen(self, _index: int) -> None:
        self._chosen = str(self.second.currentData() or "")
        if self.needs_next:
            self.next_asked.emit()
        self._compare()

    def _part_chosen(self, part: int) -> None:
        if self._comparison is not None and part != REQUEST:
            self._show_comparison(self._comparison)
        else:
            self._compare()

    def _sides(self) -> tuple[Exchange | None, Exchange | None]:
        """Return the other exchange, and the one that is shown."""
        view, chosen = self._exchange, self.second.currentData()
        if view is None:
            return None, None
        other_id = {PREVIOUS: view.previous_id, LANE_A: view.lane_a_id}.get(chosen, chosen)
        exchanges = {exchange.id: exchange for _, exchange in view.choices}
        return exchanges.get(other_id or ""), exchanges.get(view.id)

    # Comparing

    def _compare(self) -> None:
        other_exchange, own = self._sides()
        part, chosen = self.part.currentIndex(), self.second.currentData()
        self._number += 1
        self._comparison = None
        self._running = [
            exchange for exchange in (other_exchange, own) if exchange is not None and exchange.ended is None
        ]
        if own is None and chosen != NEXT_OF_A:
            self._show_words(NO_REQUEST)
        elif chosen in UNSENT:
            self._compare_next(own if chosen == NEXT else None)
        elif own is None or other_exchange is None:
            self._show_words(NO_LANE_A if chosen == LANE_A else NO_PREVIOUS)
        elif part != REQUEST and self._running:
            self._show_words(RUNNING)
        else:  # from lane A to the lane, or from the earlier one to the later one
            ordered = chosen == LANE_A or other_exchange.started_at <= own.started_at
            sides = (other_exchange, own) if ordered else (own, other_exchange)
            work = _compare_requests if part == REQUEST else _compare_answers
            spawn(self._work(self._number, sides, work), name="compare exchanges")

    def _compare_next(self, own: Exchange | None) -> None:
        """Compare the request that is shown, or lane A's next one, with the next one."""
        preview = self._preview
        if self.part.currentIndex() != REQUEST:
            self._show_words(NO_ANSWER)
        elif preview is None or not preview.view.text:
            self._show_words(NO_NEXT)
        else:
            sides = (own,) if own is not None else ()
            spawn(self._work(self._number, sides, partial(_compare_with_next, preview)), name="compare requests")

    def _show_words(self, words: str) -> None:
        self.summary.set_text("")
        self._pages.setCurrentWidget(self.text)
        self.text.show_words(words)

    async def _work(
        self, number: int, sides: Sequence[Exchange], work: Callable[..., Sequence[Difference] | Comparison]
    ) -> None:
        view = self._exchange
        result: Sequence[Difference] | Comparison = ()
        problem = ""
        try:
            sides = [await view.load(exchange) if view is not None else exchange for exchange in sides]
            if any(exchange.dropped for exchange in sides):
                problem = DATA_GONE
            else:
                result = await asyncio.to_thread(work, *sides)
        except (StoreError, TooLargeError) as error:
            problem = str(error)
        if number != self._number:
            return
        if problem:
            self._show_words(problem)
        elif isinstance(result, Comparison):
            self._show_comparison(result)
        else:
            self.show_differences(result)

    def show_differences(self, differences: Sequence[Difference]) -> None:
        """Show the differences of two requests."""
        if not differences:
            self._show_words(SAME)
            return
        self._pages.setCurrentWidget(self.text)
        self.summary.set_text(quantity(len(differences), "difference"))
        self.text.show_differences(differences)

    def _show_comparison(self, comparison: Comparison) -> None:
        """Show the chosen part of a comparison of two exchanges."""
        self._comparison = comparison
        part = self.part.currentIndex()
        words = [comparison.alike] if part == ANSWER else []
        self.summary.set_text(" · ".join([*words, *([CUT] * (comparison.cut and part != METRICS))]))
        if part == METRICS:
            self._pages.setCurrentWidget(self._metrics_page)
            self.metrics.show_headers(tuple((metric.label, metric.words) for metric in comparison.metrics))
            return
        self._pages.setCurrentWidget(self.text)
        pieces = {ANSWER: comparison.answer, REASONING: comparison.reasoning, UNKNOWN: comparison.unknown_members}[part]
        if pieces:
            self.text.show_pieces(pieces)
        else:
            self.text.show_words(NOTHING)


def _compare_answers(first: Exchange, second: Exchange) -> Comparison:
    indexes = FrameIndex(first), FrameIndex(second)
    for index in indexes:
        index.extend()
    return compare(*indexes)


def _compare_requests(first: Exchange, second: Exchange) -> tuple[Difference, ...]:
    return diff_sent(sent(first), sent(second))


def _compare_with_next(preview: Preview, own: Exchange | None = None) -> tuple[Difference, ...]:
    """Compare a request that was sent, or lane A's next one, with the next one."""
    if own is not None:
        request = sent(own)
        return diff_sent(Sent(request.url, (), request.body), preview.sent())
    return diff_sent(preview.base().sent(), preview.sent()) if preview.base is not None else ()
