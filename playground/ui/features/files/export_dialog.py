"""What to export and how: a format, and the conversation that is shown or the whole tree."""

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
from playground.engine.files.export import HTML, MARKDOWN
from playground.engine.requests.protocol_info import TITLES
from playground.ui.widgets.form_parts import paragraph, styled, text_label
from playground.ui.widgets.layouts import Gap, in_column, in_row
from playground.ui.widgets.plain_text import show_hidden

FORMATS = (
    (MARKDOWN, "Markdown", "Headings and text, to read and to paste elsewhere"),
    (HTML, "HTML page", "One file with its images, to look at in a browser; it loads and runs nothing"),
    *(
        (protocol, f"JSON Lines, {title}", "Messages for other programs, as this protocol spells them")
        for protocol, title in TITLES.items()
    ),
)
INDENT = 26  # pixels from a radio button's edge to its words


@dataclass(frozen=True)
class Wanted:
    """What a person decided; ``to_clipboard`` instead of to a file."""

    format: str
    whole_tree: bool
    to_clipboard: bool = False


class ExportDialog(QDialog):
    """``wanted`` carries a ``Wanted``."""

    wanted = Signal(object)

    def __init__(self, title: str, transcript: Transcript, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Export")
        heading = paragraph(show_hidden(title), "heading")
        self.formats = QButtonGroup(self)
        self.scopes = QButtonGroup(self)
        column = in_column(heading, Gap(4), _group("As"), of=self, margins=(18, 14, 18, 14), spacing=6)
        preferred = FORMATS[0][0]
        for number, (which, words, says) in enumerate(FORMATS):
            column.addWidget(_radio(self.formats, number, words, says, checked=which == preferred))
            column.addWidget(_says(says))
        column.addSpacing(6)
        column.addWidget(_group("What"))
        turns, every = len(transcript.path), len(transcript.turns)
        ends = sum(1 for key in transcript.turns if not transcript.children(key))
        here = f"The conversation as shown, {_count(turns, 'turn')}"
        tree = f"The whole tree, {_count(every, 'turn')} on {_count(ends, 'branch')}"
        column.addWidget(_radio(self.scopes, 0, here, "", checked=True))
        whole = _radio(self.scopes, 1, tree, "", checked=False)
        whole.setEnabled(ends > 1)
        column.addWidget(whole)
        note = _says("The values of variables are put in. Keys are left out.", indent=0)
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
        """Mark a format and a scope, as a person would."""
        number = next(at for at, (known, _, _) in enumerate(FORMATS) if known == which)
        self.formats.button(number).setChecked(True)
        self.scopes.button(1 if whole_tree else 0).setChecked(True)

    def _decided(self, *, to_clipboard: bool) -> Wanted:
        which = FORMATS[self.formats.checkedId()][0]
        return Wanted(which, self.scopes.checkedId() == 1, to_clipboard)

    def _copy(self) -> None:
        self.wanted.emit(self._decided(to_clipboard=True))
        self.accept()

    def _export(self) -> None:
        self.wanted.emit(self._decided(to_clipboard=False))
        self.accept()


def _radio(group: QButtonGroup, number: int, words: str, says: str, *, checked: bool) -> QRadioButton:
    button = QRadioButton(words)
    button.setAccessibleDescription(says)
    button.setChecked(checked)
    group.addButton(button, number)
    return button


def _group(words: str) -> QLabel:
    return text_label(words, "group")


def _says(words: str, indent: int = INDENT) -> QLabel:
    label = text_label(words, "small")
    label.setContentsMargins(indent, 0, 0, 4)
    return label


def _count(number: int, what: str) -> str:
    plural = f"{what}es" if what.endswith("ch") else f"{what}s"
    return f"{number:,} {what if number == 1 else plural}"
