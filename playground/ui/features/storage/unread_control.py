"""What of the store could not be read: told when its experiment is looked at, and saved to a file to look into."""

from __future__ import annotations

import asyncio
from functools import partial

from PySide6.QtWidgets import QWidget

from playground.engine.io.whole_file import write_whole
from playground.engine.library.store import Mode, StoreError
from playground.engine.library.store.unread import Tally, tally, told
from playground.ui.features.host import Control, Host
from playground.ui.widgets.dialogs import ask_where
from playground.ui.widgets.loop import spawn

SAVE = "Save it to a file…"
FILES = "JSON (*.json);;All files (*)"
NAME = "could-not-be-read.json"


class UnreadControl(Control):
    """Of each experiment it is told once, as long as the window is open; *Storage* has it all the time."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._told: set[str] = set()

    def show_session(self) -> None:
        """Say what of the experiment that is looked at could not be read."""
        session = self._workspace.current
        if session.unread and session.id not in self._told:
            self._told.add(session.id)
            self._host.notice.say(self._words(dict(session.unread)), SAVE, partial(self.save, session.id))

    async def words(self) -> str:
        """What of the whole store could not be read; empty where everything could."""
        store = self._workspace.store
        if store is None:
            return ""
        try:
            return self._words(tally(await store.unread()))
        except StoreError:  # the status says so
            return ""

    def _words(self, found: Tally) -> str:
        store = self._workspace.store
        return told(found, kept=store is not None and store.status.mode is not Mode.READ_ONLY)

    def save(self, experiment_id: str | None = None, over: QWidget | None = None) -> None:
        """Save what is set aside, of an experiment or all of it, to a file that a person chooses."""
        spawn(self._save(experiment_id, over or self._host.window), name="save what could not be read")

    async def _save(self, experiment_id: str | None, over: QWidget) -> None:
        store = self._workspace.store
        path = await ask_where(over, "Save what could not be read", NAME, FILES, "json")
        if store is None or path is None:
            return
        try:
            await asyncio.to_thread(write_whole, path, await store.unread_file(experiment_id))
        except (StoreError, OSError) as error:
            words = f"{path} could not be written: {error.strerror or error}" if isinstance(error, OSError) else error
            self._host.notice.say(str(words))
        else:
            self._host.notice.say(f"Saved to {path}. Keys that are known are taken out.", stays=False)
