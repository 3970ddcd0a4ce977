"""The state of Listen in the window: the proxy on its thread, or an open recording, and the rows of its exchanges."""

from __future__ import annotations

import asyncio
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Signal

from playground.engine.cassettes.cassette import CassetteError
from playground.engine.io.files import decode_text
from playground.engine.library.store.opening import default_path
from playground.engine.listen.exchanges import Listened, Stage, Summary
from playground.engine.listen.mock_table import MockTable, read_mock_table
from playground.engine.listen.pauses import Breakpoints, Decision, GoOn, Pause
from playground.engine.listen.programs import ANY_KEY
from playground.engine.listen.recording import Recording, open_recording, read_listened
from playground.engine.listen.server import ListenServer, ListenSettings
from playground.engine.listen.thread import ListenThread
from playground.jsonkit.reading import parse_json
from playground.system.named_file import read_named
from playground.ui.features.listen.exchange_rows import ExchangeRow
from playground.ui.features.listen.options import KeySource, ListenOptions

if TYPE_CHECKING:
    from playground.engine.library.workspace import Workspace
    from playground.engine.session.session import Exchange

MOST_TABLE: Final = 64 * 1024 * 1024  # bytes of a mock table
OWN_KEY: Final = "YOUR-KEY"
RECORDINGS: Final = "listen"  # the folder beside the experiments
FOLDER_NAME: Final = "%Y-%m-%d %H-%M-%S"


class ListenModel(QObject):
    """Starts and stops the proxy, and holds the exchanges.

    ``changed`` is emitted after a start, a stop, and the opening or closing of a recording. ``rows_changed`` carries
    new and changed rows, some times a second.
    """

    changed = Signal()
    rows_changed = Signal(list)
    _reported = Signal(object, list)  # the thread and its exchanges, from that thread

    def __init__(self, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._thread: ListenThread | None = None
        self._listened: dict[int, Listened] = {}  # exchanges of the last start
        self._server: ListenServer | None = None  # of the last start
        self._recording: Recording | None = None
        self._summaries: dict[int, Summary] = {}  # of the open recording
        self._problem = ""
        self._is_starting = False
        self._is_stored_key = True
        self.gateway = workspace.gateways.active_id  # of experiments that are made of exchanges
        self._reported.connect(self._take)

    # Start and stop

    @property
    def listens(self) -> bool:
        """Return whether the proxy is on."""
        return self._thread is not None

    @property
    def is_starting(self) -> bool:
        """Return whether the proxy is being started."""
        return self._is_starting

    @property
    def recording_title(self) -> str:
        """The name of the recording that is open; empty for none."""
        return self._recording.folder.name if self._recording is not None else ""

    @property
    def key(self) -> str:
        """The key to give to programs."""
        return ANY_KEY if self._is_stored_key else OWN_KEY

    @property
    def base_url(self) -> str:
        """The whole address to give to programs, without ``/v1``."""
        return self._thread.server.base_url if self._thread is not None else ""

    @property
    def started_at(self) -> float:
        """The Unix time of the start."""
        return self._thread.server.started_at if self._thread is not None else 0.0

    @property
    def recordings_folder(self) -> Path:
        """The folder of all recordings of the window."""
        store = self._workspace.store
        return (store.path if store is not None else default_path()).parent / RECORDINGS

    async def start(self, options: ListenOptions, breakpoints: Breakpoints) -> None:
        """Listen. Raises RunRefusedError, OSError and ValueError in words."""
        self._is_starting = True
        try:
            gateways = self._workspace.gateways
            is_stored = options.key is KeySource.GATEWAY
            name = datetime.now().astimezone().strftime(FOLDER_NAME)
            settings = ListenSettings(
                connection=await gateways.connection(options.gateway, with_key=is_stored),
                stored_key=is_stored,
                port=options.port,
                folder=self.recordings_folder / name if options.record else None,
                secrets=gateways.keys.known_secrets(),
                price_of=partial(gateways.price, options.gateway),
            )
            thread = ListenThread(settings, lambda changes: self._reported.emit(thread, changes))
            thread.server.breakpoints = breakpoints
            await asyncio.to_thread(thread.start)
        finally:
            self._is_starting = False
        self._thread, self._server, self._listened, self._recording = thread, thread.server, {}, None
        self._is_stored_key = is_stored
        self.gateway = options.gateway
        self.changed.emit()

    async def stop(self) -> None:
        """Close the address and end the exchanges under way."""
        thread, self._thread = self._thread, None
        if thread is not None:
            await asyncio.to_thread(thread.stop)
            self._take(thread, list(self._listened.values()))
            self.changed.emit()

    def take_problem(self) -> str:
        """Return once why exchanges are not recorded any more; empty while they are."""
        problem = self._server.problem if self._server is not None else ""
        is_new, self._problem = problem != self._problem, problem
        return problem if is_new else ""

    def set_table(self, table: MockTable | None) -> None:
        """Answer requests that fit a row of this table from now on; None for no table."""
        if self._thread is not None:
            self._thread.server.table = table

    def set_breakpoints(self, breakpoints: Breakpoints) -> None:
        """Pause these requests and answers from now on."""
        if self._thread is not None:
            self._thread.server.breakpoints = breakpoints

    # Exchanges

    def _take(self, thread: ListenThread, exchanges: list[Listened]) -> None:
        """Show exchanges that changed; those of an earlier start are ignored."""
        if self._thread is not None and thread is not self._thread:
            return
        self._listened |= {listened.number: listened for listened in exchanges}
        self.rows_changed.emit([row_of(listened) for listened in exchanges])

    @property
    def under_way(self) -> int:
        """The number of exchanges that have not ended."""
        return sum(listened.stage is not Stage.ENDED for listened in self._listened.values()) if self.listens else 0

    def listened(self, number: int) -> Listened | None:
        """Return an exchange of the last start; None for one of a recording."""
        return self._listened.get(number)

    def release_all(self) -> None:
        """Let all paused exchanges go on unchanged."""
        for listened in self._listened.values():
            if (pause := listened.pause) is not None:
                pause.decide(GoOn())

    async def exchange(self, number: int) -> Exchange:
        """Return the tape of an exchange with its bodies. Raises CassetteError in words."""
        listened, server = self._listened.get(number), self._server
        if listened is not None and server is not None:
            return await asyncio.to_thread(server.load, listened)
        return (await self.recorded(number)).exchange

    async def recorded(self, number: int) -> Listened:
        """Read an exchange of the open recording. Raises CassetteError in words."""
        recording = self._recording
        summary = self._summaries.get(number)
        if recording is None or summary is None:
            raise CassetteError("The recording was closed.")
        return await asyncio.to_thread(read_listened, recording.folder, summary)

    # Recordings

    async def open_recording(self, folder: Path) -> list[str]:
        """Show the exchanges of a folder, and return what could not be read. Raises CassetteError in words."""
        recording = await asyncio.to_thread(open_recording, folder)
        if self.listens:
            return []
        self._recording, self._listened, self._server = recording, {}, None
        self._summaries = {summary.number: summary for summary in recording.summaries}
        self.changed.emit()
        self.rows_changed.emit([ExchangeRow(summary) for summary in recording.summaries])
        return list(recording.problems)

    def close(self) -> None:
        """Forget the exchanges that are shown, of a recording or of the last start."""
        if not self.listens:
            self._recording, self._listened, self._summaries, self._server = None, {}, {}, None
            self.changed.emit()


async def load_table(path: Path) -> MockTable:
    """Read a mock table. Raises OSError, and ValueError in words."""
    data = await asyncio.to_thread(read_named, path, MOST_TABLE)
    return await asyncio.to_thread(read_mock_table, decode_text(data))


def decision_of(table: MockTable, pause: Pause, protocol: str) -> Decision | None:
    """Return the answer of the first row that fits a paused request; None if there is none."""
    try:
        body = parse_json(pause.body.decode("utf-8"))
    except ValueError:
        return None
    match = table.find(protocol, body) if isinstance(body, dict) else None
    return match.decision if match is not None else None


def row_of(listened: Listened) -> ExchangeRow:
    """Return the row of an exchange in its present state."""
    exchange = listened.exchange
    summary = listened.summary or Summary(
        number=listened.number,
        id=exchange.id,
        started_at=exchange.started_at,
        method=exchange.method,
        path=listened.path,
        protocol=exchange.protocol,
        program=listened.program,
        session=listened.session,
        agent=listened.agent,
        retry=listened.retry,
    )
    return ExchangeRow(summary, listened.stage)
