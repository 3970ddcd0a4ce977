"""A failure, in the turn it belongs to: what happened, the gateway's own words, what to do, a button that does it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from playground.domain.durations import countdown, span
from playground.domain.errors import Failure
from playground.engine.advice import LABELS, advise, limit_words
from playground.ui.conversation.text_view import TextView
from playground.ui.theme import tokens


class ErrorCard(QFrame):
    """``action_taken`` carries the name of the action chosen; ``actions`` are those advised unless given."""

    action_taken = Signal(str)
    height_changed = Signal()

    def __init__(
        self, failure: Failure, *, streamed: bool, actions: tuple[str, ...] | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.failure = failure
        advice = advise(failure, streamed=streamed)
        title = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        title.setText(advice.title + (f" · {failure.status}" if failure.status else ""))
        title.setProperty("kind", "error")
        font = title.font()
        font.setBold(True)
        title.setFont(font)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 10, 12, 10)
        layout.setSpacing(4)
        layout.addWidget(title)
        words = failure.message.strip()
        if words and not words.lower().startswith(advice.title.lower()):
            message = TextView(mode="plain")
            message.setAccessibleName("The gateway's message")
            message.set_text(words[:4000])
            message.height_changed.connect(self.height_changed)
            layout.addWidget(message)
        facts = [
            f"{name} {value}"
            for name, value in (
                ("code", failure.code),
                ("type", failure.type),
                ("parameter", failure.param),
                ("limit:", limit_words(failure.dimension)),
                ("request", failure.request_id),
            )
            if value
        ]
        if facts:
            line = QLabel(" · ".join(facts)[:400], textFormat=Qt.TextFormat.PlainText, wordWrap=True)
            line.setProperty("kind", "small")
            layout.addWidget(line)
        if failure.retry_after is not None and "retry" in (actions or advice.actions):
            wait = QLabel(f"The gateway asks to wait {span(failure.retry_after)} before the next try.")
            wait.setProperty("kind", "muted")
            layout.addWidget(wait)
        remedy = QLabel(advice.remedy, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        remedy.setProperty("kind", "muted")
        layout.addWidget(remedy)
        row = QHBoxLayout()
        row.setContentsMargins(0, 6, 0, 0)
        row.setSpacing(6)
        actions = advice.actions if actions is None else actions
        self._buttons: dict[str, QPushButton] = {}
        for number, name in enumerate(actions):
            button = self._buttons[name] = QPushButton(LABELS[name])
            if not number:
                button.setProperty("kind", "primary")
            button.clicked.connect(partial(self.action_taken.emit, name))
            row.addWidget(button)
        self._wait = QLabel()
        self._wait.setProperty("kind", "muted")
        row.addWidget(self._wait)
        row.addStretch(1)
        layout.addLayout(row)
        self.setAccessibleName(f"Error: {advice.title}")

    def count_down(self, seconds: float, attempt: int, most: int) -> None:
        """Say when the next try begins, and which of how many it is."""
        self._wait.setText(f"next try in {countdown(seconds)} · {attempt + 1} of {most}")

    def paintEvent(self, event: QPaintEvent) -> None:
        t = tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(t.error))
        painter.setBrush(QColor(t.error_background))
        painter.drawRoundedRect(self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5), 7, 7)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.update()
