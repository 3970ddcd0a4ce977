"""An experiment of ten thousand turns: opened by a click, scrolled through, gone on with.

What is timed is what a person waits for: from the click until the view has been painted, from a notch of the wheel or
a move of the scroll bar until the view has been painted again. Built before, and in nobody's figure: the transcript.
Each is done three times over and the best is taken: what else the machine does can only add to it.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable
from functools import partial
from random import Random

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from playground.domain.transcript import Role, Transcript, make_turn
from playground.engine.session.session import Session
from playground.ui.features.conversation.transcript_view import TranscriptView
from playground.ui.shell.features import EXPERIMENTS_PANEL
from tests.benchmarks.experiment import TOOL, long_transcript
from tests.benchmarks.memory import resident_mb
from tests.benchmarks.registry import Figure, at_most
from tests.benchmarks.window import Pulse, Window, play

TURNS, PASSES = 10_000, 3
LONGEST_MS = 50  # that the window may not answer
FRAME_S = 1 / 60
TITLE = "Ten thousand turns"


def run(short: bool) -> list[Figure]:
    """The figures; the short form has a tenth of the turns and scrolls less."""
    return play(Opening(TURNS // 10 if short else TURNS, 60 if short else 300).measure)


class Opening:
    """One measurement. ``turns`` are in the experiment, ``steps`` of each kind are scrolled."""

    def __init__(self, turns: int, steps: int) -> None:
        self._turns = turns
        self._steps = steps

    async def measure(self, window: Window) -> list[Figure]:
        """Open, scroll, go on; the figures."""
        self._window = window
        self._view = window.app.window.pane.view
        await self._warm_up()
        experiment = self._prepare(long_transcript(self._turns))
        await window.settle()
        gc.collect()
        before = resident_mb()
        with Pulse() as first:
            opened = [await self._click()]
            await window.settle(1.5)
        shown = resident_mb() - before
        notches = [await self._scroll(self._notches()) for _ in range(PASSES)]
        wheel, due = (min(_p99(steps) for steps in passes) for passes in zip(*notches, strict=True))
        drag = min([_p99((await self._scroll(self._jumps()))[0]) for _ in range(PASSES)])
        await window.settle()
        scrolled = resident_mb() - before
        again = []
        for _ in range(PASSES - 1):
            window.app.workspace.open(self._other)
            await window.settle(0.5)
            with Pulse() as after:
                opened.append(await self._click())
                await window.settle()
            again.append(after.longest_ms)
        with Pulse() as appended:
            append = _timed(lambda: experiment.turns.add_turn(make_turn(Role.USER, "And one more question.")))
            await window.settle()
        with Pulse() as ran:
            await window.run(experiment)
            await window.settle()
        middle = experiment.transcript.path[self._turns // 2]
        with Pulse() as edited:
            window.app.window.pane.edits.make(middle.id, lambda: experiment.turns.edit_text(middle.id, "Other words."))
            await window.settle()
        with Pulse() as undone:
            experiment.undo()
            await window.settle()
        with Pulse() as deleted:
            window.app.window.pane.delete_turn(middle.id)
            await window.settle()
        with Pulse() as restored:
            experiment.undo()
            await window.settle()
        gaps = {
            "opening for the first time": first.longest_ms,
            "opening again": min(again),
            "appending": appended.longest_ms,
            "a run": ran.longest_ms,
            "an edit in the middle": edited.longest_ms,
            "undoing it": undone.longest_ms,
            "deleting in the middle": deleted.longest_ms,
            "undoing that": restored.longest_ms,
        }
        return [
            at_most("click to all painted", min(opened) * 1000, "ms", 200),
            at_most("memory added by showing it", shown, "MB", 60),
            at_most("memory added after scrolling through it", scrolled, "MB", 60),
            at_most("scrolling, wheel, p99 of a step", wheel, "ms", 12),
            Figure("the same from when the notch was due", due, "ms"),
            at_most("scrolling, jumps, p99 of a step", drag, "ms", 16),
            Figure("a turn appended", append * 1000, "ms"),
            *(at_most(f"longest gap around {what}", longest, "ms", LONGEST_MS) for what, longest in gaps.items()),
        ]

    async def _warm_up(self) -> None:
        """One of each kind of turn has been drawn in this window before, as in any window that is in use."""
        session = self._window.new("paced-200-40", long_transcript(40))
        session.change(tools=(TOOL,))
        await self._window.settle()
        self._window.app.workspace.delete(session.id)

    def _prepare(self, transcript: Transcript) -> Session:
        """The long experiment, in the list and not in view."""
        workspace = self._window.app.workspace
        experiment = self._window.new("paced-200-40")
        experiment.history.transcript = transcript
        experiment.change(tools=(TOOL,))
        experiment.change(title=TITLE)
        other = self._window.new("paced-200-40")
        workspace.open(other.id)
        self._experiment, self._other = experiment.id, other.id
        return experiment

    async def _click(self) -> float:
        """Seconds from the click on the experiment in the list until all cards there is room for are painted."""
        panel = self._window.app.window.panels.of(EXPERIMENTS_PANEL)
        index = panel.model.place(self._experiment)
        assert index.isValid(), "the experiment is not in the list"
        place = panel.list.visualRect(index).center()
        painted = _FirstPaint(self._view)
        began = time.perf_counter()
        QTest.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
        ended = await painted.at
        assert self._view.cards, "nothing was painted"
        return ended - began

    def _notches(self) -> list[Callable[[], None]]:
        """Up from the bottom, a notch of the wheel a frame, in five places."""
        steps: list[Callable[[], None]] = []
        for place in range(5):
            steps += [partial(self._move, 1 - place / 5), *[self._notch] * (self._steps // 5)]
        return steps

    def _move(self, share: float) -> None:
        bar = self._view.verticalScrollBar()
        bar.setValue(round(bar.maximum() * share))

    def _notch(self) -> None:
        at = QPointF(200, 200)
        event = QWheelEvent(
            at,
            self._view.mapToGlobal(at),
            QPoint(),
            QPoint(0, 120),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(self._view.viewport(), event)

    def _jumps(self) -> list[Callable[[], None]]:
        """The handle of the scroll bar dragged through everything, then to any place."""
        random = Random(5)
        half = self._steps // 2
        shares = [*(n / half for n in range(half)), *(random.random() for _ in range(half))]
        return [partial(self._move, share) for share in shares]

    async def _scroll(self, steps: list[Callable[[], None]]) -> tuple[list[float], list[float]]:
        """Seconds of each step, from the event to the end of the paint; one step a frame, as a hand does it.

        Second the same from when the step was due: with what the loop did between two frames and did not end in time.
        """
        out: list[float] = []
        waited: list[float] = []
        due = time.perf_counter()
        for step in steps:
            began = time.perf_counter()
            step()
            self._view.viewport().repaint()
            ended = time.perf_counter()
            out.append(ended - began)
            waited.append(ended - due)
            rest = max(FRAME_S - out[-1], 0.001)
            due = ended + rest
            await asyncio.sleep(rest)
        return out, waited


class _FirstPaint(QObject):
    """Notes when the view has been painted from now on, with every card in view and those next to it."""

    def __init__(self, view: TranscriptView) -> None:
        super().__init__(view)
        self.at: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._view = view
        self._viewport = view.viewport()
        self._viewport.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self._viewport.removeEventFilter(self)
            QTimer.singleShot(0, self._painted)  # what lies on the viewport is painted before the next event
        return False

    def _painted(self) -> None:
        if self._view.complete:
            self.at.set_result(time.perf_counter())
        else:
            QTimer.singleShot(1, self._painted)  # some are sketched: the next frames make them


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _p99(values: list[float]) -> float:
    """In milliseconds: what one in a hundred exceeds."""
    return sorted(values)[int(len(values) * 0.99)] * 1000
