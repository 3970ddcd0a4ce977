"""The Diff tab's page: the request of the exchange shown, against any other of the experiment or what comes next."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QComboBox, QPushButton, QWidget

from playground.engine.inspect.compare import Difference, diff_json, request_of
from playground.engine.library.store import StoreError
from playground.jsonkit.reading import parse_json
from playground.jsonkit.values import JSON
from playground.ui.features.inspector.change_text import ChangeText
from playground.ui.features.inspector.exchange_words import asked, exchange_words
from playground.ui.features.inspector.view import ExchangeView, as_it_is
from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.loop import spawn

if TYPE_CHECKING:
    from playground.engine.session.session import Exchange

BEFORE, NEXT = "before", "next"
NONE = "No request yet. Run the conversation twice, and what was asked differently stands here."
FIRST = "This is the first request of the experiment. Choose another one to compare it with."
NOT_KNOWN = "Nothing can be sent as it stands: a model is missing, or something in a panel is wrong. See Request."
GONE = "The body of one of these requests was let go to save memory, and is not kept on the disk."
ROOMY = 640  # pixels of the page's width from which on everything is said in full
ALIKE = "Both requests are alike."


class DiffPage(QWidget):
    """``show_exchange`` and ``show_preview`` say what there is. ``compare_asked`` carries two exchange ids."""

    compare_asked = Signal(str, str)
    next_asked = Signal()  # the next request is to be shown, as it is now

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._exchange: ExchangeView | None = None
        self._others: Sequence[Exchange] = ()
        self._preview: Callable[[], str] | None = None
        self._key: tuple[object, ...] = ()
        self._asked_for = 0  # counts comparisons, so that a late one is not shown
        self.against = QComboBox(
            sizeAdjustPolicy=QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon, minimumContentsLength=12
        )
        self.against.setProperty("kind", "field")
        self.against.setAccessibleName("Compare the request with")
        self.says = text_label("", "small")
        self.both = styled(QPushButton("Compare answers too"), "quiet")
        self.text = ChangeText("What the requests differ in")
        self.lead = text_label("This request, compared with", "small")
        bar = in_row(self.lead, (self.against, 2), (self.says, 1), self.both, margins=(12, 4, 12, 4), spacing=8)
        in_column(bar, (self.text, 1), of=self, margins=0, spacing=0)
        self.against.currentIndexChanged.connect(self._chosen)
        self.both.clicked.connect(self._ask_for_both)
        self._list()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        roomy = self.width() >= ROOMY
        self.lead.setVisible(roomy)
        self.both.setText("Compare answers too" if roomy else "Answers too")

    def minimumSizeHint(self) -> QSize:
        """As narrow as without what gives way."""
        return QSize(260, super().minimumSizeHint().height())

    def show_exchange(self, exchange: ExchangeView | None) -> None:
        """Show another exchange, or the same one while it grows."""
        others = exchange.others() if exchange is not None else ()
        same = exchange is not None and self._exchange is not None and exchange.key == self._exchange.key
        self._exchange = exchange
        if same and len(others) == len(self._others):
            return
        self._others = others
        self._list()

    def show_preview(self, body: Callable[[], str]) -> None:
        """What writes the body that the next run would send, all of it; it is asked on another thread."""
        self._preview = body
        if self.against_next:
            self._compare()

    @property
    def against_next(self) -> bool:
        """Whether the next request is what is compared with."""
        return bool(self.against.currentData() == NEXT)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self.against_next:
            self.next_asked.emit()

    def _list(self) -> None:
        """What there is to choose from; what was chosen stays, if it is still there."""
        wanted = self.against.currentData() or BEFORE
        key = self._exchange.key if self._exchange is not None else ""
        numbered = asked(self._others)
        at = next((n for n, (_, one) in enumerate(numbered) if one.id == key), None)
        self.against.blockSignals(True)
        self.against.clear()
        before = numbered[at - 1][1] if at else None
        self.against.addItem("The request before" if before is not None else "The request before (none)", BEFORE)
        self.against.addItem("The next request, as it stands now", NEXT)
        for number, one in reversed(numbered):
            if one.id != key:
                self.against.addItem(exchange_words(number, one), one.id)
        self.against.setCurrentIndex(max(self.against.findData(wanted), 0))
        self.against.blockSignals(False)
        self._compare()

    def _chosen(self, _index: int) -> None:
        if self.against_next:
            self.next_asked.emit()
        self._compare()

    def _sides(self) -> tuple[Exchange | None, Exchange | None]:
        """The other exchange, and the one shown."""
        key = self._exchange.key if self._exchange is not None else ""
        numbered = [one for _, one in asked(self._others)]
        mine = next((one for one in numbered if one.id == key), None)
        wanted = self.against.currentData()
        if wanted == BEFORE:
            at = numbered.index(mine) if mine is not None else 0
            return (numbered[at - 1] if at else None), mine
        return next((one for one in numbered if one.id == wanted), None), mine

    def _compare(self) -> None:
        other, mine = self._sides()
        ahead = self.against_next and self._preview is not None
        self.both.setVisible(other is not None and mine is not None)
        self.says.setText("")
        self._asked_for += 1
        if mine is None:
            self.text.show_words(NONE)
        elif other is None and not ahead:
            self.text.show_words(NOT_KNOWN if self.against_next else FIRST)
        else:
            spawn(self._work(self._asked_for, mine, other), name="compare requests")

    async def _work(self, number: int, mine: Exchange, other: Exchange | None) -> None:
        preview, whole = self._preview, self._exchange.whole if self._exchange is not None else as_it_is
        try:
            mine, other = await whole(mine), None if other is None else await whole(other)
        except StoreError as error:
            refused = str(error)
        else:
            refused = GONE if mine.dropped or (other is not None and other.dropped) else ""
        found = () if refused else await asyncio.to_thread(_differences, mine, other, preview)
        if number != self._asked_for:
            return
        if refused:
            self.text.show_words(refused)
        else:
            self.show_differences(found)

    def show_differences(self, found: Sequence[Difference]) -> None:
        """Show what the two differ in."""
        if not found:
            self.text.show_words(ALIKE)
            return
        self.says.setText(f"{len(found)} difference{'s' * (len(found) != 1)}")
        self.text.show_differences(found)

    def _ask_for_both(self) -> None:
        other, mine = self._sides()
        if other is not None and mine is not None:
            self.compare_asked.emit(other.id, mine.id)


def _differences(mine: Exchange, other: Exchange | None, preview: Callable[[], str] | None) -> tuple[Difference, ...]:
    """From the earlier request to the later one."""
    ours = request_of(mine)
    if other is None:
        return diff_json(ours, _parsed(preview() if preview is not None else ""))
    theirs = request_of(other)
    return diff_json(theirs, ours) if other.started_at <= mine.started_at else diff_json(ours, theirs)


def _parsed(body: str) -> JSON:
    try:
        return parse_json(body)
    except ValueError:
        return body
