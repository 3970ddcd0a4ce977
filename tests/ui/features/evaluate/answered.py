"""An evaluation with made-up answers in a real file."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from playground.domain.checks.check import Verdict
from playground.domain.costs import AnswerMetrics, no_price
from playground.engine.evaluation.answers import AnswerStore
from playground.engine.evaluation.provider import Answer, AnswerResult
from playground.engine.evaluation.resolved import Job, ResolvedEvaluation
from playground.engine.session.session import Session
from playground.ui.features.evaluate.model import EvaluationModel
from playground.ui.features.evaluate.runs import Runs
from playground.ui.widgets import loop
from tests.support.event_loop import play
from tests.support.eventually import eventually

#: The number of the case, that of the column and the repeat: whether it passed, None where there was no answer.
Outcomes = Callable[[int, int, int], bool | None]


def answer(resolved: ResolvedEvaluation, job: Job, passed: bool | None, words: str = "") -> Answer:
    """The result of a job: all checks passed, or all failed, or there is no answer."""
    verdicts = {key: Verdict(passed, float(bool(passed)), "so it is") for key, _ in resolved.checks(job.case)}
    return Answer(
        digest=job.digest,
        repeat=job.repeat,
        case=job.case.id,
        column=job.column.id,
        created_at=0.0,
        preview=words or f"answer to {job.case.id}" if passed is not None else "",
        failure="" if passed is not None else "The gateway is overloaded.",
        metrics=AnswerMetrics(seconds=1.0 + resolved.numbers[job.case.id], tokens=100, requests=1),
        verdicts=verdicts if passed is not None else {},
    )


def answers(resolved: ResolvedEvaluation, created: Outcomes) -> list[Answer]:
    """To all that is asked."""
    columns = {column.id: index for index, column in enumerate(resolved.columns)}
    return [
        answer(resolved, job, created(resolved.numbers[job.case.id] - 1, columns[job.column.id], job.repeat))
        for job in resolved.jobs
    ]


class Looked:
    """The evaluation, view and helpers of a test."""

    def __init__(self, evaluation: EvaluationModel, runs: Runs, store: AnswerStore) -> None:
        self.evaluation, self.runs, self.store = evaluation, runs, store

    async def wait_for_findings(self) -> None:
        """Wait until what follows from the answers was worked out."""
        await eventually(lambda: self.evaluation.ready and self.evaluation.findings is not None)

    async def bring(self, answers: Sequence[Answer]) -> None:
        """These come, as from a run."""
        await self.store.add(self.evaluation.resolved.id, [AnswerResult(item) for item in answers])
        self.runs.arrived.emit(self.evaluation.resolved.id, list(answers))


def run_with_evaluation(
    qapp: QApplication,
    path: Path,
    session: Session,
    saved: Sequence[Answer],
    work: Callable[[Looked], Coroutine[Any, Any, None]],
) -> None:
    """Do ``work`` over an evaluation whose ``kept`` answers are in a file."""

    async def scene() -> None:
        above = QObject()
        store = AnswerStore(path / "answers.sqlite")
        try:
            await store.add(session.id, [AnswerResult(item) for item in saved])
            runs = Runs(store, no_price, above)
            evaluation = EvaluationModel(session, runs)
            await work(Looked(evaluation, runs, store))
            evaluation.close()
        finally:
            await loop.cancel_all()
            await store.aclose()

    play(qapp, scene)
