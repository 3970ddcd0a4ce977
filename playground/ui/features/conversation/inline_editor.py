"""Typing in place: a field that grows with its text, and an editor with Keep and Cancel made of it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent, QKeySequence, QResizeEvent, QTextCursor
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from playground.ui.widgets.exact_field import ExactField
from playground.ui.widgets.form_parts import paragraph, styled
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.theme import body_font, code_font

ROOMY, COMPACT = 20, 12  # pixels above and below the lines: padding, border and the document's own margin


class GrowingField(ExactField):
    """A field as tall as its text, up to ``most`` lines; Ctrl+Enter submits, Escape cancels."""

    submitted = Signal()
    cancelled = Signal()
    height_changed = Signal()

    def __init__(
        self, *, code: bool = False, most: int = 16, compact: bool = False, parent: QWidget | None = None
    ) -> None:
        """``compact`` is as low as the fields of one line."""
        super().__init__(parent)
        self._most = most
        self._around = COMPACT if compact else ROOMY
        if compact:
            self.document().setDocumentMargin(0)
        font: QFont = code_font() if code else body_font()
        self.setFont(font)
        if code:
            self.setProperty("kind", "code")
        self.setTabChangesFocus(True)
        self.textChanged.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        lines = 0
        block = self.document().firstBlock()
        while block.isValid() and lines < self._most:
            lines += max(block.lineCount(), 1)
            block = block.next()
        height = min(max(lines, 1), self._most) * self.fontMetrics().lineSpacing() + self._around
        if height != self.height() or self.minimumHeight() != height:
            self.setFixedHeight(height)
            self.height_changed.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()  # lines wrap differently now

    def event(self, event: QEvent) -> bool:
        """The keys used here come here, although the window has shortcuts on them."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            alt = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)  # with it the window's own keys
            if (enter and not alt) or event.matches(QKeySequence.StandardKey.Cancel):
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.submitted.emit()
        elif event.matches(QKeySequence.StandardKey.Cancel):
            self.cancelled.emit()
        else:
            super().keyPressEvent(event)


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
