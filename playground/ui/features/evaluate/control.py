"""Evaluate in the window: opens the page, runs evaluations and adds cases. The page is imported when first shown."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from playground.jsonkit.texts import quantity
from playground.ui.features.host import Control, Host
from playground.ui.widgets.dialogs import agreed
from playground.ui.widgets.form_parts import ExperimentTitle
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.loop import spawn

if TYPE_CHECKING:
    from playground.domain.adaptations import Adaptation
    from playground.engine.evaluation.provider import Answer
    from playground.engine.evaluation.refusals import RefusedAnswers
    from playground.engine.evaluation.resolved import EvalVariant
    from playground.engine.files.presets import Preset
    from playground.engine.session.plan import Case
    from playground.ui.features.evaluate.model import EvaluationModel
    from playground.ui.features.evaluate.page import EvaluatePage
    from playground.ui.features.evaluate.runs import Runs

MAX_TITLE = 320  # pixels


@dataclass(frozen=True, slots=True)
class Around:
    """The functions of the window that Evaluate needs."""

    show: Callable[[QWidget | None], None]  # with the tool bar of the page; None for the conversation's
    leave_lanes: Callable[[], None]
    show_lanes: Callable[[], None]
    open_sample: Callable[[], None]
    presets: Callable[[], Sequence[Preset]]
    stoppable: Callable[[bool], None]  # enables Stop
    keep_rules: Callable[
        [str, tuple[Adaptation, ...]], Awaitable[str]
    ]  # saves rules of a gateway; returns an error message or ""


class EvaluateControl(Control):
    """Shows and runs the evaluation of the current experiment. Runs go on while other pages are shown."""

    def __init__(self, host: Host, around: Around) -> None:
        super().__init__(host)
        self._around = around
        self._runs: Runs | None = None
        self._title = ExperimentTitle(MAX_TITLE)
        self._title.clicked.connect(host.show_list)
        self._bar = QWidget(host.window)
        in_row(self._title, 1, parent=self._bar, margins=0)
        self._bar.hide()
        self.page: EvaluatePage | None = None
        self.evaluation: EvaluationModel | None = None
        host.pane.case_asked.connect(self.add_case)

    @property
    def runs(self) -> Runs:
        """The running evaluations of this window."""
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
        """Return whether the page is shown."""
        return self.page is not None

    def show(self, on: bool) -> None:
        """Show the page instead of the conversation or Compare, or the conversation again."""
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
        """Show the evaluation of the current experiment."""
        evaluation = self.evaluation
        if evaluation is not None and evaluation.session is not self._session.main:
            self.leave()
            self._open()

    def _open(self) -> None:
        from playground.ui.features.evaluate.model import EvaluationModel
        from playground.ui.features.evaluate.page import EvaluatePage, PageCommands

        session = self._session.main
        self.evaluation = evaluation = EvaluationModel(session, self.runs, self)
        commands = PageCommands(
            run=self._do,
            run_cell_again=self.ask_again,
            open_sample=self._around.open_sample,
            show_conversation=partial(self.show, False),
            show_lanes=self._around.show_lanes,
            presets=self._around.presets,
        )
        self.page = page = EvaluatePage(evaluation, self._host, commands)
        evaluation.refused.connect(self._say)
        self._title.set_title(session.title)
        self._host.pane.set_central(page, mode=self)
        self._show_stop()
        page.focus()

    def leave(self) -> None:
        """Close the page."""
        page, evaluation, self.page, self.evaluation = self.page, self.evaluation, None, None
        if page is None or evaluation is None:
            return
        evaluation.close()
        if self._host.pane.seen is page:
            self._host.pane.set_central(None)
        page.hide()
        page.deleteLater()
        evaluation.deleteLater()
        self._around.stoppable(self._session.experiment.busy)

    def show_title(self) -> None:
        """Show the title of the experiment."""
        if self.on:
            self._title.set_title(self._session.main.title)

    def _listed(self) -> None:
        """Stop the runs of deleted experiments."""
        self.show_title()
        running = self._runs.running if self._runs is not None else ()
        if running:
            existing = {experiment.id for experiment in self._workspace.experiments}
            for evaluation in running:
                if evaluation not in existing:
                    self.runs.stop(evaluation)

    def _moved(self, evaluation: str) -> None:
        """Report why a run stopped by itself, on any page."""
        self._show_stop()
        progress = self.runs.progress(evaluation)
        if progress is not None and progress.reason and not self.runs.under_way(evaluation):
            self._say(
                f"The evaluation stopped: {progress.reason} Received answers are kept; Continue requests the others."
            )
        elif (
            self.evaluation is not None
            and self.evaluation.session.id == evaluation
            and not self.runs.under_way(evaluation)
        ):
            spawn(self._offer(self.evaluation), name="look at refusals")

    async def _offer(self, evaluation: EvaluationModel) -> None:
        """Offer to run answers again without a field that the gateway refused in many of them."""
        from playground.engine.evaluation.refusals import largest_refusal

        failed = [answer for answer in evaluation.results.answers.values() if answer.failure]
        refusal = await asyncio.to_thread(largest_refusal, evaluation.resolved, failed) if failed else None
        if refusal is not None and evaluation is self.evaluation and not self.under_way:
            deed = f"{refusal.offer.deed} and continue"
            self._say(refusal.words, deed, partial(self._without, evaluation, refusal))

    def _without(self, evaluation: EvaluationModel, refusal: RefusedAnswers) -> None:
        if evaluation is self.evaluation and not self.under_way:
            spawn(self._ask_without(evaluation, refusal), name="run what was refused")

    async def _ask_without(self, evaluation: EvaluationModel, refusal: RefusedAnswers) -> None:
        if await self._around.keep_rules(refusal.profile_id, refusal.rules):
            return  # reported; without the rules all would be refused again
        if evaluation is self.evaluation and not self.under_way and await self._forget(evaluation, refusal.answers):
            await self._run(evaluation)

    def _show_stop(self) -> None:
        if self.on:
            self._around.stoppable(self.under_way)

    async def may_end(self) -> bool:
        """Return whether the application may quit: no run is under way, or the user agrees to stop it."""
        if self._runs is None or not self._runs.running:
            return True
        return await agreed(
            self._host.window,
            "Quit",
            "An evaluation is under way. Stop it and quit?",
            "Received answers are kept. Continue requests the others later.",
            "Stop and quit",
        )

    def add_case(self, turn_id: str) -> None:
        """Add a message and those above it as a case."""
        from playground.engine.evaluation.variants import case_of
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
        self._say(f"Added as a case of the evaluation{f', with {count}' if count else ''}.", "Show", self.show_cases)

    def show_cases(self) -> None:
        """Show the page with the panel of cases."""
        from playground.ui.features.evaluate.steps import CASES

        self.show(True)
        if self.page is not None:
            self.page.show_panel(CASES)

    def repeat_step(self) -> None:
        """Evaluate the request of the focused or last answer as the only case."""
        from playground.engine.evaluation.variants import step_of, step_plan

        session, main = self._session, self._session.main
        before = main.settings.evaluation
        try:
            plan = step_plan(session, step_of(session, self._host.pane.view.focused_turn() or ""))
        except (KeyError, ValueError):
            self._say("Run a message first; then its request can be repeated.", stays=False)
            return
        main.change(evaluation=plan)
        self.show(True)
        if before is not None and before.cases:
            count = quantity(len(before.cases), "case")
            words = f"The step is the only case now and replaces {count}. Their answers are kept."
            self._say(words, "Undo", partial(main.change, evaluation=before))

    # Runs

    @property
    def under_way(self) -> bool:
        """Return whether the evaluation of the page is under way."""
        return self.evaluation is not None and self.evaluation.under_way

    def run(self) -> None:
        """Request the missing answers."""
        if self.evaluation is not None and not self.under_way:
            spawn(self._run(self.evaluation), name="run the evaluation")

    async def _run(self, evaluation: EvaluationModel, cell: tuple[Case, EvalVariant] | None = None) -> None:
        from playground.engine.evaluation.resolved import ResolvedEvaluation

        resolved = ResolvedEvaluation(evaluation.session)
        for problem in await resolved.problems():
            self._say(problem.words)
            if self.page is not None:
                self.page.show_problem(problem)
            return
        if cell is not None:
            resolved = resolved.narrowed([cell[0]], [cell[1]])
        self._host.notice.hide()
        evaluation.runs.start(resolved)

    def look_for(self) -> None:
        """Find a case or an answer."""
        if self.page is not None:
            self.page.look_for()

    def stop(self) -> None:
        """Stop the run; received answers are kept."""
        if self.evaluation is not None:
            self.evaluation.runs.stop(self.evaluation.session.id)

    def pause(self) -> None:
        """Pause or resume the run."""
        if self.evaluation is not None:
            self.evaluation.runs.pause(self.evaluation.session.id)

    def _do(self, command: str) -> None:
        """Do a command of the run bar."""
        if command in ("failed", "all") and self.evaluation is not None:
            spawn(self._run_again(self.evaluation, failed=command == "failed"), name="run again")
        elif command in ("run", "stop", "pause"):
            {"run": self.run, "stop": self.stop, "pause": self.pause}[command]()

    async def _run_again(self, evaluation: EvaluationModel, *, failed: bool) -> None:
        answers = [answer for answer in evaluation.results.answers.values() if answer.failure or not failed]
        if not failed and not await agreed(
            self._host.window,
            "Run everything again",
            f"Request all {len(answers):,} answers again?",
            "The saved answers with their events, votes and notes will be permanently deleted.",
            "Run everything again",
        ):
            return
        if await self._forget(evaluation, answers):
            await self._run(evaluation)

    async def _forget(self, evaluation: EvaluationModel, answers: Sequence[Answer]) -> bool:
        from playground.engine.evaluation.answers import AnswersError

        try:
            await evaluation.forget(answers)
        except AnswersError as error:
            self._say(str(error))
            return False
        return True

    def ask_again(self, case: Case, column: EvalVariant) -> None:
        """Request the answers of one cell again."""
        evaluation = self.evaluation
        if evaluation is not None and self.under_way:
            self._say("The evaluation is under way. Stop it, or run the cell again when it has ended.", stays=False)
        elif evaluation is not None:
            spawn(self._ask_again(evaluation, case, column), name="run a cell again")

    async def _ask_again(self, evaluation: EvaluationModel, case: Case, column: EvalVariant) -> None:
        answers = [answer for answer in evaluation.results.cell(case, column).answers if answer is not None]
        if await self._forget(evaluation, answers):
            await self._run(evaluation, (case, column))
