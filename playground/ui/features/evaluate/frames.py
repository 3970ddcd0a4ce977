"""Requests and stream frames of a saved answer, or the reason why they were not saved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from playground.engine.session.plan import Keep
from playground.ui.features.inspector.inspector import REQUEST
from playground.ui.features.inspector.request_page import RequestPage
from playground.ui.features.inspector.status_button import StatusButton
from playground.ui.features.inspector.timeline.page import TimelinePage
from playground.ui.features.inspector.traces import Traces
from playground.ui.features.inspector.view import ExchangeView
from playground.ui.widgets.form_parts import paragraph, push_button
from playground.ui.widgets.layouts import in_column, in_pages, in_row

if TYPE_CHECKING:
    from playground.engine.session.session import Exchange

WHY: Final = {
    Keep.NONE: "The events of this answer were not saved: Save events is set to none.",
    Keep.FAILED: "The events of this answer were not saved: only those of failures are.",
    Keep.ALL: "The events of this answer were not saved.",
}


class Frames(QWidget):
    """Requests and frames of an answer.

    ``keep_asked`` requests to save the frames of all future answers, ``again_asked`` to run the cell again.
    """

    keep_asked = Signal()
    again_asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._traces = Traces()
        self._exchanges: tuple[Exchange, ...] = ()
        self._index = 0
        self._title = REQUEST
        self.request, self.timeline = RequestPage(sent_only=True), TimelinePage()
        self.status = StatusButton()
        self.status.exchange_chosen.connect(self._choose)
        self._why = paragraph("", "muted")
        self._why.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.keep = push_button("Save events of all answers from now on")
        self.keep.clicked.connect(self.keep_asked)
        again = push_button("Run this cell again")
        again.clicked.connect(self.again_asked)
        self._missing = missing = QWidget()
        in_column(
            1,
            self._why,
            in_row(1, self.keep, again, 1, spacing=8),
            2,
            parent=missing,
            margins=(24, 8, 24, 8),
            spacing=10,
        )
        self._stack = in_pages(missing, self.request, self.timeline)
        self._line = QWidget()
        in_row(self.status, 1, parent=self._line, margins=(12, 4, 8, 0))
        in_column(self._line, (self._stack, 1), parent=self, margins=0, spacing=0)

    def show_exchanges(self, exchanges: Sequence[Exchange], keep: Keep) -> None:
        """Show the exchanges of an answer, beginning with the last; ``keep`` is the setting which frames are saved."""
        if (received := tuple(exchanges)) != self._exchanges:
            self._exchanges, self._index = received, len(received) - 1
        self._why.setText(WHY[keep])
        self.keep.setVisible(keep is not Keep.ALL)
        self._draw()

    def show_tab(self, title: str) -> None:
        """Show the request or the timeline, by its title."""
        self._title = title
        self._draw()

    def show_exchange(self, exchange_id: str) -> None:
        """Show an exchange by its id, if it was saved."""
        if any(exchange.id == exchange_id for exchange in self._exchanges):
            self._choose(exchange_id)

    def _choose(self, exchange_id: str) -> None:
        self._index = next(index for index, exchange in enumerate(self._exchanges) if exchange.id == exchange_id)
        self._draw()

    def _draw(self) -> None:
        page = self.request if self._title == REQUEST else self.timeline
        self._line.setVisible(bool(self._exchanges))
        self._stack.setCurrentWidget(page if self._exchanges else self._missing)
        if self._exchanges:
            view = ExchangeView(self._exchanges[self._index], self._traces.trace_of, siblings=self._exchanges)
            self.status.show_exchange(view)
            if page is self.request:
                self.request.show_exchange(view)
            else:
                self.timeline.show_trace(view.trace)
