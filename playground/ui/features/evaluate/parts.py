"""What the page of an evaluation is put together of: each view and each panel by its name, loaded when first shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from PySide6.QtWidgets import QWidget

from playground.domain.errors import RunRefusedError
from playground.ui.features.evaluate.look import Look
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
    """``ask_again`` asks for a cell anew; ``show_conversation`` and ``show_lanes`` show other pages of the centre."""

    look: Look
    host: Host
    presets: Callable[[], Sequence[Preset]]
    ask_again: Callable[[Case, EvalVariant], None]
    show_conversation: Callable[[], None]
    show_lanes: Callable[[], None]

    def view(self, name: str, bar: ViewBar) -> QWidget:
        """A view of the answers; ``bar`` says which of them are wanted."""
        return {TABLE: self._table, PLOTS: self._plots, BLIND: self._blind, REPORT: self._report}[name](bar)

    def _table(self, bar: ViewBar) -> QWidget:
        from playground.ui.features.evaluate.table import FILTERS, AnswersTable

        made = AnswersTable(self.look)
        bar.found.connect(made.find_text)
        bar.filtered.connect(lambda number: made.set_filter(FILTERS[number]))
        made.counts.connect(bar.show_counts)
        return made

    def _plots(self, _bar: ViewBar) -> QWidget:
        from playground.ui.features.evaluate.plots.view import PlotsView

        made = PlotsView(self.look)
        made.said.connect(self.say)
        return made

    def _blind(self, _bar: ViewBar) -> QWidget:
        from playground.ui.features.evaluate.blind import BlindView

        return BlindView(self.look)

    def _report(self, _bar: ViewBar) -> QWidget:
        from playground.ui.features.evaluate.report import ReportView

        made = ReportView(self.look)
        made.said.connect(self.say)
        return made

    def export(self, name: str) -> None:
        """Ask for a file and write the evaluation to it, in the format of that name."""
        spawn(self._export(name), name="export the evaluation")

    async def _export(self, name: str) -> None:
        from playground.ui.features.evaluate.exports import export_answers

        if words := await export_answers(self.look, name, self.host.window):
            self.say(words)

    def say(self, words: str) -> None:
        """Tell what became of something."""
        self.host.notice.say(show_hidden(words))

    def detail(self) -> QWidget:
        """What is below the table: the answer that is chosen."""
        from playground.ui.features.evaluate.detail import Detail

        made = Detail(self.look, self.host)
        made.again_asked.connect(self.ask_again)
        made.opened.connect(lambda _session: self.show_conversation())
        return made

    def panel(self, name: str, show_problem: Callable[[PlanProblem], None]) -> QWidget:
        """What the evaluation is made of; ``show_problem`` shows where a part of the plan is that has one."""
        made = {VARIANTS: self._variants, CASES: self._cases, CHECKS: self._checks, RUN: self._run}[name]
        return made(show_problem)

    def _cases(self, _show_problem: Callable[[PlanProblem], None]) -> QWidget:
        from playground.ui.features.evaluate.panels.cases import CasesPanel

        made = CasesPanel(self.look)
        made.import_asked.connect(self.import_cases)
        return made

    def import_cases(self) -> None:
        """Bring cases in from a file."""
        from playground.ui.features.evaluate.import_dialog import import_cases

        spawn(import_cases(self.look, self.host.window), name="import cases")

    def _checks(self, _show_problem: Callable[[PlanProblem], None]) -> QWidget:
        from playground.ui.features.evaluate.panels.checks import ChecksPanel

        return ChecksPanel(self.look, self.host.workspace.gateways)

    def _run(self, show_problem: Callable[[PlanProblem], None]) -> QWidget:
        from playground.ui.features.evaluate.panels.run import RunPanel

        made = RunPanel(self.look)
        made.place_asked.connect(show_problem)
        return made

    def _variants(self, _show_problem: Callable[[PlanProblem], None]) -> QWidget:
        from playground.ui.features.evaluate.panels.variants import Sources, VariantsPanel

        made = VariantsPanel(self.look, Sources(self.presets, self._models))
        made.lane_opened.connect(self.show_lanes)
        return made

    async def _models(self) -> ModelCatalog:
        settings, gateways = self.look.session.settings, self.host.workspace.gateways
        with suppress(RunRefusedError, OSError):  # their names can be typed all the same
            await gateways.models(settings.profile_id, settings.protocol)
        return gateways.catalog(settings.profile_id)
