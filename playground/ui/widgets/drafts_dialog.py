"""Base of dialogs that edit a list of saved values: a draft for each changed one, saving, removal with undo.

A draft outlives the selection of another entry. Closing with drafts asks, unless they outlive the dialog.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from PySide6.QtCore import SignalInstance
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QWidget

from playground.domain.transcript import new_id
from playground.engine.io.list_file import ListFileError
from playground.ui.widgets.form_parts import push_button
from playground.ui.widgets.list_detail import ListDetail, ListEntry
from playground.ui.widgets.plain_text import short_title

V = TypeVar("V")
Spawn = Callable[..., "asyncio.Task[Any]"]
Restore = Callable[[], Awaitable[str]]


class DraftEditor(Protocol[V]):
    """The form of a value. ``changed`` is emitted for edits by a person, not by ``set_value``."""

    @property
    def changed(self) -> SignalInstance:
        """The signal of an edit."""

    @property
    def value(self) -> V:
        """The edited value."""

    def set_value(self, value: V) -> None:
        """Show a value."""


class Saved(NamedTuple):
    """A saved value as a draft without changes, and what to tell about it."""

    value: Any
    words: str = "Saved."
    kind: str = "ok"


SAVE, DISCARD, KEEP_EDITING = "Save", "Discard", "Keep editing"


class DraftsDialog(QDialog, Generic[V]):
    """A dialog with a `ListDetail` and an editor of the selected value.

    Subclasses build ``body`` and ``editor``, call ``start``, and implement the methods that raise NotImplementedError.
    ``drafts`` are the unsaved values by their ids. ``save_button`` and ``close_button`` are for the row of buttons.
    """

    body: ListDetail
    editor: DraftEditor[V]
    asks_on_close = True

    def __init__(self, drafts: dict[str, V], spawn: Spawn, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.drafts = drafts
        self.current = ""
        self._spawn = spawn
        self._task: asyncio.Task[Any] | None = None  # saves or removes
        self._confirming = False
        self.save_button = push_button("&Save", "primary")
        self.close_button = push_button("&Close")

    # ---- of the subclass

    def saved_values(self) -> dict[str, V]:
        """Return the saved values as drafts without changes, by their ids, in order."""
        raise NotImplementedError

    def new_draft(self, item_id: str) -> V:
        """Return the draft of a new value, in which nothing is entered."""
        raise NotImplementedError

    def copy_of(self, draft: V) -> tuple[V, str]:
        """Return a copy with another id, and what to tell about it."""
        raise NotImplementedError

    def id_of(self, draft: V) -> str:
        """Return the id of a draft."""
        raise NotImplementedError

    def entry(self, draft: V, unsaved: bool) -> ListEntry:
        """Return the row of a draft."""
        raise NotImplementedError

    async def store_draft(self, draft: V) -> Saved:
        """Save a draft. Raises ListFileError."""
        raise NotImplementedError

    async def delete_stored(self, item_id: str) -> tuple[str, Restore]:
        """Delete a saved value; return what to tell, and a function that restores it. Raises ListFileError."""
        raise NotImplementedError

    def show_current(self) -> None:
        """Update everything besides list and editor to the selected value."""

    def leave_current(self) -> None:
        """End what belongs to the selected value alone."""

    def focus_editor(self) -> None:
        """Focus the first field of the editor."""
        raise NotImplementedError

    # ---- commands

    def select(self, item_id: str) -> None:
        """Show another value; unsaved changes of the one before stay as its draft."""
        if item_id != self.current and (item_id in self.ids() or not item_id):
            self.go_to(item_id)

    def add(self) -> None:
        """Begin a new value."""
        self.begin(self.new_draft(new_id()))

    def begin(self, draft: V) -> None:
        """Begin a new value from a draft; it replaces an empty new one."""
        blank = self.current if self._is_blank_new(self.current) else ""
        self.put_draft(draft)
        if blank and blank != self.id_of(draft):
            self.drop_draft(blank)
        self.body.search.clear()
        self.go_to(self.id_of(draft))

    def duplicate(self) -> None:
        """Begin a copy of the selected value."""
        if self.current and not self.busy:
            draft, words = self.copy_of(self.draft())
            self.begin(draft)
            self.body.show_message(words)

    def remove_current(self) -> None:
        """Remove the selected value. It can be restored until the dialog closes."""
        if self.current:
            self.work(self._remove(self.current))

    def open_current(self) -> None:
        """Answer Enter or a double click in the list."""
        self.focus_editor()

    def save_current(self) -> None:
        """Save the selected value."""
        self.work(self.save([self.current]))

    def reject(self) -> None:
        """Close; with unsaved changes, ask first."""
        if self.busy:
            return
        unsaved = self.unsaved() if self.asks_on_close else []
        if not unsaved:
            self.close_dialog()
            return
        if self.current not in unsaved:
            self.go_to(unsaved[0])
        names = ", ".join(f"“{short_title(self.entry(self.draft_of(item_id), True).title)}”" for item_id in unsaved)
        self._confirming = True
        self.body.ask(
            f"{names} {'has' if len(unsaved) == 1 else 'have'} unsaved changes.",
            (SAVE, lambda: self.work(self._save_and_close())),
            (DISCARD, self.close_dialog),
            (KEEP_EDITING, self.focus_editor),
        )

    def close_dialog(self) -> None:
        """Close without a question."""
        self.leave_current()
        for item_id in [item_id for item_id in self.drafts if self._is_blank_new(item_id)]:
            self.drop_draft(item_id)
        super().reject()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Answer a question with Escape before the dialog closes."""
        if event.matches(QKeySequence.StandardKey.Cancel) and self._confirming and self.body.notice.isVisible():
            self._dismiss_question()
            self.focus_editor()
        else:
            super().keyPressEvent(event)

    # ---- values

    @property
    def busy(self) -> bool:
        """True while something is saved or removed."""
        return self._task is not None

    def ids(self) -> list[str]:
        """Return the ids of all values: the saved ones, then the new ones."""
        saved = self.saved_values()
        return [*saved, *(item_id for item_id in self.drafts if item_id not in saved)]

    def draft_of(self, item_id: str) -> V:
        """Return a value with its unsaved changes."""
        draft = self.drafts.get(item_id, self.saved_values().get(item_id))
        return draft if draft is not None else self.new_draft(item_id)

    def draft(self) -> V:
        """Return the selected value with its unsaved changes."""
        return self.draft_of(self.current)

    def unsaved(self) -> list[str]:
        """Return the ids of the values with unsaved changes."""
        return [item_id for item_id in self.drafts if not self._is_blank_new(item_id)]

    def put_draft(self, draft: V) -> None:
        """Add or replace a draft."""
        self.drafts[self.id_of(draft)] = draft

    def drop_draft(self, item_id: str) -> None:
        """Delete a draft; none of that id is no error."""
        self.drafts.pop(item_id, None)

    def go_to(self, item_id: str) -> None:
        """Show a value in the editor, or that none is selected."""
        self.leave_current()
        self._dismiss_question()
        self.body.show_message("")
        self.current = item_id
        if item_id:
            self.editor.set_value(self.draft())
            if self.body.pages.currentIndex() == self.body.pages.count() - 1:
                self.body.show_page(0)
        else:
            self.body.show_page(-1)
            self.body.buttons["add"].setFocus()  # the list would select its first row on focus
        self.refresh()

    def refresh(self) -> None:
        """Update the list and the buttons."""
        unsaved = set(self.unsaved())
        self.body.show_entries((self.entry(self.draft_of(it), it in unsaved) for it in self.ids()), self.current)
        self.body.set_enabled(selected=bool(self.current) and not self.busy)
        self.save_button.setEnabled(self.current in unsaved and not self.busy)
        self.show_current()

    def edited(self) -> None:
        """Keep an edit as a draft; one that restores the saved value has none."""
        value = self.editor.value
        if value == self.saved_values().get(self.current):
            self.drop_draft(self.current)
        else:
            self.put_draft(value)
        self._dismiss_question()
        self.refresh()

    def start(self, first: str) -> None:
        """Connect the parts, and show a value."""
        body = self.body
        body.selected.connect(self.select)
        body.added.connect(self.add)
        body.duplicated.connect(self.duplicate)
        body.removed.connect(self.remove_current)
        body.entered.connect(self.open_current)
        self.editor.changed.connect(self.edited)
        self.save_button.clicked.connect(self.save_current)
        self.close_button.clicked.connect(self.reject)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Save), self).activated.connect(self.save_button.click)
        self.go_to(first)

    # ---- tasks

    def work(self, work: Coroutine[Any, Any, object]) -> None:
        """Run a task that saves or removes, one at a time, and show what it raises."""
        if self.busy:
            work.close()
            return
        self._task = self._spawn(self._guarded(work), name=f"edit {self.windowTitle().lower()}", owner=self)
        self.refresh()

    async def _guarded(self, work: Coroutine[Any, Any, object]) -> None:
        try:
            await work
        except ListFileError as error:
            self.body.show_message(str(error), "error")
        finally:
            self._task = None
        self.refresh()

    async def save(self, item_ids: list[str]) -> None:
        """Save values one after another. Raises ListFileError at the first that cannot be saved."""
        for item_id in item_ids:
            if item_id != self.current:
                self.go_to(item_id)
            self.body.show_message("Saving…")
            saved = await self.store_draft(self.draft_of(item_id))
            self.drop_draft(item_id)
            if self.current == item_id:
                self.editor.set_value(saved.value)
            self.body.show_message(saved.words, saved.kind)

    async def _save_and_close(self) -> None:
        await self.save(self.unsaved())
        self._task = None
        self.close_dialog()

    async def _remove(self, item_id: str) -> None:
        order, draft = self.ids(), self.drafts.get(item_id)
        place, blank = order.index(item_id), self._is_blank_new(item_id)
        title = short_title(self.entry(self.draft_of(item_id), False).title)
        words, restore = "", None
        if item_id in self.saved_values():
            words, restore = await self.delete_stored(item_id)
        self.drop_draft(item_id)
        remaining = self.ids()
        if remaining:
            self.go_to(remaining[min(place, len(remaining) - 1)])
        else:
            self.add()
        if not blank:
            undo = lambda: self.work(self._bring_back(item_id, restore, draft))  # noqa: E731
            self.body.notice.offer(f"“{title}” was deleted. {words}".strip(), ("Undo", undo))

    async def _bring_back(self, item_id: str, restore: Restore | None, draft: V | None) -> None:
        words = await restore() if restore is not None else ""
        if draft is not None:
            self.put_draft(draft)
        if self._is_blank_new(self.current):
            self.drop_draft(self.current)
        self.go_to(item_id)
        self.body.show_message(words, "warning")

    def _is_blank_new(self, item_id: str) -> bool:
        draft = self.drafts.get(item_id)
        return draft is not None and item_id not in self.saved_values() and draft == self.new_draft(item_id)

    def _dismiss_question(self) -> None:
        if self._confirming:
            self._confirming = False
            self.body.notice.hide()
