"""The headers of an exchange, as tables."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLabel,
    QSplitter,
    QStackedWidget,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from playground.ui.widgets.form_parts import text_label
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.theme import code_font

Headers = tuple[tuple[str, str], ...]
ROW_HEIGHT = 22
MOST_VALUE = 4_000  # characters of one value that are put into the table


class HeaderTable(QTableWidget):
    """Name and value; Ctrl+C copies the chosen rows as ``name: value`` lines."""

    def __init__(self, says: str, parent: QWidget | None = None) -> None:
        super().__init__(0, 2, parent)
        self._headers: Headers = ()
        self.setAccessibleName(says)
        self.setHorizontalHeaderLabels(["Header", "Value"])
        self.horizontalHeader().setVisible(False)
        self.horizontalHeader().setStretchLastSection(True)
        self.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self.verticalHeader().setVisible(False)
        self.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
        self.verticalHeader().setMinimumSectionSize(ROW_HEIGHT)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)

    def show_headers(self, headers: Headers) -> None:
        """Show these; the same ones again change nothing."""
        if headers == self._headers:
            return
        self._headers = headers
        self.setRowCount(len(headers))
        for row, pair in enumerate(headers):
            for column, text in enumerate(pair):
                shown = show_hidden(text[:MOST_VALUE])
                item = QTableWidgetItem(shown)
                item.setToolTip(tip(shown))
                if column == 1:
                    item.setFont(code_font())
                self.setItem(row, column, item)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            rows = sorted({index.row() for index in self.selectedIndexes()})
            text = "\n".join(f"{self._headers[row][0]}: {self._headers[row][1]}" for row in rows)
            QGuiApplication.clipboard().setText(text)
        else:
            super().keyPressEvent(event)


class HeaderTables(QStackedWidget):
    """Both tables, or a word on why they are empty."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.request = HeaderTable("Request headers")
        self.response = HeaderTable("Response headers")
        empty = QLabel(
            "No exchange yet. Run the conversation to see what went out and what came back.",
            alignment=Qt.AlignmentFlag.AlignCenter,
            wordWrap=True,
        )
        empty.setProperty("kind", "muted")
        self._split = QSplitter(childrenCollapsible=False, handleWidth=1)
        for title, table in (("Request", self.request), ("Response", self.response)):
            side = QWidget()
            caption = text_label(title, "group")
            caption.setContentsMargins(4, 0, 0, 0)
            in_column(caption, table, of=side, margins=(12, 8, 4, 0), spacing=4)
            self._split.addWidget(side)
        self._split.setSizes([500, 500])
        self.addWidget(empty)
        self.addWidget(self._split)

    def show_headers(self, request: Headers, response: Headers) -> None:
        """Show the headers of one exchange; the empty state where there are none at all."""
        self.request.show_headers(request)
        self.response.show_headers(response)
        self.setCurrentIndex(1 if request or response else 0)
