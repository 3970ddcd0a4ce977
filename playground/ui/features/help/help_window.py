"""The help: contents and search on the left, a page on the right. Stands beside the window and is opened once."""

from __future__ import annotations

import re

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QLineEdit,
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

NAME = Qt.ItemDataRole.UserRole
READING = 720  # pixels: the widest a line of text gets
LEFT = 210


class HelpWindow(QDialog):
    """``show_page`` by name. ``link_clicked`` carries an address in a page."""

    link_clicked = Signal(str)

    def __init__(self, pages: tuple[Page, ...], parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Help")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumSize(560, 360)
        self.resize(940, 660)
        self._pages = pages
        self._by_name = {page.name: page for page in pages}
        self.field = QLineEdit(placeholderText="Search the help", clearButtonEnabled=True)
        self.field.setAccessibleName("Search the help")
        self.contents = styled(QListWidget(), "choices")
        self.contents.setAccessibleName("Contents")
        self.contents.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.none = paragraph("No page holds these words.", "small")
        self.none.hide()
        self.text = TextView()
        self.text.setAccessibleName("Page")
        self.text.link_clicked.connect(self.link_clicked)
        self._area = DownArea(self._page())
        in_row(self._left(), thin_upright(), (self._area, 1), of=self, margins=0, spacing=0)
        self.field.textChanged.connect(self._search)
        self.contents.currentItemChanged.connect(self._chosen)
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
        """List the pages that hold the words, and mark them in the page."""
        kept = self.page.name
        self.contents.blockSignals(True)
        self.contents.clear()
        found = search(self._pages, words)
        for one in found:
            item = QListWidgetItem(f"{one.page.title}   {one.times}" if words.strip() else one.page.title)
            item.setData(NAME, one.page.name)
            item.setToolTip(tip(one.around))
            self.contents.addItem(item)
        self.contents.blockSignals(False)
        self.none.setVisible(not found)
        if found:
            names = [one.page.name for one in found]
            self.contents.setCurrentRow(names.index(kept) if kept in names and not words.strip() else 0)
            self._show()

    def _chosen(self) -> None:
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

    def _left(self) -> QFrame:
        left = styled(QFrame(), "surface")
        left.setFixedWidth(LEFT)
        in_column(self.field, self.none, (self.contents, 1), of=left, margins=(8, 12, 8, 12), spacing=8)
        return left

    def _page(self) -> QWidget:
        page = QWidget()
        self.text.setMaximumWidth(READING)
        self.text.setMinimumSize(QSize(200, 0))
        line = in_row(1, (self.text, 1000), 1)
        in_column(line, 1, of=page, margins=(32, 20, 32, 28))
        return page
