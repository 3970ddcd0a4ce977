"""Two exchanges of the experiment side by side: what was asked differently, what was answered, what it took."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QTabBar,
    QWidget,
)

from playground.engine.inspect.compare import Comparison, Figure, Piece, Side, compare
from playground.engine.inspect.frames import FrameIndex
from playground.engine.library.store import StoreError
from playground.engine.session.changes import Change, ExchangeChanged, RunState, RunStateChanged
from playground.engine.session.session import Session
from playground.ui.features.inspector.change_text import ChangeText
from playground.ui.features.inspector.exchange_words import asked, exchange_words
from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.layouts import in_column, in_row, split
from playground.ui.widgets.loop import Throttle, spawn
from playground.ui.widgets.plain_text import tip
from playground.ui.widgets.session_window import SessionWindow
from playground.ui.widgets.theme import SMALL_PX, body_font, tokens

if TYPE_CHECKING:
    from playground.engine.session.session import Exchange

ANSWER, REASONING, REQUEST, BESIDE = range(4)
TABS = ("Answer", "Reasoning", "Request", "Unknown")
NONE = "There is nothing to compare yet: the experiment needs two requests."
GONE = "The bytes of one of these exchanges were let go to save memory, and are not kept on the disk."
CHANGED_MS = 300

ROW, BAR = 47, 9  # pixels
VALUE = 84  # room for a number
EDGE = 12


class FigureBars(QWidget):
    """``show_figures``; the first exchange is the upper bar of each pair."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.figures: Sequence[Figure] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(220)
        self.setAccessibleName("Times and tokens of both")

    def show_figures(self, figures: Sequence[Figure]) -> None:
        """Show these."""
        self.figures = figures
        said = [f"{f.label}: {words(f.left, f.unit)} and {words(f.right, f.unit)}" for f in figures]
        self.setAccessibleDescription(". ".join(said))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(280, ROW * len(self.figures) + 8)

    def minimumSizeHint(self) -> QSize:
        return QSize(220, ROW * len(self.figures) + 8)

    def paintEvent(self, event: QPaintEvent) -> None:
        t = tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = body_font()
        font.setPixelSize(SMALL_PX - 1)
        painter.setFont(font)
        wide = self.width() - 2 * EDGE - VALUE
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for number, figure in enumerate(self.figures):
            top = number * ROW + 4.0
            painter.setPen(QColor(t.muted))
            painter.drawText(QRectF(EDGE, top, self.width() - 2 * EDGE, 14), left, figure.label)
            most = max(figure.left or 0, figure.right or 0)
            for at, (value, colour) in enumerate(((figure.left, t.accent), (figure.right, t.tool))):
                y = top + 15 + at * (BAR + 5)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(QColor(t.chip))
                painter.drawRoundedRect(QRectF(EDGE, y, wide, BAR), 3, 3)
                if value and most:
                    painter.setBrush(QColor(colour))
                    painter.drawRoundedRect(QRectF(EDGE, y, max(value / most * wide, 3), BAR), 3, 3)
                painter.setPen(QColor(t.text if value is not None else t.muted))
                painter.drawText(
                    QRectF(self.width() - EDGE - VALUE, y - 4, VALUE, BAR + 8), right, words(value, figure.unit)
                )
        painter.end()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.update()


def words(value: float | None, unit: str) -> str:
    """A figure for people."""
    if value is None:
        return "not known"
    match unit:
        case "s":
            return f"{value:.3f} s" if value < 1 else f"{value:.2f} s"
        case "tokens/s":
            return f"{value:.0f} tok/s"
        case "tokens" | "choices":
            return f"{value:,.0f}"
    return f"{value:,.0f} bytes"


class CompareWindow(SessionWindow):
    """``show_pair`` chooses two exchanges by their ids; empty ones mean the last two."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(session, parent)
        self.setWindowTitle("Compare runs")
        self.found: Comparison | None = None
        self._number = 0  # counts comparisons, so that a late one is not shown
        self.sides = (_Choice("First exchange"), _Choice("Second exchange"))
        self.tabs = QTabBar(drawBase=False, expanding=False)
        self.tabs.setAccessibleName("What is compared")
        for title in TABS:
            self.tabs.addTab(title)
        self.tabs.setTabToolTip(BESIDE, tip("Parts and members of the answers that this program does not know"))
        self.tabs.setTabVisible(BESIDE, False)
        self.texts = {
            tab: (ChangeText(f"{TABS[tab]} of the first exchange"), ChangeText(f"{TABS[tab]} of the second exchange"))
            for tab in (ANSWER, REASONING, BESIDE)
        }
        self.request = ChangeText("What the requests differ in")
        self.bars = FigureBars()
        self.says = text_label("", "small")
        self._stack = QStackedWidget()
        self._arrange()
        self._refresh = Throttle(self._compare, self, interval=CHANGED_MS)
        self.tabs.currentChanged.connect(self._stack.setCurrentIndex)
        for side in self.sides:
            side.box.currentIndexChanged.connect(self._chosen)
        self.fit_into_window(1080, 640)
        self._list()

    def _arrange(self) -> None:
        for tab in range(len(TABS)):
            self._stack.addWidget(split(*self.texts.get(tab, (self.request,)), thin=True))
        choices = QHBoxLayout()
        choices.setSpacing(16)
        for side, colour in zip(self.sides, ("accent", "tool"), strict=True):
            choices.addWidget(_Swatch(colour))
            choices.addWidget(side.box, 1)
        area = QScrollArea(widgetResizable=True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inner = styled(QWidget(), "surface")
        in_column(self.bars, 1, of=inner, margins=(0, 4, 0, 0))
        area.setWidget(inner)
        right = QWidget()
        head = in_row(self.tabs, 1, self.says)
        in_column(head, (self._stack, 1), of=right, margins=0, spacing=4)
        body = split(area, right, sizes=[300, 760], thin=True)
        in_column(choices, (body, 1), of=self, margins=(16, 14, 16, 16), spacing=10)

    # Choosing

    def show_pair(self, first: str = "", second: str = "") -> None:
        """Compare these two."""
        self._list()
        ids = [one.id for _, one in asked(list(self._session.exchanges.values()))]
        second = second or next((one for one in reversed(ids) if one != first), "")
        first = first or next((one for one in reversed(ids) if one != second), "")
        for side, wanted in zip(self.sides, (first, second), strict=True):
            side.choose(wanted)
        self._compare()

    def _list(self) -> None:
        numbered = asked(list(self._session.exchanges.values()))
        entries = [(exchange_words(number, one), one.id) for number, one in reversed(numbered)]
        for at, side in enumerate(self.sides):
            side.offer(entries, len(entries) - 1 if at == 0 else 0)

    def _chosen(self, _index: int) -> None:
        self._compare()

    def _session_changed(self) -> None:
        self.show_pair()

    def _changed(self, change: Change) -> None:
        match change:
            case ExchangeChanged(exchange_id) if exchange_id not in self.sides[0].ids:
                self._list()
            case RunStateChanged(RunState.IDLE):
                self._list()
                self._refresh.poke()
            case _:
                pass

    # Comparing

    def _compare(self) -> None:
        self._number += 1
        exchanges = self._session.exchanges
        pair = [exchanges.get(side.chosen) for side in self.sides]
        left, right = pair
        if left is None or right is None:
            self._say(NONE)
        elif self.isVisible():
            spawn(self._work(self._number, left, right), name="compare runs")

    async def _work(self, number: int, left: Exchange, right: Exchange) -> None:
        try:
            left, right = await self._session.whole(left), await self._session.whole(right)
        except StoreError as error:
            refused = str(error)
        else:
            refused = GONE if left.dropped or right.dropped else ""
        if refused:
            if number == self._number:
                self._say(refused)
            return
        found = await asyncio.to_thread(_compared, FrameIndex(left), FrameIndex(right))
        if number == self._number:
            self.show_comparison(found)

    def _say(self, words: str) -> None:
        self.found = None
        self.says.setText("")
        self.bars.show_figures(())
        self.tabs.setTabVisible(BESIDE, False)
        for text in (self.request, *(text for pair in self.texts.values() for text in pair)):
            text.show_words(words)

    def show_comparison(self, found: Comparison) -> None:
        """Show what was found out."""
        self.found = found
        self.bars.show_figures(found.figures)
        self.tabs.setTabVisible(BESIDE, bool(found.beside))
        for tab, pieces in ((ANSWER, found.answer), (REASONING, found.reasoning), (BESIDE, found.beside)):
            for text, other in zip(self.texts[tab], (Side.ADDED, Side.REMOVED), strict=True):
                if any(piece.kind is not other for piece in pieces):
                    text.show_pieces(pieces, [other])
                else:
                    text.show_words("(nothing)")
        if found.request:
            self.request.show_differences(found.request)
        else:
            self.request.show_words("Both requests are alike.")
        asked_words = f"{len(found.request)} difference{'s' * (len(found.request) != 1)} in the request"
        self.says.setText(f"{_alike(found.answer)} · {asked_words}")


class _Choice:
    """One of the two exchanges."""

    def __init__(self, says: str) -> None:
        self.box = styled(QComboBox(), "field")
        self.box.setAccessibleName(says)
        self.ids: list[str] = []

    @property
    def chosen(self) -> str:
        """The id of the exchange that is chosen."""
        return str(self.box.currentData() or "")

    def choose(self, exchange_id: str) -> None:
        """Choose without telling."""
        self.box.blockSignals(True)
        self.box.setCurrentIndex(self.box.findData(exchange_id))
        self.box.blockSignals(False)

    def offer(self, entries: list[tuple[str, str]], otherwise: int) -> None:
        """What there is to choose from; what was chosen stays, else it is the one of number ``otherwise``."""
        chosen = self.chosen
        self.box.blockSignals(True)
        self.box.clear()
        for words, exchange_id in entries:
            self.box.addItem(words, exchange_id)
        self.ids = [exchange_id for _, exchange_id in entries]
        self.box.setCurrentIndex(self.ids.index(chosen) if chosen in self.ids else otherwise)
        self.box.blockSignals(False)


class _Swatch(QWidget):
    """The colour of one exchange's bars."""

    def __init__(self, colour: str) -> None:
        super().__init__()
        self._colour = colour
        self.setFixedSize(10, 10)
        self.setToolTip(tip("The colour of this exchange's bars"))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(getattr(tokens(), self._colour)))
        painter.drawRoundedRect(self.rect(), 3, 3)


def _compared(left: FrameIndex, right: FrameIndex) -> Comparison:
    for index in (left, right):
        index.extend()
    return compare(left, right)


def _alike(pieces: tuple[Piece, ...]) -> str:
    """How much of the longer answer stands in the other."""
    sizes = {kind: sum(len(piece.text) for piece in pieces if piece.kind is kind) for kind in Side}
    most = sizes[Side.SAME] + max(sizes[Side.ADDED], sizes[Side.REMOVED])
    if not most:
        return "no answers"
    share = sizes[Side.SAME] / most
    return "the answers are alike" if share == 1 else f"{share:.0%} of the answer is alike"
