"""What scrolls up and down, never sideways: areas in windows, and pages of the side panel."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.layouts import in_column

MARGIN = 16
LEAST_WIDTH = 260


class DownArea(QScrollArea):
    """What it holds is as wide as it is, and scrolls up and down; it has no frame."""

    def __init__(self, held: QWidget | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        if held is not None:
            self.setWidget(held)


class FittingArea(DownArea):
    """As tall as what it holds, at most ``most`` pixels and, if need be, ``least``; what it stands on shows through.

    ``by_width``: how tall that is follows from its width.
    """

    def __init__(self, *, most: int, least: int, wide: int = 100, by_width: bool = False) -> None:
        super().__init__()
        self._most, self._least, self._wide, self._by_width = most, least, wide, by_width
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.viewport().setAutoFillBackground(False)

    def hold(self, held: QWidget) -> None:
        """Have this, in the place of what was held before."""
        self.setWidget(held)
        held.setAutoFillBackground(False)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        held: QWidget | None = self.widget()  # none at first
        height = 0
        if held is not None and self._by_width:
            height = held.heightForWidth(max(self.viewport().width(), self._wide))
        elif held is not None:
            height = held.sizeHint().height()
        return QSize(self._wide, min(height, self._most))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._wide, min(self.sizeHint().height(), self._least))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._by_width and event.size().width() != event.oldSize().width():
            self.updateGeometry()


class ScrollPage(DownArea):
    """Base of the pages of the side panel. ``fill`` gives the column that a page puts its rows into."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMinimumWidth(LEAST_WIDTH)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._show_focused)

    def _show_focused(self, _before: QWidget | None, focused: QWidget | None) -> None:
        """Scroll the field that got the focus into view, from wherever it came."""
        content: QWidget | None = self.widget()
        if focused is not None and content is not None and self.isVisible() and content.isAncestorOf(focused):
            self.ensureWidgetVisible(focused)

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
