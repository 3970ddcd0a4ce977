"""A page of the side panel: scrolls up and down, never sideways, and lets the wheel and Tab through."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.layouts import in_column

MARGIN = 16
LEAST_WIDTH = 260


class ScrollPage(QScrollArea):
    """Base of the pages. ``fill`` gives the column that a page puts its rows into."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMinimumWidth(LEAST_WIDTH)

    def fill(self, spacing: int) -> QVBoxLayout:
        """A fresh column that is the page's whole content from now on."""
        content, column = column_of(spacing)
        self.setWidget(content)
        return column


def column_of(spacing: int) -> tuple[QWidget, QVBoxLayout]:
    """What may become the content of a page, and the column in it."""
    content = styled(QWidget(), "surface")
    content.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
    column = in_column(of=content, margins=(MARGIN, 12, MARGIN, MARGIN), spacing=spacing)
    return content, column
