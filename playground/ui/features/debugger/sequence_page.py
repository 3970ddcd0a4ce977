"""The Sequence tab's page: the picture, its sum in a line, and the zoom. It reads the session and tells it nothing."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton, QWidget

from playground.engine.inspect.calls import Span, read_sequence
from playground.engine.session.changes import PathChanged, RunState, RunStateChanged, SettingsChanged, TurnChanged
from playground.engine.session.session import Session
from playground.ui.features.debugger.sequence_view import SequenceView
from playground.ui.features.debugger.sequence_words import summary
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import in_column, in_row, stacked
from playground.ui.widgets.page_parts import empty_words
from playground.ui.widgets.plain_text import tip
from playground.ui.widgets.session_page import SessionPage

MOST_REQUESTS = 300  # the newest ones; more is no picture any more
EMPTY = "No run yet. Requests, calls and their answers stand here as they follow one another in time."


class SequencePage(SessionPage):
    """``card_asked`` carries a turn id and a call id, which may be empty."""

    FOLLOWED = (PathChanged, TurnChanged, RunStateChanged, SettingsChanged)
    card_asked = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.view = SequenceView()
        self.said = ElidedLabel("Sequence", elide=Qt.TextElideMode.ElideRight)
        self.smaller = IconButton("minus", "Show more time (Ctrl+wheel)")
        self.usual = styled(QPushButton("100 %"), "quiet")
        self.usual.setAccessibleName("Back to the usual zoom")
        self.usual.setToolTip(tip("Back to the usual zoom"))
        self.larger = IconButton("plus", "Show less time (Ctrl+wheel)")
        self.copy_button = styled(QPushButton("Copy as text"), "quiet")
        self.empty = empty_words(EMPTY)
        self._stack = stacked(self.empty, self.view)
        bar = in_row((self.said, 1), margins=(12, 4, 12, 4), spacing=4)
        for widget in (self.smaller, self.usual, self.larger, self.copy_button):
            bar.addWidget(widget)
        in_column(bar, (self._stack, 1), of=self, margins=0, spacing=0)
        self.smaller.clicked.connect(partial(self._zoom, -1))
        self.usual.clicked.connect(partial(self._zoom, 0))
        self.larger.clicked.connect(partial(self._zoom, 1))
        self.copy_button.clicked.connect(self._copy)
        self.view.zoomed.connect(self._zoomed)
        self.view.chosen.connect(self._chosen)
        self._show([], 0)

    def _begin(self, session: Session) -> None:
        self._show([], 0)

    def _read(self) -> Iterator[None]:
        session = self._session
        if session is None:
            return
        self._stale = False
        newest: deque[list[Span]] = deque(maxlen=MOST_REQUESTS)
        count = 0
        for spans in read_sequence(session):
            if spans:
                newest.append(spans)
                count += 1
            yield
        shown = sorted((span for spans in newest for span in spans), key=lambda span: span.start)
        self._show(shown, count)

    def _show(self, spans: list[Span], requests: int) -> None:
        self.view.set_spans(spans)
        self._stack.setCurrentWidget(self.view if spans else self.empty)
        words = [summary(spans)] if spans else []
        if requests > MOST_REQUESTS:
            words.insert(0, f"the last {MOST_REQUESTS} of {requests:,} requests")
        if self._session is not None and self._session.state is not RunState.IDLE:
            words.append("a request is under way")
        self.said.set_text(" · ".join(words))
        for button in (self.smaller, self.usual, self.larger, self.copy_button):
            button.setEnabled(bool(spans))

    def _zoom(self, step: int, _checked: bool = False) -> None:
        self.view.step_zoom(step)

    def _zoomed(self) -> None:
        self.usual.setText(f"{self.view.zoom:.0%}".replace("%", " %"))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.view.text())

    def _chosen(self, span: Span) -> None:
        self.card_asked.emit(span.turn_id, span.call_id)
