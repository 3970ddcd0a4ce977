"""Commands for the selected exchanges: open, run again, compare, make cases, save and export."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from playground.engine.cassettes.cassette import CassetteError
from playground.jsonkit.texts import cut, quantity
from playground.ui.features.host import Host
from playground.ui.features.inspector.save_exchanges import export_archive, save_recording
from playground.ui.features.inspector.traces import Traces
from playground.ui.features.listen import texts
from playground.ui.features.listen.compare_dialog import CompareDialog
from playground.ui.features.listen.from_exchange import (
    NotUnderstoodError,
    add_cases,
    cases_of,
    experiment_of,
    open_as_experiment,
)
from playground.ui.features.listen.page import RowCommand
from playground.ui.widgets.dialogs import ask_choice
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.plain_text import short_title

if TYPE_CHECKING:
    from playground.engine.session.session import Exchange
    from playground.ui.features.listen.exchange_rows import ExchangeRow
    from playground.ui.features.listen.model import ListenModel

NEW_EXPERIMENT, THIS_EXPERIMENT = "New experiment", "This experiment"
MOST_TITLE = 60  # characters


class Say(Protocol):
    """Shows a notice; one that does not stay is hidden after a while."""

    def __call__(self, words: str, *, stays: bool = True) -> None: ...


@dataclass(frozen=True, slots=True)
class CommandsAround:
    """The functions of the window that the commands need."""

    leave: Callable[[], None]  # shows the conversation
    edit_request: Callable[[], None]  # the next request in the inspector
    show_cases: Callable[[], None]  # the page of the evaluation, with its cases
    say: Say


class ExchangeCommands:
    """The commands. ``rows`` lists them for the menu."""

    def __init__(self, host: Host, model: ListenModel, around: CommandsAround) -> None:
        self._host, self._model, self._around = host, model, around
        self._workspace = host.workspace
        self._traces = Traces()
        self.rows: Sequence[RowCommand] = (
            RowCommand("Open as experiment", self._task(self._open_experiment)),
            RowCommand("Run again with changes", self._task(self._run_again)),
            RowCommand("Compare two", self._task(self._compare), least=2, most=2, group=1),
            RowCommand("Add to evaluation as cases…", self._task(self._add_cases), most=0, group=1),
            RowCommand("Save as recording…", self._task(self._save), most=0, group=2),
            RowCommand("Export HAR…", self._task(self._export), most=0, group=2),
        )

    def _task(
        self, work: Callable[[list[ExchangeRow]], Coroutine[Any, Any, None]]
    ) -> Callable[[list[ExchangeRow]], None]:
        """Return a command that runs as a task and reports what goes wrong."""

        async def run(rows: list[ExchangeRow]) -> None:
            try:
                await work(rows)
            except NotUnderstoodError:
                self._around.say(texts.NOT_UNDERSTOOD, stays=False)
            except (CassetteError, OSError) as error:
                self._around.say(str(error))

        def start(rows: list[ExchangeRow]) -> None:
            spawn(run(rows), name="command for exchanges")

        return start

    async def _exchanges(self, rows: Sequence[ExchangeRow]) -> list[Exchange]:
        return [await self._model.exchange(row.summary.number) for row in rows]

    async def _open_experiment(self, rows: list[ExchangeRow]) -> None:
        (exchange,) = await self._exchanges(rows)
        if exchange.ended is None:
            self._around.say(texts.EXCHANGES_STILL_RUN, stays=False)
            return
        await open_as_experiment(self._workspace, self._model.gateway, exchange)
        self._around.leave()

    async def _run_again(self, rows: list[ExchangeRow]) -> None:
        (exchange,) = await self._exchanges(rows)
        await open_as_experiment(self._workspace, self._model.gateway, exchange, with_answer=False)
        self._around.leave()
        self._around.edit_request()

    async def _compare(self, rows: list[ExchangeRow]) -> None:
        first, second = await self._exchanges(rows)
        dialog = CompareDialog(first, second, self._traces.trace_of, self._host.window)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    async def _add_cases(self, rows: list[ExchangeRow]) -> None:
        exchanges = await self._exchanges(rows)
        cases = await cases_of(self._workspace, self._model.gateway, exchanges)
        if not cases:
            self._around.say(texts.NO_CASES, stays=False)
            return
        session, window = self._workspace.current.main, self._host.window
        title = short_title(session.title) or "the current experiment"
        text = f"Add {quantity(len(cases), 'case')} to which evaluation?"
        more = f"A new experiment has the settings and tools of the first request. This experiment is {title}."
        choice = await ask_choice(window, "Add cases", text, more, THIS_EXPERIMENT, NEW_EXPERIMENT)
        if not choice:
            return
        if choice == NEW_EXPERIMENT:
            session = await experiment_of(self._workspace, self._model.gateway, exchanges[:1])
            session.change(title=cut(f"Requests of {rows[0].summary.program or 'a program'}", MOST_TITLE))
            add_cases(session, cases)
            self._workspace.add_experiment(session)
        else:
            add_cases(session, cases)
        self._around.leave()
        self._around.show_cases()

    async def _save(self, rows: list[ExchangeRow]) -> None:
        await self._write(save_recording, rows)

    async def _export(self, rows: list[ExchangeRow]) -> None:
        await self._write(export_archive, rows)

    async def _write(self, write: Callable[..., Coroutine[Any, Any, Any]], rows: list[ExchangeRow]) -> None:
        exchanges = [exchange for exchange in await self._exchanges(rows) if exchange.ended is not None]
        if not exchanges:
            self._around.say(texts.EXCHANGES_STILL_RUN, stays=False)
            return
        secrets = self._workspace.gateways.keys.known_secrets()
        title = rows[0].summary.program or "program"
        result = await write(self._host.window, exchanges, title, _complete, secrets)
        if result.words:
            self._around.say(result.words, stays=not result.is_saved)


async def _complete(exchange: Exchange) -> Exchange:
    """Return an exchange, which has its bodies."""
    await asyncio.sleep(0)
    return exchange
