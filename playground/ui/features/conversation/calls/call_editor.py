"""Writing a whole call in place: its form with Keep and Cancel. What cannot be kept is said, and stays written."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from playground.domain.parts import ToolCall
from playground.domain.tools import ToolDefinition
from playground.ui.features.conversation.calls.call_form import CallForm
from playground.ui.features.conversation.inline_editor import branch_note


class CallEditor(QWidget):
    """``call`` is what is written; ``kept`` and ``cancelled`` say what becomes of it, ``edited`` tells a change."""

    kept = Signal()
    edited = Signal()
    cancelled = Signal()
    height_changed = Signal()

    def __init__(self, call: ToolCall, tools: tuple[ToolDefinition, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.form = CallForm(removable=False)
        self.form.set_tools(tools)
        self.form.set_call(call)
        self.form.edited.connect(self.edited)
        self._problem = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self._problem.setProperty("kind", "flag-error")
        self._problem.hide()
        keep, cancel = QPushButton("Keep"), QPushButton("Cancel")
        keep.setProperty("kind", "primary")
        keep.setToolTip("Ctrl+Enter in the arguments")
        cancel.setToolTip("Escape in the arguments")
        keep.clicked.connect(self.kept)
        cancel.clicked.connect(self.cancelled)
        self.form.submitted.connect(self.kept)
        self.form.cancelled.connect(self.cancelled)
        self.form.height_changed.connect(self.height_changed)
        buttons = QHBoxLayout()
        buttons.setSpacing(6)
        buttons.addWidget(keep)
        buttons.addWidget(cancel)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 4, 0, 4)
        column.setSpacing(6)
        column.addWidget(self.form)
        column.addWidget(self._problem)
        column.addLayout(buttons)
        self._note = branch_note()
        column.addWidget(self._note)
        self.setFocusProxy(self.form)

    @property
    def problem(self) -> str:
        """Why it was not kept; empty where nobody tried."""
        return self._problem.text()

    def say(self, words: str) -> None:
        """Why it was not kept."""
        self._problem.setText(words)
        self._problem.setVisible(bool(words))
        self.height_changed.emit()

    def show_branching(self, branches: bool) -> None:
        """Say, or do not, that keeping the call leaves answers on a branch."""
        if branches is self._note.isHidden():
            self._note.setVisible(branches)
            self.height_changed.emit()

    @property
    def call(self) -> ToolCall:
        """What is written."""
        return self.form.call

    def set_call(self, call: ToolCall) -> None:
        """Put back what was written before, without telling."""
        self.form.set_call(call)
