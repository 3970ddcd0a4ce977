"""Listen in the window: opens the page, starts and stops the proxy, and carries out the commands for exchanges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from playground.domain.errors import RunRefusedError
from playground.engine.gateways.redaction import redactor_of
from playground.jsonkit.texts import quantity
from playground.ui.features.host import Control, Host
from playground.ui.features.listen import texts
from playground.ui.widgets.dialogs import agreed, ask_which
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.plain_text import show_hidden

if TYPE_CHECKING:
    from playground.engine.listen.mock_table import MockTable
    from playground.engine.listen.pauses import Decision
    from playground.ui.features.listen.exchange_rows import ExchangeRow
    from playground.ui.features.listen.model import ListenModel
    from playground.ui.features.listen.options import ListenOptions
    from playground.ui.features.listen.page import ListenPage
    from playground.ui.features.listen.program_dialog import ProgramDialog


TABLES = "Mock tables (*.json);;All files (*)"
COMMAND = "listen/command"  # the last command line in the settings


@dataclass(frozen=True, slots=True)
class Around:
    """The functions of the window that Listen needs."""

    show: Callable[[QWidget | None], None]  # the page with this tool bar; None for the conversation
    leave_others: Callable[[], None]  # closes the other pages of the centre
    show_state: Callable[[str], None]  # says on every page that it listens; empty for nothing
    show_cases: Callable[[], None]  # the page of the evaluation, with its cases
    edit_request: Callable[[], None]  # the next request in the inspector


class ListenControl(Control):
    """Shows the page. Listening goes on while other pages are shown, and ends with the window."""

    def __init__(self, host: Host, around: Around) -> None:
        super().__init__(host)
        self._around = around
        self._model: ListenModel | None = None
        self._page: ListenPage | None = None
        self._bar = QWidget(host.window)
        in_row(1, parent=self._bar, margins=0)
        self._bar.hide()
        self._on = False
        self._programs: list[ProgramDialog] = []
        self._table_name = ""  # of the mock table that was read last
        self._tools: set[str] = set()  # names that requests have offered
        self._loading = 0  # counts selections, so that an outdated read is dropped

    # The page

    @property
    def on(self) -> bool:
        """Return whether the page is shown."""
        return self._on

    @property
    def model(self) -> ListenModel:
        """The proxy and its exchanges, or an open recording."""
        if self._model is None:
            from playground.ui.features.listen.model import ListenModel

            self._model = ListenModel(self._workspace, self)
            self._model.changed.connect(self._show_state)
            self._model.rows_changed.connect(self._show_rows)
        return self._model

    @property
    def page(self) -> ListenPage:
        """The page, made when it is first shown."""
        if self._page is None:
            from playground.ui.features.listen.exchange_commands import CommandsAround, ExchangeCommands
            from playground.ui.features.listen.options import load_options
            from playground.ui.features.listen.page import ListenPage

            gateways = self._workspace.gateways
            around = CommandsAround(
                partial(self.show, False), self._around.edit_request, self._around.show_cases, self._say
            )
            commands = ExchangeCommands(self._host, self.model, around)
            page = ListenPage(load_options(self._settings), lambda: gateways.profiles, self._redact, commands.rows)
            page.hide()
            page.strip.start_asked.connect(self.start)
            page.strip.stop_asked.connect(self.stop_listening)
            page.strip.close_asked.connect(self._close_list)
            page.strip.connect_asked.connect(self.connect_program)
            page.strip.program_asked.connect(self.start_program)
            page.strip.recordings_asked.connect(self.open_recordings)
            page.strip.breakpoints.changed.connect(self.model.set_breakpoints)
            page.start.changed.connect(self._options_changed)
            page.connect_view.start_asked.connect(self.start_program)
            page.connect_view.list_asked.connect(page.show_list)
            page.row_chosen.connect(self._row_chosen)
            page.detail.pause.decided.connect(self._decide)
            page.detail.pause.table_asked.connect(self._answer_from_table)
            page.strip.breakpoints.table_asked.connect(self._use_table)
            page.strip.breakpoints.table_removed.connect(self._remove_table)
            self._page = page
            self._show_state()
        return self._page

    def show(self, on: bool) -> None:
        """Show the page instead of the conversation, Compare or Evaluate, or the conversation again."""
        if on == self._on:
            return
        if on:
            self._around.leave_others()
            self._on = True
            page = self.page
            page.start.refresh()
            self._host.pane.set_central(page, mode=self)
            self._around.show(self._bar)
            page.focus()
        else:
            self.leave()
            self._around.show(None)
            self._host.pane.composer.setFocus()

    def leave(self) -> None:
        """Hide the page; listening goes on."""
        if not self._on:
            return
        self._on = False
        page = self.page
        if self._host.pane.seen is page:
            self._host.pane.set_central(None)
        page.hide()

    def show_session(self) -> None:
        """Show the conversation of another experiment, which a person has chosen."""
        self.show(False)

    def _redact(self, text: str) -> str:
        return redactor_of(self._workspace.gateways.keys.known_secrets()).text(text)

    # Run, Stop and Find of the window

    @property
    def under_way(self) -> bool:
        """Return False: Escape must not stop listening."""
        return False

    def run(self) -> None:
        """Carry out the main button of a paused exchange."""
        self.release()

    def stop(self) -> None:
        """Do nothing: only the button on the page stops listening."""

    def look_for(self) -> None:
        """Find a request."""
        self.page.look_for()

    # Start and stop

    def start_on_page(self) -> None:
        """Show the page and start listening."""
        self.show(True)
        self.start()

    def start(self) -> None:
        """Start listening, after the question about recordings if it was not asked before."""
        if not self.model.is_starting and not self.model.listens and not self.page.start.problem:
            spawn(self._start(), name="start listening")

    async def _start(self) -> None:
        from playground.ui.features.listen.options import has_agreed, note_agreement, save_options

        page, model = self.page, self.model
        options: ListenOptions = page.start.options
        save_options(self._settings, options)
        if options.record and not has_agreed(self._settings):
            more = texts.CONSENT_MORE.format(folder=model.recordings_folder)
            window = self._host.window
            if not await agreed(window, texts.CONSENT_TITLE, texts.CONSENT, more, texts.CONSENT_YES):
                return
            note_agreement(self._settings)
        page.clear()
        page.strip.show_stopped(texts.STARTING, can_start=False)
        page.strip.breakpoints.show_table("")
        try:
            await model.start(options, page.strip.breakpoints.breakpoints)
        except (RunRefusedError, OSError, ValueError) as error:
            page.strip.show_stopped()
            self._say(str(error))

    def stop_listening(self) -> None:
        """Stop, after a question if exchanges are under way."""
        if self.model.listens:
            spawn(self._stop(), name="stop listening")

    async def _stop(self) -> None:
        if await self._may_stop():
            await self.model.stop()

    async def _may_stop(self) -> bool:
        count = self.model.under_way
        if not count:
            return True
        words = texts.UNDER_WAY.format(count=f"{count:,} exchange{'s are' if count > 1 else ' is'}")
        return await agreed(
            self._host.window, texts.UNDER_WAY_TITLE, words, texts.UNDER_WAY_MORE, texts.UNDER_WAY_TITLE
        )

    async def may_end(self) -> bool:
        """Return whether the window may close: nothing is under way, or a person agrees to end it."""
        programs = sum(window.running for window in self._programs)
        if programs:
            count = f"{programs:,} programs are" if programs > 1 else "A program is"
            words = texts.PROGRAM_RUNS.format(count=count)
            return await agreed(self._host.window, texts.QUIT, words, texts.PROGRAM_RUNS_MORE, texts.QUIT_AND_END)
        return self._model is None or not self._model.listens or await self._may_stop()

    async def aclose(self) -> None:
        """Stop listening and end programs that were started to end with the window."""
        for window in self._programs:
            window.end_now()
        if self._model is not None:
            await self._model.stop()

    def _options_changed(self) -> None:
        from playground.ui.features.listen.options import save_options

        start = self.page.start
        if not start.problem:
            save_options(self._settings, start.options)
        self.page.strip.start.setEnabled(not start.problem)

    # What is shown

    def _show_state(self) -> None:
        """Show whether it listens, or which recording is open."""
        page, model = self.page, self.model
        if model.listens:
            self._show_counts()
            self._show_lines()
            page.show_list() if page.model.total else page.show_connect()
        elif model.recording_title:
            page.strip.show_recording(show_hidden(model.recording_title))
            page.show_list()
        else:
            page.strip.show_stopped(has_rows=bool(page.model.total))
            page.show_list() if page.model.total else page.show_start()
        if not model.listens:
            self._around.show_state("")

    def _show_lines(self) -> None:
        """Show the lines to paste, with the present address."""
        from playground.ui.features.listen.paste import paste_lines

        page, model = self.page, self.model
        page.connect_view.show_programs(paste_lines(model.base_url, model.key), has_requests=bool(page.model.total))

    def _show_counts(self) -> None:
        page, model = self.page, self.model
        rows = page.model.rows()
        paused = sum(row.is_paused for row in rows)
        if problem := model.take_problem():
            self._say(problem)
        page.strip.show_listening(model.base_url, model.started_at, len(rows), paused)
        waiting = f" · {paused:,} paused" if paused else ""
        self._around.show_state(f"Listening · {quantity(len(rows), 'request')}{waiting}")

    def _show_rows(self, rows: list[ExchangeRow]) -> None:
        """Show new and changed exchanges."""
        page, model = self.page, self.model
        is_first = not page.model.total
        page.show_rows(rows)
        if model.listens:
            self._tools |= {name for row in rows for name in row.summary.tools}
            page.strip.breakpoints.show_tools(sorted(self._tools))
            self._show_counts()
        if is_first and rows:
            page.show_list()

    def _row_chosen(self, row: ExchangeRow | None) -> None:
        """Show an exchange: at once if its bodies are in memory."""
        detail = self.page.detail
        self._loading += 1
        if row is None:
            detail.clear()
            return
        listened = self.model.listened(row.summary.number)
        if listened is not None and not listened.exchange.dropped:
            detail.show_exchange(row, listened.exchange, listened)
        else:
            spawn(self._load(self._loading, row), name="read a recorded exchange")

    async def _load(self, number: int, row: ExchangeRow) -> None:
        from playground.engine.cassettes.cassette import CassetteError

        detail = self.page.detail
        listened = self.model.listened(row.summary.number)
        try:
            if listened is None:
                listened = await self.model.recorded(row.summary.number)
                exchange = listened.exchange
            else:
                exchange = await self.model.exchange(row.summary.number)
        except CassetteError as error:
            if self._loading == number:
                detail.clear(texts.NOT_LOADED.format(problem=error))
            return
        if self._loading == number:
            detail.show_exchange(row, exchange, listened)

    # Pauses

    def _decide(self, decision: Decision) -> None:
        row = self.page.chosen
        listened = self.model.listened(row.summary.number) if row is not None else None
        pause = self.page.detail.pause.pause
        if pause is None or listened is None or listened.pause is not pause:
            self._say(texts.SENT_ALREADY, stays=False)
            return
        if problem := pause.decide(decision):
            self.page.detail.pause.show_problem(problem)

    def _answer_from_table(self) -> None:
        spawn(self._decide_by_table(), name="answer from a table")

    async def _decide_by_table(self) -> None:
        """Answer the paused request with the row of a table that fits it."""
        from playground.ui.features.listen.model import decision_of

        panel, row = self.page.detail.pause, self.page.chosen
        pause, listened = panel.pause, self.model.listened(row.summary.number) if row is not None else None
        table = await self._ask_table()
        if table is None or pause is None or listened is None:
            return
        decision = decision_of(table, pause, listened.exchange.protocol)
        if decision is None:
            panel.show_problem(texts.TABLE_NO_ROW)
        elif problem := pause.decide(decision):
            panel.show_problem(problem)

    async def _ask_table(self) -> MockTable | None:
        """Ask for a mock table and read it; None if a person cancelled or it cannot be read."""
        from playground.ui.features.listen.model import load_table

        path = await ask_which(self._host.window, "Choose a mock table", "", TABLES)
        if path is None:
            return None
        try:
            table = await load_table(path)
        except (OSError, ValueError) as error:
            self._say(f"{path.name} cannot be read: {error}")
            return None
        self._table_name = path.name
        return table

    def _use_table(self) -> None:
        spawn(self._set_table(), name="use a mock table")

    async def _set_table(self) -> None:
        table = await self._ask_table()
        if table is not None and self.model.listens:
            self.model.set_table(table)
            self.page.strip.breakpoints.show_table(self._table_name)

    def _remove_table(self) -> None:
        self.model.set_table(None)
        self.page.strip.breakpoints.show_table("")

    def release(self) -> None:
        """Carry out the main button of the pause that is shown."""
        if self.page.detail.pause.pause is not None:
            self.page.detail.pause.decide()

    def release_all(self) -> None:
        """Let all paused exchanges go on unchanged."""
        self.model.release_all()

    # Programs

    def start_program(self) -> None:
        """Open the dialog that starts a program."""
        if not self.model.listens:
            self._say("Start listening first.", stays=False)
            return
        from playground.ui.features.listen.paste import program_variables
        from playground.ui.features.listen.program_dialog import ProgramDialog

        choices = program_variables(self.model.base_url, self.model.key)
        window = ProgramDialog(choices, str(self._settings.value(COMMAND, "")), self._host.window)
        window.confirmed.connect(lambda line: self._settings.setValue(COMMAND, line))
        window.ended.connect(partial(self._forget_program, window))
        self._programs.append(window)
        window.show()

    def _forget_program(self, window: ProgramDialog) -> None:
        self._programs.remove(window)
        window.deleteLater()

    def connect_program(self) -> None:
        """Show the lines to paste."""
        self.show(True)
        page, model = self.page, self.model
        if model.listens:
            self._show_lines()
            page.show_connect()
            page.connect_view.program.setFocus()

    # Recordings

    def open_recordings(self) -> None:
        """Open the dialog of recordings."""
        self.show(True)
        if self.model.listens:
            self._say("Stop listening before you open a recording.", stays=False)
            return
        from playground.ui.features.listen.recordings_dialog import RecordingsDialog

        dialog = RecordingsDialog(self.model.recordings_folder, self._host.window)
        dialog.open_asked.connect(lambda path: spawn(self._open(path), name="open a recording"))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    async def _open(self, folder: Path) -> None:
        from playground.engine.cassettes.cassette import CassetteError

        self.page.clear()
        try:
            problems = await self.model.open_recording(folder)
        except CassetteError as error:
            problems = [str(error)]
        if problems:
            self._say(" ".join(problems))

    def _close_list(self) -> None:
        self.page.clear()
        self.model.close()
