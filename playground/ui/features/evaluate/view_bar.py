"""The line above the views of an evaluation's answers: which view, which cases, and ways in and out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QMenu, QPushButton, QWidget

from playground.ui.widgets.form_parts import push_button
from playground.ui.widgets.layouts import in_row
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
        self.search = QLineEdit(placeholderText="Find a case or an answer…", clearButtonEnabled=True)
        self.search.setAccessibleName("Find a case or an answer")
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
        parts = (self.views, (self.search, 1), self.filters, 1, self.bring, self.export)
        in_row(*parts, of=self, margins=(18, 8, 18, 8), spacing=12)

    def show_counts(self, counts: Sequence[int | None]) -> None:
        """How many cases each filter leaves, as far as that is known."""
        for button, title, count in zip(self.filters.buttons, _FILTERS, counts, strict=True):
            button.setText(f"{title} {count:,}" if count is not None else title)

    def show_view(self, view: str) -> None:
        """Mark a view; what is about the table alone is there with it."""
        self.views.set_index(VIEWS.index(view))
        for part in (self.search, self.filters):
            part.setVisible(view == TABLE)
