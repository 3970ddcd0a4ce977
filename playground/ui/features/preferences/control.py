"""The Preferences window: titles of pages on the left, one page on the right. Changes apply at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import shiboken6
from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QDialog, QFrame, QListWidget, QPushButton, QStackedWidget, QWidget

from playground.ui.features.host import Control, Host
from playground.ui.widgets.form_parts import styled, thin_upright
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.scroll_page import DownArea

LEFT, WIDEST = 200, 640  # pixels of the titles, and of a page
SIZE, AROUND = QSize(860, 600), QSize(80, 80)  # pixels: the usual size, and what stays free in a small window


class PreferencesWindow(QDialog):
    """Shows pages by their titles. It is not modal, so that changes are seen in the window behind it."""

    def __init__(self, pages: Mapping[str, QWidget], parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Preferences")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumSize(600, 360)
        self.resize(SIZE if parent is None else SIZE.boundedTo(parent.size() - AROUND))
        self._titles = styled(QListWidget(), "choices")
        self._titles.setAccessibleName("Pages")
        self._titles.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._stack = QStackedWidget()
        for page in pages.values():
            page.setMaximumWidth(WIDEST)
            area = QWidget()
            in_row((page, 1000), 1, parent=area, margins=(28, 22, 28, 22), spacing=0)
            self._stack.addWidget(DownArea(area))
        sidebar = styled(QFrame(), "surface")
        sidebar.setFixedWidth(LEFT)
        in_column((self._titles, 1), parent=sidebar, margins=(8, 12, 8, 12))
        in_row(sidebar, thin_upright(), (self._stack, 1), parent=self, margins=0, spacing=0)
        self._titles.ensurePolished()  # items are measured when they are added
        self._titles.addItems(list(pages))
        self._titles.currentRowChanged.connect(self._stack.setCurrentIndex)
        for button in self._stack.findChildren(QPushButton):
            button.setAutoDefault(False)  # Enter in the list of pages would press the first one

    def show_page(self, title: str) -> None:
        """Show the page of that title."""
        for item in self._titles.findItems(title, Qt.MatchFlag.MatchExactly):
            self._titles.setCurrentItem(item)
        self._titles.setFocus()


class PreferencesControl(Control):
    """``makers`` create the pages by their titles, each time the window is opened."""

    def __init__(self, host: Host, makers: Mapping[str, Callable[[], QWidget]]) -> None:
        super().__init__(host)
        self._makers = makers
        self._preferences: PreferencesWindow | None = None

    def open(self, page: str) -> None:
        """Open the window, or bring it to the front, on that page."""
        window = self._preferences
        if window is None or not shiboken6.isValid(window):
            pages = {title: make() for title, make in self._makers.items()}
            window = self._preferences = PreferencesWindow(pages, self._host.window)
        window.show_page(page)
        window.show()
        window.raise_()
        window.activateWindow()
