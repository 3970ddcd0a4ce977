"""Dialog that exports a conversation: its format, and the conversation in view or the whole tree."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QDialog,
    QLabel,
    QPushButton,
    QRadioButton,
    QWidget,
)

from playground.domain.transcript import Transcript
from playground.engine.files.export import FORMATS
from playground.jsonkit.texts import quantity
from playground.ui.widgets.form_parts import paragraph, styled, text_label
from playground.ui.widgets.layouts import Gap, in_column, in_row
from playground.ui.widgets.plain_text import show_hidden

INDENT = 26  # pixels from a radio button's edge to its words


@dataclass(frozen=True)
class ExportChoice:
    """Options of an export; ``to_clipboard`` copies it instead of writing a file."""

    format: str
    whole_tree: bool
    to_clipboard: bool = False


class ExportDialog(QDialog):
    """Choose a format and a scope; ``export_requested`` carries an ``ExportChoice``."""

    export_requested = Signal(object)

    def __init__(self, title: str, transcript: Transcript, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Export")
        heading = paragraph(show_hidden(title), "heading")
        self.formats = QButtonGroup(self)
        self.scopes = QButtonGroup(self)
        column = in_column(heading, Gap(4), _group("As"), parent=self, margins=(18, 14, 18, 14), spacing=6)
        for number, form in enumerate(FORMATS.values()):
            column.addWidget(_radio(self.formats, number, form.label, form.note, checked=number == 0))
            column.addWidget(_note(form.note))
        column.addSpacing(6)
        column.addWidget(_group("What"))
        turns, every = len(transcript.path), len(transcript.turns)
        ends = sum(1 for key in transcript.turns if not transcript.children(key))
        path_label = f"The conversation as shown, {quantity(turns, 'message')}"
        tree_label = f"The whole tree, {quantity(every, 'message')} on {quantity(ends, 'branch', 'branches')}"
        column.addWidget(_radio(self.scopes, 0, path_label, "", checked=True))
        tree_button = _radio(self.scopes, 1, tree_label, "", checked=False)
        tree_button.setEnabled(ends > 1)
        column.addWidget(tree_button)
        note = _note("The values of variables are put in. Keys are left out.", indent=0)
        self.copy_button = QPushButton("Copy", autoDefault=False)
        self.copy_button.setToolTip("Put the text on the clipboard")
        cancel = QPushButton("Cancel", autoDefault=False)
        self.export_button = styled(QPushButton("Export…", default=True), "primary")
        buttons = in_row(self.copy_button, 1, cancel, self.export_button, spacing=8)
        column.addSpacing(2)
        column.addWidget(note)
        column.addStretch(1)
        column.addSpacing(6)
        column.addLayout(buttons)
        self.setMinimumWidth(470)
        cancel.clicked.connect(self.reject)
        self.copy_button.clicked.connect(self._copy)
        self.export_button.clicked.connect(self._export)

    def choose(self, which: str, *, whole_tree: bool = False) -> None:
        """Select a format and a scope."""
        self.formats.button(list(FORMATS).index(which)).setChecked(True)
        self.scopes.button(1 if whole_tree else 0).setChecked(True)

    def _choice(self, *, to_clipboard: bool) -> ExportChoice:
        which = list(FORMATS)[self.formats.checkedId()]
        return ExportChoice(which, self.scopes.checkedId() == 1, to_clipboard)

    def _copy(self) -> None:
        self.export_requested.emit(self._choice(to_clipboard=True))
        self.accept()

    def _export(self) -> None:
        self.export_requested.emit(self._choice(to_clipboard=False))
        self.accept()


def _radio(group: QButtonGroup, number: int, words: str, description: str, *, checked: bool) -> QRadioButton:
    button = QRadioButton(words)
    button.setAccessibleDescription(description)
    button.setChecked(checked)
    group.addButton(button, number)
    return button


def _group(words: str) -> QLabel:
    return text_label(words, "group")


def _note(words: str, indent: int = INDENT) -> QLabel:
    label = text_label(words, "small")
    label.setContentsMargins(indent, 0, 0, 4)
    return label
