"""One line on an exchange: ``POST /v1/chat/completions  200  2.91 s``."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QWidget

from playground.ui.elided_label import ElidedLabel
from playground.ui.inspector.view import ExchangeView
from playground.ui.parameters.fields import look
from playground.ui.plain_text import show_hidden, tip


class StatusLine(QWidget):
    """Method and path, the status in its colour and always as a number or a word, and the time it took."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.path = ElidedLabel(align=Qt.AlignmentFlag.AlignRight)
        self.path.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.status = QLabel()
        self.time = QLabel()
        self.time.setProperty("kind", "muted")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.path, 1)
        for label in (self.status, self.time):
            label.setTextFormat(Qt.TextFormat.PlainText)
            row.addWidget(label)

    def show_exchange(self, exchange: ExchangeView | None) -> None:
        """Say which exchange is shown; None clears the line."""
        if exchange is None:
            self.path.set_text("")
            self.status.setText("")
            self.time.setText("")
            self.setToolTip("")
            return
        self.path.set_text(show_hidden(f"{exchange.method} {exchange.path}"))
        word, kind = _state(exchange)
        self.status.setText(word)
        look(self.status, kind)
        self.time.setText("" if exchange.duration is None else f"{exchange.duration:.2f} s")
        self.time.setVisible(exchange.duration is not None)
        lines = [exchange.url, f"{exchange.status or ''} {exchange.reason}".strip(), exchange.error]
        self.setToolTip(tip("\n".join(line for line in lines if line)))


def _state(exchange: ExchangeView) -> tuple[str, str]:
    """The word for how it stands, and its colour."""
    if exchange.status is None:
        return ("failed", "error") if exchange.error or exchange.duration is not None else ("waiting", "muted")
    kind = "ok" if exchange.status < 300 else "warning" if exchange.status < 400 else "error"
    if exchange.error and exchange.status < 300:
        return f"{exchange.status} · broken off", "error"
    return (f"{exchange.status} · running" if exchange.duration is None else str(exchange.status)), kind
