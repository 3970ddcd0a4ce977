"""Scroll areas without horizontal scrolling, and the base of the side panel's pages."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.layouts import in_column

MARGIN = 16
LEAST_WIDTH = 260


class DownArea(QScrollArea):
    """A frameless area that scrolls vertically; what is in it has its width and takes the focus."""

    def __init__(self, content: QWidget | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        if content is not None:
            self.setWidget(content)


class FittingArea(DownArea):
    """A transparent area as tall as its content, at most ``most`` pixels; ``least`` is its minimum height.

    With ``by_width`` the height of the content depends on its width.
    """

    def __init__(self, *, most: int, least: int, wide: int = 100, by_width: bool = False) -> None:
        super().__init__()
        self._most, self._least, self._wide, self._by_width = most, least, wide, by_width
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.viewport().setAutoFillBackground(False)

    def hold(self, content: QWidget) -> None:
        """Set the content and replace the previous one."""
        self.setWidget(content)
        content.setAutoFillBackground(False)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        content: QWidget | None = self.widget()  # none at first
        height = 0
        if content is not None and self._by_width:
            height = content.heightForWidth(max(self.viewport().width(), self._wide))
        elif content is not None:
            height = content.sizeHint().height()
        return QSize(self._wide, min(height, self._most))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._wide, min(self.sizeHint().height(), self._least))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._by_width and event.size().width() != event.oldSize().width():
            self.updateGeometry()


class ScrollPage(DownArea):
    """Base of the pages of the side panel. ``fill`` returns the column for the rows of a page."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setMinimumWidth(LEAST_WIDTH)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._show_focused)

    def _show_focused(self, _before: QWidget | None, focused: QWidget | None) -> None:
        """Scroll the field that got the focus into view."""
        content: QWidget | None = self.widget()
        if focused is not None and content is not None and self.isVisible() and content.isAncestorOf(focused):
            self.ensureWidgetVisible(focused)

    def fill(self, spacing: int) -> QVBoxLayout:
        """Replace the content with an empty column and return the column."""
        content, column = column_of(spacing)
        self.setWidget(content)
        return column


def column_of(spacing: int) -> tuple[QWidget, QVBoxLayout]:
    """Create the content widget of a page and return it with its column layout."""
    content = styled(QWidget(), "surface")
    content.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
    column = in_column(parent=content, margins=(MARGIN, 12, MARGIN, MARGIN), spacing=spacing)
    return content, column
