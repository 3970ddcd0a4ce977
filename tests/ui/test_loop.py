"""The seam between Qt and asyncio, without running a loop: the throttle."""

from __future__ import annotations

from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from playground.ui.loop import Throttle


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
    seen: list[int] = []
    throttle = Throttle(lambda: seen.append(len(seen)), parent, interval=30)
    throttle.poke()
    qtbot.waitUntil(lambda: len(seen) == 1)
    throttle.poke()
    qtbot.wait(5)
    assert len(seen) == 1
    qtbot.waitUntil(lambda: len(seen) == 2)


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
