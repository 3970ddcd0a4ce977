"""The inspector's tabs, one small class each. Which there are stands in ``inspector``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

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

from playground.ui.features.inspector.body_pane import BodyPane
from playground.ui.features.inspector.next_request import NextRequest, Preview
from playground.ui.features.inspector.view import ExchangeView
from playground.ui.widgets.form_parts import text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.segments import Segments
from playground.ui.widgets.theme import code_font

NEXT, SENT = 0, 1
PRETTY = 0

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


class InspectorView(ABC):
    """A tab: its title, its widget, and how it shows an exchange (None: there is none)."""

    title: ClassVar[str]
    widget: QWidget

    @abstractmethod
    def show(self, exchange: ExchangeView | None) -> None:
        """Show an exchange; called again while it grows."""

    def show_preview(self, preview: Preview) -> None:
        """The request that would be sent next; views that do not care ignore it."""
        return


class RequestView(InspectorView):
    """The next request, field by field and editable, or the body of the one that was sent.

    ``next`` is the page of the former. ``code_button`` asks for the code of the one that is shown.
    """

    title = "Request"

    def __init__(self) -> None:
        self.switch = Segments(("Next request", "As sent"), "Which request")
        self.pane = BodyPane(
            self.switch, "Request body", "The request will stand here, exactly as it is sent, once there is a model."
        )
        self.widget = self.pane
        self.next = NextRequest()
        self.pane.add_page(self.next)
        self.code_button = IconButton("code", "Get the code of this request")
        self.pane.add_button(self.code_button)
        self._exchange: ExchangeView | None = None
        self._preview: Preview | None = None
        self._by_hand = False
        self.switch.chosen.connect(self._chosen)
        self.pane.bound_lifted.connect(self._draw)
        self._settle()

    def show(self, exchange: ExchangeView | None) -> None:
        if not same_request(exchange, self._exchange):
            self.pane.bound_again()
        self._exchange = exchange
        self._settle()
        self._draw()

    def show_preview(self, preview: Preview) -> None:
        self._preview = preview
        self.next.show_preview(preview)
        self._settle()
        self._draw()

    @property
    def shows_sent(self) -> bool:
        """Whether the request that was sent is shown, and not the next one."""
        return self.switch.index == SENT

    def _settle(self) -> None:
        """Until a person chooses, show what was sent where there is such a thing."""
        self.switch.buttons[SENT].setEnabled(self._exchange is not None)
        if self._exchange is None:
            self.switch.set_index(NEXT)
        elif not self._by_hand:
            self.switch.set_index(SENT)

    def _chosen(self, _index: int) -> None:
        self._by_hand = True
        self.pane.bound_again()
        self._draw()

    def _draw(self) -> None:
        if self.switch.index == SENT and self._exchange is not None:
            if self._exchange.request_body:
                self.pane.show_body(self._exchange.request_body, laid_out=True)
            else:
                self.pane.show_nothing("This request has no body.")
        elif self._preview is not None and self._preview.view.text:
            self.pane.show_page(self.next, self.next.body, self._preview.about, self._preview.whole)
        elif self._preview is not None:
            self.pane.show_nothing(self._preview.view.problem)
        else:
            self.pane.show_nothing()


class ResponseView(InspectorView):
    """What came back, while it comes: laid out, or byte for byte."""

    title = "Response"

    def __init__(self) -> None:
        self.switch = Segments(("Pretty", "Raw"), "How the response is shown")
        self.pane = BodyPane(self.switch, "Response body", NO_RESPONSE)
        self.widget = self.pane
        self._exchange: ExchangeView | None = None
        self.switch.chosen.connect(self._chosen)
        self.pane.bound_lifted.connect(self._draw)

    def show(self, exchange: ExchangeView | None) -> None:
        if not same_request(exchange, self._exchange):
            self.pane.bound_again()
        self._exchange = exchange
        self._draw()

    def _chosen(self, _index: int) -> None:
        self._draw()

    def _draw(self) -> None:
        exchange = self._exchange
        self.pane.show_error(exchange.error if exchange is not None else "")
        body = exchange.body() if exchange is not None else b""
        if exchange is None:
            self.pane.show_nothing(NO_RESPONSE)
        elif body:
            events = exchange.content_type == "text/event-stream" or body[:64].lstrip()[:6] in (b"data: ", b"event:")
            live = exchange.duration is None
            self.pane.show_body(body, laid_out=self.switch.index == PRETTY, events=events, live=live)
        elif exchange.duration is None and not exchange.error:
            self.pane.show_nothing("Waiting for the first byte…")
        else:
            self.pane.show_nothing("No body came back.")


class HeadersView(InspectorView):
    """The headers of both directions as received; secrets are masked before they get here."""

    title = "Headers"

    def __init__(self) -> None:
        self.tables = HeaderTables()
        self.widget = self.tables

    def show(self, exchange: ExchangeView | None) -> None:
        self.tables.show_headers(
            exchange.request_headers if exchange is not None else (),
            exchange.response_headers if exchange is not None else (),
        )


NO_RESPONSE = "No response yet. Run the conversation, and the bytes that come back stand here as they arrive."


def same_request(first: ExchangeView | None, second: ExchangeView | None) -> bool:
    """Whether two views show one exchange at different moments."""
    if first is None or second is None:
        return first is second
    return (
        first.url == second.url
        and first.request_body is second.request_body
        and first.request_headers == second.request_headers
    )
