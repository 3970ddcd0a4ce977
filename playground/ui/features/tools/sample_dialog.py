"""Dialog with sample arguments of a tool, generated from its schema."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QLabel, QPushButton, QWidget

from playground.domain.tools import ToolDefinition
from playground.engine.questions.kinds import ArgumentsFit, SampleOf
from playground.jsonkit.problems import not_checked
from playground.jsonkit.values import JSONObject
from playground.ui.widgets.asking import Asking
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.form_parts import look, styled
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import shown_name

NO_SAMPLE: Final = "No sample: no value was found that fits this schema. Write one by hand."
_NO_SCHEMA: Final[JSONObject] = {"type": "object"}


class SampleDialog(QDialog):
    """Sample arguments, whether they are valid, and a button that copies them."""

    def __init__(self, tool: ToolDefinition, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(f"Sample arguments: {shown_name(tool.name) or 'unnamed'}")
        self._schema = tool.parameters if tool.parameters is not None else _NO_SCHEMA
        self._text = ""
        self._asking = Asking(self)
        self._asking.answered.connect(self._update)
        self.text = CodeEditor(read_only=True)
        self.text.setAccessibleName("Sample arguments")
        self.verdict = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.copy_button = styled(QPushButton("Copy"), "primary")
        close = QPushButton("Close")
        self.copy_button.clicked.connect(self.copy)
        close.clicked.connect(self.accept)
        buttons = in_row((self.verdict, 1), close, self.copy_button)
        in_column((self.text, 1), buttons, of=self, margins=12, spacing=8)
        self.resize(480, 360)
        self.copy_button.setDefault(True)
        self.copy_button.setFocus(Qt.FocusReason.OtherFocusReason)
        self._update()

    def _update(self) -> None:
        """Show the sample when it is ready, and whether it is valid when that has been checked."""
        sample = self._asking.ask(SampleOf(self._schema))
        self.copy_button.setEnabled(bool(sample))
        if not sample:
            self.verdict.setText(NO_SAMPLE if sample is not None else "An example is being made…")
            look(self.verdict, "flag" if sample is not None else "small")
            return
        if sample != self._text:
            self._text = sample
            self.text.show_text(sample)
        problems = self._asking.ask(ArgumentsFit(sample, self._schema))
        if problems is None:
            words = "Made from the schema; checking…"
        elif unknown := not_checked(problems):
            words = f"Made from the schema; {unknown.message}"
        else:
            words = f"Does not fit: {problems[0].message}" if problems else "Made from the schema; it fits."
        self.verdict.setText(words)
        look(self.verdict, "flag" if problems else "small")

    def copy(self) -> None:
        """Copy the sample to the clipboard and close."""
        QGuiApplication.clipboard().setText(self._text)
        self.accept()
