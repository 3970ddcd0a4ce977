"""Typing in place: a field that grows with its text, with Keep and Cancel."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from playground.ui.widgets.form_parts import paragraph, styled
from playground.ui.widgets.growing_field import GrowingField
from playground.ui.widgets.layouts import in_column, in_row


class InlineEditor(QWidget):
    """Edits one text. ``kept`` and ``cancelled`` say what is to become of it; ``edited`` tells each change.

    Where it ``runs``, there is a second way to keep it: ``run_asked`` says to ask with it at once.
    """

    kept = Signal()
    run_asked = Signal()
    edited = Signal()
    cancelled = Signal()
    height_changed = Signal()

    def __init__(
        self, text: str, name: str, *, code: bool = False, runs: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.runs = runs
        self.field = GrowingField(code=code, most=24)
        self.set_text(text)
        self.field.setAccessibleName(name)
        self.field.textChanged.connect(self.edited)
        self.field.submitted.connect(self.kept)
        self.field.cancelled.connect(self.cancelled)
        self.field.height_changed.connect(self.height_changed)
        keep, run, cancel = QPushButton("Keep"), QPushButton("Run from here"), QPushButton("Cancel")
        keep.setProperty("kind", "primary")
        keep.setToolTip("Keep it and ask nothing (Ctrl+Enter)" if runs else "Keep it (Ctrl+Enter)")
        run.setToolTip("Keep it and ask the model again from here (Alt+Enter)")
        if not runs:
            run.hide()  # shown by its parent only: without one yet, a button that is shown is a window
        cancel.setToolTip("Escape")
        keep.clicked.connect(self.kept)
        run.clicked.connect(self.run_asked)
        cancel.clicked.connect(self.cancelled)
        buttons = in_row(keep, run, cancel, spacing=6)
        keys = styled(QLabel("Ctrl+Enter keeps · Alt+Enter runs" if runs else "", wordWrap=True), "small")
        buttons.addWidget(keys, 1)
        self._note = branch_note()
        in_column(self.field, buttons, self._note, of=self, margins=(0, 4, 0, 4), spacing=6)
        self.setFocusProxy(self.field)

    @property
    def text(self) -> str:
        """What is typed."""
        return self.field.text()

    def set_text(self, text: str) -> None:
        """Put back what was typed before."""
        self.field.set_text(text)
        self.field.moveCursor(QTextCursor.MoveOperation.End)

    def show_branching(self, branches: bool) -> None:
        """Say, or do not, that keeping the text leaves answers on a branch."""
        if branches is self._note.isHidden():
            self._note.setVisible(branches)
            self.height_changed.emit()


def branch_note() -> QLabel:
    """What an editor says when keeping it makes a branch; hidden."""
    note = paragraph("Keeps the old answers on a branch of their own.", "small")
    note.hide()
    return note
