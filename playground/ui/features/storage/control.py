"""The store in the window: opened after the first paint, its notice, its page, backups, secrets, and its end."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import shiboken6
from PySide6.QtCore import QStandardPaths, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QLineEdit, QWidget

from playground.engine.evaluation.answers import AnswersError
from playground.engine.files.experiment_file import ExperimentFileError
from playground.engine.gateways.secrets import Secret
from playground.engine.library.store import Mode, Status, StoreError
from playground.engine.library.store.backups import Backup
from playground.engine.library.workspace import Workspace
from playground.engine.session.session import Session
from playground.jsonkit.texts import listed
from playground.ui.features.host import Control, Host
from playground.ui.features.storage.banner import Choice, StorageBanner
from playground.ui.features.storage.limits import StorageLimits
from playground.ui.features.storage.page import StoragePage, StorageState
from playground.ui.widgets.dialogs import agreed, ask_choice, ask_where, ask_which, line_dialog
from playground.ui.widgets.loop import ask, spawn
from playground.ui.widgets.plain_text import short_title
from playground.ui.widgets.preferences import read_preferences, write_preferences

COPIES = "Copies of experiments (*.db);;All files (*)"
RESTORE = (
    "All experiments become those of the copy. The present file is set aside under another name, and nothing is "
    "deleted. Runs under way are stopped."
)
#: Saves copies where a person says. Returns whether they are there; raises ExperimentFileError.
SaveCopies = Callable[[Sequence[Session]], Awaitable[bool]]
UNOPENED = "Experiments could not be opened, so nothing is saved."
WAITS = "or cancel: it is written as soon as that is possible."
QUIT = "Quit without saving"
_MOST_NAMED = 3
REMOVE = "Secret to remove from this experiment and its backups.\nA mask replaces it, and undo steps are dropped."


def corrupt_words(count: int) -> str:
    """Return the notice about rows that could not be read."""
    rows = "1 part of this experiment" if count == 1 else f"{count} parts of this experiment"
    return f"{rows} could not be read and stays as it is in the file. A backup in the preferences may contain it."


async def may_lose(window: QWidget, workspace: Workspace, save: SaveCopies) -> bool:
    """Ask until there is an answer, and return whether to quit. A cancelled task closes the question."""
    failed = ""
    while True:
        status = workspace.store.status if workspace.store is not None else Status()
        unsaved = workspace.unsaved
        choices = [*(["Save a copy…" if len(unsaved) == 1 else "Save copies…"] if unsaved else []), QUIT]
        words = failed or why(status)
        answer = await ask_choice(window, "Not everything is saved", words, what(status, unsaved), *choices)
        if answer in ("", QUIT):
            return answer == QUIT
        try:
            if await save(unsaved):
                return True
            failed = ""
        except ExperimentFileError as error:
            failed = f"The copy was not saved. {error}"


def why(status: Status) -> str:
    """Return why experiments could not be saved."""
    if status.trouble:
        return f"Experiments cannot be saved now. {status.trouble}"
    return status.words or UNOPENED


def what(status: Status, lost: Sequence[Session]) -> str:
    """Return which changes are not on the disk, and what can be done."""
    titles = [f"“{short_title(session.title)}”" for session in lost[:_MOST_NAMED]]
    if len(lost) > _MOST_NAMED:
        titles.append(f"{len(lost) - _MOST_NAMED} more")
    if not titles:
        return f"What you changed in the list of experiments would be lost. Quit anyway, {WAITS}"
    names = listed(titles)
    advice = f"Save a copy of it elsewhere, {WAITS}" if status.trouble else "Save a copy of it, to go on with it later."
    return f"What you did in {names} would be lost. {advice}"


def removed_words(count: int) -> str:
    """Return the notice after a secret was removed from an experiment."""
    if not count:
        return "The secret was not found in this experiment."
    places = "1 place" if count == 1 else f"{count:,} places"
    return f"The secret was removed from {places} of this experiment, and from its backups. Change it where it is used."


class StorageControl(Control):
    """The store of one window.

    ``opened`` is emitted once the list of experiments is read, ``changed`` after other limits were applied.
    ``page_asked`` asks for the page of the preferences.
    """

    opened = Signal()
    changed = Signal()
    page_asked = Signal()

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._opening: asyncio.Task[None] | None = None
        self._page: StoragePage | None = None
        self._fetched = ""
        self._reported: set[str] = set()  # experiments whose corrupt rows were reported
        self._question: asyncio.Task[bool] | None = None  # whether to lose what is not saved
        self._ends = asyncio.Event()  # whatever is lost by it
        self.banner = StorageBanner()
        host.add_banner(self.banner)
        workspace, settings = host.workspace, host.settings
        limits = read_preferences(StorageLimits, settings)
        workspace.set_tape_limit(limits.memory)
        if workspace.store is not None:
            workspace.store.keep_tapes(limits.tapes)
            workspace.store.keep_deleted(limits.trash_days or None)
            workspace.store.subscribe(self._show_status)

    # From the start to the end

    def start(self) -> None:
        """Open the store. Called once the event loop runs."""
        self._opening = spawn(self._open_store(), name="open store")

    async def _open_store(self) -> None:
        await self._workspace.start()
        self.opened.emit()

    async def settle(self) -> None:
        """Return when the store is open, or could not be opened."""
        if self._opening is not None:
            await asyncio.wait([self._opening])

    async def may_end(self, save: SaveCopies, also: Callable[[], Coroutine[Any, Any, bool]]) -> bool:
        """Return whether the application can end: nothing is lost, ``save`` saved it, or a person agrees to lose it.

        ``also`` is asked before.
        """
        if not await self._answer(also()):
            return False
        await self.settle()
        try:
            await self._workspace.flush()
            saved = self._status.mode is Mode.READY
        except StoreError:  # the status says so
            saved = False
        if saved or self._ends.is_set() or not self._workspace.behind:
            return True
        return await self._answer(may_lose(self._host.window, self._workspace, save))

    async def _answer(self, question: Coroutine[Any, Any, bool]) -> bool:
        """Return the answer of a person; True where the application has to end."""
        if self._ends.is_set():
            question.close()
            return True
        self._question = spawn(question, name="ask whether it may end")
        await asyncio.wait([self._question])
        answer, self._question = self._question, None
        return self._ends.is_set() or (answer.exception() is None and answer.result())

    def ask_no_longer(self) -> None:
        """The application has to end, whatever is lost by it. A question that is open is taken back."""
        self._ends.set()
        if self._question is not None:
            self._question.cancel()

    def bring_back(self, exchange_id: str) -> None:
        """Fetch the bodies of an exchange that are on the disk and not in memory; the session then tells of it."""
        session = self._workspace.current
        exchange = session.exchanges.get(exchange_id)
        if exchange is None or exchange.ended is None or not session.experiment.may_fetch(exchange):
            return
        if exchange_id != self._fetched:  # asked once: what the disk no longer has stays away
            self._fetched = exchange_id
            spawn(self._bring(session, exchange_id), name="fetch exchange")

    async def _bring(self, session: Session, exchange_id: str) -> None:
        try:
            await session.experiment.bring_exchange(exchange_id)
        except StoreError as error:
            self._say(str(error), stays=False)

    # The notice

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

    def show_session(self) -> None:
        """Report the rows of the shown experiment that could not be read, once while the window is open."""
        store, session = self._workspace.store, self._workspace.current
        count = store.corrupt_rows.get(session.id, 0) if store is not None else 0
        if count and session.id not in self._reported:
            self._reported.add(session.id)
            self._say(corrupt_words(count), "Storage…", self.page_asked.emit)

    # The page of the preferences

    def make_page(self) -> QWidget:
        """Return the page: where experiments are stored, backups and limits."""
        page = self._page = StoragePage(read_preferences(StorageLimits, self._settings))
        page.folder_asked.connect(self._open_folder)
        page.backup_asked.connect(self.back_up)
        page.restore_asked.connect(self.restore)
        page.backup_restore_asked.connect(self.restore_backup)
        page.limits_applied.connect(self._apply_limits)
        self._refresh_page()
        return page

    def _shown_page(self) -> StoragePage | None:
        return self._page if self._page is not None and shiboken6.isValid(self._page) else None

    def _refresh_page(self) -> None:
        spawn(self._show_state(), name="storage page")

    async def _show_state(self) -> None:
        state = await self._state()
        if (page := self._shown_page()) is not None:
            page.show_state(state)

    def _apply_limits(self, limits: StorageLimits) -> None:
        write_preferences(limits, self._settings)
        self._workspace.set_tape_limit(limits.memory)
        spawn(self._keep(limits), name="apply limits")

    async def _keep(self, limits: StorageLimits) -> None:
        if self._workspace.store is not None:
            self._workspace.store.keep_tapes(limits.tapes)
            await self._workspace.keep_deleted(limits.trash_days or None)
        self.changed.emit()
        await self._show_state()

    async def _state(self) -> StorageState:
        store, status = self._workspace.store, self._status
        on_disk = store is not None and status.mode is not Mode.MEMORY
        path = store.path if store is not None else Path()
        with contextlib.suppress(StoreError):  # the status says so
            await self._workspace.look_through_trash()
        return StorageState(
            path=str(path) if on_disk else "",
            size=await asyncio.to_thread(_size, path) if on_disk else 0,
            notice=status.trouble or status.words,
            memory=self._workspace.current.exchanges.bytes,
            can_restore=status.mode in (Mode.READY, Mode.MEMORY) and store is not None,
            backups=tuple(await store.backups()) if store is not None else (),
            backup_problem=store.backup_problem if store is not None else "",
            deleted=len(self._workspace.trash),
            trash=await self._trash_size() if on_disk else 0,
        )

    async def _trash_size(self) -> int:
        try:
            return await self._workspace.trash_size()
        except StoreError:
            return 0

    def _tell(self, words: str) -> None:
        if (page := self._shown_page()) is not None:
            page.say(words)
        else:
            self._say(words)

    # Copies

    def back_up(self) -> None:
        """Copy all experiments into a file that a person chooses."""
        spawn(self._back_up(), name="back up")

    async def _back_up(self) -> None:
        documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        name = f"gateway-playground-{time.strftime('%Y-%m-%d')}.db"
        path = await ask_where(self._parent, "Back up all experiments", str(Path(documents) / name), COPIES, "db")
        if path is None:
            return
        store = self._workspace.store
        if store is not None and path.resolve() == store.path.resolve():
            self._tell("Experiments are stored in this file. Choose another name for the copy.")
            return
        self._tell(f"Copying to {path.name}…")
        self._set_busy(True)
        try:
            await self._workspace.backup(path)
        except StoreError as error:
            self._tell(str(error))
        else:
            self._tell(f"Backed up to {path}.")
        finally:
            self._set_busy(False)

    def _set_busy(self, busy: bool) -> None:
        if (page := self._shown_page()) is not None:
            page.set_busy(busy)

    @property
    def _parent(self) -> QWidget:
        """The window for questions: that of the page, or the main window."""
        page = self._shown_page()
        return page.window() if page is not None else self._host.window

    def restore(self) -> None:
        """Put a copy that a person chooses in the place of all experiments, after asking."""
        spawn(self._restore(), name="restore")

    def restore_backup(self, backup: Backup) -> None:
        """Put a rolling backup in the place of all experiments, after asking."""
        spawn(self._put_back(backup.path), name="restore backup")

    async def _restore(self) -> None:
        path = await ask_which(self._parent, "Restore experiments from a copy", "", COPIES)
        if path is not None:
            await self._put_back(path)

    async def _put_back(self, path: Path) -> None:
        if not await self._agreed(path):
            return
        try:
            aside = await self._workspace.restore(path)
        except StoreError as error:
            self._tell(str(error))
            return
        old_file = f" The old file is kept as {aside}." if aside is not None else ""
        self._tell(f"Restored from {path.name}.{old_file}")
        await self._show_state()

    async def _agreed(self, path: Path) -> bool:
        return await agreed(self._parent, "Restore this copy?", str(path), RESTORE, "Restore")

    # Removing a secret

    def remove_secret(self) -> None:
        """Ask for a secret, and remove it from all that is stored of the shown experiment."""
        spawn(self._remove_secret(), name="remove a secret")

    async def _remove_secret(self) -> None:
        session = self._workspace.current.main
        dialog = line_dialog(self._host.window, "Remove secret", REMOVE, "", "Remove")
        dialog.setTextEchoMode(QLineEdit.EchoMode.Password)
        try:
            secret = dialog.textValue().strip() if await ask(dialog) else ""
        finally:
            dialog.deleteLater()
        if not secret:
            return
        try:
            count = await self._workspace.remove_secret(session.id, Secret(secret))
        except (StoreError, AnswersError) as error:
            self._say(str(error))
        else:
            self._say(removed_words(count))


def _size(path: Path) -> int:
    """Bytes of the file and of what is on its way into it."""
    total = 0
    for ending in ("", "-wal"):
        try:
            total += path.with_name(path.name + ending).stat().st_size
        except OSError:
            continue
    return total
