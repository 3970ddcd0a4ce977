"""The scroll area of a conversation: cards for the messages near the view, estimated heights for all others.

A conversation opens with its last `PAGE` messages; a button above them loads earlier ones.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QFrame, QPushButton, QScrollArea, QWidget

from playground.domain.tools import ToolDefinition
from playground.ui.features.conversation.commands import Growth, TurnCommands
from playground.ui.features.conversation.measures import MARGIN, READING_WIDTH, scroll_to
from playground.ui.features.conversation.rows import Row, estimate_height
from playground.ui.features.conversation.turn_card import TurnCard
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.growing_field import GrowingField
from playground.ui.widgets.loop import Throttle
from playground.ui.widgets.theme import tokens

PAGE = 200  # messages loaded at once
CONTEXT = 20  # messages loaded above one that is shown
SPARE = 400  # pixels above and below the view in which cards are kept
GAP = 10  # pixels between cards
TOP = 10  # pixels above the first card and below the last
PASSES = 6  # layouts until new cards have their measured heights; two or three suffice
TAB_ORDER_MS = 500
ZOOMS = (0.75, 0.85, 1.0, 1.15, 1.3, 1.5, 1.75, 2.0)

#: Returns what has arrived of a turn; None for a turn that is not being received.
GrowthOf = Callable[[str], Growth | None]


class Anchor(NamedTuple):
    """The place that does not move when heights change: a card, and its part at the upper edge or with the focus.

    `top` is the top of the card in the view, `share` the share of its height above the view, `part_y` the top of the
    part in the card.
    """

    turn_id: str
    top: int
    share: float
    part: QWidget | None = None
    part_y: int = 0


class Position(NamedTuple):
    """The scroll position in a conversation, to return to it later. `first` is the first message loaded."""

    anchor: Anchor | None
    follow: bool
    first: str


class _Content(QWidget):
    """The widget that holds the cards. It is opaque, so that scrolling moves what is painted already."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("messageListContent")
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAttribute(Qt.WidgetAttribute.WA_StaticContents)

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(event.rect(), QColor(tokens().window))


class TranscriptView(QScrollArea):
    """Show rows as cards. It follows the newest message as long as the view is at the bottom.

    `at_bottom_changed` says whether the newest message is in view; `laid_out` follows any change of cards.
    """

    at_bottom_changed = Signal(bool)
    laid_out = Signal()

    def __init__(self, commands: TurnCommands, growth_of: GrowthOf, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._commands = commands
        self._growth_of = growth_of
        self.rows: Sequence[Row] = ()
        self.cards: dict[str, TurnCard] = {}
        self.zoom = 1.0
        self._tools: tuple[ToolDefinition, ...] = ()
        self._index: dict[str, int] = {}  # row numbers by turn id
        self._first = 0  # number of the first row that is loaded
        self._saved_first = ""  # its turn id, when another conversation is about to be shown
        self._tops: list[int] = [TOP]  # of the loaded rows, and of the end
        self._heights: dict[str, int] = {}  # measured or estimated, by turn id
        self._measured_at = 0  # width of the cards that `_heights` is for
        self._anchor: Anchor | None = None
        self._follow = True
        self._laying_out = False
        self._lost_focus_y: int | None = None  # top of the card that was removed with the focus
        self._focus_before: tuple[str, int] | None = None  # turn that has the focus instead, and the number of rows
        self._pattern: re.Pattern[str] | None = None
        self._current_result: tuple[str, int] | None = None
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Conversation")
        self.setObjectName("messageList")
        self.content = _Content()
        self.setWidget(self.content)
        self.verticalScrollBar().setSingleStep(40)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        self._earlier = styled(QPushButton("Show earlier messages", self.content), "quiet")
        self._earlier.clicked.connect(self._show_earlier)
        self._earlier.hide()
        self._latest = QPushButton("↓  Jump to latest", self)
        self._latest.clicked.connect(self.jump_to_latest)
        self._latest.hide()
        self._layout = Throttle(self._lay_out, self)
        self._tab_order = Throttle(self._set_tab_order, self, TAB_ORDER_MS)

    # Content

    def set_rows(self, rows: Sequence[Row], tools: tuple[ToolDefinition, ...]) -> None:
        """Show these rows. The card of a turn that stays stays, and is drawn again if the row is another object."""
        first_id = self.rows[self._first].id if self.rows else self._saved_first
        before, self.rows, self._tools = self.rows, rows, tools
        index, self._index = self._index, {row.id: number for number, row in enumerate(rows)}
        last_page = max(len(rows) - PAGE, 0)
        self._first = self._index.get(first_id, min(self._first, last_page) if before else last_page)
        for turn_id in list(self._heights):
            number = self._index.get(turn_id)
            if number is not None and rows[number] is before[index[turn_id]]:
                continue
            if number is None or turn_id not in self.cards:
                del self._heights[turn_id]
                self._drop_card(turn_id)
            else:
                self.cards[turn_id].show_row(rows[number], tools)
        self._lay_out()

    @property
    def position(self) -> Position:
        """The current scroll position."""
        anchor = self._anchor._replace(part=None) if self._anchor is not None else None
        return Position(anchor, self._follow, self.rows[self._first].id if self.rows else "")

    def begin(self, position: Position | None = None) -> None:
        """Remove all rows: those of another conversation follow, shown at a saved position or at their end."""
        for turn_id in list(self.cards):
            self._drop_card(turn_id)
        self._heights.clear()
        self.rows = ()
        self._anchor, self._follow, self._saved_first = position or Position(None, True, "")

    def set_tools(self, tools: tuple[ToolDefinition, ...]) -> None:
        """Check the tool calls in view against other definitions."""
        self._tools = tools
        for turn_id, card in self.cards.items():
            if card.calls and card.turn.outcome is not None and card.tools != tools:
                card.show_row(self.rows[self._index[turn_id]], tools)
        self._layout.poke()

    def refresh_calls(self) -> None:
        """Show the current state of the tool calls in view."""
        for card in list(self.cards.values()):
            for call in list(card.calls):
                card.refresh_call(call)
                self._layout.poke()

    def refresh_editors(self) -> None:
        """Show the editors that are open in the cards, and their texts."""
        for card in self.cards.values():
            card.editing.follow()
        self._layout.poke()

    def draw_growing_turn(self, turn_id: str) -> None:
        """Draw what has arrived of a turn, if it is near the view."""
        if self._draw_growth(turn_id):
            self._lay_out()

    def _draw_growth(self, turn_id: str) -> bool:
        card = self.cards.get(turn_id)
        growth = self._growth_of(turn_id) if card is not None else None
        if card is None or growth is None:
            return False
        card.draw_growth(growth)
        return True

    @property
    def complete(self) -> bool:
        """True while all cards near the view are made and in their places."""
        return not self._layout.pending

    def row_of(self, turn_id: str) -> int | None:
        """Return the number of a turn's row among all rows; None if it has none."""
        return self._index.get(turn_id)

    # Cards

    def card(self, turn_id: str) -> TurnCard | None:
        """Return the card of a turn, loaded and scrolled into view if necessary; None for a turn not on the path."""
        number = self._index.get(turn_id)
        if number is None:
            return None
        if turn_id not in self.cards:
            self._load(number)
            self._go_to_row(number, 40)
        return self.cards.get(turn_id) or self._make_card(self.rows[number])

    def _make_card(self, row: Row) -> TurnCard:
        width = self.column[1]
        card = TurnCard(row, self._commands, self._tools, zoom=self.zoom, parent=self.content, width=width)
        card.height_changed.connect(self._layout.poke)
        self.cards[row.id] = card
        self._draw_growth(row.id)
        if self._pattern is not None:
            card.finds.show(self._pattern, self._result_in(row.id))
        return card

    def _drop_card(self, turn_id: str) -> None:
        card = self.cards.pop(turn_id, None)
        if card is None:
            return
        focus = QApplication.focusWidget()
        if focus is not None and (focus is card or card.isAncestorOf(focus)):
            self._lost_focus_y = card.y()
            self.setFocus(Qt.FocusReason.OtherFocusReason)  # Qt would move it to the next control in the window
        card.hide()
        card.deleteLater()

    def _load(self, number: int) -> None:
        """Load earlier rows so that the row with this number is among them."""
        if number < self._first:
            self._first = max(number - CONTEXT, 0)

    def _show_earlier(self) -> None:
        """Load another page above; what is in view stays where it is."""
        first = self.rows[self._first].id
        had_focus = self._earlier.hasFocus()
        self._follow = False
        self._first = max(self._first - PAGE, 0)
        self._lay_out()
        if had_focus and first in self.cards:
            self.cards[first].setFocus(Qt.FocusReason.OtherFocusReason)

    # Find

    def show_found(self, pattern: re.Pattern[str] | None, current: tuple[str, int] | None = None) -> None:
        """Highlight the matches of `pattern`, and the current one more: (turn id, number in that turn)."""
        self._pattern, self._current_result = pattern, current
        for turn_id, card in self.cards.items():
            card.finds.show(pattern, self._result_in(turn_id))

    def _result_in(self, turn_id: str) -> int | None:
        current = self._current_result
        return current[1] if current is not None and current[0] == turn_id else None

    def reveal_found(self) -> None:
        """Scroll to the current search result."""
        card = self.card(self._current_result[0]) if self._current_result is not None else None
        if card is None or not card.finds.unfold():
            return
        if (rect := card.finds.rect()) is not None:
            scroll_to(card, QRectF(rect))

    # Text size

    def set_zoom(self, zoom: float) -> None:
        """Set the text size, 1.0 is the normal one: the cards are made again, but for one that is typed in."""
        if zoom != self.zoom:
            self.zoom = zoom
            focus = QApplication.focusWidget()
            for turn_id, card in list(self.cards.items()):
                if not (isinstance(focus, GrowingField) and card.isAncestorOf(focus)):
                    self._drop_card(turn_id)
            self._measured_at = 0
            self._lay_out()

    def step_zoom(self, step: int) -> None:
        """Set the next larger (+1) or smaller (-1) text size."""
        nearest = min(range(len(ZOOMS)), key=lambda number: abs(ZOOMS[number] - self.zoom))
        self.set_zoom(ZOOMS[min(max(nearest + step, 0), len(ZOOMS) - 1)])

    # Scrolling

    @property
    def at_bottom(self) -> bool:
        """True while the end of the newest message is in view."""
        bar = self.verticalScrollBar()
        return bar.value() >= bar.maximum() - 8

    def jump_to_latest(self) -> None:
        """Scroll to the bottom and follow from there."""
        self._follow = True
        self._lay_out()

    def first_in_view(self) -> int:
        """Return the number of the first row in view among all rows."""
        return self._row_at(self.verticalScrollBar().value())

    @property
    def place(self) -> tuple[int, float]:
        """The first row in view, and the share of its height above the view."""
        number = self.first_in_view()
        if not self.rows:
            return 0, 0.0
        top = self._top(number) - self.verticalScrollBar().value()
        return number, -top / max(self._height(number), 1)

    def show_place(self, row: int, share: float) -> None:
        """Scroll so that this row, or the last one, is first in view, with this share of its height above the view."""
        if self.rows:
            number = min(row, len(self.rows) - 1)
            self._load(number)
            self._lay_out()
            self.verticalScrollBar().setValue(round(self._top(number) + min(share, 1.0) * self._height(number)))

    def _go_to_row(self, number: int, above: int) -> None:
        self._follow = False
        self._anchor = Anchor(self.rows[number].id, above, 0)
        self._lay_out()

    def _scrolled(self) -> None:
        if not self._laying_out:
            self._follow = self.at_bottom
            self._anchor = self._find_anchor()
            self._lay_out()

    # Focus

    def step_turn(self, step: int) -> None:
        """Move the focus to the message after (+1) or before (-1) the focused one."""
        if self.rows:
            focused = self.focused_turn()
            number = self._index[focused] + step if focused else (len(self.rows) - 1 if step < 0 else 0)
            self.focus_turn(self.rows[min(max(number, 0), len(self.rows) - 1)].id)

    def focus_turn(self, turn_id: str) -> None:
        """Scroll to a message of the path and focus it."""
        card = self.card(turn_id)
        if card is not None:
            card.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.reveal(card)

    def focus_shown(self) -> None:
        """Focus the first message that is whole in view, or else the one nearest to the upper edge."""
        edge, height = self.verticalScrollBar().value(), self.viewport().height()
        visible = [card for card in self.cards.values() if not card.visibleRegion().isEmpty()]
        complete = [card for card in visible if card.y() >= edge and card.geometry().bottom() <= edge + height]
        card = min(complete or visible, key=lambda card: abs(card.y() - edge), default=None)
        (card or self).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def focused_turn(self) -> str | None:
        """Return the turn whose card, or a control in it, has the keyboard focus."""
        turns: dict[QObject, str] = {card: turn_id for turn_id, card in self.cards.items()}
        widget: QObject | None = QApplication.focusWidget()
        while widget is not None and widget not in turns:
            widget = widget.parent()
        return turns[widget] if widget is not None else None

    def reveal(self, widget: QWidget) -> None:
        """Scroll so that a card or a control in it is in view: all of it, or its beginning."""
        bar, height = self.verticalScrollBar(), self.viewport().height()
        top = widget.mapTo(self.viewport(), QPoint(0, 0)).y()
        if top < 0 or widget.height() > height:
            bar.setValue(bar.value() + top - TOP)
        elif top + widget.height() > height:
            bar.setValue(bar.value() + top + widget.height() - height + TOP)

    def _restore_focus(self) -> None:
        """Focus the card nearest to one that was removed with the focus, unless it is elsewhere by now."""
        y, self._lost_focus_y = self._lost_focus_y, None
        if y is not None and self.cards and self.hasFocus():
            nearest = min(self.cards.values(), key=lambda card: abs(card.y() - y))
            nearest.setFocus(Qt.FocusReason.OtherFocusReason)
            self._focus_before = nearest.turn.id, len(self.rows)
        elif self._focus_before is not None and len(self.rows) > self._focus_before[1]:
            turn_id, self._focus_before = self._focus_before[0], None
            if self.focused_turn() == turn_id:  # an answer that replaces the removed one takes the focus
                self.focus_turn(self.rows[-1].id)

    def focusNextPrevChild(self, next: bool) -> bool:
        """Scroll to what the Tab key focuses; Qt's own would scroll to the end of a tall text."""
        moved = QWidget.focusNextPrevChild(self, next)
        focus = QApplication.focusWidget()
        if moved and focus is not None and self.content.isAncestorOf(focus):
            self.reveal(focus)
        return moved

    def _set_tab_order(self) -> None:
        """Let the Tab key go through the cards from top to bottom: they were made in any order."""
        stops = [
            (card.y(), widget.mapTo(card, QPoint(0, widget.height() // 2)).y() // GAP, widget.x(), widget)
            for card in self.cards.values()
            for widget in (card, *card.findChildren(QWidget))
            if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.window() is self.window()
        ]
        previous: QWidget = self._earlier
        QWidget.setTabOrder(self, self._earlier)
        for *_, widget in sorted(stops, key=lambda stop: stop[:3]):
            QWidget.setTabOrder(previous, widget)
            previous = widget

    # Layout

    @property
    def column(self) -> tuple[int, int]:
        """The left edge and the width of the cards, in pixels."""
        width = min(self.width() - 2 * MARGIN, READING_WIDTH)  # the scroll bar does not push the cards aside
        return max((self.width() - width) // 2, 0), max(width, 100)

    def settle(self) -> None:
        """Carry out a pending layout now."""
        self._lay_out()

    def _lay_out(self) -> None:
        """Make, measure and place the cards near the view. What is read stays where it is."""
        if self._laying_out or not self.isVisible():
            return
        self._laying_out = True
        self._layout.cancel()
        try:
            if resized := self._measured_at != self.column[1]:
                self._measured_at = self.column[1]
                self._heights.clear()
            for _ in range(PASSES):
                self._place_cards()
                self.verticalScrollBar().setValue(self._wanted_value(resized=resized))
                if not self._update_cards():
                    break
            self._show_latest_button()
        finally:
            self._laying_out = False
        self._anchor = self._find_anchor()
        self._restore_focus()
        self.at_bottom_changed.emit(self.at_bottom)
        self.laid_out.emit()

    def _place_cards(self) -> None:
        """Place the button and the cards by the heights known now."""
        x, width = self.column
        top = TOP
        self._earlier.setVisible(self._first > 0)
        if self._first > 0:
            self._earlier.setText(f"Show earlier messages ({self._first:,})")
            size = self._earlier.sizeHint()
            self._earlier.setGeometry(x + (width - size.width()) // 2, top, size.width(), size.height())
            top += size.height() + GAP
        loaded = self.rows[self._first :]
        for row in loaded:
            if row.id not in self._heights:
                self._heights[row.id] = estimate_height(row, width, self.zoom)
        self._tops = list(accumulate((self._heights[row.id] + GAP for row in loaded), initial=top))
        self.content.resize(self.viewport().width(), self._tops[-1] - GAP + TOP if loaded else 0)
        if self._follow:  # before a card grows: what is painted already is moved
            self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())
        for turn_id, card in self.cards.items():
            card.setGeometry(x, self._top(self._index[turn_id]), width, self._heights[turn_id])
            card.show()

    def _wanted_value(self, *, resized: bool) -> int:
        """Return the value of the scroll bar that keeps the anchor in its place, or that follows the end.

        `resized`: cards have another width, so that the same share of the card is above the view, not the same height.
        """
        bar, anchor = self.verticalScrollBar(), self._anchor
        if self._follow:
            return bar.maximum()
        number = self._index.get(anchor.turn_id, -1) if anchor is not None else -1
        if anchor is None or number < self._first:
            return bar.value()
        if resized and anchor.top < 0:
            return self._top(number) + round(anchor.share * self._height(number))
        card = self.cards.get(anchor.turn_id)
        value = self._top(number) - anchor.top
        if card is not None and anchor.part is not None and anchor.part in card.body and anchor.part.isVisible():
            value += anchor.part.y() - anchor.part_y
        return value

    def _update_cards(self) -> bool:
        """Make the missing cards near the view, drop those far from it, and measure all.

        Return whether a card is new or has another height.
        """
        value, height = self.verticalScrollBar().value(), self.viewport().height()
        near = self.rows[self._row_at(value - SPARE) : self._row_at(value + height + SPARE) + 1]
        near_ids = {row.id for row in near}
        for turn_id, card in list(self.cards.items()):
            if turn_id not in near_ids and not card.busy:
                self._drop_card(turn_id)
        missing = [row for row in near if row.id not in self.cards]
        for row in missing:
            self._make_card(row)
        changed = bool(missing)
        for turn_id, card in self.cards.items():
            needed = card.height_at(self.column[1])
            if needed != self._heights.get(turn_id):
                self._heights[turn_id] = needed
                changed = True
        if changed:
            self._tab_order.poke()
        return changed

    def _find_anchor(self) -> Anchor | None:
        """Return the part in view with the focus, or else the first card in view with the part at its upper edge."""
        if not self.rows:
            return None
        if (focused := self._focused_part()) is not None:
            return focused
        value = self.verticalScrollBar().value()
        first, last = self._row_at(value), self._row_at(value + self.viewport().height())
        number = next((n for n in range(first, last + 1) if self.rows[n].id in self.cards), first)
        row, top = self.rows[number], self._top(number) - value
        share = -top / max(self._height(number), 1)
        card = self.cards.get(row.id)
        for part in card.body if card is not None else ():
            if part.isVisible() and top + part.y() <= 0 < top + part.y() + part.height():
                return Anchor(row.id, top, share, part, part.y())
        return Anchor(row.id, top, share)

    def _focused_part(self) -> Anchor | None:
        """Return the part of a card that has the keyboard focus, if it is in view."""
        focus = QApplication.focusWidget()
        if focus is None:
            return None
        card = next((card for card in self.cards.values() if card.isAncestorOf(focus)), None)
        part = next((part for part in card.body if part.isAncestorOf(focus)), None) if card is not None else None
        number = self._index.get(card.turn.id) if card is not None else None
        if card is None or part is None or number is None:
            return None
        top = self._top(number) - self.verticalScrollBar().value()
        if not 0 <= top + part.y() + part.height() // 2 <= self.viewport().height():
            return None
        return Anchor(card.turn.id, top, -top / max(self._height(number), 1), part, part.y())

    def _show_latest_button(self) -> None:
        """Show the button to the newest message in a strip of its own below the view, unless that is in view."""
        size = self._latest.sizeHint()
        needed = bool(self.rows) and not self.at_bottom
        if needed is self._latest.isHidden():
            self._latest.setVisible(needed)
            self.setViewportMargins(0, 0, 0, size.height() + GAP if needed else 0)
        self._latest.setGeometry(
            (self.width() - size.width()) // 2, self.height() - size.height() - GAP // 2, size.width(), size.height()
        )

    def _top(self, number: int) -> int:
        return self._tops[max(number - self._first, 0)]

    def _height(self, number: int) -> int:
        return self._heights.get(self.rows[number].id, 0)

    def _row_at(self, y: int) -> int:
        """Return the number of the loaded row at this height of the content, or of the nearest one."""
        number = self._first + bisect_right(self._tops, y) - 1
        return min(max(number, self._first), max(len(self.rows) - 1, 0))

    # Events

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def showEvent(self, event: QEvent) -> None:
        self._lay_out()

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
