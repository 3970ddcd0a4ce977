"""Editors of a text or of a whole tool call in a card, and their connection to the session's store of open editors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from PySide6.QtCore import QEvent, Qt, Signal, SignalInstance
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QApplication, QWidget

from playground.domain.parts import ToolCall
from playground.domain.tools import ToolDefinition
from playground.engine.session.drafts import EditKey, OpenEdit, What
from playground.ui.features.conversation.calls.call_form import CallForm
from playground.ui.features.conversation.commands import TurnCommands
from playground.ui.widgets.form_parts import paragraph, push_button
from playground.ui.widgets.growing_field import GrowingField
from playground.ui.widgets.layouts import in_column, in_row

V = TypeVar("V", bound=str | ToolCall)


class Editor(QWidget, Generic[V]):
    """A field or form with Save and Cancel; where it `runs`, also with Run from here. `key` names the edited value."""

    saved = Signal()
    run_asked = Signal()
    edited = Signal()
    cancelled = Signal()
    height_changed = Signal()

    def __init__(self, field: GrowingField | CallForm, *, runs: bool = False) -> None:
        super().__init__()
        self.key: EditKey | None = None
        self.runs = runs
        field.submitted.connect(self.saved)
        field.cancelled.connect(self.cancelled)
        field.height_changed.connect(self.height_changed)
        save, run, cancel = push_button("Save", "primary"), push_button("Run from here"), push_button("Cancel")
        save.setToolTip("Save without running (Ctrl+Enter)" if runs else "Ctrl+Enter")
        run.setToolTip("Save, then send the request again from here (Alt+Enter)")
        cancel.setToolTip("Escape")
        for button, signal in ((save, self.saved), (run, self.run_asked), (cancel, self.cancelled)):
            button.clicked.connect(signal)
        self._problem = paragraph("", "flag-error")
        self._note = paragraph("Old answers stay as a branch.", "small")
        for label in (self._problem, self._note):
            label.hide()
        buttons = in_row(save, *([run] if runs else []), cancel, 1, spacing=6)
        in_column(field, self._problem, buttons, self._note, parent=self, margins=(0, 4, 0, 4), spacing=6)
        self.setFocusProxy(field)

    def event(self, event: QEvent) -> bool:
        """Take the keys of the editor before shortcuts of the window."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride and self._signal_of(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if (signal := self._signal_of(event)) is not None:
            signal.emit()
        else:
            super().keyPressEvent(event)

    def _signal_of(self, event: QKeyEvent) -> SignalInstance | None:
        """Return what a key does in any field: Escape cancels, Ctrl+Enter saves."""
        if event.key() == Qt.Key.Key_Escape:
            return self.cancelled
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        return self.saved if enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier else None

    @property
    def value(self) -> V:
        """The edited value."""
        raise NotImplementedError

    def set_value(self, value: V) -> None:
        """Replace the edited value."""
        raise NotImplementedError

    def show_problem(self, problem: str) -> None:
        """Say why the value could not be saved."""
        self._problem.setText(problem)
        self._problem.setVisible(bool(problem))
        self.height_changed.emit()

    def show_branching(self, branches: bool) -> None:
        """Say whether saving makes a branch."""
        if branches is self._note.isHidden():
            self._note.setVisible(branches)
            self.height_changed.emit()


class InlineEditor(Editor[str]):
    """Edit a text in a field that grows with it."""

    def __init__(self, text: str, name: str, *, code: bool = False, runs: bool = False) -> None:
        self.field = GrowingField(code=code, most=24)
        super().__init__(self.field, runs=runs)
        self.set_value(text)
        self.field.setAccessibleName(name)
        self.field.textChanged.connect(self.edited)

    @property
    def value(self) -> str:
        return self.field.text()

    def set_value(self, value: str) -> None:
        """Replace the text, with the cursor at its end."""
        self.field.set_text(value)
        self.field.moveCursor(QTextCursor.MoveOperation.End)


class CallEditor(Editor[ToolCall]):
    """Edit a whole tool call."""

    def __init__(self, call: ToolCall, tools: tuple[ToolDefinition, ...]) -> None:
        self.form = CallForm(removable=False)
        super().__init__(self.form)
        self.form.set_tools(tools)
        self.form.set_call(call)
        self.form.edited.connect(self.edited)

    @property
    def value(self) -> ToolCall:
        return self.form.call

    def set_value(self, value: ToolCall) -> None:
        self.form.set_call(value)


class Editing(Generic[V]):
    """Edit one value of a turn while the session has an editor open for it.

    Each edit is stored in the session at once, so that it is saved and survives the card. `make` returns an editor of
    a value and places it, `closed` is called with whether it had the focus. `update` makes the owner call `follow`.
    """

    def __init__(
        self,
        commands: TurnCommands,
        make: Callable[[V], Editor[V]],
        closed: Callable[[bool], None],
        update: Callable[[], None],
    ) -> None:
        self._commands = commands
        self._make = make
        self._closed = closed
        self._update = update
        self._key: EditKey | None = None
        self._original: Callable[[], V]
        self.editor: Editor[V] | None = None

    def follow(self, key: EditKey | None, original: Callable[[], V]) -> None:
        """Show the editor that the session has open under this key; None: there is nothing to edit."""
        if key != self._key:
            self._close()
        self._key, self._original = key, original
        edit = self._commands.editor(key) if key is not None else None
        if key is None or edit is None:
            self._close()
            return
        stored = edit.text if key.what is not What.CALL else edit.written
        value: V = original() if stored is None else stored  # type: ignore[assignment]  # by the kind of the key
        if self.editor is None:
            editor = self.editor = self._make(value)
            editor.edited.connect(self._typed)
            editor.saved.connect(self._save)
            editor.run_asked.connect(self._run)
            editor.cancelled.connect(self._cancel)
        elif not _is_same(self.editor.value, value):
            self.editor.set_value(value)
        self.editor.key = key
        self.editor.show_branching(self._commands.branches(key.turn, key.call))

    def begin(self) -> None:
        """Open the editor with the focus."""
        if self._key is not None and self.editor is None:
            self._store(None)
            self._update()
        if self.editor is not None:
            self.editor.setFocus()

    def _store(self, value: str | ToolCall | None) -> None:
        if (key := self._key) is not None:
            text, call = (value, None) if not isinstance(value, ToolCall) else (None, value)
            self._commands.put_editor(OpenEdit(turn=key.turn, what=key.what, call=key.call, text=text, written=call))

    def _typed(self) -> None:
        if self.editor is not None:
            value = self.editor.value
            self._store(None if _is_same(value, self._original()) else value)

    def _save(self) -> None:
        key, editor = self._key, self.editor
        if key is None or editor is None:
            return
        if key.what is What.CALL and not key.call:  # also an empty one, so that the problem says what is missing
            self._store(editor.value)
        if problem := self._commands.save_editor(key):
            editor.show_problem(problem)
        else:
            self._update()

    def _run(self) -> None:
        if self._key is not None and isinstance(self.editor, InlineEditor):
            self._commands.save_and_run(self._key.turn, self.editor.value)

    def _cancel(self) -> None:
        if self._key is not None:
            self._commands.cancel_editor(self._key)
            self._update()

    def _close(self) -> None:
        editor, self.editor = self.editor, None
        if editor is not None:
            focused = editor.isAncestorOf(QApplication.focusWidget() or editor)
            editor.blockSignals(True)
            editor.hide()
            editor.deleteLater()
            self._closed(focused)


def _is_same(value: str | ToolCall, second: str | ToolCall) -> bool:
    if isinstance(value, ToolCall) and isinstance(second, ToolCall):
        return (value.id, value.name, value.arguments) == (second.id, second.name, second.arguments)
    return value == second
