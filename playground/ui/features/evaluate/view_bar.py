"""The line above the views of an evaluation's answers: which view, which cases, and ways in and out."""

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
    "Rates, times, tokens and price as pictures",
    "Which answer is better, without knowing whose it is",
    "What the web page says that can be saved",
)
_FILTERS: Final = ("All", "Failing", "Differing", "Stale")
_FILTER_TIPS: Final = (
    "All cases",
    "Cases of which an answer failed a check, or failed for good",
    "Cases that variants pass otherwise than each other",
    "Kept answers to what the plan does not ask any more",
)


class ViewBar(QWidget):
    """``shown`` tells the view that was chosen, ``filtered`` the number of the filter, ``found`` what is looked for.

    ``import_asked`` is of cases, ``export_asked`` the name of a format.
    """

    shown = Signal(str)
    filtered = Signal(int)
    found = Signal(str)
    import_asked = Signal()
    export_asked = Signal(str)

    def __init__(self, formats: Sequence[tuple[str, str]]) -> None:
        """``formats`` are names of exports and the words for them."""
        super().__init__()
        self.views = Segments(VIEWS, "View of the answers", tall=True)
        for button, words in zip(self.views.buttons, _TIPS, strict=True):
            button.setToolTip(words)
        self.views.chosen.connect(lambda index: self.shown.emit(VIEWS[index]))
        self.search = SearchField("Find a case or an answer…")
        self.search.setMaximumWidth(240)
        self.search.textChanged.connect(self.found)
        self.filters = Segments(_FILTERS, "Which cases are shown", tall=True)
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
        """How many cases each filter leaves, as far as that is known."""
        for button, title, count in zip(self.filters.buttons, _FILTERS, counts, strict=True):
            button.setText(f"{title} {count:,}" if count is not None else title)
        self._fit()

    def show_view(self, view: str) -> None:
        """Mark a view; what is about the table alone is there with it."""
        self.views.set_index(VIEWS.index(view))
        self._which.setVisible(view == TABLE)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def minimumSizeHint(self) -> QSize:
        """As narrow as with two lines."""
        return QSize(self._width(self.views, self._ways), super().minimumSizeHint().height())

    def _width(self, *parts: QWidget) -> int:
        return sum(part.sizeHint().width() + 12 for part in parts) + 36

    def _fit(self) -> None:
        """Which cases are shown has a line of its own where all of it has no room in one."""
        if self.width() >= self._width(self.views, self._which, self._ways):
            self._grid.addWidget(self._which, 0, 1)
        else:
            self._grid.addWidget(self._which, 1, 0, 1, 4)
