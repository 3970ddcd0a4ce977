"""The bottom line: gateway, tokens of the last run, and how much of the rate limit is left."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtWidgets import QLabel, QProgressBar, QStatusBar, QWidget

from playground.domain.durations import countdown
from playground.engine.gateways.reach import WORDS, Reach
from playground.ui.features.gateways.reach_dot import dot
from playground.ui.widgets.plain_text import tip

if TYPE_CHECKING:
    from playground.domain.usage import Usage
    from playground.engine.session.session import RateLimits


class StatusBar(QStatusBar):
    """Shows values it is given; the countdown goes on by itself."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizeGripEnabled(False)
        self._gateway, self._usage = _label(), _label()
        self._usage.setAccessibleName("Tokens of the last run")
        self._limit_name, self._limit = _label(), _label()
        self._meter = QProgressBar()
        self._meter.setRange(0, 1000)
        self._meter.setTextVisible(False)
        self._meter.setFixedWidth(90)
        self._meter.setAccessibleName("Rate limit, share left")
        self._dot = QLabel()
        self._dot.setContentsMargins(8, 0, 0, 0)
        self.setContentsMargins(0, 0, 8, 0)
        self.addWidget(self._dot)
        self.addWidget(self._gateway)
        self.addWidget(self._usage)
        for widget in (self._limit_name, self._meter, self._limit):
            self.addPermanentWidget(widget)
        self._limits: RateLimits | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(1000)
        self._timer.timeout.connect(self._show_limit)
        self.show_limits(None)

    def show_gateway(self, words: str, reach: Reach) -> None:
        """The gateway in use, where it is, and what is known of it; in words where that is not just good."""
        self._reach = reach
        self._dot.setPixmap(dot(reach).pixmap(16, 16))
        said = "" if reach in (Reach.OK, Reach.UNKNOWN) else f" · {WORDS[reach]}"
        self._gateway.setText(f"{words}{said}    ")
        for label in (self._dot, self._gateway):
            label.setToolTip(f"Gateway: {WORDS[reach]}")

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_reach"):
            self._dot.setPixmap(dot(self._reach).pixmap(16, 16))

    def show_usage(self, usage: Usage | None, cost: str = "", total: str = "", *, choices: int = 1) -> None:
        """Token counts of the last request with all its choices, what it cost, and what the whole experiment did."""
        from playground.ui.widgets.figures import usage_line

        words = [usage_line(usage, choices), cost, f"{total} in all" if total and total != cost else ""]
        self._usage.setText(" · ".join(word for word in words if word))

    def show_limits(self, limits: RateLimits | None) -> None:
        """What the last answer's rate-limit headers said."""
        self._limits = limits
        window = limits.tightest if limits else None
        for widget in (self._limit_name, self._meter, self._limit):
            widget.setVisible(window is not None)
        if window is not None:
            self._timer.start()
            self._show_limit()
        else:
            self._timer.stop()

    def _show_limit(self) -> None:
        limits = self._limits
        window = limits.tightest if limits else None
        if limits is None or window is None:
            return

        self._limit_name.setText((window.dimension or "requests").capitalize())
        self._meter.setValue(round((window.share if window.share is not None else 1) * 1000))
        words = []
        if window.remaining is not None:
            of = f" / {int(window.limit):,}" if window.limit is not None else ""
            words.append(f"{int(window.remaining):,}{of} left")
        if window.reset_in is not None:
            rest = max(window.reset_in - (time.time() - limits.read_at), 0)
            words.append(f"resets in {countdown(rest)}")
            if rest <= 0:
                words[-1] = "window is over"
                self._timer.stop()
        self._limit.setText(" · ".join(words) + "  ")
        sent = "As sent: limit {}, remaining {}, reset {}".format(*(raw or "—" for raw in window.raw))
        self._limit.setToolTip(tip(sent))


def _label() -> QLabel:
    """For words from elsewhere, which must not be taken for rich text."""
    return QLabel(textFormat=Qt.TextFormat.PlainText)
