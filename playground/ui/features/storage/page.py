"""The preferences page of storage: where experiments are, backups, and how long traffic is stored.

It shows a state that it is given and reports requests; it opens no file itself.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from playground.engine.library.store.backups import Backup
from playground.jsonkit.texts import quantity
from playground.ui.features.storage.limits import StorageLimits, hints_with, size_words
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import paragraph, push_button, say, styled, text_label
from playground.ui.widgets.layouts import Gap, in_column, in_row
from playground.ui.widgets.list_detail import EntryList, ListEntry
from playground.ui.widgets.row_delegate import TWO_LINES
from playground.ui.widgets.rows.form import Form, form_for

LIMITS_WORDS = (
    "Bodies of requests and responses take most of the space. The oldest are deleted by these limits; conversations, "
    "times and headers stay."
)
LABEL_WIDTH: Final = 260  # pixels
UNAPPLIED = "Limits are changed, but not applied."


@dataclass(frozen=True, slots=True)
class StorageState:
    """The state to show.

    ``path`` is empty without a file; ``notice`` is the notice about the store. ``size``, ``memory`` and ``trash`` are
    bytes: of the file, of what the current experiment keeps in memory, and of the ``deleted`` experiments. ``backups``
    are newest first, and ``backup_problem`` says why the last one was not made.
    """

    path: str
    size: int
    notice: str
    memory: int
    can_restore: bool
    deleted: int = 0
    trash: int = 0
    backups: tuple[Backup, ...] = ()
    backup_problem: str = ""


def backup_time(backup: Backup) -> str:
    """Return when a backup was made, in local time."""
    return time.strftime("%A, %d %B %Y, %H:%M", time.localtime(backup.created_at))


class StoragePage(QWidget):
    """The page. Limits change when they are applied; ``limits_applied`` carries them."""

    folder_asked = Signal()
    backup_asked = Signal()
    restore_asked = Signal()
    backup_restore_asked = Signal(object)
    limits_applied = Signal(object)

    def __init__(self, limits: StorageLimits, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._limits = limits
        self._can_restore = False
        self.path = ElidedLabel("Stored in", colour="text")
        self.disk_size = paragraph("", "small")
        self.disk_size.setObjectName("storageSize")
        self.notice = paragraph("", "warning")
        self.folder = push_button("Open folder")
        self.backup = push_button("Back up…")
        self.backup.setToolTip("Copy all experiments into one file")
        self.restore = push_button("Restore from file…")
        self.restore.setToolTip("Replace all experiments by those of such a file")
        self.result = paragraph("", "small")
        self.result.setObjectName("storageResult")
        self.backup_problem = paragraph("", "warning")
        self._backups: dict[str, Backup] = {}
        self.backups = styled(EntryList("Automatic backups"), "choices")
        self._backups_title = text_label("Automatic backups", "small")
        self.restore_backup = push_button("Restore…")
        self.restore_backup.setToolTip("Replace all experiments by those of the selected backup")
        self.form: Form[StorageLimits] = form_for(StorageLimits, hints=hints_with(limits), label_width=LABEL_WIDTH)
        self.form.set_value(limits)
        self.form.changed.connect(self._show_unapplied)
        self.memory = paragraph("", "small")
        self.trash = paragraph("", "small")
        self.apply = push_button("Apply limits", "primary")
        self.unapplied = paragraph("", "small")
        in_column(
            paragraph("Experiments", "group"),
            paragraph("Everything is saved as it happens.", "muted"),
            self.path,
            self.disk_size,
            self.notice,
            in_row(self.folder, self.backup, self.restore, 1, spacing=8),
            self.result,
            self.backup_problem,
            self._backups_title,
            in_row((self.backups, 1), (self.restore_backup, 0, Qt.AlignmentFlag.AlignTop), spacing=8),
            Gap(8),
            paragraph("Limits", "group"),
            paragraph(LIMITS_WORDS, "muted"),
            self.form,
            in_row(self.apply, (self.unapplied, 1), spacing=8),
            self.memory,
            self.trash,
            1,
            parent=self,
            margins=0,
            spacing=8,
        )
        self.folder.clicked.connect(self.folder_asked)
        self.backup.clicked.connect(self.backup_asked)
        self.restore.clicked.connect(self.restore_asked)
        self.backups.selected.connect(self._backup_selected)
        self.backups.entered.connect(self.restore_backup.click)
        self.restore_backup.clicked.connect(
            lambda: self.backup_restore_asked.emit(self._backups[self.backups.current_id])
        )
        self.apply.clicked.connect(self._apply)
        self.show_state(StorageState("", 0, "", 0, can_restore=False))
        self.say("")
        self._show_unapplied()

    def show_state(self, state: StorageState) -> None:
        """Show the state of the store."""
        self.path.set_text(state.path or "In memory only, until the application ends")
        say(self.disk_size, f"{size_words(state.size)} on disk" if state.path else "")
        say(self.notice, state.notice)
        self.folder.setEnabled(bool(state.path))
        self.restore.setEnabled(state.can_restore)
        problem = state.backup_problem
        say(self.backup_problem, f"The last automatic backup was not made: {problem}" if problem else "")
        self._can_restore = state.can_restore
        self._backups = {str(backup.path): backup for backup in state.backups}
        entries = [ListEntry(key, backup_time(it), size_words(it.size)) for key, it in self._backups.items()]
        self.backups.show_entries(entries, self.backups.current_id)
        self.backups.setFixedHeight(TWO_LINES * len(entries) + 2 * self.backups.frameWidth() + 6)
        for widget in (self.backups, self._backups_title):
            widget.setVisible(bool(entries))
        self.restore_backup.setVisible(bool(state.backups))
        self._backup_selected()
        say(self.memory, f"The current experiment uses {size_words(state.memory)} of memory.")
        say(self.trash, _trash_words(state))

    def say(self, words: str) -> None:
        """Show the result of a backup or a restore."""
        say(self.result, words)

    def set_busy(self, busy: bool) -> None:
        """Set whether a backup is being made; only one is at a time."""
        self.backup.setEnabled(not busy)

    def _backup_selected(self) -> None:
        self.restore_backup.setEnabled(self._can_restore and bool(self.backups.current_id))

    def _show_unapplied(self) -> None:
        changed = self.form.value != self._limits
        self.apply.setEnabled(changed)
        self.unapplied.setText(UNAPPLIED if changed else "")

    def _apply(self) -> None:
        self._limits = self.form.value
        self._show_unapplied()
        self.limits_applied.emit(self._limits)


def _trash_words(state: StorageState) -> str:
    """Return the number of experiments in the trash and their size."""
    if not state.deleted:
        return "The trash is empty."
    words = f"The trash holds {quantity(state.deleted, 'experiment')}"
    return f"{words}, about {size_words(state.trash)}." if state.path else f"{words}."
