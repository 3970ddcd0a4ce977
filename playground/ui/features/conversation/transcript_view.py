"""The turns, as many as there are: cards exist only for what is seen, everything else is a height.

Follows the stream only while it stands at the bottom; a scroll up stops that until the bottom is reached again. However
fast somebody scrolls, a frame makes no more cards than there is time for; what is missing is sketched until then.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QRect, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QFrame, QWidget

from playground.domain.tools import ToolDefinition
from playground.ui.features.conversation.card_stock import CardStock, Growing
from playground.ui.features.conversation.commands import TurnCommands
from playground.ui.features.conversation.heights import LOT, TOP, Heights, guesser
from playground.ui.features.conversation.latest_pill import LatestPill
from playground.ui.features.conversation.measures import MARGIN, READING_WIDTH
from playground.ui.features.conversation.rows import Row
from playground.ui.features.conversation.skeleton import paint_skeleton
from playground.ui.widgets.loop import Throttle
from playground.ui.widgets.theme import tokens

if TYPE_CHECKING:
    from playground.ui.features.conversation.turn_card import TurnCard

FILL_S = 0.015  # seconds of a frame that are spent on long texts; the rest comes frame by frame
REFINE_MS = 20  # between two estimates of heights
SPARE = 400  # pixels above and below the view in which cards are kept
FRAME_S = 0.003  # seconds a frame may spend on making cards while scrolling; a card begun is finished
FIRST_S = 0.008  # and those in which a long conversation is shown, with what walking along it takes
FOUND_TOP, FOUND_BOTTOM = 64, 40  # pixels: a place found that is nearer to an edge is scrolled to
ZOOMS = (0.75, 0.85, 1.0, 1.15, 1.3, 1.5, 1.75, 2.0)


class UpperEdge:
    """``note`` when everything is in its place, ``shift`` when it has been placed anew."""

    def __init__(self) -> None:
        self._at: tuple[TurnCard, QWidget, int] | None = None  # a card, a part of it, where that part begins in it

    def note(self, cards: Iterable[TurnCard]) -> None:
        """Remember which part of which card lies across the edge."""
        self._at = None
        for card in cards:
            if card.y() < 0 < card.y() + card.height():
                for part in card.body:
                    top = card.y() + part.y()
                    if part.isVisible() and top <= 0 < top + part.height():
                        self._at = (card, part, part.y())
                return

    def shift(self, cards: Iterable[TurnCard]) -> int:
        """How far down that part has moved within its card since, in pixels."""
        if self._at is None:
            return 0
        card, part, y = self._at
        there = any(card is other for other in cards) and any(part is other for other in card.body)
        return part.y() - y if there and part.isVisible() else 0


class TranscriptView(QAbstractScrollArea):
    """Shows rows. ``at_bottom_changed`` says whether the newest turn is in view.

    ``laid_out`` comes whenever cards may have been made, moved or redrawn.
    """

    at_bottom_changed = Signal(bool)
    laid_out = Signal()

    def __init__(self, commands: TurnCommands, growing: Growing, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._column = Heights()  # of these rows; another session's rows have theirs
        self._complete = True  # every card there is room for has been made
        self._sketched = False  # one that is in view has not
        self._fresh = False  # rows have been set, their cards are being made, and nobody has scrolled since
        self._fill_end = 0.0  # until when long texts are drawn while all is laid out
        self._filled = False  # this frame has had its time for them
        self._edge = UpperEdge()
        self._follow = True
        self._laying_out = False
        self._placed = 0  # where the bar stood when the cards were placed last
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Conversation")
        self.setObjectName("messageList")
        # Nothing shines through: what lies behind need not be painted, and scrolling can move what is painted.
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.verticalScrollBar().setSingleStep(40)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        self._layout = Throttle(self._lay_out_frame, self)
        self._refining = Throttle(self._refine, self, REFINE_MS)
        self._stock = CardStock(commands, growing, self.viewport(), self._layout.poke)
        self._pill = LatestPill(self)
        self._pill.clicked.connect(self.jump_to_latest)

    # Content

    def set_rows(
        self,
        rows: Sequence[Row],
        tools: tuple[ToolDefinition, ...],
        *,
        began: float | None = None,
        latest: bool = False,
    ) -> None:
        """Show these rows; with ``latest`` go to the bottom. Cards of turns that stay are kept.

        A row that is the same object as before is not looked at. ``began`` is when the work for them did, by
        ``time.perf_counter``, now if it is not given: where that took long the next frames make the cards of many.
        """
        began = time.perf_counter() if began is None else began
        column = self._column
        self._follow = self._follow or latest
        anchor, inside = self._anchor()
        before = {turn_id: column.rows[column.index[turn_id]] for turn_id in self._stock.cards}
        self._stock.tools = tools
        column.set_rows(rows, self.guess, self._stock)
        if column.rough:
            self._refining.poke()
        for turn_id in [turn_id for turn_id in self._stock.cards if turn_id not in column.index]:
            self._stock.drop(turn_id)
        for turn_id, card in self._stock.cards.items():
            row = column.rows[column.index[turn_id]]
            if row is not before[turn_id] and row != before[turn_id]:
                card.show_row(row, tools)
                self._filled = self._filled or not card.whole
        if anchor in column.index and not self._follow:
            self._scroll(column.top(column.index[anchor]) + inside)
        self._fresh = False
        self._lay_out(self._patience - (time.perf_counter() - began))
        self._fresh = not (self._complete and self.isVisible())

    @property
    def _patience(self) -> float:
        """Seconds that making cards may take now. Of many turns the words are seen first; the next frames make them."""
        if len(self._column.rows) <= LOT:
            return float("inf")
        return 0.0 if self._fresh else FIRST_S

    @property
    def guess(self) -> Callable[[Row], int]:
        """How tall the card of a row may be here."""
        return guesser(self.column[1], self.zoom)

    @property
    def heights(self) -> Heights:
        """The rows shown, and how tall they are."""
        return self._column

    def take_heights(self, heights: Heights) -> None:
        """Other rows are shown from now on, those of ``heights`` where that was here before."""
        for turn_id in list(self._stock.cards):
            self._stock.drop(turn_id)
        self._column = heights

    def _refine(self) -> None:
        """Estimate the heights of some more rows. The turns in view stay in place, only the scroll bar changes."""
        if not self._column.rough:
            return
        bar = self.verticalScrollBar()
        value, (anchor, inside) = bar.value(), self._anchor()
        self._column.refine(self.guess)
        self._scroll(self._column.top(self._column.index[anchor]) + inside)
        self._placed += bar.value() - value
        if self._column.rough:
            self._refining.poke()

    def _anchor(self) -> tuple[str, int]:
        """The turn that is to stay where it is, and how far its beginning lies above the upper edge of the view."""
        column, value = self._column, self.verticalScrollBar().value()
        if not column.rows:
            return "", 0
        at = first = column.row_at(value)
        last = column.row_at(value + self.viewport().height())
        while at < last and column.rows[at].id not in self._stock.cards:  # what is seen rather than what is guessed
            at += 1
        at = at if column.rows[at].id in self._stock.cards else first
        return column.rows[at].id, value - column.top(at)

    def _scroll(self, value: int) -> None:
        """Move without laying out."""
        before, self._laying_out = self._laying_out, True
        self._set_range()
        self.verticalScrollBar().setValue(value)
        self._laying_out = before

    def set_tools(self, tools: tuple[ToolDefinition, ...]) -> None:
        """Judge the calls in view against other definitions."""
        self._stock.tools = tools
        for turn_id, card in self._stock.cards.items():
            if card.calls and card.turn.outcome is not None and card.tools != tools:
                card.show_row(self._column.rows[self._column.index[turn_id]], tools)
        self._layout.poke()

    def refresh_calls(self) -> None:
        """Show the state of the tool calls in view as the debugger has it now."""
        for card in list(self._stock.cards.values()):
            for call in list(card.calls):
                card.refresh_call(call)
                self._layout.poke()

    def refresh_editors(self) -> None:
        """Other editors may be open in the cards in view, or something else stand in them."""
        for card in self._stock:
            card.editing.follow()
        self._layout.poke()

    def draw_growing_turn(self, turn_id: str) -> None:
        """Draw what has arrived for a turn, if it is in view."""
        if self._stock.draw_growing_card(turn_id):
            self._lay_out()

    @property
    def cards(self) -> dict[str, TurnCard]:
        """The cards that exist now, by turn id."""
        return self._stock.cards

    @property
    def complete(self) -> bool:
        """Whether every card there is room for has been made."""
        return self._complete

    def card(self, turn_id: str) -> TurnCard | None:
        """The card of a turn, scrolled into view and made if needed; None for a turn that is not shown."""
        at = self._column.index.get(turn_id)
        if at is None:
            return None
        card = self._stock.cards.get(turn_id)
        if card is None or card.bare:
            self._follow = False
            self._scroll(max(self._column.top(at) - 40, 0))
            self._measure([at], float("inf"))
            self._lay_out(self._patience)  # those around it when there is time
            card = self._stock.cards.get(turn_id)
        while card is not None and not card.whole:
            card.fill()
        return card

    # Finding

    def show_found(self, pattern: re.Pattern[str] | None, at: tuple[str, int] | None = None) -> None:
        """Highlight what ``pattern`` matches, one place more than the others: (turn id, number in that turn)."""
        self._stock.show_found(pattern, at)

    def reveal_found(self) -> None:
        """Scroll to the place that is highlighted more than the others."""
        card = self.card(self._stock.found_at[0]) if self._stock.found_at is not None else None
        if card is None or not card.finds.unfold():
            return
        self._lay_out()
        rect = card.finds.rect()
        if rect is None:
            return
        y, height = card.y() + rect.top(), self.viewport().height()
        if y < FOUND_TOP or y + rect.height() > height - FOUND_BOTTOM:
            bar = self.verticalScrollBar()
            self._follow = False
            self._scroll(bar.value() + y - max(height // 3, FOUND_TOP))
            self._follow = self.at_bottom
            self._lay_out()

    def _found_edges(self) -> list[tuple[int, int]]:
        """Upper and lower edge of the place that is highlighted more than the others, where it has a card."""
        card = self._stock.cards.get(self._stock.found_at[0]) if self._stock.found_at is not None else None
        rect = card.finds.rect() if card is not None else None
        return [(card.y() + rect.top(), card.y() + rect.bottom())] if card is not None and rect is not None else []

    def first_in_view(self) -> int:
        """The place of the first row in view among all rows."""
        return self._column.row_at(self.verticalScrollBar().value())

    @property
    def place(self) -> tuple[int, float]:
        """The first row in view, and the share of it that is above what is seen."""
        at, value = self.first_in_view(), self.verticalScrollBar().value()
        return at, (value - self._column.top(at)) / max(self._column.height(at), 1) if self._column.rows else 0.0

    def show_place(self, row: int, share: float) -> None:
        """Have that row first in view, with that share of it above; the last row where there are fewer."""
        if self._column.rows:
            at = min(row, len(self._column.rows) - 1)
            top, height = self._column.top(at), self._column.height(at)
            self.verticalScrollBar().setValue(round(top + min(share, 1.0) * height))

    def row_of(self, turn_id: str) -> int | None:
        """The place of a turn's row among all rows; None for a turn that has none."""
        return self._column.index.get(turn_id)

    # Text size

    @property
    def zoom(self) -> float:
        """The text size, 1.0 is the normal one."""
        return self._stock.zoom

    def set_zoom(self, zoom: float) -> None:
        """Another text size."""
        if zoom != self.zoom:
            self._stock.set_zoom(zoom)
            self._lay_out()

    def step_zoom(self, step: int) -> None:
        """The next larger (+1) or smaller (-1) text size."""
        at = min(range(len(ZOOMS)), key=lambda n: abs(ZOOMS[n] - self.zoom))
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
        self._lay_out(self._patience)

    def step_turn(self, step: int) -> None:
        """Move the focus to the turn after (+1) or before (-1) the one that has it."""
        rows = self._column.rows
        if not rows:
            return
        now = self.focused_turn()
        at = self._column.index[now] + step if now else (len(rows) - 1 if step < 0 else 0)
        self.focus_turn(rows[min(max(at, 0), len(rows) - 1)].id)

    def focus_turn(self, turn_id: str) -> None:
        """Bring a turn of the path into view, and put the focus there."""
        card = self.card(turn_id)
        if card is not None:
            card.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self._reveal(card)

    def focus_shown(self) -> None:
        """Put the focus to the first turn that is seen whole, or to the one that fills the view."""
        shown = [card for card in self.cards.values() if card.isVisible()]
        whole = [card for card in shown if card.y() >= 0 and card.geometry().bottom() <= self.viewport().height()]
        card = min(whole or shown, key=lambda one: abs(one.y()), default=None)
        (card or self).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def focused_turn(self) -> str | None:
        """The turn whose card, or a control in it, has the keyboard focus."""
        turns: dict[QObject, str] = {card: turn_id for turn_id, card in self._stock.cards.items()}
        at: QObject | None = QApplication.focusWidget()
        while at is not None and at not in turns:
            at = at.parent()
        return turns[at] if at is not None else None

    def _reveal(self, card: TurnCard) -> None:
        bar = self.verticalScrollBar()
        if card.y() < 0 or card.height() > self.viewport().height():
            bar.setValue(bar.value() + card.y() - TOP)
        elif card.geometry().bottom() > self.viewport().height():
            bar.setValue(bar.value() + card.geometry().bottom() - self.viewport().height() + TOP)

    def _scrolled(self, _value: int) -> None:
        if self._laying_out:
            return
        self._follow, self._fresh = self.at_bottom, False
        self._lay_out_frame(ahead=False)

    # Layout

    @property
    def column(self) -> tuple[int, int]:
        """Left edge and width of the reading column."""
        whole = self.width()  # not the viewport's: the scroll bar must not push the column aside
        width = min(whole - 2 * MARGIN, READING_WIDTH)
        return max((whole - width) // 2, 0), max(width, 100)

    def settle(self) -> None:
        """Lay out now what would be laid out with the next frame."""
        self._lay_out()

    def _lay_out_frame(self, *, ahead: bool = True) -> None:
        """Lay out, making no more cards than one frame has time for; the next one goes on.

        What comes into view next is made ``ahead`` between two frames: a notch of the wheel is to be seen at once.
        """
        self._filled = False
        self._lay_out(FIRST_S if self._fresh and ahead else FRAME_S, ahead=ahead)

    def _lay_out(self, budget: float = float("inf"), *, ahead: bool = True) -> None:
        """Make, measure and place the cards in view; everything else stays a number. ``budget`` is in seconds."""
        if self._laying_out or not self.isVisible():
            return
        self._laying_out = True
        self._layout.cancel()  # a text that grew asks for what is done here
        try:
            self._lay_out_once(budget, ahead=ahead)
        finally:
            self._laying_out = False
        self._fresh &= not self._complete
        self._filled = not self._complete  # whatever else has it laid out before the next frame: that one goes on
        if not self._complete:
            self._layout.poke()
        self._pill.setVisible(not self.at_bottom and bool(self._column.rows))
        if self._pill.isVisible():
            view = self.viewport()
            self._pill.place(view.width(), view.height(), [*self._stock.heads(), *self._found_edges()])
        self.at_bottom_changed.emit(self.at_bottom)
        self.laid_out.emit()

    def _lay_out_once(self, budget: float, *, ahead: bool) -> None:
        bar, view, column = self.verticalScrollBar(), self.viewport().height(), self._column
        now = time.perf_counter()
        end, self._fill_end = now + budget, self._fill_end if self._filled else now + FILL_S
        for turn in range(6):  # measuring what comes into view moves what is in view; it settles in two or three rounds
            self._set_range()
            if self._follow:
                bar.setValue(bar.maximum())
            anchor, inside = self._anchor()
            value = bar.value()
            self._drop_far()
            self._complete = True
            go_on = turn == 0 and not self._filled
            seen = range(column.row_at(value), column.row_at(value + view) + 1)
            moved = self._measure(seen, end, go_on=go_on)
            if self._sketched or not self._complete:
                self.viewport().update()
            self._sketched = not self._complete
            if self._complete:
                spare_end = min(end, time.perf_counter() + FRAME_S / 2) if budget == float("inf") else end
                around = range(column.row_at(value - SPARE), column.row_at(value + view + SPARE) + 1)
                nearest = sorted(around, key=lambda at: max(seen.start - at, at - seen.stop))
                moved |= self._measure(nearest, spare_end if ahead else now, go_on=go_on and ahead)
            if not moved:
                break
            self._set_range()
            if not self._follow and anchor:
                bar.setValue(column.top(column.index[anchor]) + inside)
        self._place_cards()
        if not self._follow and (shift := self._edge.shift(self._stock)):
            bar.setValue(bar.value() + shift)  # what is read stays where it is while parts above it come or fold
            self._place_cards()
        self._edge.note(self._stock)

    def _measure(self, rows: Iterable[int], end: float, *, go_on: bool = False) -> bool:
        """Make and measure the cards of these rows until ``end``. Returns whether a height was wrong.

        With ``go_on`` a card that waits for the rest of its parts or text gets some more even if there is no time.
        """
        column, width = self._column, self.column[1]
        self._stock.width = width
        moved = False
        places = [at for at in rows if at < len(column.rows)]
        cards = [self._stock.cards.get(column.rows[at].id) for at in places] if go_on else []
        waiting = next((card for card in cards if card is not None and not card.whole), None)
        for at in places:
            row = column.rows[at]
            card = self._stock.cards.get(row.id)
            if card is None:
                if time.perf_counter() >= end:
                    self._complete = False
                    continue
                card = self._stock.make(row)
            while not card.whole and (
                card is waiting or time.perf_counter() < (end if card.bare else min(end, self._fill_end))
            ):
                waiting = None  # one a frame goes on in any case
                card.fill()
                if not card.bare and not card.parts.whole:
                    break  # what is made in a step fills a frame
            if card.bare:
                self._complete = False
                continue
            height = card.height_at(width)
            if not card.whole:
                self._complete = False
                height = max(height, column.height(at))
            moved |= column.set_height(at, height)
        return moved

    def _drop_far(self) -> None:
        """Give up the cards far from what is in view, if nothing in them would be lost."""
        bar, view, column = self.verticalScrollBar(), self.viewport().height(), self._column
        first, last = column.row_at(bar.value() - SPARE), column.row_at(bar.value() + view + SPARE)
        for turn_id, card in list(self._stock.cards.items()):
            if not first <= column.index[turn_id] <= last and not card.busy:
                self._stock.drop(turn_id)

    def _place_cards(self) -> None:
        """Put the cards where they belong."""
        bar, column = self.verticalScrollBar(), self._column
        left, width = self.column
        self._drop_far()
        moved, self._placed = self._placed - bar.value(), bar.value()
        if moved and abs(moved) < self.viewport().height():
            self.viewport().scroll(0, moved)  # with all cards on it; what has changed place besides is placed below
        for turn_id, card in self._stock.cards.items():
            at = column.index[turn_id]
            card.setGeometry(QRect(left, column.top(at) - bar.value(), width, column.height(at)))
            if card.isHidden() and not card.bare:
                card.show()

    def _set_range(self) -> None:
        bar, view = self.verticalScrollBar(), self.viewport().height()
        bar.setPageStep(view)
        bar.setRange(0, max(self._column.total - view, 0))

    # Events

    def paintEvent(self, event: QPaintEvent) -> None:
        """The ground, and what is in view and has no card yet that shows anything."""
        painter, column, value = QPainter(self.viewport()), self._column, self.verticalScrollBar().value()
        painter.fillRect(event.rect(), QColor(tokens().window))
        left, width = self.column
        for at in (
            range(column.row_at(value), column.row_at(value + self.viewport().height()) + 1) if self._sketched else ()
        ):
            if at >= len(column.rows):
                break
            card = self._stock.cards.get(column.rows[at].id)
            if card is None or card.isHidden():
                rect = QRect(left, column.top(at) - value, width, column.height(at))
                paint_skeleton(painter, rect, column.rows[at], self.zoom)
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out(self._patience)

    def showEvent(self, event: QEvent) -> None:
        self._lay_out(self._patience)

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
