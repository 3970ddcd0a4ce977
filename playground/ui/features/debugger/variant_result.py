"""What came of one variant: its figures and the histogram of its calls. Shows counts, judges nothing."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QVBoxLayout, QWidget

from playground.engine.session.stability import VariantResult
from playground.ui.features.debugger.histogram import Histogram
from playground.ui.features.debugger.stability_words import Bar, figures
from playground.ui.widgets.choice_fields import look
from playground.ui.widgets.plain_text import show_hidden


class VariantView(QFrame):
    """``show_result`` shows the figures so far."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "card")
        self.setMinimumWidth(260)
        self.title = QLabel(title)
        self.title.setProperty("kind", "heading")
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self._figures: dict[str, QLabel] = {}
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnStretch(1, 1)
        self.histogram = Histogram(f"How often each came, {title}")
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 10, 12, 12)
        column.setSpacing(8)
        column.addWidget(self.title)
        column.addLayout(self._grid)
        column.addSpacing(4)
        column.addWidget(self.histogram)
        column.addStretch(1)

    def figure(self, name: str) -> str:
        """The words of a figure. Raises KeyError."""
        return self._figures[name].text()

    def show_result(self, result: VariantResult, bars: Sequence[Bar], total: int) -> None:
        """Show these figures and bars; shares are of ``total``."""
        for name, words in figures(result):
            label = self._figures.get(name) or self._add(name)
            label.setText(show_hidden(words))
            look(label, "error" if name == "Failures" and words != "none" else "")
        self.histogram.set_bars(bars, total)

    def _add(self, name: str) -> QLabel:
        caption, label = QLabel(name), QLabel()
        caption.setProperty("kind", "muted")
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        label.setAccessibleName(name)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row = self._grid.rowCount()
        self._grid.addWidget(caption, row, 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(label, row, 1)
        self._figures[name] = label
        return label
