"""Reasoning as a block of its own: open while it streams, folded to one line when the answer starts."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QPushButton, QSizePolicy, QWidget

from playground.ui.features.conversation.text_view import TextView
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.theme import tokens

ARROW = 20  # pixels of the head that its icon takes
EXCERPT = 300  # characters looked at for the folded line


class ReasoningView(QFrame):
    """Show reasoning: ``draw_growing_thinking`` while it streams, ``settle`` once it is complete.

    A fold or unfold by the user stays.
    """

    height_changed = Signal()

    def __init__(self, parent: QWidget | None = None, *, zoom: float = 1.0) -> None:
        super().__init__(parent)
        self._facts = ""
        self._chosen: bool | None = None  # open or folded by hand
        self._live = False
        self._drawn = 0
        self._head = styled(QPushButton(), "heading")
        self._head.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._head.clicked.connect(self._toggle)
        self._text = TextView(muted=True, zoom=zoom)
        self._text.setAccessibleName("Reasoning")
        self._text.height_changed.connect(self.height_changed)
        self._pending: list[str] = []
        self._start = ""  # the first characters, for the folded line
        self._column = in_column(self._head, self._text, of=self, margins=(6, 3, 10, 3), spacing=2)
        self._text.setContentsMargins(0, 0, 0, 0)
        self._refresh()

    @property
    def text_view(self) -> TextView:
        """The view of the text."""
        return self._text

    @property
    def source(self) -> str:
        """The reasoning received so far."""
        return self._text.source + "".join(self._pending)

    def draw_growing_thinking(self, fragments: Sequence[str], facts: str | None) -> None:
        """Show the fragments received so far; ``facts`` is None once the reasoning is complete."""
        fresh = fragments[self._drawn :]
        live = facts is not None
        if not fresh and live == self._live and (facts or "") == self._facts:
            return
        self._pending += fresh
        self._drawn = len(fragments)
        if len(self._start) < EXCERPT:
            self._start = (self._start + "".join(fresh))[:EXCERPT]
        self._live = live
        self._facts = facts or ""
        self._refresh()

    def settle(self, facts: str) -> None:
        """Finish the reasoning; ``facts`` is its duration and size in words."""
        if self._live or facts != self._facts:
            self._live = False
            self._facts = facts
            self._refresh()

    def set_text(self, text: str, facts: str) -> None:
        """Show reasoning that is whole."""
        if text != self.source:
            self._pending = []
            self._text.set_text("")
            self._pending = [text]
            self._start = text[:EXCERPT]
            self._live = True  # so that settling shows it
        self.settle(facts)

    @property
    def is_open(self) -> bool:
        """Return whether the text is shown."""
        return self._live if self._chosen is None else self._chosen

    @property
    def unread(self) -> bool:
        """Return whether there is text that is not in the text view yet."""
        return bool(self._pending)

    def unfold(self) -> None:
        """Show the text."""
        if not self.is_open:
            self._chosen = True
            self._refresh()

    def _toggle(self) -> None:
        self._chosen = not self.is_open
        self._refresh()

    def _refresh(self) -> None:
        is_open = self.is_open
        if is_open and self._pending:
            self._text.append("".join(self._pending))
            self._pending = []
        self._text.setVisible(is_open)
        self._word_head()
        self._head.setIcon(icon("chevron-down" if is_open else "chevron-right", "muted"))
        self._head.setAccessibleName("Reasoning, shown" if is_open else "Reasoning, folded")
        self._head.setToolTip("Fold" if is_open else "Show the reasoning")
        self._column.activate()  # Qt would tell the card a turn of the loop later; it stood too high till then
        self.height_changed.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._head.setMaximumWidth(max(self.width() - 16, 50))
        self._word_head()

    def _word_head(self) -> None:
        is_open = self.is_open
        facts = f" · {self._facts}" if self._facts else ""
        words = f"Reasoning{'…' if self._live else ''}{facts}"
        if not is_open:
            excerpt = " ".join(self._start.split())
            words += f" — {excerpt}" if excerpt else ""
        room = max(self.width() - 40 - ARROW, 120)
        self._head.setText(self._head.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, room))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens().reasoning_background))
        painter.drawRoundedRect(self.rect(), 6, 6)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.update()
