"""Somebody enters a key that was no secret before: what is kept from before is freed of it, and that is said."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from PySide6.QtCore import QObject

from playground.engine.library.store import Mode, StoreError
from playground.ui.features.host import Host
from playground.ui.widgets.loop import spawn


def cleaned_words(rows: int, *, in_turns: bool) -> str:
    """What was done, and what was not."""
    places, them = ("1 place", "it") if rows == 1 else (f"{rows:,} places", "them")
    words = f"The key stood in {places} of what was kept before it was known, and was taken out of {them}."
    return f"{words} Turns that are open still have it: they are what is sent." if in_turns else words


class CleanControl(QObject):
    """``settle`` returns when it is known whether there is a store."""

    def __init__(self, host: Host, settle: Callable[[], Awaitable[None]]) -> None:
        super().__init__(host.window)
        self._host = host
        self._workspace = host.workspace
        self._settle = settle
        self._task: asyncio.Task[None] | None = None
        self._again = False
        host.workspace.gateways.keys.learned = self.clean

    def clean(self) -> None:
        """Free everything of what is known to be secret now; of what gets known meanwhile afterwards."""
        self._again = True
        if self._task is None or self._task.done():
            self._task = spawn(self._clean(), name="take out keys")

    async def go_on(self) -> None:
        """Do what was begun before the application ended, if anything was."""
        store = self._workspace.store
        if store is not None and store.status.mode is Mode.READY and await store.clean_due():
            self.clean()

    async def _clean(self) -> None:
        from playground.engine.library.cleaning import clean

        await self._settle()
        rows, in_turns = 0, False
        try:
            while self._again:
                self._again = False
                found = await clean(self._workspace)
                rows, in_turns = rows + found.rows, found.in_turns
        except StoreError as error:
            store = self._workspace.store
            if store is not None and store.status.mode is Mode.READY:
                self._say(f"What was kept before may still hold the key. {error} It is looked for at the next start.")
            return
        if rows:
            self._say(cleaned_words(rows, in_turns=in_turns))

    def _say(self, words: str) -> None:
        self._host.notice.say(words)
