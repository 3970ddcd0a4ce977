"""The Request tab: the next request, the one that was sent, or a comparison."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from playground.ui.features.inspector.body_pane import BodyPane
from playground.ui.features.inspector.compare_page import ComparePage
from playground.ui.features.inspector.field_table import HeaderSplit
from playground.ui.features.inspector.next_request import NextRequest, Preview
from playground.ui.features.inspector.view import ExchangeView
from playground.ui.widgets.copy_button import CopyButton
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import in_column, in_pages, in_row
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.page_parts import empty_words
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.segments import Segments

NEXT, SENT, COMPARE = range(3)
SEGMENTS = ("Next", "Sent", "Compare")
NO_MODEL = "Choose a model to see the next request."
NO_REQUEST = "No request sent yet."
NO_BODY = "This request has no body."


class RequestPage(QWidget):
    """``code_asked``: the code of the request is to be shown. ``preview_asked``: the next request is needed.

    With ``sent_only`` there are no segments.
    """

    code_asked = Signal()
    preview_asked = Signal()

    def __init__(self, parent: QWidget | None = None, *, sent_only: bool = False) -> None:
        super().__init__(parent)
        self._exchange: ExchangeView | None = None
        self._preview: Preview | None = None
        self._unsent = ""
        self._chosen = sent_only  # a person chose the segment
        self.switch = Segments(SEGMENTS, "Which request")
        self.next = NextRequest()
        self.sent = BodyPane("Request body", NO_REQUEST)
        self.headers = HeaderSplit(self.sent, "Request headers", opened=True)
        self.compare = ComparePage()
        self.empty = empty_words(NO_MODEL)
        self._note = ElidedLabel("Target")
        self.code_button = IconButton("code", "Get the code of this request")
        self.copy_button = CopyButton("Copy", "quiet")
        self.copy_button.setAccessibleName("Copy the request body")
        self.copy_button.setToolTip(tip("Copies the whole body"))
        body_bar = QWidget()
        in_row(
            *((self._note, 1), self.headers.button, self.code_button, self.copy_button),
            parent=body_bar,
            margins=0,
            spacing=8,
        )
        self._bars = in_pages(body_bar, self.compare.bar)
        self._pages = in_pages(self.empty, self.next, self.headers, self.compare)
        bar = in_row(self.switch, (self._bars, 1), margins=(12, 4, 12, 4), spacing=8)
        in_column(bar, (self._pages, 1), parent=self, margins=0, spacing=0)
        self.switch.chosen.connect(self._segment_chosen)
        self.code_button.clicked.connect(self.code_asked)
        self.copy_button.clicked.connect(self._copy)
        self.compare.next_asked.connect(self.preview_asked)
        for widget in (self.switch, self.code_button):
            widget.setHidden(sent_only)
        self.switch.set_index(SENT if sent_only else NEXT)
        self._draw()

    def minimumSizeHint(self) -> QSize:
        return QSize(260, super().minimumSizeHint().height())

    @property
    def shows_sent(self) -> bool:
        """Return whether the request that was sent is shown."""
        return self.switch.index == SENT

    @property
    def wants_preview(self) -> bool:
        """Return whether the next request is shown, may be shown soon, or is part of the comparison."""
        return self.isVisible() and (self.switch.index != COMPARE or self.compare.needs_next)

    def show_segment(self, title: str) -> None:
        """Show one of ``SEGMENTS``."""
        self.switch.set_index(SEGMENTS.index(title))
        self._segment_chosen()

    def show_exchange(self, view: ExchangeView | None, unsent: str = "") -> None:
        """Show an exchange, or the reason why nothing was sent."""
        if view is None or self._exchange is None or view.id != self._exchange.id:
            self.sent.start_at_top()
        self._exchange, self._unsent = view, unsent
        if not self._chosen:
            self.switch.set_index(SENT if view is not None or unsent else NEXT)
        self._draw()

    def show_preview(self, preview: Preview) -> None:
        """Show the next request."""
        self._preview = preview
        self.next.show_preview(preview)
        self.compare.show_preview(preview)
        self._draw()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.preview_asked.emit()

    def _segment_chosen(self, _index: int = 0) -> None:
        self._chosen = True
        self._draw()
        self.preview_asked.emit()

    def _draw(self) -> None:
        segment, view, preview = self.switch.index, self._exchange, self._preview
        self._bars.setCurrentIndex(1 if segment == COMPARE else 0)
        self.headers.show_headers(view.exchange.request_headers if segment == SENT and view is not None else ())
        self._note.set_text(show_hidden(preview.summary) if segment == NEXT and preview is not None else "")
        copyable = False
        if segment == COMPARE:
            self._pages.setCurrentWidget(self.compare)
            self.compare.show_exchange(view)
        elif segment == SENT:
            self._pages.setCurrentWidget(self.headers)
            copyable = view is not None and bool(view.exchange.request_body)
            if view is not None and copyable:
                self.sent.show_body(view.exchange.request_body, laid_out=True)
            else:
                self.sent.show_empty(self._unsent or (NO_BODY if view is not None else NO_REQUEST))
        else:
            copyable = preview is not None and bool(preview.view.text)
            self._pages.setCurrentWidget(self.next if copyable else self.empty)
            self.empty.setText(show_hidden(preview.view.problem) if preview is not None else NO_MODEL)
        self.copy_button.setVisible(copyable)

    def _copy(self) -> None:
        if self.shows_sent:
            self.copy_button.copy(self.sent.whole_text)
        elif self._preview is not None:
            spawn(self._copy_next(self._preview), name="copy the next request")

    async def _copy_next(self, preview: Preview) -> None:
        self.copy_button.copy(await asyncio.to_thread(lambda: preview.whole_text))
