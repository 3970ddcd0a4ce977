"""Evaluate in the window: the page in the centre, and what it asks for.

The page is imported and made when it is first shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from playground.ui.features.evaluate.bar import EvaluateBar
from playground.ui.features.host import Control, Host
from playground.ui.widgets.dialogs import agreed
from playground.ui.widgets.loop import spawn

if TYPE_CHECKING:
    from playground.domain.adaptations import Adaptation
    from playground.engine.evaluation.provider import Answer
    from playground.engine.evaluation.refusals import RefusedAnswers
    from playground.engine.evaluation.resolved import EvalVariant
    from playground.engine.files.presets import Preset
    from playground.engine.session.plan import Case
    from playground.ui.features.evaluate.look import Look
    from playground.ui.features.evaluate.page import EvaluatePage
    from playground.ui.features.evaluate.runs import Runs


@dataclass(frozen=True, slots=True)
class Around:
    """What of the window is about an evaluation."""

    show: Callable[[QWidget | None], None]  # whether it is shown: what stands in the tool bar then
    leave_lanes: Callable[[], None]
    show_lanes: Callable[[], None]
    load_models: Callable[[], None]
    presets: Callable[[], Sequence[Preset]]
    stoppable: Callable[[bool], None]  # whether Esc stops something
    keep_rules: Callable[[str, tuple[Adaptation, ...]], Awaitable[str]]  # for that gateway; what went wrong, in words


class EvaluateControl(Control):
    """Shows the evaluation of the experiment looked at, and runs it. What is under way goes on behind other pages."""

    def __init__(self, host: Host, around: Around) -> None:
        super().__init__(host)
        self._around = around
        self._runs: Runs | None = None
        self._bar = EvaluateBar()
        self._bar.setParent(host.window)
        self._bar.hide()
        self._bar.list_asked.connect(host.show_list)
        self.page: EvaluatePage | None = None
        self.look: Look | None = None
        host.pane.case_asked.connect(self.add_case)

    @property
    def runs(self) -> Runs:
        """Those of this window."""
        if self._runs is None:
            from playground.ui.features.evaluate.runs import Runs

            workspace = self._workspace
            self._runs = Runs(workspace.answers, workspace.gateways.price, self)
            self._runs.moved.connect(self._moved)
            self._runs.failed.connect(self._say)
            workspace.subscribe(self._listed)
        return self._runs

    @property
    def on(self) -> bool:
        """Whether it is shown."""
        return self.page is not None

    def show(self, on: bool) -> None:
        """Show it in place of the conversation or of lanes, or the conversation again."""
        if on == self.on:
            return
        if on:
            self._around.leave_lanes()
            self._open()
            self._around.show(self._bar)
        else:
            self.leave()
            self._around.show(None)
            self._host.pane.composer.setFocus()

    def show_session(self) -> None:
        """The experiment looked at is another one."""
        look = self.look
        if look is not None and look.session is not self._session.main:
            self.leave()
            self._open()

    def _open(self) -> None:
        from playground.engine.evaluation.export.formats import FORMATS
        from playground.ui.features.evaluate.look import Look
        from playground.ui.features.evaluate.page import EvaluatePage
        from playground.ui.features.evaluate.parts import Parts
        from playground.ui.features.evaluate.view_bar import ViewBar

        session = self._session.main
        self.look = look = Look(session, self.runs, self)
        parts = Parts(
            look, self._host, self._around.presets, self.ask_again, partial(self.show, False), self._around.show_lanes
        )
        bar = ViewBar([(one.name, f"{one.words}…") for one in FORMATS.values()])
        bar.export_asked.connect(parts.export)
        bar.import_asked.connect(parts.import_cases)
        self.page = page = EvaluatePage(look, bar, parts)
        page.asked.connect(self._do)
        look.refused.connect(self._say)
        self._bar.show_title(session.title)
        self._host.pane.set_central(page, mode=self)
        self._show_stop()
        page.focus()

    def leave(self) -> None:
        """Another page is shown in its place."""
        page, look, self.page, self.look = self.page, self.look, None, None
        if page is None or look is None:
            return
        look.leave()
        if self._host.pane.seen is page:
            self._host.pane.set_central(None)
        page.hide()
        page.deleteLater()
        look.deleteLater()
        self._around.stoppable(self._session.experiment.busy)

    def show_title(self) -> None:
        """The experiment may be called otherwise."""
        if self.on:
            self._bar.show_title(self._session.main.title)

    def _listed(self) -> None:
        """What is deleted is asked no longer."""
        self.show_title()
        going = self._runs.going if self._runs is not None else ()
        if going:
            there = {experiment.id for experiment in self._workspace.experiments}
            for evaluation in going:
                if evaluation not in there:
                    self.runs.stop(evaluation)

    def _moved(self, evaluation: str) -> None:
        """A run that stopped by itself says why, whichever page is shown."""
        self._show_stop()
        progress = self.runs.progress(evaluation)
        if progress is not None and progress.reason and not self.runs.under_way(evaluation):
            self._say(f"The evaluation stopped: {progress.reason} What came is kept; Continue asks for the rest.")
        elif self.look is not None and self.look.session.id == evaluation and not self.runs.under_way(evaluation):
            spawn(self._offer(self.look), name="look at refusals")

    async def _offer(self, look: Look) -> None:
        """Where many answers were refused for one field, have them asked again without it."""
        from playground.engine.evaluation.refusals import largest_refusal

        failed = [one for one in look.results.answers.values() if one.failure]
        found = await asyncio.to_thread(largest_refusal, look.resolved, failed) if failed else None
        if found is not None and look is self.look and not self.under_way:
            deed = f"{found.offer.deed} and continue"
            self._say(found.words, deed, partial(self._without, look, found))

    def _without(self, look: Look, found: RefusedAnswers) -> None:
        if look is self.look and not self.under_way:
            spawn(self._ask_without(look, found), name="run what was refused")

    async def _ask_without(self, look: Look, found: RefusedAnswers) -> None:
        if await self._around.keep_rules(found.profile_id, found.rules):
            return  # said; asked without them, all would be refused again
        if look is self.look and not self.under_way and await self._forget(look, found.answers):
            await self._run(look)

    def _show_stop(self) -> None:
        if self.on:
            self._around.stoppable(self.under_way)

    async def may_end(self) -> bool:
        """Whether the application can end: nothing is under way, or a person agrees to stop it."""
        if self._runs is None or not self._runs.going:
            return True
        return await agreed(
            self._host.window,
            "Quit",
            "An evaluation is under way. Stop it and quit?",
            "The answers that came are kept. Continue asks for the others, whenever you like.",
            "Stop it and quit",
        )

    def add_case(self, turn_id: str) -> None:
        """Make a case of a turn and what stands above it."""
        from playground.engine.evaluation.cases import case_of
        from playground.engine.session.plan import MOST_CASES, Plan

        main = self._session.main
        plan = main.settings.evaluation or Plan()
        try:
            case = case_of(self._session, turn_id)
        except ValueError as error:
            self._say(str(error), stays=False)
            return
        if len(plan.cases) >= MOST_CASES:
            self._say(f"An evaluation has {MOST_CASES:,} cases at most. Delete some first.")
            return
        main.change(evaluation=plan.model_copy(update={"cases": (*plan.cases, case)}))
        count = f"{len(plan.cases):,} others" if len(plan.cases) > 1 else "another one" if plan.cases else ""
        self._say(
            f"This turn is a case of the evaluation{f', beside {count}' if count else ''}.", "Show", self.show_cases
        )

    def show_cases(self) -> None:
        """Show the evaluation with its cases in front."""
        from playground.ui.features.evaluate.parts import CASES

        self.show(True)
        if self.page is not None:
            self.page.show_panel(CASES)

    def repeat_step(self) -> None:
        """Evaluate what led to an answer as the only case: to the one with the focus, else to the last there is."""
        from playground.engine.evaluation.cases import step_of, step_plan

        session, main = self._session, self._session.main
        before = main.settings.evaluation
        try:
            plan = step_plan(session, step_of(session, self._host.pane.view.focused_turn() or ""))
        except (KeyError, ValueError):
            self._say("Write a message and run it first: what was asked then can be repeated.", stays=False)
            return
        main.change(evaluation=plan)
        self.show(True)
        if before is not None and before.cases:
            count = f"{len(before.cases):,} case{'s' * (len(before.cases) != 1)}"
            words = f"The step is the only case now, in the place of {count}. Answers to those are kept."
            self._say(words, "Put back", partial(main.change, evaluation=before))

    # Running it

    @property
    def under_way(self) -> bool:
        """Whether the one that is shown is."""
        return self.look is not None and self.look.under_way

    def run(self) -> None:
        """Ask for the answers that are missing."""
        if self.look is not None and not self.under_way:
            spawn(self._run(self.look), name="run the evaluation")

    async def _run(self, look: Look, cell: tuple[Case, EvalVariant] | None = None) -> None:
        from playground.engine.evaluation.resolved import ResolvedEvaluation

        resolved = ResolvedEvaluation(look.session)
        for problem in await resolved.problems():
            self._say(problem.words)
            if self.page is not None:
                self.page.show_problem(problem)
            return
        if cell is not None:
            resolved = resolved.narrowed([cell[0]], [cell[1]])
        self._host.notice.hide()
        look.runs.start(resolved)

    def look_for(self) -> None:
        """Find a case or an answer."""
        if self.page is not None:
            self.page.look_for()

    def stop(self) -> None:
        """End it; what came is kept."""
        if self.look is not None:
            self.look.runs.stop(self.look.session.id)

    def pause(self) -> None:
        """Ask for no more for now, or go on."""
        if self.look is not None:
            self.look.runs.pause(self.look.session.id)

    def _do(self, what: str) -> None:
        look = self.look
        if look is None:
            return
        if what == "failed":
            spawn(self._run_anew(look, failed=True), name="run what failed")
        elif what == "all":
            spawn(self._run_anew(look, failed=False), name="run everything again")
        else:
            {"run": self.run, "stop": self.stop, "pause": self.pause}[what]()

    async def _run_anew(self, look: Look, *, failed: bool) -> None:
        answers = [one for one in look.results.answers.values() if one.failure or not failed]
        if not failed and not await agreed(
            self._host.window,
            "Run everything again",
            f"Ask for all {len(answers):,} answers again?",
            "Those that are kept, with their frames, votes and notes, are let go for good.",
            "Run everything again",
        ):
            return
        if await self._forget(look, answers):
            await self._run(look)

    async def _forget(self, look: Look, answers: Sequence[Answer]) -> bool:
        from playground.engine.evaluation.answers import AnswersError

        try:
            await look.forget(answers)
        except AnswersError as error:
            self._say(str(error))
            return False
        return True

    def ask_again(self, case: Case, column: EvalVariant) -> None:
        """Ask for the answers of one cell anew."""
        look = self.look
        if look is not None and self.under_way:
            self._say("The evaluation is under way. Stop it, or ask for the cell again when it is done.", stays=False)
        elif look is not None:
            spawn(self._ask_again(look, case, column), name="run a cell again")

    async def _ask_again(self, look: Look, case: Case, column: EvalVariant) -> None:
        answers = [one for one in look.results.cell(case, column).answers if one is not None]
        if await self._forget(look, answers):
            await self._run(look, (case, column))
