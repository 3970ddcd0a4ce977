"""A field that is as tall as what is typed into it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QWidget

from playground.ui.widgets.exact_field import ExactField
from playground.ui.widgets.theme import body_font, code_font

ROOMY, COMPACT = 20, 12  # pixels above and below the lines: padding, border and the document's own margin


#: Is given what is pasted or dropped: whether it is taken, and with True it is.
Elsewhere = Callable[[QMimeData, bool], bool]


class GrowingField(ExactField):
    """A field as tall as its text, up to ``most`` lines; Ctrl+Enter submits, Escape cancels."""

    submitted = Signal()
    cancelled = Signal()
    height_changed = Signal()

    def __init__(
        self, *, code: bool = False, most: int = 16, compact: bool = False, parent: QWidget | None = None
    ) -> None:
        """``compact`` is as low as the fields of one line."""
        super().__init__(parent)
        self.elsewhere: Elsewhere | None = None  # who takes what is pasted or dropped, before it is taken as text
        self._most = most
        self._around = COMPACT if compact else ROOMY
        if compact:
            self.document().setDocumentMargin(0)
        font: QFont = code_font() if code else body_font()
        self.setFont(font)
        if code:
            self.setProperty("kind", "code")
        self.setTabChangesFocus(True)
        self.textChanged.connect(self._fit)
        self._fit()

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return (self.elsewhere is not None and self.elsewhere(source, False)) or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        if self.elsewhere is None or not self.elsewhere(source, True):
            super().insertFromMimeData(source)

    def _fit(self) -> None:
        lines = 0
        block = self.document().firstBlock()
        while block.isValid() and lines < self._most:
            lines += max(block.lineCount(), 1)
            block = block.next()
        height = min(max(lines, 1), self._most) * self.fontMetrics().lineSpacing() + self._around
        if height != self.height() or self.minimumHeight() != height:
            self.setFixedHeight(height)
            self.height_changed.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()  # lines wrap differently now

    def event(self, event: QEvent) -> bool:
        """The keys used here come here, although the window has shortcuts on them."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            alt = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)  # with it the window's own keys
            if (enter and not alt) or event.matches(QKeySequence.StandardKey.Cancel):
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.submitted.emit()
        elif event.matches(QKeySequence.StandardKey.Cancel):
            self.cancelled.emit()
        else:
            super().keyPressEvent(event)
