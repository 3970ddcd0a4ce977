"""The Evaluate page: run bar, views of the answers, details below them, and the steps of the plan at the side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QWidget

from playground.domain.errors import RunRefusedError
from playground.engine.compare.lanes import Lanes
from playground.engine.evaluation.export.formats import FORMATS
from playground.engine.evaluation.resolved import PlanProblem
from playground.ui.features.evaluate.bars import BLIND, PLOTS, REPORT, TABLE, UPDATE_MS, RunBar, ViewBar
from playground.ui.features.evaluate.blind import BlindView
from playground.ui.features.evaluate.detail import Detail
from playground.ui.features.evaluate.exports import export_answers
from playground.ui.features.evaluate.import_dialog import open_import
from playground.ui.features.evaluate.model import EvaluationModel
from playground.ui.features.evaluate.panels.cases import CasesPanel
from playground.ui.features.evaluate.panels.checks import ChecksPanel
from playground.ui.features.evaluate.panels.run import RunPanel
from playground.ui.features.evaluate.panels.variants import Sources, VariantsPanel
from playground.ui.features.evaluate.plots.view import PlotsView
from playground.ui.features.evaluate.report import ReportView
from playground.ui.features.evaluate.steps import CASES, CHECKS, RUN, STEPS, VARIANTS, Steps, step_states
from playground.ui.features.evaluate.table import FILTERS, AnswersTable, Start
from playground.ui.features.host import Host
from playground.ui.widgets.form_parts import styled, thin_line
from playground.ui.widgets.layouts import in_column, in_pages, in_row, split
from playground.ui.widgets.loop import Throttle, spawn
from playground.ui.widgets.plain_text import show_hidden

if TYPE_CHECKING:
    from playground.engine.evaluation.resolved import EvalVariant
    from playground.engine.files.presets import Preset
    from playground.engine.gateways.model_catalog import ModelCatalog
    from playground.engine.session.plan import Case

SIDE, SIDE_LEAST, DETAIL = 360, 290, 230  # pixels


@dataclass(frozen=True, slots=True)
class PageCommands:
    """The functions of the window that the page calls. ``run`` gets a command of the run bar."""

    run: Callable[[str], None]
    run_cell_again: Callable[[Case, EvalVariant], None]
    open_sample: Callable[[], None]
    show_conversation: Callable[[], None]
    show_lanes: Callable[[], None]
    presets: Callable[[], Sequence[Preset]]


@runtime_checkable
class ShowsProblems(Protocol):
    """A panel that can show the part of the plan a problem is about."""

    def show_problem(self, problem: PlanProblem) -> None:
        """Show the part of the plan that a problem is about."""


class EvaluatePage(QWidget):
    """The page of an evaluation. Views and panels are made when they are first shown."""

    def __init__(self, evaluation: EvaluationModel, host: Host, commands: PageCommands) -> None:
        super().__init__()
        self.setObjectName("evaluatePage")
        self._evaluation, self._host, self._commands = evaluation, host, commands
        self._widgets: dict[str, QWidget] = {}
        self._makers: dict[str, Callable[[], QWidget]] = {
            TABLE: self._make_table,
            PLOTS: self._make_plots,
            BLIND: lambda: BlindView(evaluation),
            REPORT: self._make_report,
            CASES: self._make_cases,
            VARIANTS: self._make_variants,
            CHECKS: lambda: ChecksPanel(evaluation, host.workspace.gateways),
            RUN: self._make_run,
        }
        self.run_bar = RunBar(evaluation)
        self.run_bar.asked.connect(commands.run)
        self.run_bar.details_asked.connect(lambda: self.show_view(REPORT))
        self.view_bar = ViewBar([(entry.name, f"{entry.label}…") for entry in FORMATS.values()])
        self.view_bar.shown.connect(self.show_view)
        self.view_bar.import_asked.connect(self.import_cases)
        self.view_bar.export_asked.connect(self._export)
        self._views = QStackedWidget()
        self._detail: Detail | None = None
        self._halves = QSplitter(Qt.Orientation.Vertical, childrenCollapsible=False)
        self._halves.addWidget(self._views)
        self.steps = Steps()
        self._panels = in_pages(*(QWidget() for _ in STEPS))
        self.steps.currentChanged.connect(lambda index: self.panel(STEPS[index]))
        top, main, side = styled(QWidget(), "surface"), QWidget(), styled(QWidget(), "surface")
        side.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        side.setMinimumWidth(SIDE_LEAST)
        in_column(self.run_bar, thin_line(), self.view_bar, parent=top, margins=0, spacing=0)
        in_column(top, thin_line(), (self._halves, 1), parent=main, margins=0, spacing=0)
        in_column(self.steps, thin_line(), (self._panels, 1), parent=side, margins=0, spacing=0)
        self._split = split(main, side, sizes=(1440 - SIDE, SIDE), thin=True)
        self._split.setStretchFactor(0, 1)
        self._split.setStretchFactor(1, 0)
        in_row(self._split, parent=self, margins=0)
        throttle = Throttle(self._show_steps, self, UPDATE_MS)
        evaluation.arrived.connect(lambda _answers: throttle.poke())
        for signal in (evaluation.planned, evaluation.moved):
            signal.connect(self._show_steps)
        evaluation.chosen.connect(self._show_chosen)
        self.show_view(TABLE)
        self._show_steps()
        QTimer.singleShot(0, self, self._show_first_step)

    # Views

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if not self.isVisible():
            self._split.setSizes([max(self.width() - SIDE, SIDE), SIDE])

    def show_view(self, view: str) -> None:
        """Show a view of the answers."""
        if view not in self._widgets:
            self._widgets[view] = self._makers[view]()
            self._views.addWidget(self._widgets[view])
        self._views.setCurrentWidget(self._widgets[view])
        self.view_bar.show_view(view)
        if self._detail is not None:
            self._detail.setVisible(view == TABLE and self._evaluation.case is not None)

    def _show_chosen(self) -> None:
        """Show the details of the selected answer."""
        if self._evaluation.case is None:
            if self._detail is not None:
                self._detail.hide()
            return
        if self._detail is None:
            self._detail = Detail(self._evaluation, self._host)
            self._detail.again_asked.connect(self._commands.run_cell_again)
            self._detail.opened.connect(lambda _session: self._commands.show_conversation())
            self._halves.addWidget(self._detail)
            self._halves.setSizes([self._halves.height() - DETAIL, DETAIL])
            self._halves.setStretchFactor(0, 1)
        self.show_view(TABLE)

    def _make_table(self) -> QWidget:
        lanes, plan = Lanes(self._evaluation.session), self._evaluation
        starts = (
            Start("Add a case", self._add_case),
            Start("Import cases…", self.import_cases),
            Start("Use my lanes", self._use_lanes, lambda: len(lanes.all) > 1 and not plan.plan.variants),
            Start("Try the sample", self._commands.open_sample),
        )
        table = AnswersTable(self._evaluation, starts)
        self.view_bar.searched.connect(table.find_text)
        self.view_bar.filtered.connect(lambda number: table.set_filter(FILTERS[number]))
        table.counts.connect(self.view_bar.show_counts)
        return table

    def _add_case(self) -> None:
        panel = self.show_panel(CASES)
        if isinstance(panel, CasesPanel):
            panel.add_empty()

    def _use_lanes(self) -> None:
        panel = self.show_panel(VARIANTS)
        if isinstance(panel, VariantsPanel):
            panel.add_lanes()

    def _make_plots(self) -> QWidget:
        plots = PlotsView(self._evaluation)
        plots.reported.connect(self._say)
        return plots

    def _make_report(self) -> QWidget:
        report = ReportView(self._evaluation)
        report.reported.connect(self._say)
        return report

    # Steps

    def _show_steps(self) -> None:
        self.steps.show_states(step_states(self._evaluation))

    def _show_first_step(self) -> None:
        """Show the first step in which something has to be done, unless a panel is shown already."""
        if not any(step in self._widgets for step in STEPS):
            states = step_states(self._evaluation)
            self.show_panel(next((step for step in (CASES, VARIANTS, CHECKS) if not states[step].is_done), CASES))

    def panel(self, step: str) -> QWidget:
        """Return the panel of a step."""
        index = STEPS.index(step)
        if step not in self._widgets:
            self._widgets[step] = self._makers[step]()
            in_column(self._widgets[step], parent=self._panels.widget(index), margins=0)
        self._panels.setCurrentIndex(self.steps.currentIndex())
        return self._widgets[step]

    def show_panel(self, step: str) -> QWidget:
        """Bring the panel of a step to the front."""
        self.steps.show_step(step)
        return self.panel(step)

    def show_problem(self, problem: PlanProblem) -> None:
        """Show the panel that has the part of the plan a problem is about, and where in it that is."""
        panel = self.show_panel(problem.place.capitalize())
        if isinstance(panel, ShowsProblems):
            panel.show_problem(problem)

    def _make_cases(self) -> QWidget:
        panel = CasesPanel(self._evaluation)
        panel.import_asked.connect(self.import_cases)
        return panel

    def _make_run(self) -> QWidget:
        panel = RunPanel(self._evaluation)
        panel.place_asked.connect(self.show_problem)
        return panel

    def _make_variants(self) -> QWidget:
        panel = VariantsPanel(self._evaluation, Sources(self._commands.presets, self._list_models))
        panel.lane_opened.connect(self._commands.show_lanes)
        return panel

    async def _list_models(self) -> ModelCatalog:
        settings, gateways = self._evaluation.session.settings, self._host.workspace.gateways
        with suppress(RunRefusedError, OSError):  # names of models can be typed as well
            await gateways.models(settings.profile_id, settings.protocol)
        return gateways.catalog(settings.profile_id)

    # Files

    def import_cases(self) -> None:
        """Open the import dialog for cases."""
        open_import(self._evaluation, self._host.window)

    def _export(self, name: str) -> None:
        spawn(self._export_answers(name), name="export the evaluation")

    async def _export_answers(self, name: str) -> None:
        if words := await export_answers(self._evaluation, name, self._host.window):
            self._say(words)

    def _say(self, words: str) -> None:
        self._host.notice.say(show_hidden(words))

    # Keys

    def focus(self) -> None:
        """Focus the view."""
        self._widgets[self.view_bar.view].setFocus()

    def look_for(self) -> None:
        """Find a case or an answer."""
        self.show_view(TABLE)
        self.view_bar.search.setFocus()
        self.view_bar.search.selectAll()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._evaluation.case is not None:
            self._evaluation.choose(None)
        else:
            super().keyPressEvent(event)
