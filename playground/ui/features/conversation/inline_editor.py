"""Editor of a text in place, and its connection to the session's store of open editors."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from playground.engine.session.drafts import EditKey, OpenEdit
from playground.ui.features.conversation.commands import TurnCommands
from playground.ui.widgets.form_parts import paragraph, push_button
from playground.ui.widgets.growing_field import GrowingField
from playground.ui.widgets.layouts import in_column, in_row


class InlineEditor(QWidget):
    """A field that grows with its text, with Save and Cancel; where it `runs`, also with Run from here."""

    saved = Signal()
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
        self.field.submitted.connect(self.saved)
        self.field.cancelled.connect(self.cancelled)
        self.field.height_changed.connect(self.height_changed)
        save, run, cancel = push_button("Save", "primary"), push_button("Run from here"), push_button("Cancel")
        save.setToolTip("Save without running (Ctrl+Enter)" if runs else "Ctrl+Enter")
        run.setToolTip("Save, then send the request again from here (Alt+Enter)")
        cancel.setToolTip("Escape")
        save.clicked.connect(self.saved)
        run.clicked.connect(self.run_asked)
        cancel.clicked.connect(self.cancelled)
        buttons = in_row(save, *([run] if runs else []), cancel, 1, spacing=6)
        self._note = branch_note()
        in_column(self.field, buttons, self._note, of=self, margins=(0, 4, 0, 4), spacing=6)
        self.setFocusProxy(self.field)

    @property
    def text(self) -> str:
        """The text in the field."""
        return self.field.text()

    def set_text(self, text: str) -> None:
        """Replace the text, with the cursor at its end."""
        self.field.set_text(text)
        self.field.moveCursor(QTextCursor.MoveOperation.End)

    def show_branching(self, branches: bool) -> None:
        """Say whether saving makes a branch."""
        if branches is self._note.isHidden():
            self._note.setVisible(branches)
            self.height_changed.emit()


class TextEditing:
    """Edit one text of a turn while the session has an editor open for it.

    Each edit is stored in the session at once, so that it is saved and survives the card. `opened` places a new editor,
    `closed` is called with whether it had the focus.
    """

    def __init__(
        self,
        commands: TurnCommands,
        opened: Callable[[InlineEditor], None],
        closed: Callable[[bool], None],
        *,
        code: bool = False,
        runs: bool = False,
    ) -> None:
        self._commands = commands
        self._opened = opened
        self._closed = closed
        self._code, self._runs = code, runs
        self._key: EditKey | None = None
        self._name = ""
        self._original: Callable[[], str] = str
        self.editor: InlineEditor | None = None

    def follow(self, key: EditKey | None, original: Callable[[], str], name: str) -> None:
        """Show the editor that the session has open under this key; None: there is nothing to edit."""
        if key != self._key:
            self._close()
        self._key, self._original, self._name = key, original, name
        edit = self._commands.editor(key) if key is not None else None
        if key is None or edit is None:
            self._close()
            return
        text = original() if edit.text is None else edit.text
        if self.editor is None:
            self._open(text)
        elif self.editor.text != text:
            self.editor.set_text(text)
        if self.editor is not None:
            self.editor.show_branching(self._commands.branches(key.turn, key.call))

    def begin(self) -> None:
        """Open the editor with the focus."""
        if self._key is None:
            return
        if self.editor is None:
            self._store(None)
            self._follow_again()
        if self.editor is not None:
            self.editor.setFocus()

    def _open(self, text: str) -> None:
        editor = self.editor = InlineEditor(text, self._name, code=self._code, runs=self._runs)
        editor.edited.connect(self._typed)
        editor.saved.connect(self._save)
        editor.run_asked.connect(self._run)
        editor.cancelled.connect(self._cancel)
        self._opened(editor)

    def _store(self, text: str | None) -> None:
        if (key := self._key) is not None:
            self._commands.put_editor(OpenEdit(turn=key.turn, what=key.what, call=key.call, text=text))

    def _typed(self) -> None:
        if self.editor is not None:
            self._store(self.editor.text if self.editor.text != self._original() else None)

    def _save(self) -> None:
        if self._key is not None:
            self._commands.save_editor(self._key)
            self._follow_again()

    def _run(self) -> None:
        if self._key is not None and self.editor is not None:
            self._commands.save_and_run(self._key.turn, self.editor.text)

    def _cancel(self) -> None:
        if self._key is not None:
            self._commands.cancel_editor(self._key)
            self._follow_again()

    def _follow_again(self) -> None:
        self.follow(self._key, self._original, self._name)

    def _close(self) -> None:
        editor, self.editor = self.editor, None
        if editor is not None:
            focused = editor.isAncestorOf(QApplication.focusWidget() or editor)
            editor.blockSignals(True)
            editor.hide()
            editor.deleteLater()
            self._closed(focused)


def branch_note() -> QLabel:
    """Return the hidden note of an editor that saving makes a branch."""
    note = paragraph("Old answers stay as a branch.", "small")
    note.hide()
    return note
