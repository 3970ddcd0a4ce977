"""A failure, in the turn it belongs to: what happened, the gateway's own words, what to do, a button that does it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from playground.domain.durations import countdown, span
from playground.domain.errors import Failure
from playground.engine.advice import RETRY, Action, advise, headline, limit_words, own_words
from playground.ui.features.conversation.error_frame import ErrorFrame
from playground.ui.features.conversation.text_view import TextView
from playground.ui.widgets.flow_layout import FlowLayout


class ErrorCard(ErrorFrame):
    """``action_taken`` carries the ``Action`` chosen; ``actions`` are those advised unless given.

    ``streamed`` says whether streaming was on, where the failure does not know it; ``arrived`` whether any of the
    answer stands above the card.
    """

    action_taken = Signal(object)
    height_changed = Signal()

    def __init__(
        self,
        failure: Failure,
        *,
        streamed: bool | None,
        arrived: bool,
        actions: tuple[Action, ...] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.failure = failure
        advice = advise(failure, streamed=streamed, arrived=arrived)
        title = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        title.setText(headline(failure, advice))
        title.setProperty("kind", "error")
        font = title.font()
        font.setBold(True)
        title.setFont(font)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 10, 12, 10)
        layout.setSpacing(4)
        layout.addWidget(title)
        if words := own_words(failure, advice):
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
        actions = advice.actions if actions is None else actions
        if failure.retry_after is not None and RETRY in actions:
            wait = QLabel(f"The gateway asks to wait {span(failure.retry_after)} before the next try.")
            wait.setProperty("kind", "muted")
            layout.addWidget(wait)
        self._remedy = QLabel(advice.remedy, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self._remedy.setProperty("kind", "muted")
        layout.addWidget(self._remedy)
        row = QWidget()
        flow = FlowLayout(row, 6)
        for number, action in enumerate(actions):
            button = QPushButton(action.label)
            if not number:
                button.setProperty("kind", "primary")
            button.clicked.connect(partial(self.action_taken.emit, action))
            flow.addWidget(button)
        self._wait = QLabel()
        self._wait.setProperty("kind", "muted")
        flow.addWidget(self._wait)
        layout.addSpacing(6)
        layout.addWidget(row)
        self.setAccessibleName(f"Error: {advice.title}")

    def stay_open(self) -> None:
        """Say that more may come; it is too early for a remedy."""
        self._remedy.setText("The connection is still open: what else comes is read.")

    def count_down(self, seconds: float, attempt: int, most: int) -> None:
        """Say when the next try begins, and which of how many it is."""
        self._wait.setText(f"next try in {countdown(seconds)} · {attempt + 1} of {most}")
