"""The evaluations under way in this window."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from playground.engine.evaluation.answers import AnswersError, AnswerStore
from playground.engine.evaluation.runner import Progress, Runner, State
from playground.ui.widgets.loop import spawn

if TYPE_CHECKING:
    from playground.domain.costs import PriceLookup
    from playground.engine.evaluation.provider import Answer
    from playground.engine.evaluation.resolved import ResolvedEvaluation


class Runs(QObject):
    """The running evaluations by the ids of their experiments, one for each.

    ``arrived`` carries answers that are on disk, ``moved`` the id of a run that began, paused, resumed or ended, and
    ``failed`` why answers could not be saved.
    """

    arrived = Signal(str, list)  # of Answer
    moved = Signal(str)
    failed = Signal(str)

    def __init__(self, store: AnswerStore, entered: PriceLookup, parent: QObject) -> None:
        super().__init__(parent)
        self.store = store
        self.entered = entered
        self._runners: dict[str, Runner] = {}  # of the runs under way
        self._ended: dict[str, Progress] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def runner_of(self, evaluation: str) -> Runner | None:
        """Return the run that is under way or paused."""
        return self._runners.get(evaluation)

    def progress(self, evaluation: str) -> Progress | None:
        """Return the progress of the run under way, else of the last one; None before the first."""
        runner = self.runner_of(evaluation)
        return runner.progress if runner is not None else self._ended.get(evaluation)

    def under_way(self, evaluation: str) -> bool:
        """Return whether a run is under way or paused."""
        return evaluation in self._tasks

    @property
    def running(self) -> tuple[str, ...]:
        """The ids of the experiments with a run."""
        return tuple(self._tasks)

    def start(self, resolved: ResolvedEvaluation) -> None:
        """Request the missing answers of an evaluation. Does nothing while it is under way."""
        key = resolved.id
        if key in self._tasks:
            return
        runner = Runner(resolved, self.store, entered=self.entered, on_saved=partial(self._emit_arrived, key))
        self._runners[key] = runner
        self._tasks[key] = spawn(self._run(key, runner), name="evaluate")
        self.moved.emit(key)

    def _emit_arrived(self, key: str, answers: list[Answer]) -> None:
        self.arrived.emit(key, list(answers))

    async def _run(self, key: str, runner: Runner) -> None:
        try:
            await runner.run()
        except AnswersError as error:
            self.failed.emit(str(error))
        finally:
            self._ended[key] = runner.progress
            del self._tasks[key], self._runners[key]
            self.moved.emit(key)

    def pause(self, evaluation: str) -> None:
        """Pause or resume a run."""
        runner = self.runner_of(evaluation)
        if runner is not None:
            runner.resume() if runner.state is State.PAUSED else runner.pause()
            self.moved.emit(evaluation)

    def stop(self, evaluation: str) -> None:
        """Stop a run; received answers are kept."""
        runner = self.runner_of(evaluation)
        if runner is not None:
            runner.stop()
