"""What the views of an evaluation look at together: its plan, the answers so far, and the one that is chosen.

Views read from here and ask here for what is to be done; none of them knows another. What is worked out of many cases
or answers is worked out beside the window's thread, and shown when it is there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from time import thread_time
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from playground.engine.evaluation.answers import AnswersError, SavedAnswer
from playground.engine.evaluation.estimate import Estimate, estimate
from playground.engine.evaluation.provider import with_verdicts
from playground.engine.evaluation.resolved import EvalVariant, PlanProblem, ResolvedEvaluation
from playground.engine.evaluation.results import Findings, Results
from playground.engine.evaluation.runner import Progress
from playground.engine.session.changes import Change, DraftChanged, PathChanged, SettingsChanged, TurnChanged
from playground.engine.session.plan import Case, Plan
from playground.engine.session.session import Session
from playground.ui.widgets.loop import Throttle, spawn

if TYPE_CHECKING:
    from playground.domain.checks.check import Verdict
    from playground.domain.costs import PriceLookup
    from playground.engine.evaluation.provider import Answer
    from playground.ui.features.evaluate.runs import Runs

PLANNED_MS = 150  # between two looks at what is set while it is being typed
REST_S, REST_SHARE = 1.0, 4.0  # between two times the findings are worked out: seconds, and of what they took
QUICK_S = 0.2  # what takes longer is not compared while answers come


class Look(QObject):
    """``session`` is the experiment whose evaluation it is; its answers are in the store of ``runs``.

    ``resolved`` is the plan when it was looked at last, ``results`` its answers, ``stale`` saved answers to what is not
    asked any more. ``planned`` tells that these are others, ``arrived`` that ``results`` has more
    answers (a list of Answer), ``moved`` that a run began, went on or ended, ``chosen`` that another answer is looked
    at, ``refused`` why something was not done. ``findings`` is what follows from the answers, worked out beside this
    thread once ``planned`` or ``arrived`` told of others; ``figured`` tells that it is there, and ``estimated`` that
    what is missing was estimated.
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
        self.total = 0  # answers that are wanted
        self.estimate: Estimate | None = None  # of what is missing; None before it was found
        self.ready = False  # whether answers that are kept were read
        self.case: Case | None = None
        self.column: EvalVariant | None = None
        self.repeat = 1
        self._answers: dict[tuple[str, int], Answer] = {}  # all that are kept, of the plan or stale
        self.findings: Findings | None = None  # None: of these results nothing is worked out yet
        self._finding: asyncio.Task[None] | None = None
        self._more = False  # answers that the findings do not know
        self._comparing = 0.0  # seconds that they took with comparisons
        self._looks = 0
        self.left = False  # whether nobody looks any more
        self._planning = Throttle(self._plan_soon, self, PLANNED_MS)
        self._unsubscribe = self.session.subscribe(self._changed)
        runs.arrived.connect(self._arrived)
        runs.moved.connect(self._moved)
        self._planning.poke()

    def leave(self) -> None:
        """Nobody looks any more; a run goes on."""
        self.left = True
        self._looks += 1
        if self._finding is not None:
            self._finding.cancel()
        self._unsubscribe()
        self.runs.arrived.disconnect(self._arrived)
        self.runs.moved.disconnect(self._moved)

    # The plan

    @property
    def plan(self) -> Plan:
        """As it is set now."""
        return self.session.settings.evaluation or Plan()

    def change(self, **fields: Any) -> None:
        """Have these fields of the plan set otherwise; undo takes it back. Raises ValueError for what is no plan."""
        self.session.change(evaluation=Plan.model_validate({**dict(self.plan), **fields}))

    def change_apart(self, **fields: Any) -> None:
        """The same as an edit of its own, however soon after another: a click, not a text that is being typed."""
        if any(getattr(self.plan, name) != value for name, value in fields.items()):
            with self.session.history.group():
                self.change(**fields)

    def _changed(self, change: Change) -> None:
        if isinstance(change, SettingsChanged | PathChanged | TurnChanged | DraftChanged):
            self._planning.poke()

    def _plan_soon(self) -> None:
        if not self.left:
            self._looks += 1
            spawn(self._look(self._looks), name="look at the evaluation")

    async def _look(self, number: int) -> None:
        resolved = ResolvedEvaluation(self.session)
        try:
            if not self.ready:
                self._answers = {one.key: one for one in await self.store.load(resolved.id)}
            known = dict(self._answers)
            results, stale, total = await asyncio.to_thread(_found, resolved, known)
        except AnswersError as error:
            self.refused.emit(str(error))
            return
        problems = await resolved.problems()
        if number == self._looks:
            self.ready = True
            results.arrived([one for key, one in self._answers.items() if known.get(key) is not one])
            self.resolved, self.results, self.stale, self.problems = resolved, results, stale, problems
            self.total = total
            self._stay()
            self.findings = None
            self._find(anew=True)
            self.planned.emit()
            await self._find_estimate()

    async def _find_estimate(self) -> None:
        """What is missing will take, of a picture of what came: more may come meanwhile."""
        picture = self.results.copy()
        found = await asyncio.to_thread(_estimated, picture, self.entered)
        if picture.resolved is self.resolved and not self.left:
            self.estimate = found
            self.estimated.emit()

    def _stay(self) -> None:
        """What is chosen is that of the plan as it is now, or nothing where it is not in there any more."""
        case, column = self.case, self.column
        if case is not None:
            number = self.resolved.numbers.get(case.id)
            self.case = self.resolved.cases[number - 1] if number is not None else None
        if column is not None:
            columns = self.resolved.columns if self.case is not None else ()
            self.column = next((one for one in columns if one.id == column.id), None)

    # What follows

    def _find(self, *, anew: bool = False) -> None:
        """Have the findings worked out; ``anew`` at once, else when those before have rested."""
        if anew and self._finding is not None:
            self._finding.cancel()
            self._finding = None
        self._more = True
        if self._finding is None:
            self._finding = spawn(self._work_out(), name="what follows from the answers")

    async def _work_out(self) -> None:
        this = asyncio.current_task()
        try:
            while self._more:
                self._more = False
                picture = self.results.copy()
                compared = not self.under_way or self._comparing < QUICK_S
                findings, took = await asyncio.to_thread(_followed, picture, compared=compared)
                self._comparing = took if compared else self._comparing
                self.findings = findings
                self.figured.emit()
                await asyncio.sleep(max(REST_S, REST_SHARE * took))
        finally:
            if self._finding is this:
                self._finding = None

    # Answers

    def cell_answers(self) -> tuple[Answer | None, ...]:
        """Those of the chosen case in the chosen column, by repeat; empty where none is chosen."""
        if self.case is None or self.column is None:
            return ()
        return self.results.cell(self.case, self.column).answers

    @property
    def answer(self) -> Answer | None:
        """The one that is chosen, if it came."""
        found = self.cell_answers()
        return found[self.repeat - 1] if 0 < self.repeat <= len(found) else None

    def choose(self, case: Case | None, column: EvalVariant | None = None, repeat: int = 1) -> None:
        """Look at an answer, or at the place where it will be."""
        self.case, self.column, self.repeat = case, column, repeat
        self.chosen.emit()

    async def kept(self, answer: Answer) -> SavedAnswer:
        """What else is kept of an answer. Raises AnswersError."""
        return await self.store.details(self.resolved.id, answer)

    def add(self, answers: Sequence[Answer]) -> None:
        """These came, or were judged anew; they are on disk."""
        for answer in answers:
            self._answers[answer.key] = answer
        self.results.arrived(answers)
        self._find()
        self.arrived.emit(list(answers))

    async def judge(self, answer: Answer, verdicts: Mapping[str, Verdict]) -> None:
        """Keep what somebody says of an answer, by the checks' keys. Raises AnswersError."""
        await self.store.judged(self.resolved.id, [(with_verdicts(answer, verdicts), {})])
        made = with_verdicts(self._answers.get(answer.key, answer), verdicts)
        runner = self.runs.of(self.session.id)
        if runner is not None:
            runner.judged(made)
        if not self.left:
            self.add([made])

    async def recorded(self) -> int:
        """Of how many calls what tool servers answered is kept. Raises AnswersError."""
        return len(await self.store.recorded_calls(self.resolved.id))

    async def forget_recorded(self) -> None:
        """Let that go. Raises AnswersError."""
        await self.store.forget_recorded(self.resolved.id)

    async def forget(self, answers: Sequence[Answer]) -> None:
        """Let answers go for good. Raises AnswersError."""
        await self.store.forget(self.resolved.id, answers)
        for answer in answers:
            self._answers.pop(answer.key, None)
        self._planning.poke()

    # A run

    @property
    def under_way(self) -> bool:
        """Whether a run is, or is paused."""
        return self.runs.under_way(self.session.id)

    @property
    def progress(self) -> Progress | None:
        """How far the run is that is under way, or how far the last one came; None before anything was run here."""
        return self.runs.progress(self.session.id)

    def _arrived(self, evaluation: str, answers: list[Answer]) -> None:
        if evaluation == self.session.id:
            self.add(answers)

    def _moved(self, evaluation: str) -> None:
        if evaluation == self.session.id:
            if not self.under_way:
                if self.results.count:
                    self._find(anew=True)  # with what takes long
                spawn(self._find_estimate(), name="estimate the evaluation")
            self.moved.emit()


def _estimated(results: Results, entered: PriceLookup) -> Estimate:
    return estimate(results.resolved, results.answers, results.missing, entered)


def _followed(results: Results, *, compared: bool) -> tuple[Findings, float]:
    """What follows, and how many seconds of work that was: the thread gives way to the window's meanwhile."""
    began = thread_time()
    return results.findings(compared=compared), thread_time() - began


def _found(resolved: ResolvedEvaluation, answers: dict[tuple[str, int], Answer]) -> tuple[Results, list[Answer], int]:
    """What follows from kept answers, those that the plan does not ask for, and how many it does."""
    results = Results(resolved, {})
    stale = results.arrived(answers.values())
    return results, stale, results.total
