"""An editor for the texts and tool calls of an answer: calls can be edited, dropped and added."""

from __future__ import annotations

from functools import partial
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from playground.engine.listen.answer_parts import AnswerParts, EditedCall
from playground.jsonkit.reading import problem_at
from playground.ui.widgets.form_parts import push_button, styled, text_label
from playground.ui.widgets.json_field import JsonField
from playground.ui.widgets.layouts import discard, in_column, in_row
from playground.ui.widgets.scroll_page import ScrollPage

TEXT_HEIGHT: Final = 76  # pixels


class CallFields(QWidget):
    """The name and the arguments of one call."""

    edited = Signal()
    drop_asked = Signal()

    def __init__(self, call: EditedCall, number: int) -> None:
        super().__init__()
        self._place, self._is_free_text = call.place, call.free_text
        styled(self, "card")
        self.name = styled(QLineEdit(call.name), "field")
        self.name.setAccessibleName(f"Tool name of call {number}")
        self.name.setPlaceholderText("Name of the tool")
        self.drop = push_button("Drop")
        self.drop.setAccessibleName(f"Drop call {number}")
        self.drop.setToolTip("The program does not get this call")
        self.arguments = JsonField(f"Arguments of call {number}", root="arguments")
        self.arguments.set_text(call.arguments)
        head = in_row((self.name, 1), self.drop, spacing=8)
        in_column(head, self.arguments, parent=self, margins=(0, 0, 0, 8), spacing=6)
        self.name.textChanged.connect(self.edited)
        self.arguments.edited.connect(self.edited)
        self.drop.clicked.connect(self.drop_asked)

    @property
    def call(self) -> EditedCall:
        """The call as edited."""
        return EditedCall(self.name.text().strip(), self.arguments.text, self._place, self._is_free_text)

    @property
    def problem(self) -> str:
        """The reason why the call cannot be sent; empty if it can."""
        if not self.name.text().strip():
            return "A call needs the name of a tool."
        if not self._is_free_text and self.arguments.text.strip() and problem_at(self.arguments.text) is not None:
            return f"The arguments of {self.name.text().strip()} are not valid JSON."
        return ""


class ReplyEditor(ScrollPage):
    """The editor. ``edited`` is emitted after every change by a person."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._fields: list[CallFields] = []
        self._texts: list[QPlainTextEdit] = []
        column = self.fill(10)
        self.add = push_button("Add a tool call")
        self._text_title = text_label("Text of the answer", "group")
        self._text_rows = in_column(self._text_title, margins=0, spacing=6)
        self._call_rows = in_column(margins=0, spacing=10)
        column.addLayout(self._text_rows)
        column.addLayout(self._call_rows)
        column.addLayout(in_row(self.add, 1))
        column.addStretch(1)
        self.add.clicked.connect(self._add_empty)

    def set_parts(self, parts: AnswerParts) -> None:
        """Show the texts and calls of an answer."""
        discard(self._text_rows, *self._texts)
        discard(self._call_rows, *self._fields)
        self._texts, self._fields = [], []
        for number, text in enumerate(parts.texts, 1):
            self._append_text(text, number)
        self._text_title.setVisible(bool(self._texts))
        for call in parts.calls:
            self._append(call)

    @property
    def calls(self) -> tuple[CallFields, ...]:
        """The fields of the calls."""
        return tuple(self._fields)

    @property
    def texts(self) -> tuple[QPlainTextEdit, ...]:
        """The fields of the texts."""
        return tuple(self._texts)

    @property
    def parts(self) -> AnswerParts:
        """The answer as edited."""
        texts = tuple(field.toPlainText() for field in self._texts)
        return AnswerParts(texts, tuple(fields.call for fields in self._fields))

    @property
    def problem(self) -> str:
        """The reason why it cannot be sent; empty if it can."""
        return next((fields.problem for fields in self._fields if fields.problem), "")

    def _append_text(self, text: str, number: int) -> None:
        field = styled(QPlainTextEdit(), "field")
        field.setPlainText(text)
        field.setAccessibleName("Text of the answer" if number == 1 else f"Text {number} of the answer")
        field.setFixedHeight(TEXT_HEIGHT)
        field.setTabChangesFocus(True)
        field.textChanged.connect(self.edited)
        self._texts.append(field)
        self._text_rows.addWidget(field)

    def _add_empty(self) -> None:
        self._append(EditedCall("", "{}")).name.setFocus()
        self.edited.emit()

    def _append(self, call: EditedCall) -> CallFields:
        fields = CallFields(call, len(self._fields) + 1)
        self._fields.append(fields)
        self._call_rows.addWidget(fields)
        fields.edited.connect(self.edited)
        fields.drop_asked.connect(partial(self._drop, fields))
        return fields

    def _drop(self, fields: CallFields) -> None:
        self._fields.remove(fields)
        discard(self._call_rows, fields)
        self.edited.emit()
