"""A panel of tabs and pages. The first paint waits for this module: it imports nothing heavy."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QStackedWidget, QTabBar, QWidget

from playground.ui.widgets.form_parts import LaneChip, thin_line
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.theme import tokens

MIN_WIDTH = 290  # pixels
GAP = "    "  # between a tab's title and its count


class SidePanel(QFrame):
    """Tabs over pages, empty until filled; a tab may carry a count. ``pages`` is the parent of the pages."""

    def __init__(self, titles: Sequence[str]) -> None:
        super().__init__()
        self.setProperty("kind", "surface")
        self.tabs = _Tabs()
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        self.tabs.setUsesScrollButtons(False)
        self.tabs.setAccessibleName("Side panel")
        self.setMinimumWidth(MIN_WIDTH)
        self.pages = QStackedWidget(self)
        self._titles = tuple(titles)
        self._blanks = [QWidget() for _ in titles]
        for title, page in zip(titles, self._blanks, strict=True):
            self.pages.addWidget(page)
            self.tabs.addTab(title)
        self.tabs.currentChanged.connect(self.pages.setCurrentIndex)
        self.lane = LaneChip()
        self.lane.setParent(self)
        row = in_row(self.tabs, 1, (self.lane, 0, Qt.AlignmentFlag.AlignVCenter), margins=(8, 0, 12, 0))
        in_column(row, thin_line(), (self.pages, 1), parent=self, margins=0, spacing=0)

    def fill(self, title: str, page: QWidget) -> None:
        """Put a page under its tab."""
        index = self._titles.index(title)
        current = self.pages.currentIndex()
        self.pages.insertWidget(index, page)
        self.pages.removeWidget(self._blanks[index])
        self.pages.setCurrentIndex(current)
        self._blanks[index].deleteLater()

    def set_count(self, title: str, number: int) -> None:
        """Show a count beside a tab's title; none for 0."""
        index = self._titles.index(title)
        self.tabs.setTabText(index, f"{title}{GAP}{number}" if number else title)

    def show_lane(self, title: str) -> None:
        """Name the lane of Compare whose settings the pages show; empty outside Compare."""
        self.lane.show_lane(title)
        self.setMinimumWidth(MIN_WIDTH + (self.lane.sizeHint().width() if title else 0))

    def show_page(self, title: str) -> None:
        """Bring a page to the front."""
        self.tabs.setCurrentIndex(self._titles.index(title))


class _Tabs(QTabBar):
    """Tabs with a chip behind the number that follows a title."""

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens().chip))
        metrics = self.fontMetrics()
        for index in range(self.count()):
            _, gap, number = self.tabText(index).partition(GAP)
            if gap:
                tab = self.tabRect(index)
                width = metrics.horizontalAdvance(number)
                right = tab.center().x() + metrics.horizontalAdvance(self.tabText(index)) // 2 + 7
                chip = QRect(right - width - 14, tab.center().y() - 8, width + 14, 18)
                painter.drawRoundedRect(chip, 9, 9)
        painter.end()
        super().paintEvent(event)
