"""The bar above the views of an evaluation: view, search, filter, import and export."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QMenu, QPushButton, QWidget

from playground.ui.widgets.form_parts import push_button
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.search_field import SearchField
from playground.ui.widgets.segments import Segments

TABLE, PLOTS, BLIND, REPORT = "Table", "Plots", "Blind", "Report"
VIEWS: Final = (TABLE, PLOTS, BLIND, REPORT)
_TIPS: Final = (
    "Each case in each variant",
    "Pass rates, times, tokens and cost as plots",
    "Choose the better of two answers without names",
    "A summary, and the web page to save",
)
_FILTERS: Final = ("All", "Failing", "Differing", "Outdated")
_FILTER_TIPS: Final = (
    "All cases",
    "Cases with a failed check or request",
    "Cases where variants disagree",
    "Saved answers to earlier versions of the evaluation",
)


class ViewBar(QWidget):
    """``shown`` carries the name of the view, ``filtered`` the number of the filter, ``found`` the search text.

    ``import_asked`` is emitted for an import of cases, ``export_asked`` with the name of a format.
    """

    shown = Signal(str)
    filtered = Signal(int)
    found = Signal(str)
    import_asked = Signal()
    export_asked = Signal(str)

    def __init__(self, formats: Sequence[tuple[str, str]]) -> None:
        """``formats`` are the names and labels of exports."""
        super().__init__()
        self.views = Segments(VIEWS, "View of the answers", tall=True)
        for button, words in zip(self.views.buttons, _TIPS, strict=True):
            button.setToolTip(words)
        self.views.chosen.connect(lambda index: self.shown.emit(VIEWS[index]))
        self.search = SearchField("Find a case or an answer…")
        self.search.setMaximumWidth(240)
        self.search.textChanged.connect(self.found)
        self.filters = Segments(_FILTERS, "Filter of cases", tall=True)
        for button, words in zip(self.filters.buttons, _FILTER_TIPS, strict=True):
            button.setToolTip(words)
        self.filters.chosen.connect(self.filtered)
        self.bring = push_button("Import cases…")
        self.bring.setToolTip("From CSV, JSON, YAML or a promptfoo configuration")
        self.bring.clicked.connect(self.import_asked)
        self.export = QPushButton("Export")
        menu = QMenu(self.export)
        for name, words in formats:
            menu.addAction(words).triggered.connect(partial(self.export_asked.emit, name))
        self.export.setMenu(menu)
        self._which, self._ways = QWidget(), QWidget()
        in_row((self.search, 100), self.filters, 1, of=self._which, margins=0, spacing=12)
        in_row(self.bring, self.export, of=self._ways, margins=0, spacing=12)
        grid = self._grid = QGridLayout(self)
        grid.setContentsMargins(18, 8, 18, 8)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(2, 1)
        grid.addWidget(self.views, 0, 0)
        grid.addWidget(self._which, 0, 1)
        grid.addWidget(self._ways, 0, 3)

    def show_counts(self, counts: Sequence[int | None]) -> None:
        """Show the number of cases of each filter; None while it is not known."""
        for button, title, count in zip(self.filters.buttons, _FILTERS, counts, strict=True):
            button.setText(f"{title} {count:,}" if count is not None else title)
        self._fit()

    def show_view(self, view: str) -> None:
        """Show which view is open; search and filter are there for the table only."""
        self.views.set_index(VIEWS.index(view))
        self._which.setVisible(view == TABLE)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def minimumSizeHint(self) -> QSize:
        """Return the size of the bar in two lines."""
        return QSize(self._width(self.views, self._ways), super().minimumSizeHint().height())

    def _width(self, *parts: QWidget) -> int:
        return sum(part.sizeHint().width() + 12 for part in parts) + 36

    def _fit(self) -> None:
        """Move search and filter to a second line if the bar is too narrow."""
        if self.width() >= self._width(self.views, self._which, self._ways):
            self._grid.addWidget(self._which, 0, 1)
        else:
            self._grid.addWidget(self._which, 1, 0, 1, 4)
