"""A list of models with what is said of the one looked at: found by words, put in an order, starred or ticked.

Where one types is elsewhere: whoever has the field passes on its text and its keys.
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
from shiboken6 import isValid

from playground.engine.gateways.model_catalog import Model, set_favourite
from playground.engine.gateways.profiles import ProfileError
from playground.ui.widgets.form_parts import quiet_button, say, styled, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.models.details import ModelDetails
from playground.ui.widgets.models.drawing import ModelDrawing, star_place
from playground.ui.widgets.models.listing import ORDERS, SORTING, Found, Listing, Order
from playground.ui.widgets.models.rows import CHECK, ModelRows
from playground.ui.widgets.plain_text import short_title

BESIDE: Final = 560  # pixels of width from which on the details stand beside the list
DETAILS, BELOW = 240, 170  # pixels: their width there, their height below the list
LIST: Final = 60  # pixels of height that the list has at least
STAR_KEY: Final = Qt.Key.Key_D  # with Ctrl
#: The keys that move in the list, and by how many models.
STEPS: Final = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 8, Qt.Key.Key_PageUp: -8}


class ModelList(QListView):
    """``star_pressed`` tells the index of a model whose star was clicked, which is no click on the model."""

    star_pressed = Signal(QModelIndex)

    def __init__(self) -> None:
        super().__init__()
        self._pressed = QModelIndex()
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setMouseTracking(True)
        self.setMinimumHeight(LIST)

    def _starred(self, event: QMouseEvent) -> QModelIndex:
        point = event.position().toPoint()
        index, drawing = self.indexAt(point), self.itemDelegate()
        has_star = isinstance(drawing, ModelDrawing) and drawing.stars and bool(index.flags() & _ENABLED)
        return index if has_star and star_place(self.visualRect(index)).contains(point) else QModelIndex()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = self._starred(event)
        if not self._pressed.isValid():
            super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, QModelIndex()
        if not pressed.isValid():
            super().mouseReleaseEvent(event)
        elif self._starred(event) == pressed:
            self.star_pressed.emit(pressed)


_ENABLED: Final = Qt.ItemFlag.ItemIsEnabled


class ModelBrowser(QWidget):
    """``chosen``: a click on a model, or Enter in the list. ``moved``: another model is looked at, by its id.

    ``ticking``: a click ticks, and ``ticked`` says that something was. ``typed``: an id that is in no list is a line.
    """

    chosen = Signal(str)
    moved = Signal(str)
    ticked = Signal()

    def __init__(self, *, ticking: bool = False, typed: bool = False) -> None:
        super().__init__()
        self._listing = Listing()
        self._text = ""
        self._typed = typed
        self._found = Found()
        self._wanted = ""  # the model to be looked at when the search is through
        self.rows = ModelRows(self, ticking=ticking)
        self.list = styled(ModelList(), "models")
        self.list.setModel(self.rows)
        self.list.setAccessibleName("Models; Space ticks one" if ticking else "Models")
        self._drawing = ModelDrawing(self.list, self.rows)
        self.list.setItemDelegate(self._drawing)
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
        self._parts = in_row((self.list, 1), (self.details, 0), spacing=8)
        self._beside: bool | None = None
        head = in_row((self.count, 1), self.order, spacing=8, margins=(4, 0, 0, 0))
        in_column(head, self.failed, (self._parts, 1), of=self, margins=0, spacing=4)
        self.list.clicked.connect(self._clicked)
        self.list.pressed.connect(self._note)
        self.list.star_pressed.connect(self._star)
        self.list.selectionModel().currentChanged.connect(self._moved)
        self.rows.dataChanged.connect(self.ticked)
        self._checked: object = None
        self._lay_out()

    # ---- what is listed

    def show_listing(self, listing: Listing, text: str | None = None, *, at: str = "") -> None:
        """The models of this that have the words of ``text``, or those looked for before; ``at`` is looked at."""
        self._listing = listing
        self._text = self._text if text is None else text
        self._drawing.stars = listing.catalog.star is not None
        say(self.failed, "")
        self._wanted = at or (self.current if text is None else "")
        self._order_words()
        self._find()

    def look_for(self, text: str, *, at: str = "") -> None:
        """List what has these words in its id or name; ``at`` is the id of the model to be looked at."""
        self._text, self._wanted = text, at
        self._find()

    def _find(self) -> None:
        self._found = self._listing.look_for(self._text, SORTING.order, self._typed)
        self._show_found()

    def _show_found(self) -> None:
        near = max(self.list.currentIndex().row(), 0) if self._wanted == self.current else 0
        self.rows.show_lines(self._found.lines, frozenset(self._listing.catalog.favourites))
        row = self.rows.row_of(self._wanted, near) if self._wanted else -1
        self._go_to(row)
        if row < 0:
            self.list.scrollToTop()
            self._moved(QModelIndex(), QModelIndex())
        self._count_words()

    def _count_words(self) -> None:
        all_of, count = len(self._listing.models), self._found.count
        by = f"by the list of {short_title(name)}" if (name := self._listing.catalog.gateway) else "listed"
        if not all_of:
            words = "No models are listed: type an id"
        elif self._text.split():
            words = f"{count:,} of {all_of:,} found" if count else "None of the list has these words"
        else:
            words = f"{all_of:,} model{'s' * (all_of != 1)} {by}"
        self.count.setText(words)

    # ---- one of them

    @property
    def current(self) -> str:
        """The id of the model looked at; empty for none."""
        return self.rows.model_id(self.list.currentIndex())

    def step(self, by: int) -> None:
        """Look at the model so many lines further."""
        current = self.list.currentIndex()
        self._go_to(self.rows.next_row(current.row() if current.isValid() else -1, by))

    def first(self) -> QModelIndex:
        """The first model found."""
        return self.rows.index(self.rows.next_row(-1, 1))

    def _go_to(self, row: int) -> None:
        index = self.rows.index(row)
        self.list.setCurrentIndex(index)
        if index.isValid():
            self._show_current()

    def _show_current(self) -> None:
        index = self.list.currentIndex()
        if index.row() == self.rows.next_row(-1, 1):  # with the heading above it
            self.list.scrollToTop()
        self.list.scrollTo(index)

    def _moved(self, now: QModelIndex, _before: QModelIndex) -> None:
        line = self.rows.line(now)
        model: Model | None = line.model if line is not None else None
        self.details.show_model(model, self._listing.catalog, line.note if line is not None else "")
        self.moved.emit(model.id if model is not None else "")

    def _note(self, index: QModelIndex) -> None:
        self._checked = self.rows.data(index, CHECK)

    def _clicked(self, index: QModelIndex) -> None:
        if self.rows.ticking:
            if self.rows.data(index, CHECK) == self._checked:  # a click into the box did it already
                self.rows.toggle(index)
        elif model_id := self.rows.model_id(index):
            self.chosen.emit(model_id)

    # ---- stars and order

    def star_current(self) -> None:
        """Make the model looked at a favourite, or no longer."""
        self._star(self.list.currentIndex())

    def _star(self, index: QModelIndex) -> None:
        model_id, star = self.rows.model_id(index), self._listing.catalog.star
        if model_id and star is not None:
            on = model_id not in self._listing.catalog.favourites
            spawn(self._keep_star(partial(star, model_id, on), self._listing, model_id, on), name="star a model")

    async def _keep_star(self, star: Callable[[], None], listing: Listing, model_id: str, on: bool) -> None:
        words = ""
        try:
            await asyncio.to_thread(star)
        except ProfileError as error:
            words = str(error)
        if not isValid(self) or self._listing is not listing:
            return
        say(self.failed, words)
        if not words:
            favourites = set_favourite(listing.catalog.favourites, model_id, on)
            listing.catalog = replace(listing.catalog, favourites=favourites)
            self._wanted = self.current
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
        self._order_words()
        self._wanted = self.current
        self._find()

    def _order_words(self) -> None:
        self.order.setText(ORDERS[SORTING.order])
        self.order.setAccessibleName(f"Order of the models: {ORDERS[SORTING.order]}")

    # ---- keys and room

    def knows_key(self, event: QKeyEvent) -> bool:
        """Whether a key of the field means something for the list."""
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        starring = event.key() == STAR_KEY and modifiers == Qt.KeyboardModifier.ControlModifier
        return (event.key() in STEPS and modifiers == _NONE) or (starring and self._drawing.stars)

    def take_key(self, event: QKeyEvent) -> bool:
        """Do what a key of the field means for the list; whether it did."""
        if not self.knows_key(event):
            return False
        if event.key() == STAR_KEY:
            self.star_current()
        else:
            self.step(STEPS[Qt.Key(event.key())])
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter in the list chooses, and Ctrl+D stars."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current and not self.rows.ticking:
            self.chosen.emit(self.current)
        elif not self.take_key(event):
            super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(BESIDE + DETAILS, 420)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_current()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def _lay_out(self) -> None:
        """The details beside the list where there is room, else below it, and without room nowhere."""
        beside = self.width() >= BESIDE
        self.details.setVisible(beside or self.height() >= BELOW + 3 * LIST)
        if beside is self._beside:
            return
        self._beside = beside
        direction = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        self._parts.setDirection(direction)
        if beside:
            self.details.setMinimumHeight(0)
            self.details.setMaximumHeight(_ANY)
            self.details.setFixedWidth(DETAILS)
        else:
            self.details.setMinimumWidth(0)
            self.details.setMaximumWidth(_ANY)
            self.details.setFixedHeight(BELOW)


_ANY: Final = 16_777_215  # pixels, Qt's own for a size without a limit
_NONE: Final = Qt.KeyboardModifier.NoModifier
