"""Long work on another thread beside the window's loop: who goes first, and that nobody waits for ever."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from threading import Thread

from PySide6.QtWidgets import QApplication

from playground.giving_way import by_and_by, give_way_to
from playground.ui.widgets.loop import finish, run, spawn

STEP_S = 0.000_2


def _work(done: list[float], seconds: float) -> None:
    """Steps, each as long as a few turns take to be written, for so much time of this thread's own."""
    for _ in by_and_by(range(round(seconds / STEP_S))):
        until = time.thread_time() + STEP_S
        while time.thread_time() < until:
            pass
        done.append(time.perf_counter())


def _in_the_loop(qapp: QApplication, callback: Callable[[list[float]], None], seconds: float) -> list[float]:
    """When each step of the work ended; ``callback`` is a turn of the loop, begun when a tenth of it is done."""
    done: list[float] = []

    async def main() -> None:
        work = spawn(asyncio.to_thread(_work, done, seconds), name="work")
        while len(done) < seconds / STEP_S / 10:  # noqa: ASYNC110 - the work tells nobody
            await asyncio.sleep(0.001)
        callback(done)
        await work
        finish()

    run(qapp, main)
    return done


def test_who_works_goes_on_when_the_loop_is_held_up_for_long(qapp: QApplication) -> None:
    seen: list[int] = []

    def turn(done: list[float]) -> None:
        before, until = len(done), time.perf_counter() + 30
        while len(done) < before + 300 and time.perf_counter() < until:  # 60 ms of work, with thirty pauses in it
            time.sleep(0.001)
        seen.append(len(done) - before)

    _in_the_loop(qapp, turn, 0.2)
    assert seen[0] >= 300


def test_nobody_pauses_where_no_loop_runs_or_it_has_ended() -> None:
    asked: list[Callable[[], object]] = []
    give_way_to(asked.append)
    give_way_to(None)
    done: list[float] = []
    thread = Thread(target=_work, args=(done, 0.02))
    thread.start()
    thread.join(30)
    assert len(done) == round(0.02 / STEP_S)
    assert not asked
