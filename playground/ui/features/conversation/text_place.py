"""A place where one text of a turn is edited: an editor as long as the session has it open, with its content.

Each edit is reported to the session at once, so that it is sent, saved, and shown again in another card.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QApplication

from playground.engine.session.drafts import EditKey, OpenEdit
from playground.ui.features.conversation.commands import TurnCommands
from playground.ui.features.conversation.inline_editor import InlineEditor


class TextEditing:
    """``opened`` gets the editor to place it; ``closed`` gets whether it had the cursor."""

    def __init__(
        self,
        commands: TurnCommands,
        opened: Callable[[InlineEditor], None],
        closed: Callable[[bool], None],
        *,
        code: bool = False,
        runs: bool = False,
    ) -> None:
        """Where it ``runs``, what is typed can be asked with at once."""
        self._commands = commands
        self._opened = opened
        self._closed = closed
        self._code, self._runs = code, runs
        self._key: EditKey | None = None
        self._name = ""
        self._text: Callable[[], str] = str
        self.editor: InlineEditor | None = None

    def follow(self, key: EditKey | None, text: Callable[[], str], name: str) -> None:
        """Edit ``text`` of that turn, if the session says so; None: there is nothing to edit."""
        if key != self._key:
            self._close()
        self._key, self._text, self._name = key, text, name
        edit = self._commands.editor(key) if key is not None else None
        if edit is None:
            self._close()
            return
        content = text() if edit.text is None else edit.text
        if self.editor is None:
            self._open(content)
        elif self.editor.text != content:
            self.editor.set_text(content)
        if self.editor is not None and key is not None:
            self.editor.show_branching(self._commands.branches(key.turn, key.call))

    def begin(self) -> None:
        """Edit it, with the cursor in it."""
        if self._key is None:
            return
        if self.editor is None:
            self._commands.put_editor(_unchanged(self._key))
            self._again()
        if self.editor is not None:
            self.editor.setFocus()

    def _open(self, text: str) -> None:
        editor = self.editor = InlineEditor(text, self._name, code=self._code, runs=self._runs)
        editor.edited.connect(self._typed)
        editor.kept.connect(self._keep)
        editor.run_asked.connect(self._run)
        editor.cancelled.connect(self._cancel)
        self._opened(editor)

    def _typed(self) -> None:
        if self.editor is not None and self._key is not None:
            text = self.editor.text if self.editor.text != self._text() else None
            self._commands.put_editor(_unchanged(self._key).model_copy(update={"text": text}))

    def _keep(self) -> None:
        if self._key is not None:
            self._commands.save_editor(self._key)
            self._again()

    def _run(self) -> None:
        if self._key is not None and self.editor is not None:
            self._commands.save_and_run(self._key.turn, self.editor.text)

    def _cancel(self) -> None:
        if self._key is not None:
            self._commands.cancel_editor(self._key)
            self._again()

    def _again(self) -> None:
        self.follow(self._key, self._text, self._name)

    def _close(self) -> None:
        editor, self.editor = self.editor, None
        if editor is not None:
            focused = editor.isAncestorOf(QApplication.focusWidget() or editor)
            editor.blockSignals(True)
            editor.hide()
            editor.deleteLater()
            self._closed(focused)


def _unchanged(key: EditKey) -> OpenEdit:
    return OpenEdit(turn=key.turn, what=key.what, call=key.call)
