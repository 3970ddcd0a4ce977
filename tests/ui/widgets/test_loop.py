"""The seam between Qt and asyncio: the throttle, and errors and ends of tasks."""

from __future__ import annotations

import asyncio
import sys

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from playground.ui.widgets import loop
from playground.ui.widgets.loop import Throttle, finish, run, spawn


def test_throttle_makes_one_call_for_many_pokes(qtbot: QtBot) -> None:
    parent = QObject()
    seen: list[int] = []
    value = 0

    def call() -> None:
        seen.append(value)
        if seen == [50]:
            throttle.poke()  # not lost within a call

    throttle = Throttle(call, parent, interval=20)
    for value in range(51):  # noqa: B007 - the throttle reads it when it calls
        throttle.poke()
    assert seen == []
    qtbot.waitUntil(lambda: seen == [50, 50])
    value = 51
    throttle.poke()
    qtbot.waitUntil(lambda: seen[-1] == 51)


def test_errors_of_tasks_and_callbacks_reach_the_hook(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_task_begun_by_a_cancelled_task_is_cancelled(qapp: QApplication) -> None:
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


def test_task_is_cancelled_when_its_owner_is_destroyed(qapp: QApplication) -> None:
    ended: list[str] = []
    owner, stranger = QObject(), QObject()

    async def wait(name: str) -> None:
        try:
            await asyncio.sleep(0.05)
            ended.append(name)
        except asyncio.CancelledError:
            ended.append(f"{name} cancelled")
            raise

    async def main() -> None:
        tasks = [
            spawn(wait("owned"), name="owned", owner=owner),
            spawn(wait("other"), name="other", owner=stranger),
        ]
        await asyncio.sleep(0.01)
        owner.deleteLater()
        await asyncio.wait(tasks)
        stranger.deleteLater()
        await asyncio.sleep(0.01)
        finish()

    run(qapp, main)
    assert ended == ["owned cancelled", "other"]
