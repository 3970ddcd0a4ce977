"""The window of a gateway check: its requests and their cost, results as they arrive, evidence, earlier reports.

It is not modal. Closing it stops a check that is under way and saves its results.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QDialog, QMenu, QProgressBar, QWidget
from shiboken6 import isValid

from playground.domain.durations import span
from playground.domain.errors import RunRefusedError
from playground.engine.gateway_check.report import (
    FORMATS,
    Line,
    Report,
    ReportError,
    ReportStore,
    Verdict,
    change_words,
    count_words,
    groups,
    previous_report,
)
from playground.engine.gateway_check.requests import Target, target_of, with_secrets
from playground.engine.requests.protocol_info import TITLES
from playground.jsonkit.texts import cut
from playground.ui.features.gateway_check.evidence import CHOOSE, NOT_KEPT, NOTHING, Evidence
from playground.ui.features.gateway_check.lines import Key, Lines, Planned
from playground.ui.widgets.dialogs import file_name
from playground.ui.widgets.form_parts import push_button, styled, text_label, thin_line
from playground.ui.widgets.layouts import in_column, in_row, split
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.mark_label import MarkLabel
from playground.ui.widgets.model_picker import ModelPicker
from playground.ui.widgets.plain_text import short_name, show_hidden, tip
from playground.ui.widgets.save_text import save_as
from playground.ui.widgets.session_window import main_window

if TYPE_CHECKING:
    from playground.engine.gateway_check.check_run import CheckEvent, CheckRun
    from playground.engine.gateway_check.checks import CheckCost
    from playground.engine.gateways.gateways import Gateways
    from playground.engine.session.session import Exchange

WIDE, TALL = 1000, 700  # pixels
_NEW: Final = "New check"
_NAME: Final = 48  # characters of a gateway's name in a list
_MODEL: Final = 20  # of a model's name in the list of reports
_MOST_LISTED: Final = 50  # earlier reports
_MOST_CHANGES: Final = 6  # listed differences to the report before
ENOUGH: Final = 3  # completed checks before the remaining time is estimated
NOT_SELECTED: Final = "Not selected."
STOPPED: Final = "The check was stopped before this request."
STOPPED_EARLIER: Final = "Not selected, or the check was stopped before this request."
NO_MODEL: Final = "Choose a model first: type its id, or select one."
SAVED_TO_GATEWAY: Final = "Saved to gateway settings."
ABOUT: Final = (
    "Small requests test line by line how this gateway implements the APIs, and what this model supports. "
    "Clear the box of each check to skip."
)


class CheckWindow(QDialog):
    """The window. ``learnt_wanted`` carries the report whose rules are to be saved for its gateway."""

    learnt_wanted = Signal(object)

    def __init__(self, gateways: Gateways, reports: ReportStore, parent: QWidget) -> None:
        super().__init__(parent)
        self._gateways, self._report_store = gateways, reports
        self._profile_id = ""
        self._run: CheckRun | None = None
        self._task: asyncio.Task[None] | None = None
        self._saving = False  # the report of a check that has ended is being saved
        self._reports: tuple[Report, ...] = ()  # all saved reports
        self._listed: tuple[Report, ...] = ()  # the reports in the list
        self._report: Report | None = None  # the report that is shown
        self._exchanges: dict[str, Exchange] = {}
        self._costs: dict[Key, CheckCost] = {}
        self._planned: list[tuple[str, list[Planned]]] = []
        self._unticked: tuple[Key, ...] = ()
        self._selected: list[Key] = []
        self._started = 0.0  # monotonic seconds
        self._number = 0  # of the last plan or report to show
        self.setWindowTitle("Check this gateway")
        self._build()
        room = main_window(parent).size()
        self.resize(min(WIDE, room.width() - 40), min(TALL, room.height() - 60))

    def _build(self) -> None:
        self.gateway = QComboBox()
        self.gateway.setAccessibleName("Gateway")
        self.gateway.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.gateway.setMinimumContentsLength(16)
        self.model = ModelPicker()
        self.earlier = QComboBox()
        self.earlier.setAccessibleName("Reports")
        self.earlier.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.earlier.setMinimumContentsLength(27)
        self.export_button = push_button("Export")
        menu = QMenu(self.export_button)
        for row in FORMATS.values():
            menu.addAction(f"{row.label}…").triggered.connect(partial(self._export, row.suffix))
        self.export_button.setMenu(menu)
        head = in_row(
            text_label("Gateway", "muted"),
            self.gateway,
            text_label("Model", "muted"),
            (self.model, 1),
            self.model.unlisted,
            1,
            self.earlier,
            self.export_button,
            margins=(16, 12, 16, 0),
            spacing=8,
        )
        self.summary = text_label(ABOUT, "muted", wrap=True)
        self.summary.setContentsMargins(16, 0, 16, 0)
        self.changes = MarkLabel(wraps=True)
        self.changes.setContentsMargins(16, 0, 16, 0)
        self.changes.hide()
        self.lines = Lines()
        self.evidence = Evidence()
        self.parts = split(self.lines, self.evidence, sizes=(380, 240))
        self.parts.setOrientation(Qt.Orientation.Vertical)
        self.state = text_label("", "muted", wrap=True)
        self.progress = QProgressBar(textVisible=False)
        self.progress.setProperty("kind", "progress")
        self.progress.setAccessibleName("Completed checks")
        self.progress.setFixedWidth(160)
        self.keep_button = push_button("Save to gateway")
        self.stop_button = push_button("Stop")
        self.begin_button = styled(push_button("Start"), "primary")
        close = push_button("Close")
        buttons = (self.keep_button, close, self.stop_button, self.begin_button)
        for button in (*buttons, self.export_button):
            button.setAutoDefault(False)
        foot = in_row(self.progress, (self.state, 1), *buttons, margins=(16, 0, 16, 12), spacing=8)
        in_column(
            head,
            self.summary,
            self.changes,
            thin_line(),
            (self.parts, 1),
            thin_line(),
            foot,
            parent=self,
            margins=0,
            spacing=8,
        )
        self.gateway.activated.connect(self._gateway_chosen)
        self.model.chosen.connect(self._model_chosen)
        self.model.refresh_asked.connect(self._list_models)
        self.earlier.activated.connect(self._earlier_chosen)
        self.lines.chosen.connect(self._look_at)
        self.lines.ticked.connect(self._show_total)
        self.begin_button.clicked.connect(self.begin)
        self.stop_button.clicked.connect(self.stop)
        self.keep_button.clicked.connect(self._keep_learnt)
        close.clicked.connect(self.close)
        self._show_state()

    # ---- gateway and model

    @property
    def running(self) -> bool:
        """True while a check runs or its report is being saved."""
        return self._saving or (self._task is not None and not self._task.done())

    @property
    def report(self) -> Report | None:
        """The report that is shown, or that of the check under way so far."""
        return self._run.report if self.running and self._run is not None else self._report

    def open_for(self, profile_id: str, model: str) -> None:
        """Show the window for a model; a check that is under way stays."""
        if not self.running:
            self._choose(profile_id, model)
        self.show()
        self.raise_()
        self.activateWindow()

    def _choose(self, profile_id: str, model: str) -> None:
        self._profile_id = profile_id
        self.gateway.clear()
        for profile in self._gateways.profiles:
            self.gateway.addItem(show_hidden(cut(profile.name, _NAME)), profile.id)
            if profile.id == profile_id:
                self.gateway.setCurrentIndex(self.gateway.count() - 1)
        self._unticked = ()
        self._show_model(model)
        self._list_models()
        self._plan()

    def _show_model(self, model: str) -> None:
        self.model.show_catalog(self._gateways.catalog(self._profile_id))
        self.model.show_model(model)

    def _gateway_chosen(self, index: int) -> None:
        profile = self._gateways.get(str(self.gateway.itemData(index)))
        self._choose(profile.id, profile.default_model)

    def _model_chosen(self, model: str) -> None:
        self.model.show_model(model)
        self._plan()

    def _list_models(self) -> None:
        if self._gateways.listed(self._profile_id) is None:
            spawn(self._load_models(self._profile_id), name="models to check")

    async def _load_models(self, profile_id: str) -> None:
        try:
            listing = await self._gateways.models(profile_id, next(iter(TITLES)))
        except (RunRefusedError, OSError) as error:
            self.state.setText(show_hidden(str(error)))
            return
        if profile_id == self._profile_id and not self.running:
            model = self.model.shown or (listing.ids[0] if listing.ids else "")
            self._show_model(model)
            if self._report is None:
                self._plan()

    # ---- plan

    def _plan(self) -> None:
        """Show the possible checks of the selected model with their maximum cost."""
        self._number += 1
        self._report = None
        self._exchanges = {}
        self.changes.setText("")
        self.changes.hide()
        self.evidence.show_exchanges((), "", CHOOSE)
        spawn(self._make_plan(self._number), name="estimate a check")

    async def _make_plan(self, number: int) -> None:
        profile_id, model = self._profile_id, self.model.shown
        target = target_of(self._gateways, profile_id, model)
        self._planned, self._costs, reports = await asyncio.to_thread(_planned, target, self._report_store)
        if number != self._number:
            return
        if model and self._gateways.lacks_facts(profile_id, model):
            spawn(self._learn(profile_id, model), name="load facts of a model")
        self.lines.show_plan(self._planned, self._unticked)
        self._show_reports(reports)
        self._show_total()
        self._show_state()

    async def _learn(self, profile_id: str, model: str) -> None:
        """Load facts of the model, such as its price, and plan again if there are any."""
        try:
            is_new = await self._gateways.fetch_facts(profile_id, next(iter(TITLES)), model)
        except (RunRefusedError, OSError):
            return  # the check reports it
        is_current = (profile_id, model) == (self._profile_id, self.model.shown)
        if is_new and is_current and self._report is None and not self.running:
            self._plan()

    def _show_reports(self, reports: tuple[Report, ...], current: str = "") -> None:
        """List the reports of the gateway, the newest first."""
        self._reports = reports
        self._listed = tuple(report for report in reports if report.profile_id == self._profile_id)[:_MOST_LISTED]
        self.earlier.clear()
        self.earlier.addItem(_NEW)
        for report in self._listed:
            when = datetime.fromtimestamp(report.begun).astimezone().strftime("%Y-%m-%d %H:%M")
            self.earlier.addItem(show_hidden(f"{when} · {cut(report.model, _MODEL)}"))
            self.earlier.setItemData(
                self.earlier.count() - 1,
                tip(f"{report.model}: {count_words(report.lines)}"),
                Qt.ItemDataRole.ToolTipRole,
            )
            if report.id == current:
                self.earlier.setCurrentIndex(self.earlier.count() - 1)

    def _show_total(self) -> None:
        """Show the number and the maximum cost of the selected checks."""
        if self.running or self._report is not None:
            return
        from playground.engine.gateway_check.checks import total_cost

        ticked = self.lines.ticked_keys
        self._unticked = tuple(self.lines.unticked)
        sums = total_cost(self._costs[key] for key in ticked if key in self._costs)
        count = f"{sums.requests} {'request' if sums.requests == 1 else 'requests'}"
        tokens = f"about {sums.prompt:,} tokens in, at most {sums.output:,} out"
        self.summary.setText(f"{ABOUT} {count}, {tokens}: {sums.price_words}.")
        self._show_state()

    def _show_state(self) -> None:
        running, new = self.running, self._report is None
        self.begin_button.setText("Start" if new else "Check again")
        self.begin_button.setEnabled(not running and (not new or bool(self.model.shown and self.lines.ticked_keys)))
        self.begin_button.setVisible(not running)
        self.stop_button.setVisible(running)
        self.progress.setVisible(running)
        for part in (self.gateway, self.model, self.earlier):
            part.setEnabled(not running)
        self.export_button.setEnabled(not running and not new)
        learnt = self._report.learnt if self._report is not None else ()
        self.keep_button.setVisible(not running and bool(learnt))
        if not running and new:
            self.state.setText("" if self.model.shown else NO_MODEL)

    # ---- run

    def begin(self) -> None:
        """Run the selected checks; from a report, plan them again."""
        if self.running:
            return
        if self._report is not None:
            self._plan()
            return
        if self.model.shown and self.lines.ticked_keys:
            self._task = spawn(self._perform(self.lines.ticked_keys), name="check a gateway")
            self._task.add_done_callback(self._ended)
            if self.begin_button.hasFocus():
                self.lines.setFocus()  # the next button in the focus order would be Close
            self._show_state()

    def stop(self) -> None:
        """Stop the check; its results are saved."""
        if self._task is not None:
            self._task.cancel()

    def _ended(self, _task: object) -> None:
        """Update the buttons, also if the check was stopped before it had begun."""
        if isValid(self):
            self._show_state()

    async def _perform(self, selected: list[Key]) -> None:
        from playground.engine.gateway_check.check_run import CheckRun

        self._number += 1
        self._selected = selected
        self._started = time.monotonic()
        self._show_progress()
        target = target_of(self._gateways, self._profile_id, self.model.shown)
        self.lines.begin_run()
        run: CheckRun | None = None
        try:
            run = self._run = CheckRun(await with_secrets(target, self._gateways), selected, self._handle_event)
            await run.perform()
        except RunRefusedError as error:
            self._refused(str(error))
        except OSError as error:
            self._refused(f"The check could not start: {error}")
        finally:
            self._task = None  # from here on, only the end of the application cancels this task
            if run is not None and run.report.lines:
                await self._end(run.report, tuple(run.exchanges))
            elif run is not None and isValid(self):
                self._plan()

    def _refused(self, words: str) -> None:
        self._plan()
        self.changes.setText(show_hidden(words))
        self.changes.set_mark("error", "error")
        self.changes.show()

    def _handle_event(self, event: CheckEvent) -> None:
        from playground.engine.gateway_check.check_run import CheckStarted, LineAdded

        if isinstance(event, CheckStarted):
            self.lines.show_begun(event.key)
        elif isinstance(event, LineAdded):
            self.lines.show_line(event.line)
            if event.line.verdict is Verdict.SKIPPED:
                self._show_skipped(event.line.protocol)
            self._show_progress()
        elif event.words:
            self.state.setText(show_hidden(event.words))
        else:
            self._show_progress()

    def _show_skipped(self, protocol: str) -> None:
        """Show why the other selected checks of a protocol are skipped, if none of them is made."""
        report = self.report
        if report is None or not _not_served(report, protocol):
            return
        for line in (line for lines in self._lines_without_result(report).values() for line in lines):
            if line.key in self._selected and line.protocol == protocol:
                self.lines.show_line(line)

    def _show_progress(self) -> None:
        done, total = self.lines.completed, len(self._selected)
        self.progress.setRange(0, max(total, 1))
        self.progress.setValue(done)
        seconds = time.monotonic() - self._started
        left = f", about {span(round(seconds / done * (total - done)))} left" if done >= ENOUGH and done < total else ""
        self.state.setText(f"{done} of {total} complete{left}")

    async def _end(self, report: Report, exchanges: tuple[Exchange, ...]) -> None:
        """Save the report, and show it with its differences from the one before.

        Part of the check's own task: a task of its own would be cancelled before it began when the application is
        closed during a check, and the report would be lost.
        """
        words = ""
        self._saving = True
        try:
            try:
                await asyncio.to_thread(self._report_store.save, report, exchanges, self._gateways.keys.known_secrets())
            except ReportError as error:
                words = str(error)
            reports = await asyncio.to_thread(self._report_store.load)
        finally:
            self._saving = False
        current = self.lines.current
        self._show_reports(reports, report.id)
        self._show_report(report, exchanges)
        if current is not None:
            self.lines.choose(current)
        if words:
            self.state.setText(show_hidden(words))

    # ---- a report

    def _lines_without_result(self, report: Report) -> dict[str, list[Line]]:
        """Return lines with a reason for the checks without a line in a report, by the headings of their groups."""
        keys = {line.key for line in report.lines}
        is_last_run = self._run is not None and report.id == self._run.report.id

        def reason(key: Key) -> str:
            if words := _not_served(report, key[1]):
                return words
            if report.stopped and (not is_last_run or key in self._selected):
                return STOPPED if is_last_run else STOPPED_EARLIER
            return NOT_SELECTED

        return {
            heading: [
                Line(check=key[0], title=title, protocol=key[1], verdict=Verdict.SKIPPED, words=reason(key))
                for key, title, _, _ in rows
                if key not in keys
            ]
            for heading, rows in self._planned
        }

    def _show_report(self, report: Report, exchanges: tuple[Exchange, ...]) -> None:
        self._report = report
        self._exchanges = {exchange.id: exchange for exchange in exchanges}
        self._show_model(report.model)
        self.lines.show_report(groups(report, TITLES), self._lines_without_result(report))
        when = datetime.fromtimestamp(report.begun).astimezone().strftime("%Y-%m-%d %H:%M")
        stopped = ", then stopped" if report.stopped else ""
        subject = f"{short_name(report.model)} on {short_name(report.gateway)}, {when}"
        self.summary.setText(show_hidden(f"{subject}: {count_words(report.lines)}{stopped}."))
        self.state.setText("")
        old = previous_report(report, self._reports)
        words = change_words(report, old) if old is not None else ()
        more = f" … and {len(words) - _MOST_CHANGES} more" if len(words) > _MOST_CHANGES else ""
        self.changes.setText(show_hidden(f"Changed: {'; '.join(words[:_MOST_CHANGES])}{more}.") if words else "")
        self.changes.set_mark("info", "accent")
        self.changes.setVisible(bool(words))
        self._show_state()

    def _earlier_chosen(self, index: int) -> None:
        if index <= 0:
            self._plan()
            return
        self._number += 1
        spawn(self._open_report(self._number, self._listed[index - 1]), name="an earlier report")

    async def _open_report(self, number: int, report: Report) -> None:
        words = ""
        exchanges: tuple[Exchange, ...] = ()
        try:
            exchanges = await asyncio.to_thread(self._report_store.exchanges, report)
        except ReportError as error:
            words = str(error)
        if number == self._number and not self.running:
            self._show_report(report, exchanges)
            self.evidence.show_exchanges((), "", CHOOSE)
            self.state.setText(show_hidden(words))

    def _look_at(self, key: Key | None) -> None:
        """Show the exchanges of a line."""
        line = self.lines.line(key) if key is not None else None
        if line is None:
            self.evidence.show_exchanges((), "", CHOOSE)
            return
        if self.running and self._run is not None:
            self._exchanges = {exchange.id: exchange for exchange in self._run.exchanges}
        exchanges = [self._exchanges[exchange_id] for exchange_id in line.exchanges if exchange_id in self._exchanges]
        words = f"{line.title}: {line.verdict.words}. {line.words}"
        self.evidence.show_exchanges(exchanges, words, NOT_KEPT if line.exchanges else NOTHING)

    def say_kept(self, problem: str) -> None:
        """Report that rules were saved, or the ``problem``."""
        self.state.setText(show_hidden(problem) or SAVED_TO_GATEWAY)
        self.keep_button.setVisible(bool(problem))

    def _keep_learnt(self) -> None:
        if self._report is not None:
            self.learnt_wanted.emit(self._report)

    def _export(self, kind: str, _checked: bool = False) -> None:
        report = self._report
        if report is None:
            return
        old, secrets = previous_report(report, self._reports), self._gateways.keys.known_secrets()
        make: Callable[[], str] = partial(FORMATS[kind].write, report, old, secrets)
        name = f"{file_name(f'Check of {report.gateway}', 'check')}.{kind}"
        spawn(save_as(self, "Export the report", name, kind, make, secrets, self._say), name="export a report")

    def _say(self, words: str) -> None:
        self.state.setText(show_hidden(words))

    # ---- closing

    def reject(self) -> None:
        """Close the window; a check that is under way stops, and its results are saved."""
        self.stop()
        super().reject()


def _not_served(report: Report, protocol: str) -> str:
    """Return why no check was made over a protocol; empty if there was one, or for checks that are about none."""
    first = next((line for line in report.lines if protocol and line.protocol == protocol), None)
    return first.words if first is not None and first.verdict is Verdict.SKIPPED else ""


def _planned(
    target: Target, report_store: ReportStore
) -> tuple[list[tuple[str, list[Planned]]], dict[Key, CheckCost], tuple[Report, ...]]:
    """Return the possible checks by group, their maximum cost, and the saved reports."""
    from playground.engine.gateway_check.check_run import costs_of, keys_of
    from playground.engine.gateway_check.checks import BY_ID

    keys = keys_of(target)
    costs = costs_of(target, keys)
    grouped: dict[str, list[Planned]] = {}
    for key in keys:
        check = BY_ID[key[0]]
        grouped.setdefault(key[1], []).append((key, check.title, check.about, costs[key].words))
    order: Any = sorted(grouped, key=lambda protocol: (bool(protocol), list(grouped).index(protocol)))
    return [(TITLES.get(name, "In any protocol"), grouped[name]) for name in order], costs, report_store.load()
