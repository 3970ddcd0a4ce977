"""The field of every search."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QLineEdit, QWidget


class SearchField(QLineEdit):
    """A line to search with. Enter and Down go to the results: ``results_asked``.

    Escape empties the field. Only from an empty one does it close the list or dialog around it.
    """

    results_asked = Signal()

    def __init__(self, hint: str, name: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent, placeholderText=hint, clearButtonEnabled=True)
        self.setAccessibleName(name or hint.rstrip("…"))

    def event(self, event: QEvent) -> bool:
        """Take Escape while there is text, although the window has a shortcut on it."""
        if isinstance(event, QKeyEvent) and event.matches(QKeySequence.StandardKey.Cancel) and self.text():
            if event.type() == QEvent.Type.KeyPress:
                self.clear()
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter) and not (
            event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        ):
            self.results_asked.emit()
        else:
            super().keyPressEvent(event)
