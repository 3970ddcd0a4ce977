"""A field for a JSONPath, checked while it is typed: why it cannot be read, or what it finds in the latest call."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QLineEdit, QSizePolicy, QVBoxLayout, QWidget

from playground.domain.debugging import path_matches, path_problem
from playground.ui.parameters.fields import look
from playground.ui.plain_text import show_hidden
from playground.ui.theme import code_font

EXAMPLE = "$[?@.city == 'Oslo']"


class PathField(QWidget):
    """``edited`` tells each text typed, readable or not. Empty is no problem: it is up to its owner what that means."""

    edited = Signal(str)

    def __init__(self, says: str, placeholder: str = EXAMPLE) -> None:
        super().__init__()
        self._latest: str | None = None
        self.line = QLineEdit()
        self.line.setFont(code_font())
        self.line.setProperty("kind", "field")
        self.line.setPlaceholderText(placeholder)
        self.line.setAccessibleName(says)
        self.line.setMaxLength(10_000)
        self.said = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.said.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.said.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.line)
        column.addWidget(self.said)
        self.setFocusProxy(self.line)
        self.line.textEdited.connect(self._typed)

    def show_path(self, path: str, latest: str | None = None) -> None:
        """Show a path, and whether it selects something in ``latest``, the raw arguments of a call."""
        self._latest = latest
        if path != self.line.text():
            self.line.setText(path)
        self._judge()

    def _typed(self, text: str) -> None:
        self._judge()
        self.edited.emit(text)

    def _judge(self) -> None:
        text = self.line.text()
        problem = path_problem(text) if text else ""
        words = f"Not a JSONPath: {show_hidden(problem)}" if problem else ""
        if text and not problem and self._latest is not None:
            words = (
                "Matches the latest call." if path_matches(text, self._latest) else "Does not match the latest call."
            )
        self.said.setText(words)
        self.said.setVisible(bool(words))
        look(self.said, "flag-error" if problem else "small")
        look(self.line, "true" if problem else "false", "bad")
        self.line.setAccessibleDescription(words)
