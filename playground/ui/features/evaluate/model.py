"""The model shared by the views of an evaluation: plan, answers, findings and selection.

Views read and change only this model, and do not know each other. Results of many answers are computed in a worker
thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from time import thread_time
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from playground.engine.evaluation.answers import AnswersError, SavedAnswer
from playground.engine.evaluation.provider import with_verdicts
from playground.engine.evaluation.resolved import EvalVariant, PlanProblem, ResolvedEvaluation
from playground.engine.evaluation.results import Findings, Results
from playground.engine.evaluation.runner import Estimate, Progress, estimate
from playground.engine.session.changes import Change, DraftChanged, PathChanged, SettingsChanged, TurnChanged
from playground.engine.session.plan import Case, Plan
from playground.engine.session.session import Session
from playground.ui.widgets.loop import Throttle, spawn

if TYPE_CHECKING:
    from playground.domain.checks.check import Verdict
    from playground.domain.costs import PriceLookup
    from playground.engine.evaluation.provider import Answer
    from playground.ui.features.evaluate.runs import Runs

PLAN_MS = 150  # between two evaluations of the plan while it is being typed
REST_S, REST_SHARE = 1.0, 4.0  # between two computations of findings: seconds, and multiples of their duration
QUICK_S = 0.2  # longer comparisons wait for the end of the run


class EvaluationModel(QObject):
    """The evaluation of ``session``; its answers are in the store of ``runs``.

    ``resolved`` is the plan as of its last change, ``results`` has its answers, ``stale`` saved answers to earlier
    versions of the plan, ``findings`` the statistics.

    Signals: ``planned`` after the plan, results or stale answers changed, ``arrived`` with new answers (a list of
    Answer), ``moved`` when a run began, paused, resumed or ended, ``chosen`` when the selection changed, ``refused``
    with a message for the user, ``figured`` with new findings, ``estimated`` with a new estimate.
    """

    planned = Signal()
    arrived = Signal(list)
    moved = Signal()
    estimated = Signal()
    chosen = Signal()
    refused = Signal(str)
    figured = Signal()

    def __init__(self, session: Session, runs: Runs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session = session.main
        self.runs = runs
        self.store, self.entered = runs.store, runs.entered
        self.resolved = ResolvedEvaluation(self.session)
        self.results = Results(self.resolved, {})
        self.stale: list[Answer] = []
        self.problems: list[PlanProblem] = []
        self.total = 0  # answers of the plan
        self.estimate: Estimate | None = None  # of the missing answers; None until it is computed
        self.ready = False  # saved answers were read
        self.case: Case | None = None
        self.column: EvalVariant | None = None
        self.repeat = 1
        self._answers: dict[tuple[str, int], Answer] = {}  # all saved answers, also outdated ones
        self.findings: Findings | None = None  # None until they are computed
        self._finding: asyncio.Task[None] | None = None
        self._more = False  # the findings are out of date
        self._comparing = 0.0  # seconds of the last findings with comparisons
        self._refreshes = 0
        self.closed = False
        self._planning = Throttle(self._start_refresh, self, PLAN_MS)
        self._unsubscribe = self.session.subscribe(self._changed)
        runs.arrived.connect(self._arrived)
        runs.moved.connect(self._moved)
        self._planning.poke()

    def close(self) -> None:
        """Stop updating; a run goes on."""
        self.closed = True
        self._refreshes += 1
        if self._finding is not None:
            self._finding.cancel()
        self._unsubscribe()
        self.runs.arrived.disconnect(self._arrived)
        self.runs.moved.disconnect(self._moved)

    # The plan

    @property
    def plan(self) -> Plan:
        """The plan as it is now."""
        return self.session.settings.evaluation or Plan()

    def change(self, **fields: Any) -> None:
        """Change fields of the plan. Can be undone. Raises ValueError for invalid values."""
        self.session.change(evaluation=Plan.model_validate({**dict(self.plan), **fields}))

    def change_apart(self, **fields: Any) -> None:
        """Change fields of the plan as an undo step of its own, for clicks instead of typing."""
        if any(getattr(self.plan, name) != value for name, value in fields.items()):
            with self.session.history.group():
                self.change(**fields)

    def _changed(self, change: Change) -> None:
        if isinstance(change, SettingsChanged | PathChanged | TurnChanged | DraftChanged):
            self._planning.poke()

    def _start_refresh(self) -> None:
        if not self.closed:
            self._refreshes += 1
            spawn(self._refresh(self._refreshes), name="refresh the evaluation")

    async def _refresh(self, number: int) -> None:
        resolved = ResolvedEvaluation(self.session)
        try:
            if not self.ready:
                self._answers = {answer.key: answer for answer in await self.store.load(resolved.id)}
            before = dict(self._answers)
            results, stale, total = await asyncio.to_thread(_load_results, resolved, before)
        except AnswersError as error:
            self.refused.emit(str(error))
            return
        problems = await resolved.problems()
        if number == self._refreshes:
            self.ready = True
            results.arrived([answer for key, answer in self._answers.items() if before.get(key) is not answer])
            self.resolved, self.results, self.stale, self.problems = resolved, results, stale, problems
            self.total = total
            self._update_selection()
            self.findings = None
            self._update_findings(now=True)
            self.planned.emit()
            await self._update_estimate()

    async def _update_estimate(self) -> None:
        """Estimate the missing answers from a copy of the results: more may arrive meanwhile."""
        copied = self.results.copy()
        new_estimate = await asyncio.to_thread(_estimated, copied, self.entered)
        if copied.resolved is self.resolved and not self.closed:
            self.estimate = new_estimate
            self.estimated.emit()

    def _update_selection(self) -> None:
        """Select the same case and variant in the new plan, or nothing if they were deleted."""
        case, column = self.case, self.column
        if case is not None:
            number = self.resolved.numbers.get(case.id)
            self.case = self.resolved.cases[number - 1] if number is not None else None
        if column is not None:
            columns = self.resolved.columns if self.case is not None else ()
            self.column = next((candidate for candidate in columns if candidate.id == column.id), None)

    # Findings

    def _update_findings(self, *, now: bool = False) -> None:
        """Compute the findings: ``now``, or after a pause since the last time."""
        if now and self._finding is not None:
            self._finding.cancel()
            self._finding = None
        self._more = True
        if self._finding is None:
            self._finding = spawn(self._compute_findings(), name="compute findings")

    async def _compute_findings(self) -> None:
        this = asyncio.current_task()
        try:
            while self._more:
                self._more = False
                copied = self.results.copy()
                compared = not self.under_way or self._comparing < QUICK_S
                findings, took = await asyncio.to_thread(_timed_findings, copied, compared=compared)
                self._comparing = took if compared else self._comparing
                self.findings = findings
                self.figured.emit()
                await asyncio.sleep(max(REST_S, REST_SHARE * took))
        finally:
            if self._finding is this:
                self._finding = None

    # Answers

    def cell_answers(self) -> tuple[Answer | None, ...]:
        """Return the answers of the selected cell by repeat; empty without a selection."""
        if self.case is None or self.column is None:
            return ()
        return self.results.cell(self.case, self.column).answers

    @property
    def answer(self) -> Answer | None:
        """The selected answer, or None."""
        answers = self.cell_answers()
        return answers[self.repeat - 1] if 0 < self.repeat <= len(answers) else None

    def choose(self, case: Case | None, column: EvalVariant | None = None, repeat: int = 1) -> None:
        """Select an answer, or the place of a missing one."""
        self.case, self.column, self.repeat = case, column, repeat
        self.chosen.emit()

    async def saved(self, answer: Answer) -> SavedAnswer:
        """Return the stored turns, exchanges and judgements of an answer. Raises AnswersError."""
        return await self.store.details(self.resolved.id, answer)

    def add(self, answers: Sequence[Answer]) -> None:
        """Take in answers that are on disk: new ones, or ones with new verdicts."""
        for answer in answers:
            self._answers[answer.key] = answer
        self.results.arrived(answers)
        self._update_findings()
        self.arrived.emit(list(answers))

    async def judge(self, answer: Answer, verdicts: Mapping[str, Verdict]) -> None:
        """Save ratings of an answer by the keys of checks. Raises AnswersError."""
        await self.store.judged(self.resolved.id, [(with_verdicts(answer, verdicts), {})])
        judged = with_verdicts(self._answers.get(answer.key, answer), verdicts)
        runner = self.runs.runner_of(self.session.id)
        if runner is not None:
            runner.judged(judged)
        if not self.closed:
            self.add([judged])

    async def recorded(self) -> int:
        """Return the number of recorded tool calls. Raises AnswersError."""
        return len(await self.store.recorded_calls(self.resolved.id))

    async def forget_recorded(self) -> None:
        """Delete the recorded tool calls. Raises AnswersError."""
        await self.store.forget_recorded(self.resolved.id)

    async def forget(self, answers: Sequence[Answer]) -> None:
        """Delete answers permanently. Raises AnswersError."""
        await self.store.forget(self.resolved.id, answers)
        for answer in answers:
            self._answers.pop(answer.key, None)
        self._planning.poke()

    # A run

    @property
    def under_way(self) -> bool:
        """Return whether a run is under way or paused."""
        return self.runs.under_way(self.session.id)

    @property
    def complete(self) -> bool:
        """Return whether all answers of the plan are saved."""
        return self.ready and self.total > 0 and self.results.count == self.total

    @property
    def progress(self) -> Progress | None:
        """The progress of the run under way, else of the last one; None before the first."""
        return self.runs.progress(self.session.id)

    def _arrived(self, evaluation: str, answers: list[Answer]) -> None:
        if evaluation == self.session.id:
            self.add(answers)

    def _moved(self, evaluation: str) -> None:
        if evaluation == self.session.id:
            if not self.under_way:
                if self.results.count:
                    self._update_findings(now=True)  # with comparisons
                spawn(self._update_estimate(), name="estimate the evaluation")
            self.moved.emit()


def _estimated(results: Results, entered: PriceLookup) -> Estimate:
    return estimate(results.resolved, results.answers, results.missing, entered)


def _timed_findings(results: Results, *, compared: bool) -> tuple[Findings, float]:
    """Return the findings and the CPU seconds of this thread for them."""
    began = thread_time()
    return results.findings(compared=compared), thread_time() - began


def _load_results(
    resolved: ResolvedEvaluation, answers: dict[tuple[str, int], Answer]
) -> tuple[Results, list[Answer], int]:
    """Return results with the saved answers, the outdated answers, and the number of answers of the plan."""
    results = Results(resolved, {})
    stale = results.arrived(answers.values())
    return results, stale, results.total
