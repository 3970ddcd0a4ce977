"""The Diff tab's page: the exchange shown against another of the experiment, or its request against what comes next.

Requests, answers and figures, one at a time. All that may be large is compared on another thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
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
from playground.ui.features.inspector.change_text import ChangeText
from playground.ui.features.inspector.exchange_words import asked, exchange_words
from playground.ui.features.inspector.header_tables import HeaderTable
from playground.ui.features.inspector.view import ExchangeView, as_it_is
from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.layouts import in_column, in_pages, in_row
from playground.ui.widgets.loop import spawn

if TYPE_CHECKING:
    from playground.engine.session.session import Exchange
    from playground.ui.features.inspector.next_request import Preview

REQUEST, ANSWER, REASONING, UNKNOWN, FIGURES = range(5)
PARTS = ("Request", "Answer", "Reasoning", "What is unknown", "Figures")
BEFORE, NEXT, LANE_A, NEXT_OF_A = "before", "next", "lane A", "next of lane A"
AHEAD = (NEXT, NEXT_OF_A)
NONE = "No request yet. Run the conversation twice, and what was asked differently stands here."
FIRST = "There was no request before this one. Choose another one to compare it with."
NO_FELLOW = "Lane A has no other request of the same round. Choose another one to compare it with."
NOT_KNOWN = "Nothing can be sent as it stands: a model is missing, or something in a panel is wrong. See Request."
GONE = "The bytes of one of these exchanges were let go to save memory, and are not kept on the disk."
NOT_ANSWERED = "What comes next has no answer yet: only its request can be compared."
RUNNING = "One of these answers is still coming. They are compared once both have ended."
NOTHING = "Neither has any."
ROOMY = 640  # pixels of the page's width from which on everything is said in full
ALIKE = "Both requests are alike."


class DiffPage(QWidget):
    """``show_exchange`` and ``show_preview`` say what there is."""

    next_asked = Signal()  # the next request is to be shown, as it is now

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._exchange: ExchangeView | None = None
        self._others: Sequence[Exchange] = ()
        self._preview: Preview | None = None
        self._key: object = None
        self._wanted = ""  # chosen by a person; what is usual until then
        self._asked_for = 0  # counts comparisons, so that a late one is not shown
        self._found: Comparison | None = None
        self._coming: list[Exchange] = []  # of the two that are compared, those that had not ended
        usual = QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        self.part = styled(QComboBox(sizeAdjustPolicy=usual, minimumContentsLength=8), "field")
        self.part.setAccessibleName("What is compared")
        self.part.addItems(PARTS)
        self.against = styled(QComboBox(sizeAdjustPolicy=usual, minimumContentsLength=12), "field")
        self.against.setAccessibleName("Compare the exchange with")
        self.says = text_label("", "small")
        self.says.setObjectName("diffSummary")
        self.text = ChangeText("What differs")
        self.figures = HeaderTable("Times and tokens of both")
        self._figures_page = QWidget()
        in_column(self.figures, of=self._figures_page, margins=(8, 4, 8, 0))
        self._pages = in_pages(self.text, self._figures_page)
        self.lead = text_label("compared with", "small")
        bar = in_row(self.part, self.lead, (self.against, 2), (self.says, 1), margins=(12, 4, 12, 4), spacing=8)
        in_column(bar, (self._pages, 1), of=self, margins=0, spacing=0)
        self.against.currentIndexChanged.connect(self._against_chosen)
        self.part.currentIndexChanged.connect(self._part_chosen)
        self._list()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.lead.setVisible(self.width() >= ROOMY)

    def minimumSizeHint(self) -> QSize:
        """As narrow as without what gives way."""
        return QSize(260, super().minimumSizeHint().height())

    # What there is

    def show_exchange(self, exchange: ExchangeView | None) -> None:
        """Show another exchange, or the same one while it grows."""
        self._exchange = exchange
        others = exchange.others() if exchange is not None else ()
        known = (exchange.key, len(others), exchange.lane_a() is None) if exchange is not None else None
        if known is not None and known == self._key and not self._has_ended():
            return
        self._key, self._others = known, others
        self._list()

    def _has_ended(self) -> bool:
        """Whether what was still coming when it was compared has come."""
        return bool(self._coming) and all(one.ended is not None for one in self._coming)

    def show_preview(self, preview: Preview) -> None:
        """The next request; its body is written on another thread."""
        is_lane = (preview.base is None) != (self._preview is None or self._preview.base is None)
        self._preview = preview
        if is_lane and self._exchange is None:
            self._list()
        elif self.against_next:
            self._compare()

    @property
    def against_next(self) -> bool:
        """Whether the next request is what is compared, or would be."""
        return self._exchange is None or self.against.currentData() in AHEAD

    def choose_lane_a(self) -> None:
        """Compare the request with the first lane's of the same round."""
        self._choose(REQUEST, LANE_A)

    def choose_answer(self) -> None:
        """Compare the answer with what is usual, where there is such a one, else with the last one."""
        self._choose(ANSWER, "")
        other, mine = self._sides()
        if mine is not None and other is None:
            last = next((one.id for _, one in reversed(asked(self._others)) if one is not mine), "")
            self.against.setCurrentIndex(max(self.against.findData(last), 0))

    def _choose(self, part: int, against: str) -> None:
        self._wanted = against
        self.part.blockSignals(True)
        self.part.setCurrentIndex(part)
        self.part.blockSignals(False)
        self._list()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self.against_next:
            self.next_asked.emit()

    def _list(self) -> None:
        """What there is to choose from; what was chosen stays, if it is still there."""
        exchange, box = self._exchange, self.against
        key = exchange.key if exchange is not None else ""
        box.blockSignals(True)
        box.clear()
        if exchange is None:
            in_lane = self._preview is not None and self._preview.base is not None
        else:
            fellow, before = exchange.lane_a(), exchange.before()
            in_lane = fellow is not None
            if in_lane:
                box.addItem("Lane A, same round" if fellow else "Lane A, same round (none)", LANE_A)
            box.addItem("The request before" if before else "The request before (none)", BEFORE)
            box.addItem("The next request, as it stands now", NEXT)
        if in_lane:
            box.addItem("Next request: lane A's and this lane's", NEXT_OF_A)
        for number, one in reversed(asked(self._others)):
            if exchange is not None and one.id != key:
                box.addItem(exchange_words(number, one), one.id)
        box.setCurrentIndex(max(box.findData(self._wanted), 0) if self._wanted else 0)
        box.setEnabled(box.count() > 0)
        box.blockSignals(False)
        if self.against_next and self.isVisible():
            self.next_asked.emit()
        self._compare()

    def _against_chosen(self, _index: int) -> None:
        self._wanted = str(self.against.currentData() or "")
        if self.against_next:
            self.next_asked.emit()
        self._compare()

    def _part_chosen(self, part: int) -> None:
        if self._found is not None and part != REQUEST:
            self.show_comparison(self._found)
        else:
            self._compare()

    def _sides(self) -> tuple[Exchange | None, Exchange | None]:
        """The other exchange, and the one shown."""
        exchange, wanted = self._exchange, self.against.currentData()
        if exchange is None:
            return None, None
        other = exchange.before() if wanted == BEFORE else exchange.lane_a() if wanted == LANE_A else wanted
        known = {one.id: one for _, one in asked(self._others)}
        return known.get(other or ""), known.get(exchange.key)

    # Comparing

    def _compare(self) -> None:
        other, mine = self._sides()
        part, against = self.part.currentIndex(), self.against.currentData()
        self._asked_for += 1
        self._found = None
        self._coming = [one for one in (other, mine) if one is not None and one.ended is None]
        if mine is None and against != NEXT_OF_A:
            self._say(NONE)
        elif against in AHEAD:
            self._compare_ahead(mine if against == NEXT else None)
        elif mine is None or other is None:
            self._say(NO_FELLOW if against == LANE_A else FIRST)
        elif part != REQUEST and self._coming:
            self._say(RUNNING)
        else:  # from lane A's to the lane's, else from the earlier one to the later one
            in_order = against == LANE_A or other.started_at <= mine.started_at
            sides = (other, mine) if in_order else (mine, other)
            spawn(self._work(self._asked_for, sides, _asked_apart if part == REQUEST else _compared), name="compare")

    def _compare_ahead(self, mine: Exchange | None) -> None:
        """The request shown, or lane A's next one, with the next."""
        preview = self._preview
        if self.part.currentIndex() != REQUEST:
            self._say(NOT_ANSWERED)
        elif preview is None or not preview.view.text:
            self._say(NOT_KNOWN)
        else:
            sides = (mine,) if mine is not None else ()
            spawn(self._work(self._asked_for, sides, partial(_ahead, preview)), name="compare")

    def _say(self, words: str) -> None:
        self.says.setText("")
        self._pages.setCurrentWidget(self.text)
        self.text.show_words(words)

    async def _work(
        self, number: int, sides: Sequence[Exchange], work: Callable[..., Sequence[Difference] | Comparison]
    ) -> None:
        whole = self._exchange.whole if self._exchange is not None else as_it_is
        found: Sequence[Difference] | Comparison = ()
        refused = ""
        try:
            sides = [await whole(one) for one in sides]
            if any(one.dropped for one in sides):
                refused = GONE
            else:
                found = await asyncio.to_thread(work, *sides)
        except (StoreError, TooLargeError) as error:
            refused = str(error)
        if number != self._asked_for:
            return
        if refused:
            self._say(refused)
        elif isinstance(found, Comparison):
            self.show_comparison(found)
        else:
            self.show_differences(found)

    def show_differences(self, found: Sequence[Difference]) -> None:
        """Show what two requests differ in."""
        if not found:
            self._say(ALIKE)
            return
        self._pages.setCurrentWidget(self.text)
        self.says.setText(f"{len(found):,} difference{'s' * (len(found) != 1)}")
        self.text.show_differences(found)

    def show_comparison(self, found: Comparison) -> None:
        """Show the part that is chosen of what came of two exchanges."""
        self._found = found
        part = self.part.currentIndex()
        words = [found.alike] if part == ANSWER else []
        self.says.setText(" · ".join([*words, *([CUT] * (found.cut and part != FIGURES))]))
        self._pages.setCurrentWidget(self._figures_page if part == FIGURES else self.text)
        if part == FIGURES:
            self.figures.show_headers(tuple((one.label, one.words) for one in found.metrics))
            return
        pieces = {ANSWER: found.answer, REASONING: found.reasoning, UNKNOWN: found.beside}[part]
        if pieces:
            self.text.show_pieces(pieces)
        else:
            self.text.show_words(NOTHING)


def _compared(left: Exchange, right: Exchange) -> Comparison:
    indexes = FrameIndex(left), FrameIndex(right)
    for index in indexes:
        index.extend()
    return compare(*indexes)


def _asked_apart(left: Exchange, right: Exchange) -> tuple[Difference, ...]:
    return diff_sent(sent(left), sent(right))


def _ahead(preview: Preview, here: Exchange | None = None) -> tuple[Difference, ...]:
    """From the request shown, or from lane A's next one, to the next."""
    if here is not None:
        asked = sent(here)
        return diff_sent(Sent(asked.url, (), asked.body), preview.sent())
    return diff_sent(preview.base().sent(), preview.sent()) if preview.base is not None else ()
