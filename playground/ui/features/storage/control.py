"""The store in the window: opened behind the first paint, how it stands, its dialog, copies of it, its end."""

from __future__ import annotations

import asyncio
import contextlib
import time
from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths, QUrl, Signal
from PySide6.QtGui import QDesktopServices

from playground.engine.library.store import Mode, Status, StoreError
from playground.engine.library.store.retention import KeepTapes
from playground.engine.session.session import Session
from playground.ui.features.host import Host
from playground.ui.features.storage.banner import Choice, StorageBanner
from playground.ui.features.storage.clean_control import CleanControl
from playground.ui.features.storage.dialog import StorageDialog, StorageState
from playground.ui.features.storage.limits import (
    BYTES_KEY,
    DAYS_KEY,
    MEMORY_KEY,
    TRASH_KEY,
    keep_rule,
    memory_limit,
    trash_days,
)
from playground.ui.features.storage.unread_control import UnreadControl
from playground.ui.features.storage.unsaved import SaveCopies, may_lose
from playground.ui.widgets.dialogs import agreed, ask_where, ask_which
from playground.ui.widgets.loop import ask as ask_person
from playground.ui.widgets.loop import spawn

FILES = "Copies of experiments (*.db);;All files (*)"
RESTORE = (
    "All experiments become those of the copy. What there is now is set aside in a file beside it, and nothing is "
    "deleted. Runs under way are stopped."
)


class StorageControl(QObject):
    """``opened`` says that the list of experiments is there. ``changed`` says that other limits are in force."""

    opened = Signal()
    changed = Signal()

    def __init__(self, host: Host) -> None:
        super().__init__(host.window)
        self._host = host
        self._workspace = host.workspace
        self._settings = host.settings
        self._opening: asyncio.Task[None] | None = None
        self._dialog: StorageDialog | None = None
        self._fetched = ""
        self._asking: asyncio.Task[bool] | None = None  # whether to lose what is not saved
        self._ends = asyncio.Event()  # whatever is lost by it
        self.banner = StorageBanner()
        host.add_banner(self.banner)
        self.unread = UnreadControl(host)
        self._keys = CleanControl(host, self.settle)
        workspace, settings = host.workspace, host.settings
        workspace.set_tape_limit(memory_limit(settings))
        if workspace.store is not None:
            workspace.store.keep_tapes(keep_rule(settings))
            workspace.store.keep_deleted(trash_days(settings) or None)
            workspace.store.subscribe(self._show_status)

    # From the start to the end

    def start(self) -> None:
        """Open the store. Called once the event loop runs."""
        self._opening = spawn(self._open_store(), name="open store")

    async def _open_store(self) -> None:
        await self._workspace.start()
        self.opened.emit()
        with contextlib.suppress(StoreError):  # the status says so
            await self._keys.go_on()

    async def settle(self) -> None:
        """Return when the store is open, or could not be opened."""
        if self._opening is not None:
            await asyncio.wait([self._opening])

    async def may_end(self, save: SaveCopies) -> bool:
        """Whether the application can end: nothing is lost, or ``save`` saved it, or a person agrees to lose it."""
        await self.settle()
        try:
            await self._workspace.flush()
            kept = self._status.mode is Mode.READY
        except StoreError:  # the status says so
            kept = False
        if kept or self._ends.is_set() or not self._workspace.behind:
            return True
        self._asking = spawn(may_lose(self._host.window, self._workspace, save), name="ask what is not saved")
        await asyncio.wait([self._asking])
        asked, self._asking = self._asking, None
        return self._ends.is_set() or (asked.exception() is None and asked.result())

    def ask_no_longer(self) -> None:
        """The application has to end, whatever is lost by it. A question that is open is taken back."""
        self._ends.set()
        if self._asking is not None:
            self._asking.cancel()

    def bring_back(self, exchange_id: str) -> None:
        """Fetch the bodies of an exchange that are on the disk and not in memory; the session then tells of it."""
        session = self._workspace.current
        exchange = session.exchanges.get(exchange_id)
        if exchange is None or exchange.ended is None or not session.may_fetch(exchange):
            return
        if exchange_id != self._fetched:  # asked once: what the disk no longer has stays away
            self._fetched = exchange_id
            spawn(self._bring(session, exchange_id), name="fetch exchange")

    async def _bring(self, session: Session, exchange_id: str) -> None:
        try:
            await session.bring_exchange(exchange_id)
        except StoreError as error:
            self._host.notice.say(str(error), stays=False)

    # How it stands

    @property
    def _status(self) -> Status:
        store = self._workspace.store
        return store.status if store is not None else Status()

    def _show_status(self) -> None:
        choices: list[Choice] = []
        store = self._workspace.store
        if store is not None and store.path.parent.exists():
            choices.append(("Open folder", self._open_folder))
        self.banner.show_status(self._status, choices)

    def _open_folder(self) -> None:
        store = self._workspace.store
        if store is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(store.path.parent)))

    # The dialog

    def open(self) -> None:
        """Show where experiments are kept, and set how much of the tapes is."""
        spawn(self._ask(), name="storage")

    async def _ask(self) -> None:
        place = await self._place()
        rule = keep_rule(self._settings)
        bounds = int(rule.days or 0), rule.bytes or 0, self._workspace.tape_limit, trash_days(self._settings)
        dialog = StorageDialog(place, *bounds, self._host.window)
        self._dialog = dialog
        dialog.folder_asked.connect(self._open_folder)
        dialog.backup_asked.connect(self.back_up)
        dialog.restore_asked.connect(self.restore)
        dialog.unread_asked.connect(lambda: self.unread.save(over=dialog))
        if await ask_person(dialog):
            for key, value in (
                (DAYS_KEY, dialog.days),
                (BYTES_KEY, dialog.disk),
                (MEMORY_KEY, dialog.memory),
                (TRASH_KEY, dialog.trash_days),
            ):
                self._settings.setValue(key, value)
            self._workspace.set_tape_limit(dialog.memory)
            if self._workspace.store is not None:
                self._workspace.store.keep_tapes(KeepTapes(dialog.days or None, dialog.disk or None))
                await self._workspace.keep_deleted(dialog.trash_days or None)
            self.changed.emit()
        self._dialog = None
        dialog.deleteLater()

    async def _place(self) -> StorageState:
        store, status = self._workspace.store, self._status
        kept = store is not None and status.mode is not Mode.MEMORY
        path = store.path if store is not None else Path()
        with contextlib.suppress(StoreError):  # the status says so
            await self._workspace.look_through_trash()
        return StorageState(
            path=str(path) if kept else "",
            size=await asyncio.to_thread(_size, path) if kept else 0,
            words=status.trouble or status.words,
            taken=self._workspace.current.exchanges.bytes,
            can_restore=status.mode is Mode.READY,
            deleted=len(self._workspace.trash),
            trash=await self._trash_size() if kept else 0,
            unread=await self.unread.words(),
        )

    async def _trash_size(self) -> int:
        try:
            return await self._workspace.trash_size()
        except StoreError:
            return 0

    def _say(self, words: str) -> None:
        if self._dialog is not None:
            self._dialog.say(words)
        else:
            self._host.notice.say(words)

    # Copies

    def back_up(self) -> None:
        """Copy all experiments into a file that a person chooses."""
        spawn(self._back_up(), name="back up")

    async def _back_up(self) -> None:
        documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        name = f"gateway-playground-{time.strftime('%Y-%m-%d')}.db"
        path = await ask_where(
            self._dialog or self._host.window, "Back up all experiments", str(Path(documents) / name), FILES, "db"
        )
        if path is None:
            return
        store = self._workspace.store
        if store is not None and path.resolve() == store.path.resolve():
            self._say("That is the file experiments are kept in. Choose another name for the copy.")
            return
        self._say(f"Copying to {path.name}…")
        if self._dialog is not None:
            self._dialog.set_busy(True)
        try:
            await self._workspace.backup(path)
        except StoreError as error:
            self._say(str(error))
        else:
            self._say(f"Backed up to {path}.")
        if self._dialog is not None:
            self._dialog.set_busy(False)

    def restore(self) -> None:
        """Put a copy that a person chooses in the place of all experiments, after asking."""
        spawn(self._restore(), name="restore")

    async def _restore(self) -> None:
        path = await ask_which(self._dialog or self._host.window, "Restore experiments from a copy", "", FILES)
        if path is None or not await self._agreed(path):
            return
        try:
            aside = await self._workspace.restore(path)
        except StoreError as error:
            self._say(str(error))
            return
        kept = f" What there was before is kept as {aside}." if aside is not None else ""
        if self._dialog is not None:
            self._dialog.reject()
            self._dialog = None
        self._say(f"Restored from {path.name}.{kept}")

    async def _agreed(self, path: Path) -> bool:
        return await agreed(self._dialog or self._host.window, "Restore this copy?", str(path), RESTORE, "Restore")


def _size(path: Path) -> int:
    """Bytes of the file and of what is on its way into it."""
    total = 0
    for ending in ("", "-wal"):
        try:
            total += path.with_name(path.name + ending).stat().st_size
        except OSError:
            continue
    return total
