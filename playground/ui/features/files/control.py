"""File commands of the main window: open, save a copy, import messages, export.

Files are read and written on another thread; errors are shown in the notice, or in the dialog that they belong to.
Experiments are saved automatically, so there is no state "not saved yet".
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from PySide6.QtCore import QObject, QSettings, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from playground.domain.hidden import short_name
from playground.jsonkit.texts import listed
from playground.ui.features.files.drop_place import DropTarget
from playground.ui.features.host import Control, Host
from playground.ui.widgets.dialogs import ask_folder, ask_several, ask_where, file_name
from playground.ui.widgets.loop import ask, spawn
from playground.ui.widgets.palette import Entry, Palette
from playground.ui.widgets.plain_text import show_hidden, tip

if TYPE_CHECKING:
    from playground.engine.files.messages import Conversation
    from playground.engine.library.opening_files import OpenedExperiment
    from playground.engine.session.session import Session
    from playground.ui.features.files.export_dialog import ExportChoice

T = TypeVar("T")

OPENABLE = "Experiments, cassettes, messages (*.json *.jsonl *.ndjson);;All files (*)"
EXPERIMENTS = "Experiments (*.playground.json);;All files (*)"
FOLDER = "files/folder"  # key of the last used folder in the settings
PATIENCE = 0.4  # seconds after which a notice says that a file is being read or written

_NAMED: Final = 3  # tools that are named in a line
KEY: Final = "files/recent"  # key in the settings; a JSON list of paths, the latest first
MOST: Final = 12
LONGEST: Final = 48  # characters of a folder's name in the menu
NONE: Final = "No files yet"
FORGET: Final = "Forget these files"


class RecentFiles(QObject):
    """Menu of recent files; ``open_file`` is called with the chosen path. Never reads the disk, which may be slow."""

    def __init__(self, settings: QSettings, open_file: Callable[[Path], None], parent: QWidget) -> None:
        super().__init__(parent)
        self._settings = settings
        self._open_file = open_file
        self.menu = QMenu(parent)
        self.menu.setToolTipsVisible(True)
        self.menu.aboutToShow.connect(self.fill)
        self.fill()

    @property
    def paths(self) -> list[Path]:
        """The paths of recent files, the latest first."""
        try:
            names = json.loads(str(self._settings.value(KEY, "[]")))
        except ValueError:
            return []
        return [Path(name) for name in names if isinstance(name, str)][:MOST] if isinstance(names, list) else []

    def add_recent(self, path: Path) -> None:
        """Put a file that was opened or saved first in the list."""
        self._save_paths([path, *(recent for recent in self.paths if recent != path)][:MOST])

    def remove(self, path: Path) -> None:
        """Remove a file from the list."""
        self._save_paths([recent for recent in self.paths if recent != path])

    def clear(self) -> None:
        """Remove all files from the list."""
        self._save_paths([])

    def _save_paths(self, paths: list[Path]) -> None:
        self._settings.setValue(KEY, json.dumps([str(path) for path in paths], ensure_ascii=False))
        self.fill()

    def fill(self) -> None:
        """Update the menu."""
        self.menu.clear()
        paths = self.paths
        for path in paths:
            action = self.menu.addAction(f"{show_hidden(path.name)}   {_folder(path)}".replace("&", "&&"))
            action.setToolTip(tip(str(path)))
            action.triggered.connect(partial(self._open_file, path))
        if not paths:
            self.menu.addAction(NONE).setEnabled(False)
            return
        self.menu.addSeparator()
        self.menu.addAction(FORGET).triggered.connect(self.clear)

    def entries(self) -> list[Entry]:
        """Return the recent files as entries of the palette."""
        return [Entry(path.name, _folder(path), partial(self._open_file, path)) for path in self.paths]


def _folder(path: Path) -> str:
    """Return the folder of a path, with ``~`` for the home folder; only the end of a long one."""
    folder = path.parent
    try:
        words = str(Path("~") / folder.relative_to(Path.home()))
    except (ValueError, RuntimeError):
        words = str(folder)
    return show_hidden(words if len(words) <= LONGEST else f"…{words[-LONGEST:]}")


class FileControl(Control):
    """Execute file commands; ``open_path`` and ``open_paths`` open files from the command line, a drop or a menu."""

    def __init__(self, host: Host, drops: DropTarget, open_cassette: Callable[[Path], Awaitable[bool]]) -> None:
        super().__init__(host)
        self._open_cassette = open_cassette
        self._files: dict[str, Path] = {}  # last file of each experiment, by experiment id
        self.recent = RecentFiles(host.settings, self.open_path, host.window)
        drops.dropped.connect(self.open_paths)

    # Opening

    def open(self) -> None:
        """Ask for files and open them."""
        spawn(self._choose(), name="open file")

    def open_recent(self) -> None:
        """Choose a recent file in the palette."""
        entries = self.recent.entries()
        if entries:
            Palette(entries, "Files opened or saved last", self._host.window).open_over()
        else:
            self._say("No file was opened or saved yet.", stays=False)

    def open_path(self, path: Path, _checked: bool = False) -> None:
        """Open a file of any supported kind."""
        self.open_paths([path])

    def open_paths(self, paths: Sequence[Path]) -> None:
        """Open files in this order."""
        spawn(self._open_all([path.absolute() for path in paths]), name="open files")

    async def _choose(self) -> None:
        await self._open_all(await ask_several(self._host.window, "Open", self._folder, OPENABLE))

    async def _open_all(self, paths: Sequence[Path]) -> None:
        for path in paths:
            await self._open(path)

    async def _open(self, path: Path) -> None:
        from playground.engine.library.opening_files import FileError, Kind, MissingFileError, kind_of

        self._remember_folder(path)
        try:
            kind = await self._await_with_notice(f"Opening {path.name}…", asyncio.to_thread(kind_of, path))
            if kind is Kind.EXPERIMENT:
                await self._open_experiment(path)
            elif kind is Kind.CASSETTE:
                if not await self._open_cassette(path):
                    return
            elif kind is Kind.REQUEST:
                await self._open_request(path)
            elif not await self._import_from(path):
                return
        except MissingFileError as error:
            if path in self.recent.paths:
                self._say(str(error), "Remove from list", partial(self.recent.remove, path))
            else:
                self._say(str(error))
        except FileError as error:
            self._say(f"{path.name} was not opened. {error}")
        else:
            self.recent.add_recent(path)

    async def _open_experiment(self, path: Path) -> None:
        from playground.engine.files import experiment_file
        from playground.engine.library.opening_files import FileError, settle
        from playground.engine.library.store import StoreError

        try:
            reading = asyncio.to_thread(experiment_file.open_file, path)
            arrived = await settle(self._workspace, await self._await_with_notice(f"Opening {path.name}…", reading))
        except (experiment_file.ExperimentFileError, StoreError) as error:
            raise FileError(str(error)) from None
        self._files[arrived.session.id] = path
        self._host.notice.hide()
        if words := _arrival_words(arrived, self._workspace.gateways.get(arrived.session.settings.profile_id).name):
            self._say(words)
        self._host.pane.composer.setFocus()

    async def _open_request(self, path: Path) -> None:
        from playground.engine.library.opening_files import begin, read_request_file

        request = await asyncio.to_thread(read_request_file, path)
        begin(self._workspace, request, path.stem)
        self._host.pane.composer.setFocus()

    # Saving

    def save(self) -> None:
        """Save a copy of the experiment in a file."""
        spawn(self._save(), name="save a copy")

    async def _save(self) -> None:
        from playground.engine.files.experiment_file import ExperimentFileError

        try:
            path = await self._save_session(self._session)
        except ExperimentFileError as error:
            self._say(str(error), "Save elsewhere…", self.save)
            return
        if path is not None:
            self._saved(f"Saved as {path}. Keys are not in it.", path)

    async def _save_session(self, session: Session) -> Path | None:
        from playground.engine.files.experiment_file import SUFFIX

        name = str(self._files.get(session.id, Path(self._folder) / f"{file_name(session.title)}{SUFFIX}"))
        path = await self._ask_where("Save a copy", name, EXPERIMENTS, SUFFIX.lstrip("."))
        if path is not None:
            await self._write(session, path)
        return path

    async def _write(self, session: Session, path: Path) -> None:
        from playground.engine.files.experiment_file import save
        from playground.engine.session.snapshot import snapshot

        saved_session, secrets = snapshot(session), self._workspace.gateways.keys.known_secrets()
        await self._await_with_notice(f"Saving {path.name}…", asyncio.to_thread(save, path, saved_session, secrets))
        self._files[session.id] = path
        self.recent.add_recent(path)

    async def save_copies(self, sessions: Sequence[Session]) -> bool:
        """Save each session in a file, after asking where; several go to one folder, without overwriting files.

        Returns whether all are saved. Raises ExperimentFileError.
        """
        from playground.engine.files.experiment_file import SUFFIX

        if len(sessions) == 1:
            return await self._save_session(sessions[0]) is not None
        folder = await ask_folder(self._host.window, "Save copies in", self._folder)
        if folder is None:
            return False
        self._settings.setValue(FOLDER, str(folder))
        for session in sessions:
            await self._write(session, free_path(folder, file_name(session.title), SUFFIX))
        return True

    def export(self) -> None:
        """Open the dialog that exports the conversation or the whole tree."""
        from playground.ui.features.files.export_dialog import ExportDialog

        session = self._session
        if not session.transcript.path:
            self._say("There is nothing to export yet: the conversation is empty.", stays=False)
            return
        dialog = ExportDialog(session.title, session.transcript, self._host.window)
        dialog.export_requested.connect(partial(self._export_as, session))
        dialog.open()

    def _export_as(self, session: Session, choice: ExportChoice) -> None:
        spawn(self._export(session, choice), name="export")

    async def _export(self, session: Session, choice: ExportChoice) -> None:
        from playground.engine.files.export import FORMATS, ExportError, export, left_out, save
        from playground.engine.session.snapshot import lane_snapshot

        suffix, secrets = FORMATS[choice.format].suffix, self._workspace.gateways.keys.known_secrets()
        path = None
        if not choice.to_clipboard:
            name = str(Path(self._folder) / f"{file_name(session.title)}.{suffix}")
            path = await self._ask_where("Export", name, f"Files (*.{suffix});;All files (*)", suffix)
            if path is None:
                return
        session.editors.keep_valid()
        whole_tree = choice.whole_tree
        source = (lane_snapshot(session), choice.format, secrets)
        try:
            if path is None:
                work = asyncio.to_thread(export, *source, whole_tree=whole_tree)
                QGuiApplication.clipboard().setText(await self._await_with_notice("Exporting…", work))
            else:
                await self._await_with_notice(
                    f"Exporting {path.name}…", asyncio.to_thread(save, path, *source, whole_tree=whole_tree)
                )
            omissions = await asyncio.to_thread(left_out, *source, whole_tree=whole_tree)
            words = f"Keys are not in it. {omissions}".rstrip()
            if path is None:
                self._say(f"Copied. {words}", stays=bool(omissions))
            else:
                self._saved(f"Exported to {path}. {words}", path)
        except ExportError as error:
            self._say(str(error), "Export again…", self.export)

    def _saved(self, words: str, path: Path) -> None:
        self._say(words, "Open the folder", partial(_show_folder, path.parent), stays=False)

    async def _ask_where(self, title: str, name: str, kinds: str, suffix: str) -> Path | None:
        path = await ask_where(self._host.window, title, name, kinds, suffix)
        if path is not None:
            self._remember_folder(path)
        return path

    # Importing

    def import_messages(self) -> None:
        """Open the dialog that imports conversations from a file or the clipboard."""
        spawn(self._import_from(None), name="import messages")

    async def _import_from(self, path: Path | None) -> bool:
        """Show the messages of a file in the import dialog, and return whether any were imported."""
        from playground.ui.features.files.import_dialog import ImportMessagesDialog

        dialog = ImportMessagesDialog(self._session.settings.protocol, self._host.window)
        dialog.folder = self._folder
        dialog.file_chosen.connect(self._remember_folder)
        dialog.imported.connect(self._imported)
        if path is not None:
            dialog.open_file(path)
        imported = bool(await ask(dialog))
        dialog.deleteLater()
        return imported

    def _imported(self, conversations: tuple[Conversation, ...]) -> None:
        spawn(self._open_conversations(conversations), name="import messages")

    async def _open_conversations(self, conversations: tuple[Conversation, ...]) -> None:
        from playground.engine.library.opening_files import take_in

        sessions = await take_in(self._workspace, conversations)
        if len(sessions) > 1:
            self._say(f"{len(sessions):,} conversations imported, an experiment each.", stays=False)
        self._host.pane.composer.setFocus()

    # Notices and settings

    @property
    def _folder(self) -> str:
        return str(self._settings.value(FOLDER, ""))

    def _remember_folder(self, path: Path) -> None:
        self._settings.setValue(FOLDER, str(path.parent))

    async def _await_with_notice(self, words: str, work: Awaitable[T]) -> T:
        """Return the result of a thread's work; show `words` in the notice if it takes long."""
        notice = self._host.notice
        later = asyncio.get_running_loop().call_later(PATIENCE, self._say, words)
        try:
            return await work
        finally:
            later.cancel()
            if notice.words == show_hidden(words):
                notice.hide()


def _arrival_words(arrived: OpenedExperiment, gateway: str) -> str:
    """Return the notice for an opened experiment; mostly empty."""
    from playground.engine.library.opening_files import Outcome

    words = []
    if arrived.outcome is Outcome.SAME:
        words.append("This experiment is here already, just as it is in the file.")
    elif arrived.outcome is Outcome.COPIED:
        words.append("A different version of this experiment is open already, so the file was opened as another one.")
    if arrived.lacking:
        words.append(f"It was on the gateway “{arrived.lacking}”, which is not set up here; it is on “{gateway}” now.")
    if arrived.paused:
        names = [short_name(name) for name in arrived.paused[:_NAMED]]
        names += [f"{len(arrived.paused) - _NAMED} more"] if len(arrived.paused) > _NAMED else []
        words.append(f"Its rules would call a server without asking for {listed(names)}. They pause for you.")
    return " ".join(words)


def _show_folder(folder: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))


def free_path(folder: Path, name: str, suffix: str) -> Path:
    """Return a path that does not exist yet: ``name``, with a number appended if needed."""
    names = (f"{name}{f'-{number}' if number > 1 else ''}{suffix}" for number in count(1))
    free_name = next(name for name in names if not os.path.lexists(folder / name))
    return folder / free_name
