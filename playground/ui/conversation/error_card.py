"""A failure, in the turn it belongs to: what happened, the gateway's own words, what to do, a button that does it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from playground.domain.errors import Failure
from playground.engine.advice import LABELS, advise
from playground.ui.conversation.text_view import TextView
from playground.ui.theme import tokens


class ErrorCard(QFrame):
    """``action_taken`` carries the name of the action chosen (``playground.engine.advice``)."""

    action_taken = Signal(str)
    height_changed = Signal()

    def __init__(self, failure: Failure, *, streamed: bool, retriable: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        advice = advise(failure, streamed=streamed)
        title = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        title.setText(advice.title + (f" · {failure.status}" if failure.status else ""))
        title.setProperty("kind", "error")
        font = title.font()
        font.setBold(True)
        title.setFont(font)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 10, 12, 10)
        layout.setSpacing(6)
        layout.addWidget(title)
        words = failure.message.strip()
        if words and words.lower() != advice.title.lower():
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
                ("limit", failure.dimension),
                ("request", failure.request_id),
            )
            if value
        ]
        if facts:
            line = QLabel(" · ".join(facts)[:400], textFormat=Qt.TextFormat.PlainText, wordWrap=True)
            line.setProperty("kind", "small")
            layout.addWidget(line)
        remedy = QLabel(advice.remedy, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        remedy.setProperty("kind", "muted")
        layout.addWidget(remedy)
        row = QHBoxLayout()
        row.setSpacing(6)
        actions = [name for name in advice.actions if retriable or name not in ("retry", "stream_on")]
        for number, name in enumerate(actions):
            button = QPushButton(LABELS[name])
            if not number:
                button.setProperty("kind", "primary")
            button.clicked.connect(partial(self.action_taken.emit, name))
            row.addWidget(button)
        row.addStretch(1)
        if actions:
            layout.addLayout(row)
        self.setAccessibleName(f"Error: {advice.title}")

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
