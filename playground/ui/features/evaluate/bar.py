"""The tool bar of the Evaluate page: the title of the experiment."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from playground.ui.widgets.form_parts import BUTTON_SIDE, push_button
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.plain_text import one_line_of

LEAST, MOST = 60, 320  # pixels


class EvaluateBar(QWidget):
    """``list_asked`` is emitted to show the list of experiments."""

    list_asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._words = ""
        self.title = push_button("", "title")
        self.title.setAccessibleName("Experiment: show the list of all")
        self.title.setToolTip("The experiment: show the list of all (Ctrl+B)")
        self.title.clicked.connect(self.list_asked)
        in_row(self.title, 1, of=self, margins=0)

    def show_title(self, title: str) -> None:
        """Show the title of the experiment."""
        self._words = one_line_of(title)
        self.title.setAccessibleName(f"Experiment {self._words}: show the list of all")
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        room = min(max(self.width(), LEAST), MOST) - 2 * BUTTON_SIDE
        elided = self.title.fontMetrics().elidedText(self._words, Qt.TextElideMode.ElideRight, room)
        self.title.setText(elided.replace("&", "&&"))

    def minimumSizeHint(self) -> QSize:
        """Return the size with only the beginning of the title."""
        return QSize(LEAST, super().minimumSizeHint().height())
