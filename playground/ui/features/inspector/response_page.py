"""The Response tab: the assembled answer, its events, the bytes as received, and the spec check."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from playground.engine.inspect.frame_summary import MAX_ASSEMBLED, AssembledAnswer
from playground.ui.features.inspector.body_pane import BodyPane
from playground.ui.features.inspector.field_table import HeaderSplit
from playground.ui.features.inspector.spec_check import NO_PROBLEMS, SpecCheck
from playground.ui.features.inspector.traces import Trace
from playground.ui.features.inspector.view import ExchangeView
from playground.ui.widgets.aside import Aside
from playground.ui.widgets.copy_button import CopyButton
from playground.ui.widgets.figures import size
from playground.ui.widgets.form_parts import look, push_button
from playground.ui.widgets.layouts import in_column, in_pages, in_row
from playground.ui.widgets.plain_text import tip
from playground.ui.widgets.segments import Segments

ASSEMBLED, EVENTS, RAW = range(3)
SPEC_CHECK = "Spec check"
SEGMENTS = ("Assembled", "Events", "Raw")
NARROW = 520  # pixels; a narrower page has a shorter badge and no button for headers
LARGE = 256 * 1024  # bytes that are assembled on another thread
NO_RESPONSE = "No response yet. Run the conversation to see it here."
WAITING = "Waiting for the first byte…"
NO_BODY = "The response has no body."
DISCARDED = "The data of this exchange was discarded to save memory."
NO_CONTENT = "No content received yet. Events shows what has arrived."
TOO_LARGE = f"Responses above {size(MAX_ASSEMBLED)} are not assembled. Events and Raw show the data."


class ResponsePage(QWidget):
    """``events_area`` is the place for the list of events, which the owner puts there.

    ``segment_shown``: another segment is in front.
    """

    segment_shown = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._exchange: ExchangeView | None = None
        self._trace: Trace | None = None
        self._unsent = ""
        self._answer: AssembledAnswer | None = None
        self._assembling = Aside(self)
        self._more_to_assemble = False
        self._segment = ASSEMBLED  # in front, unless the spec check is
        self.switch = Segments(SEGMENTS, "Response view")
        self.assembled = BodyPane("Assembled response", NO_RESPONSE)
        self.raw = BodyPane("Response body", NO_RESPONSE)
        self.events_area = QWidget()
        in_column(parent=self.events_area, margins=0, spacing=0)
        self.check = SpecCheck()
        self._pages = in_pages(self.assembled, self.events_area, self.raw, self.check)
        self.headers = HeaderSplit(self._pages, "Response headers", opened=False)
        self.badge = push_button("", "pill")
        self.badge.setCheckable(True)
        self.badge.setToolTip(tip("Shows where the response deviates from the specification"))
        self.copy_button = CopyButton("Copy", "quiet")
        self.copy_button.setAccessibleName("Copy the response body")
        bar = in_row(
            *(self.switch, 1, self.headers.button, self.badge, self.check.copy_button, self.copy_button),
            margins=(12, 4, 12, 4),
            spacing=8,
        )
        in_column(bar, (self.headers, 1), parent=self, margins=0, spacing=0)
        self.switch.chosen.connect(self._segment_chosen)
        self.badge.toggled.connect(self._draw)
        self.check.changed.connect(self._show_badge)
        self.copy_button.clicked.connect(self._copy)
        self._draw()

    def minimumSizeHint(self) -> QSize:
        return QSize(260, super().minimumSizeHint().height())

    @property
    def shows_events(self) -> bool:
        """Return whether the list of events is in front."""
        return self._segment == EVENTS and not self.badge.isChecked()

    def show_segment(self, title: str) -> None:
        """Show one of ``SEGMENTS``, or the spec check."""
        if title != SPEC_CHECK:
            self._segment = SEGMENTS.index(title)
        self.badge.setChecked(title == SPEC_CHECK)
        self._draw()

    def show_exchange(self, view: ExchangeView | None, unsent: str = "") -> None:
        """Show an exchange, or the reason why nothing was sent."""
        if view is None or self._exchange is None or view.exchange is not self._exchange.exchange:
            if view is None or self._exchange is None or view.id != self._exchange.id:
                self.assembled.start_at_top()
                self.raw.start_at_top()
            self._answer = None
            self._assembling.call_off()
        self._exchange, self._unsent = view, unsent
        self.headers.show_headers(view.exchange.response_headers if view is not None else ())
        self._trace = view.trace if view is not None else None
        self.check.show_trace(self._trace)
        self._draw()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_badge()

    def _segment_chosen(self, index: int) -> None:
        self._segment = index
        self.badge.setChecked(False)
        self._draw()

    def _show_badge(self) -> None:
        summary = self.check.summary
        narrow = self.width() < NARROW
        self.badge.setText(summary.removeprefix(f"{SPEC_CHECK}: ") if narrow and summary else summary or SPEC_CHECK)
        self.badge.setAccessibleName(summary or SPEC_CHECK)
        self.headers.button.setVisible(self._exchange is not None and not narrow)
        self.check.copy_button.setVisible(bool(self.check.findings) and self.badge.isChecked())
        look(self.badge, "pill-error" if self.check.findings else "pill-on" if summary == NO_PROBLEMS else "pill")
        self.badge.setVisible(self._exchange is not None)
        events = len(self._trace.index) if self._trace is not None else 0
        self.switch.buttons[EVENTS].setText(f"Events {events:,}" if events else "Events")

    def _draw(self, _checked: bool = False) -> None:
        view = self._exchange
        body = view is not None and view.exchange.size > 0
        checks = self.badge.isChecked() and view is not None
        self._pages.setCurrentIndex(3 if checks else self._segment)
        self.switch.set_index(-1 if checks else self._segment)
        self.copy_button.setVisible(body and self._pages.currentWidget() in (self.assembled, self.raw))
        self._show_badge()
        error = view.error if view is not None else ""
        if self._pages.currentWidget() is self.raw:
            self.raw.show_error(error)
            if view is not None and body:
                self.raw.show_body(view.exchange.body, laid_out=False)
            else:
                self.raw.show_empty(self._empty_words())
        elif self._pages.currentWidget() is self.assembled:
            self.assembled.show_error(error)
            if view is None or not body:
                self.assembled.show_empty(self._empty_words())
            elif not view.is_stream or not view.exchange.protocol or (view.exchange.status or 0) >= 300:
                self.assembled.show_body(view.exchange.body, laid_out=True)
            else:
                self._assemble(view)
        self.segment_shown.emit()

    def _assemble(self, view: ExchangeView) -> None:
        """Show the answer of a stream as one body."""
        answer = self._answer = self._answer or AssembledAnswer(view.exchange)

        def work() -> str:
            answer.read()
            return view.redact(answer.text())

        def show(text: str) -> None:
            if self._answer is not answer:
                return
            if text:
                self.assembled.show_body(text.encode("utf-8", errors="replace"), laid_out=True)
            else:
                self.assembled.show_empty(TOO_LARGE if answer.too_large else NO_CONTENT)
            if self._more_to_assemble:
                self._draw()

        self._more_to_assemble = self._assembling.busy  # the answer is read by one thread at a time
        if not self._more_to_assemble:
            self._assembling.do(work, show, large=view.exchange.size > LARGE)

    def _empty_words(self) -> str:
        view = self._exchange
        if view is None:
            return self._unsent or NO_RESPONSE
        if view.exchange.dropped:
            return DISCARDED
        return WAITING if view.exchange.ended is None and not view.error else NO_BODY

    def _copy(self) -> None:
        pane = self.raw if self._segment == RAW else self.assembled
        self.copy_button.copy(pane.whole_text)
