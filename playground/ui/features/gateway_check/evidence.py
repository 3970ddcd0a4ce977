"""What went over the wire for the line that is looked at: the inspector, on the exchanges that show it."""

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

CHOOSE: Final = "Choose a line to see its request, the answer, its frames and when they came."
NOTHING: Final = "Nothing went over the wire for this line."
NOT_KEPT: Final = "What went over the wire for this line was too large to be kept."


class Evidence(QWidget):
    """``show_exchanges`` shows those of a line under what is said of it; without any, why there are none."""

    def __init__(self) -> None:
        super().__init__()
        self._traces = Traces()
        self._inspector: Inspector | None = None
        self._exchanges: tuple[Exchange, ...] = ()
        self._empty = empty_words(CHOOSE)
        self._held = QWidget()
        self._column = in_column(of=self._held, margins=0, spacing=0)
        self.words = text_label("", wrap=True)
        self.words.setContentsMargins(12, 6, 12, 6)
        self._stack = in_pages(self._empty, self._held)
        self.words.hide()
        in_column(self.words, (self._stack, 1), of=self, margins=0, spacing=0)

    @property
    def inspector(self) -> Inspector:
        """Made when there is something to show first."""
        if self._inspector is None:
            self._inspector = Inspector(self, sent_only=True)
            self._inspector.setObjectName("evidenceInspector")
            self._inspector.status.exchange_chosen.connect(self._choose)
            self._column.addWidget(self._inspector)
        return self._inspector

    @property
    def shown(self) -> tuple[Exchange, ...]:
        """The exchanges of the line that is looked at."""
        return self._exchanges

    def show_exchanges(self, exchanges: Sequence[Exchange], words: str = "", why: str = CHOOSE) -> None:
        """Show the last of these, ``words`` above it; ``why`` there are none."""
        self.words.setText(show_hidden(words))
        self.words.setVisible(bool(words))
        found = tuple(exchanges)
        if found and found == self._exchanges:
            return
        self._exchanges = found
        if found:
            self._show(found[-1])
            self._stack.setCurrentWidget(self._held)
        else:
            self._empty.setText(why)
            self._stack.setCurrentWidget(self._empty)

    def _choose(self, exchange_id: str) -> None:
        for exchange in self._exchanges:
            if exchange.id == exchange_id:
                self._show(exchange)

    def _show(self, exchange: Exchange) -> None:
        self.inspector.set_exchange(ExchangeView(exchange, self._traces.of, siblings=self._exchanges))
