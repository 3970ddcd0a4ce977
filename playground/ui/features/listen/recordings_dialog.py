"""The dialog of recorded programs: the recordings of this computer, newest first, and other folders."""

from __future__ import annotations

import asyncio
import shutil
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QListWidget, QListWidgetItem, QWidget

from playground.domain.sizes import size_words
from playground.ui.features.listen.exchange_rows import count_words
from playground.ui.widgets.dialogs import agreed, ask_folder, fit_to_window
from playground.ui.widgets.form_parts import push_button, say, styled, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.plain_text import show_hidden, tip

SIZE: Final = 560, 420  # pixels
EMPTY: Final = "No recordings yet. Listen saves one for each start, unless Record is off."
SUFFIX: Final = "*.cassette.json"
INDEX: Final = "index.jsonl"
MOST_LISTED: Final = 500


class RecordingFacts(NamedTuple):
    """A recording in the list: its folder, when it was written last, its requests and its size in bytes."""

    folder: Path
    changed_at: float
    requests: int
    size: int

    @property
    def words(self) -> str:
        """The line of the list."""
        when = datetime.fromtimestamp(self.changed_at).astimezone().strftime("%d %B %Y, %H:%M")
        return show_hidden(f"{when} · {count_words(self.requests)} · {size_words(self.size)}")


def find_recordings(root: Path) -> list[RecordingFacts]:
    """Return the recordings in a folder, newest first. Blocks."""
    facts: list[RecordingFacts] = []
    folders = [folder for folder in root.iterdir() if folder.is_dir()] if root.is_dir() else []
    for folder in folders:
        files = [path for path in folder.iterdir() if path.is_file()]
        cassettes = [path for path in files if path.match(SUFFIX)]
        if cassettes or (folder / INDEX).is_file():
            stats = [path.stat() for path in files]
            changed_at = max((stat.st_mtime for stat in stats), default=folder.stat().st_mtime)
            facts.append(RecordingFacts(folder, changed_at, len(cassettes), sum(stat.st_size for stat in stats)))
    return sorted(facts, key=lambda entry: entry.changed_at, reverse=True)[:MOST_LISTED]


class RecordingsDialog(QDialog):
    """The dialog. ``open_asked`` carries the folder of a recording."""

    open_asked = Signal(object)

    def __init__(self, root: Path, parent: QWidget) -> None:
        super().__init__(parent)
        self._root = root
        self._facts: list[RecordingFacts] = []
        self.setObjectName("listenRecordings")
        self.setWindowTitle("Recorded programs")
        self.list = styled(QListWidget(), "choices")
        self.list.setAccessibleName("Recordings")
        self.empty = text_label("Reading…", "muted", wrap=True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.choose_folder = push_button("Other folder…")
        self.delete = push_button("Delete…")
        close = push_button("Cancel")
        self.open_button = push_button("Open", "primary")
        in_column(
            self.empty,
            (self.list, 1),
            in_row(self.choose_folder, self.delete, 1, close, self.open_button, spacing=8),
            parent=self,
            margins=(18, 14, 18, 14),
            spacing=10,
        )
        fit_to_window(self, *SIZE)
        self.list.itemActivated.connect(lambda _item: self._open())
        self.list.currentRowChanged.connect(self._show_buttons)
        self.open_button.clicked.connect(self._open)
        self.choose_folder.clicked.connect(lambda: spawn(self._ask_folder(), name="choose a recording", owner=self))
        self.delete.clicked.connect(lambda: spawn(self._delete(), name="delete a recording", owner=self))
        close.clicked.connect(self.reject)
        self._show_buttons()
        spawn(self._read(), name="list recordings", owner=self)

    async def _read(self) -> None:
        try:
            self._facts = await asyncio.to_thread(find_recordings, self._root)
        except OSError as error:
            say(self.empty, f"{self._root} cannot be read: {error.strerror}.")
            return
        self.list.clear()
        for entry in self._facts:
            item = QListWidgetItem(entry.words)
            item.setToolTip(tip(str(entry.folder)))
            self.list.addItem(item)
        say(self.empty, "" if self._facts else EMPTY)
        self.list.setVisible(bool(self._facts))
        if self._facts:
            self.list.setCurrentRow(0)
            self.list.setFocus()
        self._show_buttons()

    @property
    def _chosen(self) -> RecordingFacts | None:
        row = self.list.currentRow()
        return self._facts[row] if 0 <= row < len(self._facts) else None

    def _show_buttons(self, _row: int = 0) -> None:
        for button in (self.open_button, self.delete):
            button.setEnabled(self._chosen is not None)

    def _open(self) -> None:
        if self._chosen is not None:
            self.open_asked.emit(self._chosen.folder)
            self.accept()

    async def _ask_folder(self) -> None:
        folder = await ask_folder(self, "Open a recording", str(self._root))
        if folder is not None:
            self.open_asked.emit(folder)
            self.accept()

    async def _delete(self) -> None:
        entry = self._chosen
        if entry is None or not await agreed(
            self,
            "Delete recording",
            f"Delete the recording of {entry.words}?",
            f"The folder {entry.folder} will be permanently deleted.",
            "Delete",
        ):
            return
        try:
            await asyncio.to_thread(partial(shutil.rmtree, entry.folder))
        except OSError as error:
            say(self.empty, f"{entry.folder} cannot be deleted: {error.strerror}.")
            return
        await self._read()
