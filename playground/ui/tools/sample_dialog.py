"""An example of the arguments a tool can be called with, made from its schema."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from playground.domain.tools import ToolDefinition, check_arguments
from playground.ui.code_editor import CodeEditor
from playground.ui.plain_text import show_hidden


class SampleDialog(QDialog):
    """The example, whether it fits the schema, and a button that copies it."""

    def __init__(self, tool: ToolDefinition, parent: QWidget) -> None:
        super().__init__(parent)
        from playground.domain.schema_sample import sample_text

        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(f"Sample arguments: {show_hidden(tool.name) or 'unnamed'}")
        self._text = sample_text(tool.parameters if tool.parameters is not None else {"type": "object"})
        self.text = CodeEditor(read_only=True)
        self.text.setAccessibleName("Sample arguments")
        self.text.show_text(self._text)
        wrong = check_arguments(self._text, tool.parameters)
        self.verdict = QLabel("Made from the schema; it fits." if not wrong else f"Does not fit: {wrong[0].message}")
        self.verdict.setTextFormat(Qt.TextFormat.PlainText)
        self.verdict.setWordWrap(True)
        self.verdict.setProperty("kind", "small" if not wrong else "flag")
        self.copy_button = QPushButton("Copy")
        self.copy_button.setProperty("kind", "primary")
        close = QPushButton("Close")
        self.copy_button.clicked.connect(self.copy)
        close.clicked.connect(self.accept)
        buttons = QHBoxLayout()
        buttons.addWidget(self.verdict, 1)
        buttons.addWidget(close)
        buttons.addWidget(self.copy_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 12, 12, 12)
        column.setSpacing(8)
        column.addWidget(self.text, 1)
        column.addLayout(buttons)
        self.resize(480, 360)
        self.copy_button.setDefault(True)
        self.copy_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def copy(self) -> None:
        """Put the example on the clipboard and close."""
        QGuiApplication.clipboard().setText(self._text)
        self.accept()
