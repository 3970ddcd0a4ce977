"""Measure an experiment of 1,000 turns, opened and edited, and one of 10,000 turns, opened.

Each is done several times and the best is taken: noise only adds.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtTest import QTest

from playground.domain.transcript import Role, make_turn
from playground.engine.session.session import Session
from playground.ui.features.conversation.transcript_view import TranscriptView
from tests.benchmarks.experiment import TOOL, long_transcript
from tests.benchmarks.registry import Figure, at_most
from tests.benchmarks.window import Pulse, Window, play
from tests.support.editors import edit_text

LONG, VERY_LONG, PASSES = 1_000, 10_000, 3
OPEN_LONG_MS, OPEN_VERY_LONG_MS, EDIT_MS = 300, 1_000, 150


def run(short: bool) -> list[Figure]:
    """Return the times to open, and the longest gap around each edit; the short form has a tenth of the turns."""
    scale = 10 if short else 1

    async def measure(window: Window) -> list[Figure]:
        await _warm_up(window)
        very_long = Opening(window, VERY_LONG // scale)
        opened = [await very_long.click() for _ in range(PASSES)]
        figures = [at_most(f"{VERY_LONG // scale} turns, click to painted", min(opened), "ms", OPEN_VERY_LONG_MS)]
        long = Opening(window, LONG // scale)
        opened = [await long.click() for _ in range(PASSES)]
        figures.append(at_most(f"{LONG // scale} turns, click to painted", min(opened), "ms", OPEN_LONG_MS))
        gaps = await long.edit()
        return figures + [at_most(f"longest gap around {words}", gap, "ms", EDIT_MS) for words, gap in gaps.items()]

    return play(measure)


async def _warm_up(window: Window) -> None:
    """Draw each kind of turn once, as in any window in use."""
    session = window.new("paced-200-40", long_transcript(40))
    session.change(tools=(TOOL,))
    await window.settle()
    window.app.workspace.delete(session.id)


class Opening:
    """An experiment in the list and not in view."""

    def __init__(self, window: Window, turns: int) -> None:
        self._window = window
        self._turns = turns
        self._session: Session = window.new("paced-200-40")
        self._session.history.transcript = long_transcript(turns)
        self._session.change(tools=(TOOL,))
        self._neighbour = window.new("paced-200-40").id

    async def click(self) -> float:
        """Return the milliseconds from the click in the list until all cards in view are painted."""
        app = self._window.app
        app.workspace.open(self._neighbour)
        await self._window.settle()
        panel = app.window.panels.experiments
        index = panel.model.place(self._session.id)
        assert index.isValid(), "the experiment is not in the list"
        place = panel.list.visualRect(index).center()
        painted = _FirstPaint(app.window.pane.view)
        began = time.perf_counter()
        QTest.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
        ended = await painted.time
        await self._window.settle()
        return (ended - began) * 1000

    async def edit(self) -> dict[str, float]:
        """Return the longest gap in milliseconds around each thing that a person does in it."""
        session, pane = self._session, self._window.app.window.pane
        with Pulse() as pulse:
            await self._window.run(session)
            await self._window.settle()
        middle = session.transcript.path[self._turns // 2].id
        steps: dict[str, Callable[[], object]] = {
            "an edit in the middle": lambda: pane.commands.edit(
                middle, lambda: edit_text(session, middle, "Other words.")
            ),
            "undo of the edit": session.undo,
            "a deletion in the middle": lambda: pane.commands.delete_turn(middle),
            "undo of the deletion": session.undo,
            "a new turn": lambda: session.turns.add_turn(make_turn(Role.USER, "And one more question.")),
        }
        gaps = {"a run": pulse.longest_ms}
        for words, step in steps.items():
            with Pulse() as pulse:
                step()
                await self._window.settle()
            gaps[words] = pulse.longest_ms
        return gaps


class _FirstPaint(QObject):
    """The time when the view has been painted with every card in view, from now on."""

    def __init__(self, view: TranscriptView) -> None:
        super().__init__(view)
        self.time: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._view = view
        self._content = view.content
        self._content.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self._content.removeEventFilter(self)
            QTimer.singleShot(0, self._check)  # the cards in it are painted before the next event
        return False

    def _check(self) -> None:
        if self._view.complete:
            self.time.set_result(time.perf_counter())
        else:
            QTimer.singleShot(1, self._check)
