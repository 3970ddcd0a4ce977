"""The Listen page: the strip, the list of exchanges, and the selected exchange below it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QMenu, QPushButton, QSplitter, QWidget

from playground.ui.features.listen import texts
from playground.ui.features.listen.connect_view import ConnectView
from playground.ui.features.listen.detail import Detail
from playground.ui.features.listen.exchange_rows import KIND_TITLES, ExchangeRow, Kind, count_words, filter_of
from playground.ui.features.listen.exchange_tree import ExchangeModel, ExchangeTree
from playground.ui.features.listen.options import ListenOptions
from playground.ui.features.listen.start_page import StartPage
from playground.ui.features.listen.strip import ListenStrip
from playground.ui.widgets.elided_label import CountLabel
from playground.ui.widgets.form_parts import styled, thin_line
from playground.ui.widgets.layouts import in_column, in_pages, in_row
from playground.ui.widgets.page_parts import empty_words
from playground.ui.widgets.plain_text import show_hidden
from playground.ui.widgets.search_field import SearchField
from playground.ui.widgets.segments import Segments

if TYPE_CHECKING:
    from playground.engine.gateways.profiles import Profile

LIST_HEIGHT, DETAIL_HEIGHT = 320, 400  # pixels


@dataclass(frozen=True, slots=True)
class RowCommand:
    """A command for the selected exchanges. ``least`` and ``most`` are how many it needs; ``most`` 0: any number."""

    text: str
    act: Callable[[list[ExchangeRow]], None]
    least: int = 1
    most: int = 1
    group: int = 0


class ListenPage(QWidget):
    """The page. ``row_chosen`` is emitted when another exchange is selected, with None for none."""

    row_chosen = Signal(object)

    def __init__(
        self,
        options: ListenOptions,
        gateways: Callable[[], Sequence[Profile]],
        redact: Callable[[str], str],
        commands: Sequence[RowCommand],
    ) -> None:
        super().__init__()
        self._commands = commands
        self._shown = 0  # the number of the selected exchange
        self.setObjectName("listenPage")
        self.strip = ListenStrip()
        self.start = StartPage(options, gateways)
        self.connect_view = ConnectView()
        self.model = ExchangeModel(self)
        self.tree = ExchangeTree(self.model)
        self.detail = Detail(redact)
        self.search = SearchField("Find request…", "Find request")
        self.search.setMaximumWidth(240)
        self.kinds = Segments(KIND_TITLES, "Filter of requests", tall=True)
        self.count = CountLabel("Requests")
        self.selected = QPushButton("Actions", autoDefault=False)
        self.selected.setAccessibleName("Actions for the selected requests")
        self._menu = QMenu(self.selected)
        self._menu.aboutToShow.connect(lambda: self._fill(self._menu))
        self.selected.setMenu(self._menu)
        bar = QWidget()
        in_row(
            (self.search, 100),
            self.kinds,
            (self.count, 50),
            1,
            self.selected,
            parent=bar,
            margins=(18, 6, 18, 6),
            spacing=12,
        )
        self._no_match = empty_words(texts.NO_MATCH)
        self._rows = in_pages(self.tree, self._no_match)
        upper = QWidget()
        in_column(bar, (self._rows, 1), parent=upper, margins=0, spacing=0)
        self.halves = QSplitter(Qt.Orientation.Vertical, childrenCollapsible=False)
        self.halves.addWidget(upper)
        self.halves.addWidget(self.detail)
        self.halves.setSizes([LIST_HEIGHT, DETAIL_HEIGHT])
        self.halves.setStretchFactor(0, 2)
        self.halves.setStretchFactor(1, 3)
        self.pages = in_pages(self.start, self.connect_view, self.halves)
        top = styled(QWidget(), "surface")
        in_column(self.strip, parent=top, margins=0)
        in_column(top, thin_line(), (self.pages, 1), parent=self, margins=0, spacing=0)
        self.search.textChanged.connect(self._apply_filter)
        self.search.results_asked.connect(self.tree.setFocus)
        self.kinds.chosen.connect(self._apply_filter)
        self.tree.chosen.connect(self._choose)
        self.tree.menu_asked.connect(self._open_menu)
        self._show_count()

    # What is shown

    def show_start(self) -> None:
        """Show the explanation and the options."""
        self.start.refresh()
        self.pages.setCurrentWidget(self.start)

    def show_list(self) -> None:
        """Show the exchanges."""
        self.pages.setCurrentWidget(self.halves)

    def show_connect(self) -> None:
        """Show the lines to paste."""
        self.pages.setCurrentWidget(self.connect_view)

    def clear(self) -> None:
        """Remove all exchanges."""
        self._shown = 0
        self.model.clear()
        self.detail.clear()
        self._show_count()

    def show_rows(self, rows: Sequence[ExchangeRow]) -> None:
        """Add or update exchanges. The first paused one is selected if no other pause is."""
        bar = self.tree.verticalScrollBar()
        at_end = bar.value() >= bar.maximum()
        self.model.show_rows(rows)
        self._show_count()
        self._select_usefully(rows)
        if at_end and self.tree.selected == []:
            self.tree.scrollToBottom()

    def _select_usefully(self, rows: Sequence[ExchangeRow]) -> None:
        """Select the first exchange, and an exchange that was just paused, unless the selected one is paused."""
        current = self.model.row(self._shown)
        paused = next((row for row in rows if row.is_paused), None)
        if paused is not None and (current is None or not current.is_paused):
            self.tree.select(paused.summary.number)
        elif current is None and rows:
            self.tree.select(rows[0].summary.number)
        elif current is not None and any(row.summary.number == self._shown for row in rows):
            self.row_chosen.emit(current)

    @property
    def chosen(self) -> ExchangeRow | None:
        """The exchange that is shown below the list."""
        return self.model.row(self._shown)

    def _choose(self) -> None:
        selected = self.tree.selected
        self.selected.setEnabled(bool(selected))
        index = self.tree.currentIndex()
        row = self.model.exchange_at(index) or (selected[0] if selected else None)
        self._shown = row.summary.number if row is not None else 0
        self.row_chosen.emit(row)

    # Search and filter

    def _apply_filter(self, _value: object = None) -> None:
        number = self._shown
        self.model.set_filter(filter_of(self.search.text(), Kind(self.kinds.index)))
        self._show_count()
        if not self.tree.select(number):
            self._choose()

    def _show_count(self) -> None:
        listed, total = self.model.listed, self.model.total
        self.count.set_count(f"{listed:,} of {count_words(total)}" if listed != total else count_words(total))
        self._rows.setCurrentWidget(self.tree if listed or not total else self._no_match)

    def say(self, words: str) -> None:
        """Show the result of a command beside the list."""
        self.count.say(show_hidden(words))

    def look_for(self) -> None:
        """Put the focus into the search."""
        self.search.setFocus()
        self.search.selectAll()

    def focus(self) -> None:
        """Focus what is to be used next."""
        page = self.pages.currentWidget()
        (self.tree if page is self.halves else self.strip.start).setFocus()

    # Commands for the selection

    def _open_menu(self, place: QPoint) -> None:
        menu = QMenu(self.tree)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._fill(menu)
        menu.popup(place)

    def _fill(self, menu: QMenu) -> None:
        menu.clear()
        rows = self.tree.selected
        group = self._commands[0].group
        for command in self._commands:
            if command.group != group:
                menu.addSeparator()
            group = command.group
            action = menu.addAction(command.text)
            action.setEnabled(command.least <= len(rows) and (not command.most or len(rows) <= command.most))
            action.triggered.connect(partial(self._act, command))

    def _act(self, command: RowCommand, _checked: bool = False) -> None:
        command.act(self.tree.selected)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.pages.currentWidget() is self.connect_view and self.model.total:
            self.show_list()
        else:
            super().keyPressEvent(event)
