"""The lower half of the Listen page: the selected exchange in an inspector, or the panel of its pause."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QWidget

from playground.ui.features.inspector.body_pane import BodyPane
from playground.ui.features.inspector.inspector import Inspector
from playground.ui.features.inspector.traces import Traces
from playground.ui.features.inspector.view import ExchangeView
from playground.ui.features.listen import texts
from playground.ui.features.listen.exchange_rows import prefix_words
from playground.ui.features.listen.pause_panel import PausePanel
from playground.ui.widgets.dialogs import fit_to_window
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import push_button, styled, thin_line
from playground.ui.widgets.layouts import in_column, in_pages, in_row
from playground.ui.widgets.page_parts import empty_words
from playground.ui.widgets.plain_text import show_hidden

if TYPE_CHECKING:
    from playground.engine.listen.exchanges import Listened
    from playground.engine.session.session import Exchange
    from playground.ui.features.listen.exchange_rows import ExchangeRow

BODY_SIZE: Final = 760, 560  # pixels
LEAST_HEIGHT: Final = 150


class BodyDialog(QDialog):
    """A window that shows one body."""

    def __init__(self, title: str, body: bytes, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self.pane = BodyPane(title, "")
        close = push_button("Close")
        close.clicked.connect(self.accept)
        in_column(
            (self.pane, 1),
            thin_line(),
            in_row(1, close, margins=(12, 8, 12, 8)),
            parent=self,
            margins=0,
            spacing=0,
        )
        fit_to_window(self, *BODY_SIZE)
        self.pane.show_body(body, laid_out=True)


class Detail(QWidget):
    """Shows one exchange. ``exchange_asked`` carries the id of another exchange chosen in the inspector's menu."""

    exchange_asked = Signal(str)

    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__()
        self._redact = redact
        self._traces = Traces()
        self._listened: Listened | None = None
        self.setObjectName("listenDetail")
        styled(self, "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumHeight(LEAST_HEIGHT)
        self.pause = PausePanel()
        self.notes = ElidedLabel("Notes", colour="text", elide=Qt.TextElideMode.ElideRight)
        self.notes.setObjectName("listenNotes")
        self.original = push_button("Original request…", "link")
        self.original.setToolTip("The request as the program sent it")
        self.sent = push_button("Answer as sent…", "link")
        self.sent.setToolTip("The answer as the program got it")
        self.original.clicked.connect(self._show_original)
        self.sent.clicked.connect(self._show_sent)
        self._line = QWidget()
        in_row((self.notes, 1), self.original, self.sent, parent=self._line, margins=(12, 5, 12, 5), spacing=8)
        self.inspector = Inspector(self, sent_only=True)
        self.inspector.setObjectName("listenInspector")
        self.inspector.status.exchange_chosen.connect(self.exchange_asked)
        self._empty = empty_words(texts.SELECT)
        self._content = QWidget()
        in_column(self.pause, self._line, (self.inspector, 1), parent=self._content, margins=0, spacing=0)
        self._pages = in_pages(self._empty, self._content)
        in_column((self._pages, 1), parent=self, margins=0)
        self.pause.inspect_asked.connect(self._show_parts)
        self.clear()

    @property
    def traces(self) -> Traces:
        """The events of the exchanges that were shown last."""
        return self._traces

    def clear(self, words: str = texts.SELECT) -> None:
        """Show a sentence instead of an exchange."""
        self._listened = None
        self.pause.clear()
        self._empty.setText(show_hidden(words))
        self._pages.setCurrentWidget(self._empty)

    def show_exchange(self, row: ExchangeRow, exchange: Exchange, listened: Listened | None) -> None:
        """Show an exchange, or its newest state. ``listened`` is None for one of a recording."""
        self._listened = listened
        self.inspector.set_exchange(
            ExchangeView(exchange, self._traces.trace_of, siblings=(exchange,), redact=self._redact)
        )
        words = [f"Edited: {change}" for change in row.summary.changes]
        words += row.summary.notes
        if row.summary.extends or row.summary.broken_at is not None:
            words.append(prefix_words(row.summary))
        about = f"#{row.summary.number}"
        self.notes.set_text(show_hidden(" · ".join([about, *words])))
        self.original.setVisible(listened is not None and bool(listened.original_request))
        self.sent.setVisible(listened is not None and bool(listened.sent_answer))
        self._pages.setCurrentWidget(self._content)
        if listened is not None and listened.pause is not None:
            self.pause.show_pause(listened)
        else:
            self.pause.clear()
        self._show_parts(self.pause.pause is None or not self.pause.editors.isVisibleTo(self.pause))

    def _show_parts(self, inspect: bool) -> None:
        """Show the inspector, or the editors of a pause in its place."""
        is_paused = self.pause.pause is not None
        self.pause.setVisible(is_paused)
        layout = self._content.layout()
        if layout is not None:
            layout.setStretchFactor(self.pause, 0 if inspect else 1)  # type: ignore[attr-defined]
        for part in (self._line, self.inspector):
            part.setVisible(inspect or not is_paused)

    def _show_original(self) -> None:
        if self._listened is not None:
            BodyDialog("Original request", self._listened.original_request, self.window()).open()

    def _show_sent(self) -> None:
        if self._listened is not None:
            BodyDialog("Answer as sent", self._listened.sent_answer, self.window()).open()
