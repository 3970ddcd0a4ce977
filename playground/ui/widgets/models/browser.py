"""A list of models with the details of the selected one: search, sort order, stars and ticks.

The search field is elsewhere: its owner passes on the text and the keys.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from PySide6.QtCore import QModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QActionGroup, QKeyEvent, QMouseEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QListView, QMenu, QToolButton, QWidget

from playground.engine.gateways.model_catalog import Model, set_favourite
from playground.engine.gateways.profiles import ProfileError
from playground.jsonkit.texts import quantity
from playground.ui.widgets.form_parts import quiet_button, say, styled, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.models.details import ModelDetails
from playground.ui.widgets.models.listing import ORDERS, SORTING, Listing, MatchingModels, Order
from playground.ui.widgets.models.rows import CHECK, ModelRows
from playground.ui.widgets.plain_text import short_title
from playground.ui.widgets.row_delegate import ROW, RowDelegate, end_icon_rect

WIDE: Final = 560  # pixels; from this width on the details are to the right of the list
DETAILS, BELOW = 240, 170  # pixels: width of the details at the right, height below the list
LIST: Final = 60  # pixels, minimum height of the list
STAR_KEY: Final = Qt.Key.Key_D  # with Ctrl
#: The keys that move in the list, and by how many models.
STEPS: Final = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 8, Qt.Key.Key_PageUp: -8}


class ModelList(QListView):
    """List view of models. ``star_pressed`` carries the index of a clicked star, which is no click on the model."""

    star_pressed = Signal(QModelIndex)

    def __init__(self) -> None:
        super().__init__()
        self._pressed = QModelIndex()
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setMouseTracking(True)
        self.setMinimumHeight(LIST)

    def _star_index(self, event: QMouseEvent) -> QModelIndex:
        point = event.position().toPoint()
        index = self.indexAt(point)
        has_star = index.isValid() and index.data(ROW).end_icon is not None
        return index if has_star and end_icon_rect(self.visualRect(index)).contains(point) else QModelIndex()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = self._star_index(event)
        if not self._pressed.isValid():
            super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, QModelIndex()
        if not pressed.isValid():
            super().mouseReleaseEvent(event)
        elif self._star_index(event) == pressed:
            self.star_pressed.emit(pressed)


class ModelBrowser(QWidget):
    """List of models with details and sort order. ``chosen``: click or Enter on a model, ``moved``: selection changed.

    With ``ticking`` a click ticks and ``ticked`` is emitted; with ``typed`` an id that is in no list has a line.
    """

    chosen = Signal(str)
    moved = Signal(str)
    ticked = Signal()

    def __init__(self, *, ticking: bool = False, typed: bool = False) -> None:
        super().__init__()
        self._listing = Listing()
        self._text = ""
        self._typed = typed
        self._result = MatchingModels()
        self._target = ""  # id of the model to select after the search
        self.rows = ModelRows(self, ticking=ticking)
        self.list = styled(ModelList(), "models")
        self.list.setModel(self.rows)
        self.list.setAccessibleName("Models; Space ticks one" if ticking else "Models")
        self.list.setItemDelegate(RowDelegate(self.list))
        self.count = text_label("", "small")
        self.order = quiet_button(ORDERS[SORTING.order], "Order of the models", "")
        self.order.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.order.setProperty("arrow", "true")
        self.order.setToolTip("Order of the models")
        self._orders = QMenu(self.order)
        self._orders.aboutToShow.connect(self._fill_orders)
        self.order.setMenu(self._orders)
        self.failed = text_label("", "flag", wrap=True)
        self.failed.hide()
        self.details = ModelDetails()
        self._panes = in_row((self.list, 1), (self.details, 0), spacing=8)
        self._side_by_side: bool | None = None
        head = in_row((self.count, 1), self.order, spacing=8, margins=(4, 0, 0, 0))
        in_column(head, self.failed, (self._panes, 1), parent=self, margins=0, spacing=4)
        self.list.clicked.connect(self._clicked)
        self.list.pressed.connect(self._remember_state)
        self.list.star_pressed.connect(self._star)
        self.list.selectionModel().currentChanged.connect(self._moved)
        self.rows.dataChanged.connect(self.ticked)
        self._pressed_state: object = None
        self._lay_out()

    # ---- list

    def show_listing(self, listing: Listing, text: str | None = None, *, model_id: str = "") -> None:
        """Show the models that match ``text``, by default the last search, and select ``model_id``."""
        self._listing = listing
        self._text = self._text if text is None else text
        self.rows.stars = listing.catalog.star is not None
        say(self.failed, "")
        self._target = model_id or (self.current if text is None else "")
        self._show_order()
        self._find()

    def look_for(self, text: str) -> None:
        """List the models with these words in id or name, and select none."""
        self._text, self._target = text, ""
        self._find()

    def _find(self) -> None:
        self._result = self._listing.look_for(self._text, SORTING.order, self._typed)
        self._show_result()

    def _show_result(self) -> None:
        near = max(self.list.currentIndex().row(), 0) if self._target == self.current else 0
        self.rows.show_lines(self._result.lines, frozenset(self._listing.catalog.favourites))
        row = self.rows.row_of(self._target, near) if self._target else -1
        self._go_to(row)
        if row < 0:
            self.list.scrollToTop()
            self._moved(QModelIndex(), QModelIndex())
        self._show_count()

    def _show_count(self) -> None:
        total, count = len(self._listing.models), self._result.count
        by = f"from {short_title(name)}" if (name := self._listing.catalog.gateway) else "listed"
        if not total:
            words = "No models are listed: type an id"
        elif self._text.split():
            words = f"{count:,} of {total:,} found" if count else "No matching models"
        else:
            words = f"{quantity(total, 'model')} {by}"
        self.count.setText(words)

    # ---- selection

    @property
    def current(self) -> str:
        """The id of the selected model; empty for none."""
        return self.rows.model_id(self.list.currentIndex())

    def step(self, count: int) -> None:
        """Move the selection by ``count`` models."""
        current = self.list.currentIndex()
        self._go_to(self.rows.next_row(current.row() if current.isValid() else -1, count))

    def first(self) -> QModelIndex:
        """Return the index of the first match."""
        return self.rows.index(self.rows.next_row(-1, 1))

    def _go_to(self, row: int) -> None:
        index = self.rows.index(row)
        self.list.setCurrentIndex(index)
        if index.isValid():
            self._show_current()

    def _show_current(self) -> None:
        index = self.list.currentIndex()
        if index.row() == self.rows.next_row(-1, 1):  # shows the heading above it
            self.list.scrollToTop()
        self.list.scrollTo(index)

    def _moved(self, index: QModelIndex, _before: QModelIndex) -> None:
        line = self.rows.line(index)
        model: Model | None = line.model if line is not None else None
        self.details.show_model(model, self._listing.catalog, line.note if line is not None else "")
        self.moved.emit(model.id if model is not None else "")

    def _remember_state(self, index: QModelIndex) -> None:
        self._pressed_state = self.rows.data(index, CHECK)

    def _clicked(self, index: QModelIndex) -> None:
        if self.rows.ticking:
            if self.rows.data(index, CHECK) == self._pressed_state:  # the check box has toggled it already
                self.rows.toggle(index)
        elif model_id := self.rows.model_id(index):
            self.chosen.emit(model_id)

    # ---- stars and order

    def star_current(self) -> None:
        """Add the selected model to the favourites, or remove it."""
        self._star(self.list.currentIndex())

    def _star(self, index: QModelIndex) -> None:
        model_id, star = self.rows.model_id(index), self._listing.catalog.star
        if model_id and star is not None:
            on = model_id not in self._listing.catalog.favourites
            saving = self._save_star(partial(star, model_id, on), self._listing, model_id, on)
            spawn(saving, name="star a model", owner=self)

    async def _save_star(self, star: Callable[[], None], listing: Listing, model_id: str, on: bool) -> None:
        words = ""
        try:
            await asyncio.to_thread(star)
        except ProfileError as error:
            words = str(error)
        if self._listing is not listing:
            return
        say(self.failed, words)
        if not words:
            favourites = set_favourite(listing.catalog.favourites, model_id, on)
            listing.catalog = replace(listing.catalog, favourites=favourites)
            self._target = self.current
            self._find()

    def _fill_orders(self) -> None:
        self._orders.clear()
        group = QActionGroup(self._orders)
        for order, words in ORDERS.items():
            action = self._orders.addAction(words)
            action.setCheckable(True)
            action.setChecked(order is SORTING.order)
            action.triggered.connect(partial(self._sort, order))
            group.addAction(action)

    def _sort(self, order: Order, _checked: bool = False) -> None:
        SORTING.choose(order)
        self._show_order()
        self._target = self.current
        self._find()

    def _show_order(self) -> None:
        self.order.setText(ORDERS[SORTING.order])
        self.order.setAccessibleName(f"Order of the models: {ORDERS[SORTING.order]}")

    # ---- keys and layout

    def knows_key(self, event: QKeyEvent) -> bool:
        """Return whether the list handles a key pressed in the field."""
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        starring = event.key() == STAR_KEY and modifiers == Qt.KeyboardModifier.ControlModifier
        return (event.key() in STEPS and modifiers == _NONE) or (starring and self.rows.stars)

    def take_key(self, event: QKeyEvent) -> bool:
        """Handle a key pressed in the field; return whether the list handles it."""
        if not self.knows_key(event):
            return False
        if event.key() == STAR_KEY:
            self.star_current()
        else:
            self.step(STEPS[Qt.Key(event.key())])
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose the selected model with Enter, and star it with Ctrl+D."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current and not self.rows.ticking:
            self.chosen.emit(self.current)
        elif not self.take_key(event):
            super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(WIDE + DETAILS, 420)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_current()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def _lay_out(self) -> None:
        """Place the details to the right of the list or below it, or hide them without room."""
        is_wide = self.width() >= WIDE
        self.details.setVisible(is_wide or self.height() >= BELOW + 3 * LIST)
        if is_wide is self._side_by_side:
            return
        self._side_by_side = is_wide
        direction = QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom
        self._panes.setDirection(direction)
        if is_wide:
            self.details.setMinimumHeight(0)
            self.details.setMaximumHeight(_ANY)
            self.details.setFixedWidth(DETAILS)
        else:
            self.details.setMinimumWidth(0)
            self.details.setMaximumWidth(_ANY)
            self.details.setFixedHeight(BELOW)


_ANY: Final = 16_777_215  # pixels, Qt's own for a size without a limit
_NONE: Final = Qt.KeyboardModifier.NoModifier
