"""The field for searches."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QLineEdit, QToolButton, QWidget


class SearchField(QLineEdit):
    """A search field. Enter and Down emit ``results_asked``, to move the focus to the results.

    Escape clears the field; in an empty field it goes on to the list or dialog.
    """

    results_asked = Signal()

    def __init__(self, hint: str, name: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent, placeholderText=hint, clearButtonEnabled=True)
        self.setAccessibleName(name or hint.rstrip("…"))
        for button in self.findChildren(QToolButton):
            button.setAccessibleName("Clear the search")

    def event(self, event: QEvent) -> bool:
        """Take Escape while there is text, before a shortcut of the window."""
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
