"""The views and panels of the Evaluate page by name, imported when first shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from PySide6.QtWidgets import QWidget

from playground.domain.errors import RunRefusedError
from playground.ui.features.evaluate.model import EvaluationModel
from playground.ui.features.evaluate.view_bar import BLIND, PLOTS, REPORT, TABLE, ViewBar
from playground.ui.features.host import Host
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.plain_text import show_hidden

if TYPE_CHECKING:
    from playground.engine.evaluation.resolved import EvalVariant, PlanProblem
    from playground.engine.files.presets import Preset
    from playground.engine.gateways.model_catalog import ModelCatalog
    from playground.engine.session.plan import Case

VARIANTS, CASES, CHECKS, RUN = "Variants", "Cases", "Checks", "Run"
PANELS: Final = (VARIANTS, CASES, CHECKS, RUN)


@dataclass(frozen=True)
class Parts:
    """Makes views and panels.

    ``ask_again`` runs a cell again; ``show_conversation`` and ``show_lanes`` show other pages of the window.
    """

    evaluation: EvaluationModel
    host: Host
    presets: Callable[[], Sequence[Preset]]
    ask_again: Callable[[Case, EvalVariant], None]
    show_conversation: Callable[[], None]
    show_lanes: Callable[[], None]

    def view(self, name: str, bar: ViewBar) -> QWidget:
        """Return a view of the answers; ``bar`` has search and filter."""
        return {TABLE: self._table, PLOTS: self._plots, BLIND: self._blind, REPORT: self._report}[name](bar)

    def _table(self, bar: ViewBar) -> QWidget:
        from playground.ui.features.evaluate.table import FILTERS, AnswersTable

        view = AnswersTable(self.evaluation)
        bar.found.connect(view.find_text)
        bar.filtered.connect(lambda number: view.set_filter(FILTERS[number]))
        view.counts.connect(bar.show_counts)
        return view

    def _plots(self, _bar: ViewBar) -> QWidget:
        from playground.ui.features.evaluate.plots.view import PlotsView

        view = PlotsView(self.evaluation)
        view.said.connect(self.say)
        return view

    def _blind(self, _bar: ViewBar) -> QWidget:
        from playground.ui.features.evaluate.blind import BlindView

        return BlindView(self.evaluation)

    def _report(self, _bar: ViewBar) -> QWidget:
        from playground.ui.features.evaluate.report import ReportView

        view = ReportView(self.evaluation)
        view.said.connect(self.say)
        return view

    def export(self, name: str) -> None:
        """Ask for a file and write the evaluation to it, in the format of that name."""
        spawn(self._export(name), name="export the evaluation")

    async def _export(self, name: str) -> None:
        from playground.ui.features.evaluate.exports import export_answers

        if words := await export_answers(self.evaluation, name, self.host.window):
            self.say(words)

    def say(self, words: str) -> None:
        """Show a message."""
        self.host.notice.say(show_hidden(words))

    def detail(self) -> QWidget:
        """Return the details of the selected answer."""
        from playground.ui.features.evaluate.detail import Detail

        detail = Detail(self.evaluation, self.host)
        detail.again_asked.connect(self.ask_again)
        detail.opened.connect(lambda _session: self.show_conversation())
        return detail

    def panel(self, name: str, show_problem: Callable[[PlanProblem], None]) -> QWidget:
        """Return a panel of the plan; ``show_problem`` shows the part of the plan with a problem."""
        make = {VARIANTS: self._variants, CASES: self._cases, CHECKS: self._checks, RUN: self._run}[name]
        return make(show_problem)

    def _cases(self, _show_problem: Callable[[PlanProblem], None]) -> QWidget:
        from playground.ui.features.evaluate.panels.cases import CasesPanel

        panel = CasesPanel(self.evaluation)
        panel.import_asked.connect(self.import_cases)
        return panel

    def import_cases(self) -> None:
        """Open the import dialog for cases."""
        from playground.ui.features.evaluate.import_dialog import open_import

        open_import(self.evaluation, self.host.window)

    def _checks(self, _show_problem: Callable[[PlanProblem], None]) -> QWidget:
        from playground.ui.features.evaluate.panels.checks import ChecksPanel

        return ChecksPanel(self.evaluation, self.host.workspace.gateways)

    def _run(self, show_problem: Callable[[PlanProblem], None]) -> QWidget:
        from playground.ui.features.evaluate.panels.run import RunPanel

        panel = RunPanel(self.evaluation)
        panel.place_asked.connect(show_problem)
        return panel

    def _variants(self, _show_problem: Callable[[PlanProblem], None]) -> QWidget:
        from playground.ui.features.evaluate.panels.variants import Sources, VariantsPanel

        panel = VariantsPanel(self.evaluation, Sources(self.presets, self._models))
        panel.lane_opened.connect(self.show_lanes)
        return panel

    async def _models(self) -> ModelCatalog:
        settings, gateways = self.evaluation.session.settings, self.host.workspace.gateways
        with suppress(RunRefusedError, OSError):  # names of models can be typed as well
            await gateways.models(settings.profile_id, settings.protocol)
        return gateways.catalog(settings.profile_id)
