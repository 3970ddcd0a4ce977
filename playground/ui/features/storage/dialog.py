"""The Storage dialog: the place of experiments, backups, and how long bodies of exchanges are kept.

It shows what it is given and says what is wanted; it opens no file itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHeaderView,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from playground.engine.library.store.backups import Backup
from playground.ui.features.storage.limits import DAYS, DISK, FOR_EVER, MEMORY, TRASH_DAYS, days_words, size_words
from playground.ui.widgets.dialogs import dress
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import paragraph, styled
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.page_parts import look_like_rows, set_row_height

ROW_HEIGHT = 24

SAVED = "Everything is saved by itself, as it happens."
SAYS = (
    "Bodies of requests and responses take most of the room; the oldest are deleted by these rules. Conversations, "
    "times and headers stay."
)


@dataclass(frozen=True, slots=True)
class StorageState:
    """The state to show. ``path`` is empty without a file; ``words`` are the notice about the store.
    ``size``, ``memory`` and ``trash`` are bytes: of the file, of what the experiment looked at keeps in memory, and of
    the ``deleted`` experiments. ``backups`` are newest first, and
    ``backup_problem`` says why the last one was not made.
    """

    path: str
    size: int
    words: str
    memory: int
    can_restore: bool
    deleted: int = 0
    trash: int = 0
    backups: tuple[Backup, ...] = ()
    backup_problem: str = ""


class BackupTable(QTableWidget):
    """The rolling backups: when each was made, and its size."""

    def __init__(self, backups: Sequence[Backup]) -> None:
        super().__init__(len(backups), 2)
        self._backups = backups
        self.setAccessibleName("Backups")
        self.setHorizontalHeaderLabels(["Automatic backup", "Size"])
        look_like_rows(self)
        set_row_height(self, ROW_HEIGHT)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for row, backup in enumerate(backups):
            size = QTableWidgetItem(size_words(backup.size))
            size.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self.setItem(row, 0, QTableWidgetItem(backup_time(backup)))
            self.setItem(row, 1, size)
        self.setFixedHeight(self.horizontalHeader().sizeHint().height() + ROW_HEIGHT * len(backups) + 4)

    @property
    def selected(self) -> Backup | None:
        """The backup in the selected row; None without one."""
        rows = self.selectionModel().selectedRows()
        return self._backups[rows[0].row()] if rows else None


def backup_time(backup: Backup) -> str:
    """Return when a backup was made, in local time."""
    return time.strftime("%A, %d %B %Y, %H:%M", time.localtime(backup.created_at))


class StorageDialog(QDialog):
    """``days``, ``disk``, ``memory`` and ``trash_days`` are chosen (days, bytes, bytes, days);
    ``FOR_EVER`` for no bound.
    """

    folder_asked = Signal()
    backup_asked = Signal()
    restore_asked = Signal()
    backup_restore_asked = Signal(object)

    def __init__(
        self, place: StorageState, days: int, disk: int, memory: int, trash_days: int, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Storage")
        self.path = ElidedLabel("Kept in", colour="text")
        self.path.set_text(place.path or "In memory only, until the application ends")
        self.room = paragraph(f"{size_words(place.size)} on the disk" if place.path else "", "small")
        self.room.setObjectName("storageSize")
        self.words = paragraph(place.words, "warning")
        self.words.setVisible(bool(place.words))
        self.folder = QPushButton("Open folder")
        self.backup = QPushButton("Back up…")
        self.restore = QPushButton("Restore from file…")
        self.backups = BackupTable(place.backups)
        self.backups.setVisible(bool(place.backups))
        self.restore_backup = QPushButton("Restore…")
        self.restore_backup.setToolTip("Put the selected backup in the place of all experiments")
        self.restore_backup.setVisible(bool(place.backups))
        self.restore_backup.setEnabled(False)
        problem = f"The last automatic backup was not made: {place.backup_problem}" if place.backup_problem else ""
        self.backup_problem = paragraph(problem, "warning")
        self.backup_problem.setVisible(bool(problem))
        self.folder.setEnabled(bool(place.path))
        self.backup.setToolTip("Copy all experiments into one file")
        self.restore.setToolTip("Put such a copy in the place of all experiments")
        self.restore.setEnabled(place.can_restore)
        self.said = paragraph("", "small")
        self.said.setObjectName("storageResult")
        self.said.setVisible(False)
        self._days = _choice("Keep bodies for", DAYS, days, days_words)
        self._disk = _choice("Bodies on the disk, at most", DISK, disk, _at_most)
        self._memory = _choice("Bodies in memory, for each open experiment", MEMORY, memory, size_words)
        self._trash = _choice("Keep deleted experiments for", TRASH_DAYS, trash_days, days_words)
        self._build(place)
        self.folder.clicked.connect(self.folder_asked)
        self.backup.clicked.connect(self.backup_asked)
        self.restore.clicked.connect(self.restore_asked)
        self.backups.itemSelectionChanged.connect(
            lambda: self.restore_backup.setEnabled(place.can_restore and self.backups.selected is not None)
        )
        self.restore_backup.clicked.connect(lambda: self.backup_restore_asked.emit(self.backups.selected))

    def _build(self, place: StorageState) -> None:
        saved = paragraph(SAVED, "muted")
        says = paragraph(SAYS, "muted")
        place_title = paragraph("Where experiments are kept", "group")
        wire = paragraph("What went over the wire", "group")
        row = in_row(self.folder, self.backup, self.restore, 1, spacing=8)
        form = QFormLayout()
        form.setSpacing(8)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        for words, field in (
            ("Keep for", self._days),
            ("On the disk, at most", self._disk),
            ("In memory, for each open experiment", self._memory),
        ):
            form.addRow(words, field)
        trash = paragraph("Trash", "group")
        thrown = paragraph(_trash_words(place), "small")
        late = QFormLayout()
        late.setSpacing(8)
        late.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        late.addRow("Keep deleted experiments for", self._trash)
        memory = paragraph(f"The experiment you look at takes {size_words(place.memory)} of memory now.", "small")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Save | QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column = in_column(
            place_title,
            saved,
            self.path,
            self.room,
            self.words,
            row,
            self.said,
            of=self,
            margins=(20, 16, 20, 14),
            spacing=8,
        )
        column.addWidget(self.backup_problem)
        column.addLayout(in_row((self.backups, 1), (self.restore_backup, 0, Qt.AlignmentFlag.AlignTop), spacing=8))
        column.addSpacing(8)
        for item in (wire, says):
            column.addWidget(item)
        column.addLayout(form)
        column.addWidget(memory)
        column.addSpacing(8)
        column.addWidget(trash)
        column.addLayout(late)
        column.addWidget(thrown)
        column.addSpacing(4)
        column.addWidget(buttons)
        self.setMinimumWidth(500)
        dress(self)

    def say(self, words: str) -> None:
        """How what was asked for went."""
        self.said.setText(words)
        self.said.setVisible(bool(words))

    def set_busy(self, busy: bool) -> None:
        """While a copy is made, no other one is begun."""
        self.backup.setEnabled(not busy)

    @property
    def days(self) -> int:
        """Days that bodies stay on the disk."""
        return int(self._days.currentData())

    @property
    def disk(self) -> int:
        """Bytes of bodies on the disk."""
        return int(self._disk.currentData())

    @property
    def memory(self) -> int:
        """Bytes of bodies in memory, for each open experiment."""
        return int(self._memory.currentData())

    @property
    def trash_days(self) -> int:
        """Days that deleted experiments can be brought back."""
        return int(self._trash.currentData())

    def choose(
        self,
        *,
        days: int | None = None,
        disk: int | None = None,
        memory: int | None = None,
        trash_days: int | None = None,
    ) -> None:
        """Choose among what is offered, as a person would."""
        chosen = ((self._days, days), (self._disk, disk), (self._memory, memory), (self._trash, trash_days))
        for field, value in chosen:
            if value is not None:
                field.setCurrentIndex(field.findData(value))


def _trash_words(place: StorageState) -> str:
    """Return the number of experiments in the trash and their size."""
    if not place.deleted:
        return "The trash is empty."
    words = f"The trash holds {place.deleted} experiment{'s' * (place.deleted > 1)}"
    return f"{words}, about {size_words(place.trash)}." if place.path else f"{words}."


def _at_most(count: int) -> str:
    return size_words(count) if count != FOR_EVER else "no limit"


def _choice(name: str, offered: tuple[int, ...], chosen: int, words_of: Callable[[int], str]) -> QComboBox:
    """A field with what is offered and what is in force, in order; no bound comes last."""
    field = styled(QComboBox(), "field")
    field.setAccessibleName(name)
    values = sorted({*offered, chosen}, key=lambda value: (value == FOR_EVER, value))
    for value in values:
        field.addItem(words_of(value), value)
    field.setCurrentIndex(values.index(chosen))
    return field
