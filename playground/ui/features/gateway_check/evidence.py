"""The evidence for a line of a gateway check: its exchanges in an inspector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from PySide6.QtWidgets import QWidget

from playground.ui.features.inspector.inspector import Inspector
from playground.ui.features.inspector.traces import Traces
from playground.ui.features.inspector.view import ExchangeView
from playground.ui.widgets.form_parts import text_label
from playground.ui.widgets.layouts import in_column, in_pages
from playground.ui.widgets.page_parts import empty_words
from playground.ui.widgets.plain_text import show_hidden

if TYPE_CHECKING:
    from playground.engine.session.session import Exchange

CHOOSE: Final = "Select a line to see its request, answer and events."
NOTHING: Final = "No request was sent for this line."
NOT_KEPT: Final = "The exchanges of this line were too large to be saved."


class Evidence(QWidget):
    """Shows the exchanges of a line below its sentence, or why there are none."""

    def __init__(self) -> None:
        super().__init__()
        self._traces = Traces()
        self._inspector: Inspector | None = None
        self._exchanges: tuple[Exchange, ...] = ()
        self._empty = empty_words(CHOOSE)
        self._content = QWidget()
        self._column = in_column(parent=self._content, margins=0, spacing=0)
        self.words = text_label("", wrap=True)
        self.words.setContentsMargins(12, 6, 12, 6)
        self._stack = in_pages(self._empty, self._content)
        self.words.hide()
        in_column(self.words, (self._stack, 1), parent=self, margins=0, spacing=0)

    @property
    def inspector(self) -> Inspector:
        """The inspector, made for the first exchange."""
        if self._inspector is None:
            self._inspector = Inspector(self, sent_only=True)
            self._inspector.setObjectName("evidenceInspector")
            self._inspector.status.exchange_chosen.connect(self._choose)
            self._column.addWidget(self._inspector)
        return self._inspector

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The exchanges of the line."""
        return self._exchanges

    def show_exchanges(self, exchanges: Sequence[Exchange], words: str = "", why: str = CHOOSE) -> None:
        """Show the last exchange with ``words`` above it; ``why`` explains that there is none."""
        self.words.setText(show_hidden(words))
        self.words.setVisible(bool(words))
        new_exchanges = tuple(exchanges)
        if new_exchanges and new_exchanges == self._exchanges:
            return
        self._exchanges = new_exchanges
        if new_exchanges:
            self._show(new_exchanges[-1])
            self._stack.setCurrentWidget(self._content)
        else:
            self._empty.setText(why)
            self._stack.setCurrentWidget(self._empty)

    def _choose(self, exchange_id: str) -> None:
        for exchange in self._exchanges:
            if exchange.id == exchange_id:
                self._show(exchange)

    def _show(self, exchange: Exchange) -> None:
        self.inspector.set_exchange(ExchangeView(exchange, self._traces.trace_of, siblings=self._exchanges))
