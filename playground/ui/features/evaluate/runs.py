"""The evaluations that are under way in this window, whichever experiment is looked at."""

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
    """One for each experiment at a time, by its id. Its answers are on disk when ``arrived`` tells of them.

    ``moved`` tells that one began, was paused, went on or ended, and ``failed`` why its answers could not be kept.
    """

    arrived = Signal(str, list)  # of Answer
    moved = Signal(str)
    failed = Signal(str)

    def __init__(self, store: AnswerStore, entered: PriceLookup, parent: QObject) -> None:
        super().__init__(parent)
        self.store = store
        self.entered = entered
        self._runners: dict[str, Runner] = {}  # those under way: they hold all their answers
        self._ended: dict[str, Progress] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def of(self, evaluation: str) -> Runner | None:
        """The run that is under way, or is paused."""
        return self._runners.get(evaluation)

    def progress(self, evaluation: str) -> Progress | None:
        """How far it is, or how far the last one came; None before anything was run here."""
        runner = self.of(evaluation)
        return runner.progress if runner is not None else self._ended.get(evaluation)

    def under_way(self, evaluation: str) -> bool:
        """Whether one is, or is paused."""
        return evaluation in self._tasks

    @property
    def going(self) -> tuple[str, ...]:
        """Of which experiments one is."""
        return tuple(self._tasks)

    def start(self, resolved: ResolvedEvaluation) -> None:
        """Ask for what an resolved lacks. Where a run of that experiment is under way, it goes on instead."""
        key = resolved.id
        if key in self._tasks:
            return
        runner = Runner(resolved, self.store, entered=self.entered, on_saved=partial(self._told, key))
        self._runners[key] = runner
        self._tasks[key] = spawn(self._run(key, runner), name="evaluate")
        self.moved.emit(key)

    def _told(self, key: str, answers: list[Answer]) -> None:
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
        """Ask for no more for now, or go on."""
        runner = self.of(evaluation)
        if runner is not None:
            runner.resume() if runner.state is State.PAUSED else runner.pause()
            self.moved.emit(evaluation)

    def stop(self, evaluation: str) -> None:
        """End it; what came is kept."""
        runner = self.of(evaluation)
        if runner is not None:
            runner.stop()
