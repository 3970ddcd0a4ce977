"""Unsaved drafts of tool servers: kept in memory while the window is open, and in a file after it closes.

Secrets that were typed and not saved are not in the file, and have to be typed again after the end of the process.
"""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import QObject, QTimer

from playground.engine.io.list_file import JsonListStore, ListFileError
from playground.jsonkit.values import JSONObject
from playground.ui.features.tool_servers.draft import Draft, from_json, to_json
from playground.ui.widgets.loop import runs, spawn

NAME: Final = "tool-server-drafts.json"
KEPT_AFTER_MS: Final = 700


class _DraftStore(JsonListStore[Draft]):
    member = "drafts"
    noun = "draft"

    def _read(self, entry: Any) -> Draft:
        draft = from_json(entry)
        if draft is None:
            raise ValueError("it is no draft")
        return draft

    def _write(self, item: Draft) -> JSONObject:
        return to_json(item)


class Drafts(QObject):
    """The drafts ``by_id`` of their servers, in a file beside the list of servers, which is at ``book``."""

    def __init__(self, book: Path, parent: QObject) -> None:
        super().__init__(parent)
        self._store = _DraftStore(book.with_name(NAME))
        self.by_id = {draft.server.id: draft for draft in self._store.items}
        self._writing = asyncio.Lock()
        self._timer = QTimer(self, singleShot=True, interval=KEPT_AFTER_MS)
        self._timer.timeout.connect(self._keep)

    def save_soon(self) -> None:
        """Save the drafts after a pause of the changes."""
        self._timer.start()

    def write(self) -> None:
        """Save changed drafts now. A file that cannot be written is ignored."""
        self._timer.stop()
        drafts = tuple(self.by_id.values())
        if drafts != self._store.items:
            with contextlib.suppress(ListFileError):  # what was typed is still in the window
                self._store.save(drafts)

    def _keep(self) -> None:
        if runs():
            spawn(self._keep_aside(), name="keep drafts of tool servers")
        else:
            self.write()

    async def _keep_aside(self) -> None:
        drafts = tuple(self.by_id.values())
        async with self._writing:
            if drafts != self._store.items:
                with contextlib.suppress(ListFileError):
                    await asyncio.to_thread(self._store.save, drafts)
