"""A text field that is as tall as its text."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QMetaMethod, QMimeData, Qt, Signal, SignalInstance
from PySide6.QtGui import QFont, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QWidget

from playground.ui.widgets.exact_field import ExactField
from playground.ui.widgets.form_parts import press_default_button
from playground.ui.widgets.theme import body_font, code_font

ROOMY, COMPACT = 20, 12  # pixels above and below the lines: padding, border and the document's own margin


#: Returns whether it accepts pasted or dropped data; with True it takes the data.
Elsewhere = Callable[[QMimeData, bool], bool]


class GrowingField(ExactField):
    """A field as tall as its text, up to ``most`` lines; Ctrl+Enter submits, Escape cancels.

    If nothing is connected to ``submitted``, Ctrl+Enter presses the default button of the dialog; if nothing is
    connected to ``cancelled``, Escape goes on to the dialog or window.
    """

    submitted = Signal()
    cancelled = Signal()
    height_changed = Signal()

    def __init__(
        self, *, code: bool = False, most: int = 16, compact: bool = False, parent: QWidget | None = None
    ) -> None:
        """Create a field; with ``compact``, one line is as tall as a line edit."""
        super().__init__(parent)
        self.elsewhere: Elsewhere | None = None  # takes pasted or dropped data before it is inserted as text
        self._most = most
        self._padding = COMPACT if compact else ROOMY
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
        height = min(max(lines, 1), self._most) * self.fontMetrics().lineSpacing() + self._padding
        if height != self.height() or self.minimumHeight() != height:
            self.setFixedHeight(height)
            self.height_changed.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()  # lines wrap differently now

    def event(self, event: QEvent) -> bool:
        """Take the keys of this field before shortcuts of the window."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            keys = event.modifiers()
            submits = self._connected(self.submitted) if keys & Qt.KeyboardModifier.ControlModifier else True
            if (enter and submits and not keys & Qt.KeyboardModifier.AltModifier) or self._cancels(event):
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            if self._connected(self.submitted):
                self.submitted.emit()
            elif not press_default_button(self):
                super().keyPressEvent(event)
        elif self._cancels(event):
            self.cancelled.emit()
        else:
            super().keyPressEvent(event)

    def _cancels(self, event: QKeyEvent) -> bool:
        return event.matches(QKeySequence.StandardKey.Cancel) and self._connected(self.cancelled)

    def _connected(self, signal: SignalInstance) -> bool:
        return self.isSignalConnected(QMetaMethod.fromSignal(signal))
