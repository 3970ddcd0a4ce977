"""Dialog that fills in the arguments of a tool: a form of its schema that begins with a sample, and its JSON."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QPushButton, QWidget

from playground.engine.questions.kinds import SampleOf
from playground.jsonkit.reading import read_typed
from playground.jsonkit.values import JSONObject
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.form_parts import look, push_button, styled, text_label
from playground.ui.widgets.json_text import pretty_value
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import shown_name
from playground.ui.widgets.rows.schema_form import SchemaForm
from playground.ui.widgets.scroll_page import DownArea
from playground.ui.widgets.widget_questions import WidgetQuestions

NO_SAMPLE: Final = "No sample was found for this schema. Fill in the values."
SIZE: Final = 560, 560  # pixels
JSON_HEIGHT: Final = 130


class ArgumentsDialog(QDialog):
    """The form and its JSON. ``taken`` carries the JSON after the button, which copies it if ``copies``."""

    taken = Signal(str)

    def __init__(self, name: str, schema: JSONObject | None, parent: QWidget, *, copies: bool, text: str = "") -> None:
        """Show the arguments in ``text``; without any, a sample is generated from the schema."""
        super().__init__(parent)
        self._schema: JSONObject = schema if schema is not None else {"type": "object", "properties": {}}
        self._copies = copies
        self._needs_sample = not text.strip()
        self._has_no_sample = False
        self.setWindowTitle(f"Arguments: {shown_name(name) or 'unnamed'}")
        self.setObjectName("argumentsDialog")
        self.form = SchemaForm(self._schema)
        self._questions = WidgetQuestions(self)
        self.text = CodeEditor(read_only=True)
        self.text.setAccessibleName("Arguments as JSON")
        self.text.setFixedHeight(JSON_HEIGHT)
        self.status = text_label("", "small", wrap=True)
        self.take_button = styled(QPushButton("Copy" if copies else "Use arguments"), "primary")
        cancel = push_button("Close")
        buttons = in_row((self.status, 1), cancel, self.take_button, spacing=8)
        in_column((DownArea(self.form), 1), self.text, buttons, parent=self, margins=14, spacing=10)
        window = parent.window()
        self.resize(min(SIZE[0], window.width() - 40), min(SIZE[1], window.height() - 60))
        self._questions.answered.connect(self._fill_in)
        self.form.changed.connect(self._update)
        self.form.checked.connect(self._update)
        self.take_button.clicked.connect(self.take)
        cancel.clicked.connect(self.reject)
        self.take_button.setDefault(True)
        self.take_button.setFocus()
        if not self._needs_sample:
            value = read_typed(text)
            self.form.set_value(value if isinstance(value, dict) else {})
        self._fill_in()

    def _fill_in(self) -> None:
        """Show the sample when it is ready."""
        if self._needs_sample and (sample := self._questions.ask(SampleOf(self._schema))) is not None:
            self._needs_sample, self._has_no_sample = False, not sample
            value = read_typed(sample) if sample else None
            self.form.set_value(value if isinstance(value, dict) else {})
        self._update()

    def _update(self) -> None:
        """Show the JSON and whether it is valid; invalid arguments can be used as well."""
        value, form = self.form.value, self.form
        text = pretty_value(value) if value is not None else ""
        if text != self.text.text():
            self.text.show_text(text)
        self.take_button.setEnabled(value is not None and not self._needs_sample)
        problem = ""
        if self._needs_sample:
            words = "Generating a sample…"
        elif value is None:
            words = problem = "Correct the marked fields."
        elif form.missing:
            problem = f"Required: {', '.join(shown_name(name) for name in form.missing[:5])}."
            words = f"{NO_SAMPLE} {problem}" if self._has_no_sample else problem
        elif not form.is_checked:
            words = "Checking…"
        else:
            words = "Valid" if form.is_valid else "Not valid"
            problem = "" if form.is_valid else words
        self.status.setText(words)
        look(self.status, "flag" if problem else "small")

    def take(self) -> None:
        """Copy the JSON or hand it to the caller, and close."""
        text = self.text.text()
        if self._copies:
            QGuiApplication.clipboard().setText(text)
        self.accept()
        self.taken.emit(text)
