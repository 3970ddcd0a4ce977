"""The seam between Qt and asyncio: the throttle, without a loop, and what running one leaves as it was."""

from __future__ import annotations

import asyncio
import gc
import itertools
import socket
import sys
import time
from contextvars import ContextVar
from functools import partial

import pytest
from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from playground.ui.widgets import loop
from playground.ui.widgets.loop import STRETCH_S, Alternation, Throttle, finish, run, spawn


def test_what_the_interpreter_does_differently_while_the_loop_runs_ends_with_it(qapp: QApplication) -> None:
    def state() -> tuple[float, bool]:
        return sys.getswitchinterval(), gc.isenabled()

    before = state()
    during: list[tuple[float, bool]] = []

    async def main() -> None:
        during.append(state())
        finish(3)

    assert run(qapp, main) == 3
    assert state() == before
    assert during[0][0] < before[0]
    assert not during[0][1]


def test_who_slept_goes_on_with_the_timer_and_does_not_wait_for_the_next_turn(qapp: QApplication) -> None:
    order: list[str] = []

    async def main() -> None:
        QTimer.singleShot(20, lambda: order.append("another timer"))
        QTimer.singleShot(1, lambda: time.sleep(0.1))  # all that is due has come due meanwhile
        await asyncio.sleep(0.005)
        order.append("who slept")
        await asyncio.sleep(0.05)
        finish()

    run(qapp, main)
    assert order == ["who slept", "another timer"]


def test_sockets_that_are_ready_at_once_share_one_stretch_of_time(qapp: QApplication) -> None:
    """Sixty answers that come together hold the window no longer than one: what is behind waits for the next turn.

    Each is heard once.
    """
    heard: list[int] = []
    between: list[int] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        pairs = [socket.socketpair() for _ in range(60)]
        ticks = QTimer()
        ticks.timeout.connect(lambda: between.append(len(heard)))

        def take(place: int) -> None:
            pairs[place][0].recv(8)
            heard.append(place)
            until = time.thread_time() + STRETCH_S / 2
            while time.thread_time() < until:
                pass

        for place, (here, _) in enumerate(pairs):
            here.setblocking(False)
            loop.add_reader(here, take, place)
        for _, there in pairs:
            there.send(b"x")
        ticks.start(0)
        async with asyncio.timeout(30):
            while len(heard) < len(pairs):  # noqa: ASYNC110 - the readers have no event of their own
                await asyncio.sleep(0.001)
        ticks.stop()
        for here, there in pairs:
            loop.remove_reader(here)
            here.close()
            there.close()
        finish()

    assert run(qapp, main) == 0
    assert sorted(heard) == list(range(60))
    steps = [after - before for before, after in itertools.pairwise([0, *between])]
    assert max(steps) <= 8  # two, by the time each takes; one stretch begins with sockets, another with what is due


def test_a_task_that_ends_with_the_loop_is_told_of_however_busy_the_machine(qapp: QApplication) -> None:
    told: list[bool] = []

    async def last() -> None:
        finish()
        asyncio.get_running_loop().call_soon(time.sleep, 3 * STRETCH_S)

    async def main() -> None:
        spawn(last(), name="last").add_done_callback(lambda task: told.append(task.cancelled()))

    run(qapp, main)
    assert told == [False]


def test_a_delayed_call_knows_when_it_is_due_and_can_be_cancelled(qapp: QApplication) -> None:
    said: list[str] = []
    context: ContextVar[str] = ContextVar("context", default="none")

    async def main() -> None:
        loop = asyncio.get_running_loop()
        context.set("kept")
        began = loop.time()
        due = loop.call_later(0.02, lambda: said.append(context.get()))
        at = loop.call_at(loop.time() - 1, lambda: said.append("past"))
        loop.call_later(0, said.append, "never").cancel()
        assert began + 0.02 <= due.when() <= loop.time() + 0.02
        assert at.when() < loop.time()
        await asyncio.sleep(0.05)
        finish()

    run(qapp, main)
    assert said == ["past", "kept"]


def test_many_pokes_make_one_call_and_the_last_one_counts(qtbot: QtBot) -> None:
    parent = QObject()
    seen: list[int] = []
    value = 0
    throttle = Throttle(lambda: seen.append(value), parent, interval=20)
    for value in range(50):  # noqa: B007 - the throttle reads it when it calls
        throttle.poke()
    assert seen == []
    qtbot.waitUntil(lambda: seen == [49])
    qtbot.wait(60)
    assert seen == [49]


def test_a_poke_within_the_interval_is_not_lost(qtbot: QtBot) -> None:
    parent = QObject()
    seen: list[float] = []
    throttle = Throttle(lambda: seen.append(time.monotonic()), parent, interval=500)
    throttle.poke()
    qtbot.waitUntil(lambda: len(seen) == 1)
    throttle.poke()
    qtbot.waitUntil(lambda: len(seen) == 2)
    assert seen[1] - seen[0] > 0.45


def test_a_poke_from_the_call_itself_makes_another(qtbot: QtBot) -> None:
    parent = QObject()
    seen: list[int] = []

    def call() -> None:
        seen.append(1)
        if len(seen) < 4:
            throttle.poke()

    throttle = Throttle(call, parent, interval=1)
    throttle.poke()
    qtbot.waitUntil(lambda: len(seen) == 4)
    qtbot.wait(20)
    assert len(seen) == 4


def test_errors_of_tasks_and_callbacks_go_where_all_errors_go(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    caught: list[str] = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: caught.append(str(error)))

    async def fail() -> None:
        raise ValueError("a task")

    def give_up() -> None:
        raise ValueError("a callback")

    async def main() -> None:
        spawn(fail(), name="fails")
        asyncio.get_running_loop().call_soon(give_up)
        asyncio.get_running_loop().call_later(0.01, give_up)
        await asyncio.sleep(0.05)
        finish()

    run(qapp, main)
    assert sorted(caught) == ["a callback", "a callback", "a task"]


def test_they_take_turns_and_others_are_heard_between_two_of_them(qtbot: QtBot) -> None:
    parent = QObject()
    seen: list[str] = []

    def draw(name: str) -> None:
        seen.append(name)
        QTimer.singleShot(0, partial(seen.append, "-"))

    drawing = Alternation(parent, 5)
    calls = [partial(draw, name) for name in "abc"]
    for call in calls * 3:
        drawing.poke(call)
    qtbot.waitUntil(lambda: len(seen) == 6)
    assert "".join(seen) == "a-b-c-"
    for call in reversed(calls):
        drawing.poke(call)
    qtbot.waitUntil(lambda: len(seen) == 12)
    assert "".join(seen[6:]) == "a-b-c-", "whoever waited longest is first"


def test_one_that_is_forgotten_is_called_no_more(qtbot: QtBot) -> None:
    parent = QObject()
    seen: list[str] = []
    drawing = Alternation(parent, 5)
    gone, stays = partial(seen.append, "gone"), partial(seen.append, "stays")
    drawing.poke(gone)
    drawing.poke(stays)
    drawing.forget(gone)
    qtbot.waitUntil(lambda: bool(seen))
    assert seen == ["stays"]


def test_what_a_task_begins_on_its_way_out_is_ended_with_it(qapp: QApplication) -> None:
    ended: list[str] = []

    async def last() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("last")

    async def first() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            spawn(last(), name="last")
            await asyncio.sleep(0)  # it is on its way
            ended.append("first")

    async def main() -> None:
        spawn(first(), name="first")
        await asyncio.sleep(0.01)
        await loop.cancel_all()
        ended.append("all")
        finish(0)

    assert run(qapp, main) == 0
    assert ended == ["first", "last", "all"]
