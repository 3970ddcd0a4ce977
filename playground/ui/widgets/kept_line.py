"""A line of text with a saved value: Escape reverts to it, and a click selects all."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QLineEdit


class KeptLine(QLineEdit):
    """A line that emits ``given_up`` on Escape while its text differs from ``saved``."""

    given_up = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.saved = ""
        self._clicked_into = False

    def event(self, event: QEvent) -> bool:
        """Take Escape while the text differs from ``saved``, before a shortcut of the window."""
        if (
            isinstance(event, QKeyEvent)
            and event.matches(QKeySequence.StandardKey.Cancel)
            and self.text() != self.saved
        ):
            if event.type() == QEvent.Type.KeyPress:
                self.given_up.emit()
            event.accept()
            return True
        return super().event(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        reason = event.reason()
        self._clicked_into = reason is Qt.FocusReason.MouseFocusReason
        if reason in (Qt.FocusReason.OtherFocusReason, Qt.FocusReason.ShortcutFocusReason):
            self.selectAll()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if self._clicked_into and not self.hasSelectedText():
            self.selectAll()
        self._clicked_into = False
