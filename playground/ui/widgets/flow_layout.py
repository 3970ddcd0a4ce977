"""A layout that wraps its items like words of a paragraph."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QStyle, QWidget


class FlowLayout(QLayout):
    """Items in lines, in reading direction, ``gap`` pixels apart; items of a line are centred or top-aligned."""

    def __init__(self, parent: QWidget | None = None, gap: int = 4, *, top: bool = False) -> None:
        self._heights: dict[int, int] = {}  # by width, cached because Qt asks repeatedly at each level of nesting
        self._least: QSize | None = None
        super().__init__(parent)
        self._gap = gap
        self._top = top
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)

    def invalidate(self) -> None:
        """Drop the cached sizes."""
        self._heights.clear()
        self._least = None
        super().invalidate()

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)
        self.invalidate()

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        height = self._heights.get(width)
        if height is None:
            height = self._heights[width] = self._arrange(QRect(0, 0, width, 0), place=False)
        return height

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange(rect, place=True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        if self._least is None:
            size = QSize()
            for item in self._items:
                if not item.isEmpty():
                    size = size.expandedTo(item.minimumSize())
            self._least = size
        return QSize(self._least)

    def _arrange(self, rect: QRect, *, place: bool) -> int:
        """Lay the items out in the width of ``rect`` and return their height; move them only with ``place``."""
        y = rect.y()
        line: list[tuple[QLayoutItem, QSize]] = []
        used = 0
        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint()
            size.setWidth(min(size.width(), max(rect.width(), 1)))
            if line and used + self._gap + size.width() > rect.width():
                y += self._set_line(line, rect, y, place) + self._gap
                line, used = [], 0
            used += size.width() + (self._gap if line else 0)
            line.append((item, size))
        if line:
            y += self._set_line(line, rect, y, place)
        return y - rect.y()

    def _set_line(self, line: list[tuple[QLayoutItem, QSize]], rect: QRect, y: int, place: bool) -> int:
        height = max(size.height() for _, size in line)
        if place:
            parent = self.parentWidget()
            direction = parent.layoutDirection() if parent is not None else Qt.LayoutDirection.LeftToRight
            x = rect.x()
            for item, size in line:
                lower = 0 if self._top else (height - size.height()) // 2
                item.setGeometry(QStyle.visualRect(direction, rect, QRect(QPoint(x, y + lower), size)))
                x += size.width() + self._gap
        return height
