"""The help window: contents and search on the left, a page on the right. It is not modal, and opened once."""

from __future__ import annotations

import re

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QListWidget,
    QListWidgetItem,
    QWidget,
)

from playground.ui.features.conversation.finding import matches
from playground.ui.features.conversation.text_view import TextView
from playground.ui.features.help.pages import Page, search
from playground.ui.widgets.form_parts import paragraph, styled, thin_upright
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import tip
from playground.ui.widgets.scroll_page import DownArea
from playground.ui.widgets.search_field import SearchField

NAME = Qt.ItemDataRole.UserRole
READING = 720  # pixels: the widest a line of text gets
LEFT = 226  # pixels of the contents
SIZE, AROUND = QSize(940, 660), QSize(40, 60)  # pixels: the usual size, and what stays free in a small window


class HelpWindow(QDialog):
    """``show_page`` by name. ``link_clicked`` carries an address in a page."""

    link_clicked = Signal(str)

    def __init__(self, pages: tuple[Page, ...], parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Help")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumSize(560, 360)
        self.resize(SIZE if parent is None else SIZE.boundedTo(parent.size() - AROUND))
        self._pages = pages
        self._by_name = {page.name: page for page in pages}
        self.field = SearchField("Search the help")
        self.contents = styled(QListWidget(), "choices")
        self.contents.setAccessibleName("Contents")
        self.contents.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.none = paragraph("No matching pages", "small")
        self.none.hide()
        self.text = TextView()
        self.text.setAccessibleName("Page")
        self.text.link_clicked.connect(self.link_clicked)
        self._area = DownArea(self._page())
        in_row(self._sidebar(), thin_upright(), (self._area, 1), parent=self, margins=0, spacing=0)
        self.field.textChanged.connect(self._search)
        self.field.results_asked.connect(self.contents.setFocus)
        self.contents.currentItemChanged.connect(self._show)
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        find.activated.connect(self.field.setFocus)
        self._search("")

    @property
    def page(self) -> Page:
        """The page that is shown."""
        row = self.contents.currentRow()
        return self._by_name[str(self.contents.item(row).data(NAME))] if row >= 0 else self._pages[0]

    def show_page(self, name: str) -> None:
        """Show the page of that name, all pages in the contents."""
        self.field.clear()
        for row in range(self.contents.count()):
            if self.contents.item(row).data(NAME) == name:
                self.contents.setCurrentRow(row)
        self.contents.setFocus()

    def _search(self, words: str) -> None:
        """List the pages that contain the words, and highlight them in the page."""
        current = self.page.name
        hits = search(self._pages, words)
        with QSignalBlocker(self.contents):
            self.contents.clear()
            for hit in hits:
                item = QListWidgetItem(f"{hit.page.title}   {hit.times}" if words.strip() else hit.page.title)
                item.setData(NAME, hit.page.name)
                item.setToolTip(tip(hit.around))
                self.contents.addItem(item)
        self.none.setVisible(not hits)
        if hits:
            names = [hit.page.name for hit in hits]
            self.contents.setCurrentRow(names.index(current) if current in names and not words.strip() else 0)
            self._show()

    def _show(self) -> None:
        if self.contents.currentRow() < 0:
            return
        page = self.page
        if self.text.source != page.text:
            self.text.set_text("")
            self.text.set_text(page.text)
            self._area.verticalScrollBar().setValue(0)
        words = [re.escape(word) for word in self.field.text().split()]
        spans = matches(re.compile("|".join(words), re.IGNORECASE), page.text) if words else ()
        self.text.show_matches(spans, None)
        self.text.setAccessibleName(f"Page: {page.title}")

    def _sidebar(self) -> QFrame:
        sidebar = styled(QFrame(), "surface")
        sidebar.setFixedWidth(LEFT)
        in_column(self.field, self.none, (self.contents, 1), parent=sidebar, margins=(8, 12, 8, 12), spacing=8)
        return sidebar

    def _page(self) -> QWidget:
        page = QWidget()
        self.text.setMaximumWidth(READING)
        self.text.setMinimumSize(QSize(200, 0))
        line = in_row(1, (self.text, 1000), 1)
        in_column(line, 1, parent=page, margins=(32, 20, 32, 28))
        return page
