"""The turns, as many as there are: cards exist only for what is seen, everything else is a height.

Follows the stream only while it stands at the bottom; a scroll up stops that until the bottom is reached again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate

from PySide6.QtCore import QEvent, QObject, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QFrame, QPushButton, QWidget

from playground.domain.accumulator import GrowingChoice
from playground.domain.tools import ToolDefinition
from playground.engine.pause import Pause
from playground.ui.conversation.commands import TurnCommands
from playground.ui.conversation.rows import Row
from playground.ui.conversation.turn_card import TurnCard
from playground.ui.loop import Throttle

READING_WIDTH = 860
MARGIN = 26
GAP = 10
TOP = 10
SPARE = 400  # pixels above and below the view in which cards are kept
ZOOMS = (0.75, 0.85, 1.0, 1.15, 1.3, 1.5, 1.75, 2.0)


#: What has arrived so far for a turn being received, the seconds since its run began, and the wait for the next try
#: if there is one; None for other turns.
Growing = Callable[[str], tuple[GrowingChoice, float, Pause | None] | None]


class TranscriptView(QAbstractScrollArea):
    """Shows rows. ``at_bottom_changed`` says whether the newest turn is in view."""

    at_bottom_changed = Signal(bool)

    def __init__(self, commands: TurnCommands, growing: Growing, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._commands = commands
        self._growing = growing
        self._rows: list[Row] = []
        self._tools: tuple[ToolDefinition, ...] = ()
        self._index: dict[str, int] = {}
        self._heights: list[int] = []
        self._tops: list[int] = [TOP]
        self._cards: dict[str, TurnCard] = {}
        self._typed: dict[str, dict[str, str]] = {}  # results typed and not sent, by turn and call
        self._follow = True
        self._laying_out = False
        self._zoom = 1.0
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Conversation")
        self.viewport().setAutoFillBackground(False)
        self.verticalScrollBar().setSingleStep(40)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        self._layout = Throttle(self._lay_out, self)
        self._pill = QPushButton("↓  Jump to latest", self)
        self._pill.setCursor(Qt.CursorShape.PointingHandCursor)
        self._pill.clicked.connect(self.jump_to_latest)
        self._pill.hide()

    # Content

    def set_rows(self, rows: Sequence[Row], tools: tuple[ToolDefinition, ...]) -> None:
        """Show these rows. Cards of turns that stay are kept."""
        old = {row.id: (height, row) for row, height in zip(self._rows, self._heights, strict=True)}
        anchor, inside = self._anchor()
        self._rows, self._tools = list(rows), tools
        self._index = {row.id: at for at, row in enumerate(self._rows)}
        self._heights = [old[row.id][0] if row.id in old else self._estimate(row) for row in self._rows]
        for turn_id in [turn_id for turn_id in self._cards if turn_id not in self._index]:
            self._drop(turn_id)
        for turn_id, card in self._cards.items():
            row = self._rows[self._index[turn_id]]
            if old[turn_id][1] != row:
                card.show_row(row, tools)
        self._retop()
        if anchor in self._index and not self._follow:
            self._set_range()
            self._laying_out = True
            self.verticalScrollBar().setValue(self._tops[self._index[anchor]] + inside)
            self._laying_out = False
        self._lay_out()

    def _anchor(self) -> tuple[str, int]:
        """The turn at the upper edge of the view, and how many pixels of it lie above."""
        if not self._rows:
            return "", 0
        value = self.verticalScrollBar().value()
        at = self._row_at(value)
        return self._rows[at].id, value - self._tops[at]

    def set_tools(self, tools: tuple[ToolDefinition, ...]) -> None:
        """Judge the calls in view against other definitions."""
        self._tools = tools
        for turn_id, card in self._cards.items():
            if card.calls and card.turn.outcome is not None:
                card.show_row(self._rows[self._index[turn_id]], tools)
        self._layout.poke()

    def update_row(self, row: Row) -> None:
        """One turn has other content."""
        at = self._index.get(row.id)
        if at is None:
            return
        self._rows[at] = row
        card = self._cards.get(row.id)
        if card is not None:
            card.show_row(row, self._tools)
        else:
            self._heights[at] = self._estimate(row)
            self._retop(at)
        self._layout.poke()

    def grow(self, turn_id: str) -> None:
        """Draw what has arrived for a turn, if it is in view."""
        card, state = self._cards.get(turn_id), self._growing(turn_id)
        if card is not None and state is not None:
            card.grow(*state)
            self._lay_out()

    @property
    def cards(self) -> dict[str, TurnCard]:
        """The cards that exist now, by turn id."""
        return self._cards

    def card(self, turn_id: str) -> TurnCard | None:
        """The card of a turn, scrolled into view and made if needed; None for a turn that is not shown."""
        at = self._index.get(turn_id)
        if at is None:
            return None
        if turn_id not in self._cards:
            self._follow = False
            self.verticalScrollBar().setValue(max(self._tops[at] - 40, 0))
            self._lay_out()
        return self._cards.get(turn_id)

    # Text size

    @property
    def zoom(self) -> float:
        """The text size, 1.0 is the normal one."""
        return self._zoom

    def set_zoom(self, zoom: float) -> None:
        """Another text size."""
        if zoom == self._zoom:
            return
        self._zoom = zoom
        for card in self._cards.values():
            card.set_zoom(zoom)
        self._lay_out()

    def step_zoom(self, step: int) -> None:
        """The next larger (+1) or smaller (-1) text size."""
        at = min(range(len(ZOOMS)), key=lambda n: abs(ZOOMS[n] - self._zoom))
        self.set_zoom(ZOOMS[min(max(at + step, 0), len(ZOOMS) - 1)])

    # Moving

    @property
    def at_bottom(self) -> bool:
        """Whether the newest turn's end is in view."""
        bar = self.verticalScrollBar()
        return bar.value() >= bar.maximum() - 8

    def jump_to_latest(self) -> None:
        """Go to the bottom and follow from there."""
        self._follow = True
        self._lay_out()

    def step_turn(self, step: int) -> None:
        """Move the focus to the turn after (+1) or before (-1) the one that has it."""
        if not self._rows:
            return
        now = self.focused_turn()
        at = self._index[now] + step if now else (len(self._rows) - 1 if step < 0 else 0)
        card = self.card(self._rows[min(max(at, 0), len(self._rows) - 1)].id)
        if card is not None:
            card.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self._reveal(card)

    def focused_turn(self) -> str | None:
        """The turn whose card, or a control in it, has the keyboard focus."""
        at: QObject | None = QApplication.focusWidget()
        while at is not None:
            if isinstance(at, TurnCard) and at.turn.id in self._cards:
                return at.turn.id
            at = at.parent()
        return None

    def _reveal(self, card: TurnCard) -> None:
        bar = self.verticalScrollBar()
        if card.y() < 0 or card.height() > self.viewport().height():
            bar.setValue(bar.value() + card.y() - TOP)
        elif card.geometry().bottom() > self.viewport().height():
            bar.setValue(bar.value() + card.geometry().bottom() - self.viewport().height() + TOP)

    def _scrolled(self, _value: int) -> None:
        if self._laying_out:
            return
        self._follow = self.at_bottom
        self._lay_out()

    # Layout

    def _column(self) -> tuple[int, int]:
        """Left edge and width of the reading column."""
        whole = self.width()  # not the viewport's: the scroll bar must not push the column aside
        width = min(whole - 2 * MARGIN, READING_WIDTH)
        return max((whole - width) // 2, 0), max(width, 100)

    def _estimate(self, row: Row) -> int:
        width = self._column()[1] - 32
        letters = max(int(width / (7 * self._zoom)), 20)
        text = row.turn.text
        lines = len(text) // letters + text.count("\n") // 2 + 1
        return 60 + int(lines * 20 * self._zoom) + 90 * len(row.turn.calls) + 34 * bool(row.turn.reasoning)

    def _retop(self, start: int = 0) -> None:
        """Recompute where rows begin, from ``start`` on."""
        del self._tops[start + 1 :]
        self._tops += list(accumulate((height + GAP for height in self._heights[start:]), initial=self._tops[start]))[
            1:
        ]

    def _lay_out(self) -> None:
        """Make, measure and place the cards in view; everything else stays a number."""
        if self._laying_out or not self.isVisible():
            return
        self._laying_out = True
        try:
            self._lay_out_once()
        finally:
            self._laying_out = False
        self._pill.setVisible(not self.at_bottom and bool(self._rows))
        self._place_pill()
        self.at_bottom_changed.emit(self.at_bottom)

    def _lay_out_once(self) -> None:
        bar, view = self.verticalScrollBar(), self.viewport().height()
        left, width = self._column()
        for _ in range(6):  # measuring what comes into view moves what is in view; it settles in two or three rounds
            self._set_range()
            if self._follow:
                bar.setValue(bar.maximum())
            anchor = self._row_at(bar.value())
            inside = bar.value() - self._tops[anchor] if self._rows else 0
            first, last = self._row_at(bar.value() - SPARE), self._row_at(bar.value() + view + SPARE)
            changed = self._measure(first, last, width)
            if changed is None:
                break
            self._retop(changed)
            self._set_range()
            if not self._follow and self._rows:
                bar.setValue(self._tops[anchor] + inside)
        first, last = self._row_at(bar.value() - SPARE), self._row_at(bar.value() + view + SPARE)
        shown = {row.id for row in self._rows[first : last + 1]}
        for turn_id in [turn_id for turn_id in self._cards if turn_id not in shown]:
            if not self._cards[turn_id].busy:
                self._drop(turn_id)
        for turn_id, card in self._cards.items():
            at = self._index[turn_id]
            card.setGeometry(QRect(left, self._tops[at] - bar.value(), width, self._heights[at]))
            if not card.isVisible():
                card.show()

    def _set_range(self) -> None:
        bar, view = self.verticalScrollBar(), self.viewport().height()
        total = self._tops[-1] + TOP if self._rows else 0
        bar.setPageStep(view)
        bar.setRange(0, max(total - view, 0))

    def _row_at(self, y: int) -> int:
        return min(max(bisect_right(self._tops, y) - 1, 0), max(len(self._rows) - 1, 0))

    def _measure(self, first: int, last: int, width: int) -> int | None:
        """Make and measure the cards of these rows. Returns the first row whose height was wrong, else None."""
        wrong: int | None = None
        for at in range(first, min(last + 1, len(self._rows))):
            row = self._rows[at]
            card = self._cards.get(row.id)
            if card is None:
                card = self._make(row)
            height = _height(card, width)
            if height != self._heights[at]:
                self._heights[at] = height
                wrong = at if wrong is None else wrong
        return wrong

    def _make(self, row: Row) -> TurnCard:
        card = TurnCard(row, self._commands, self._tools, zoom=self._zoom, parent=self.viewport())
        self._cards[row.id] = card
        if row.growing and (state := self._growing(row.id)) is not None:
            card.grow(*state)
        for call in card.calls:
            call.set_pending_result(self._typed.get(row.id, {}).get(call.call.id, ""))
        card.height_changed.connect(self._layout.poke)
        return card

    def _drop(self, turn_id: str) -> None:
        card = self._cards.pop(turn_id)
        typed = {call.call.id: call.pending_result for call in card.calls if call.pending_result}
        self._typed.pop(turn_id, None)
        if typed:
            self._typed[turn_id] = typed
        card.hide()
        card.deleteLater()

    def _place_pill(self) -> None:
        size = self._pill.sizeHint()
        self._pill.setGeometry(
            (self.viewport().width() - size.width()) // 2,
            self.viewport().height() - size.height() - 12,
            size.width(),
            size.height(),
        )
        self._pill.raise_()

    # Events

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def showEvent(self, event: QEvent) -> None:
        self._lay_out()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        return  # cards are placed by _lay_out

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.step_zoom(1 if event.angleDelta().y() > 0 else -1)
            event.accept()
            return
        super().wheelEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        bar = self.verticalScrollBar()
        match event.key():
            case Qt.Key.Key_Home:
                bar.setValue(0)
            case Qt.Key.Key_End:
                self.jump_to_latest()
            case Qt.Key.Key_PageUp:
                bar.setValue(bar.value() - bar.pageStep())
            case Qt.Key.Key_PageDown:
                bar.setValue(bar.value() + bar.pageStep())
            case _:
                super().keyPressEvent(event)


def _height(card: TurnCard, width: int) -> int:
    layout = card.layout()
    if layout is None:
        return card.sizeHint().height()
    layout.activate()
    return layout.totalHeightForWidth(width) if layout.hasHeightForWidth() else layout.totalSizeHint().height()
