"""A line that opens to a text."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QLayout, QPushButton, QSizePolicy, QWidget

from playground.ui.features.conversation.text_view import TextView
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import in_column, in_row

ARROW = 44  # pixels of the head that its icon and its margins take
GAP = 4
MIN_HEAD = 120  # pixels


class Fold(QFrame):
    """A line that opens to a text. The text is written into its view when the fold first opens.

    `open_controls` are shown next to the line while the fold is open. `head_row` replaces the row of the line and them.
    """

    height_changed = Signal()

    def __init__(
        self,
        *open_controls: QWidget,
        mode: str = "raw",
        zoom: float = 1.0,
        muted: bool = True,
        margins: int | tuple[int, int, int, int] = 0,
        head: QPushButton | None = None,
        head_row: QWidget | QLayout | None = None,
    ) -> None:
        super().__init__()
        self._words = self._name = ""
        self._elide = Qt.TextElideMode.ElideRight
        self._open = False
        self._unread: list[str] = []  # text that is not in the view yet
        self._controls = open_controls
        self.head = head or styled(QPushButton(), "heading")
        if head is None:
            self.head.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.head.clicked.connect(lambda: self.set_open(not self.is_open))
        self.text_view = TextView(mode=mode, muted=muted, zoom=zoom)
        self.text_view.height_changed.connect(self.height_changed)
        row = head_row or in_row((self.head, 1), *open_controls, margins=0, spacing=GAP)
        self._column = in_column(row, self.text_view, parent=self, margins=margins, spacing=2)

    @property
    def is_open(self) -> bool:
        """Return whether the text is shown."""
        return self._open

    @property
    def source(self) -> str:
        """The whole text, drawn or not."""
        return self.text_view.source + "".join(self._unread)

    @property
    def unread(self) -> bool:
        """Return whether there is text that is not in the text view yet."""
        return bool(self._unread)

    def set_open(self, is_open: bool) -> None:
        """Show or hide the text."""
        self._open = is_open
        self.refresh()

    def unfold(self) -> None:
        """Show the text."""
        if not self.is_open:
            self.set_open(True)

    def set_source(self, text: str) -> None:
        """Replace the text."""
        if text != self.source:
            self.text_view.set_text("")
            self._unread = [text] if text else []

    def set_words(self, words: str, name: str = "") -> None:
        """Set the words of the line, and the name that screen readers say before "shown" or "folded"."""
        self._words, self._name = words, name or words

    def draw_text(self) -> None:
        """Put the unread text into the view."""
        self.text_view.append("".join(self._unread))
        self._unread = []

    def refresh(self) -> None:
        """Show the current state."""
        is_open = self.is_open
        if is_open and self._unread:
            self.draw_text()
        self.text_view.setVisible(is_open)
        for control in self._controls:
            control.setVisible(is_open)
        self.head.setIcon(icon("chevron-down" if is_open else "chevron-right", "muted"))
        self.head.setAccessibleName(f"{self._name}, {'shown' if is_open else 'folded'}")
        self._show_words()
        self._column.activate()  # at once: Qt would tell the card only in the next turn of the event loop
        self.height_changed.emit()

    def _show_words(self) -> None:
        if self.head.sizePolicy().horizontalPolicy() != QSizePolicy.Policy.Ignored:
            self.head.setText(self._words)
            return
        margins = self._column.contentsMargins()
        used = ARROW + margins.left() + margins.right()
        used += sum(control.sizeHint().width() + GAP for control in self._controls if self.is_open)
        room = max(self.contentsRect().width() - used, MIN_HEAD)
        self.head.setText(self.head.fontMetrics().elidedText(self._words, self._elide, room))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_words()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_column"):
            self.refresh()
