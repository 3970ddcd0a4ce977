"""The panel of models that a field for a model opens, in the window that the field is in."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.models.browser import ModelBrowser

WIDE, TALL = 680, 480  # pixels, size of the panel if the window has room for it
AROUND, BELOW = 8, 4  # pixels between the panel and the window's edge, and the field
LEAST: Final = 200  # pixels of height below the field; with less the panel opens above it
HINT: Final = "Enter uses the typed id, listed or not. Down goes to the models."
CHOOSING: Final = "Enter selects. Ctrl+D makes it a favourite."


class ModelPanel(QFrame):
    """Panel with a list of models, opened below a model field."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        styled(self, "palette")
        self.setAccessibleName("Models")
        self.browser = ModelBrowser()
        self.hint: QLabel = text_label(HINT, "small", wrap=True)
        in_column((self.browser, 1), self.hint, parent=self, margins=8, spacing=6)
        self.browser.moved.connect(self._show_hint)

    def _show_hint(self, model_id: str) -> None:
        self.hint.setText(CHOOSING if model_id else HINT)

    def stand_at(self, field: QWidget) -> None:
        """Place the panel below a field of its window, or above it where there is more room."""
        window = field.window()
        top = field.mapTo(window, QPoint(0, 0))
        width = min(WIDE, window.width() - 2 * AROUND)
        below = window.height() - top.y() - field.height() - BELOW - AROUND
        above = top.y() - BELOW - AROUND
        height = min(TALL, below if below >= LEAST or below >= above else above)
        x = max(min(top.x(), window.width() - width - AROUND), AROUND)
        is_below = below >= LEAST or below >= above
        y = top.y() + field.height() + BELOW if is_below else top.y() - BELOW - height
        self.setGeometry(QRect(x, y, width, height))
