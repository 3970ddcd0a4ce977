"""Measure growth over eight hours of use in fast motion, in one window: the last tenth beside the first.

Each tenth is the same work: experiments are made, run and deleted for good; tool servers are started, asked and
removed; six lanes run side by side; in every other tenth an evaluation runs.
"""

from __future__ import annotations

import asyncio
import gc
import os
import time
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QWidget

from playground.domain.checks.texts import Contains
from playground.domain.transcript import Role, make_turn
from playground.engine.compare.lanes import Lanes
from playground.engine.library.store.tape_rows import KeepTapes
from playground.engine.library.workspace import OPEN
from playground.engine.session.plan import Case, Keep, Plan
from playground.engine.session.session import Session
from playground.engine.session.tool_calls import Ticket
from playground.ui.features.evaluate.control import EvaluateControl
from playground.ui.widgets import loop
from tests.benchmarks.memory import resident, resident_mb
from tests.benchmarks.registry import Figure, at_most
from tests.benchmarks.window import Window, play
from tests.support import tool_servers

TENTHS = 10
EXPERIMENTS, SHORT_EXPERIMENTS = 20, 2  # a tenth
RUNS = 10  # an experiment
SERVERS, SHORT_SERVERS = 5, 1  # a tenth
LANES, CASES = 6, 100
MODEL = "paced-0-120"
TAPES = 2**20  # bytes of bodies that the store may keep: a tenth of those of a full run
COUNTED = ("files", "threads", "timers", "tasks", "children", "widgets", "sessions")
CALM_S = 6.0  # for garbage to be collected, and rests to be closed


def run(short: bool) -> list[Figure]:
    """Return the growth; the short form has a tenth of the experiments."""
    return play(_Day(SHORT_EXPERIMENTS if short else EXPERIMENTS, SHORT_SERVERS if short else SERVERS).measure)


@dataclass(frozen=True, slots=True)
class _Level:
    """Measurements at rest; ``memory`` and ``children_memory`` in MB, ``file`` the store's bytes, journal included."""

    memory: float
    children_memory: float
    files: int
    threads: int
    timers: int
    tasks: int
    children: int
    widgets: int
    sessions: int
    file: int


class _Day:
    def __init__(self, experiments: int, servers: int) -> None:
        self._experiments, self._servers = experiments, servers
        self._experiment_ids: list[list[str]] = []  # ids of the experiments made at the beginning, and in each tenth

    async def measure(self, window: Window) -> list[Figure]:
        self._window = window
        self._workspace = window.app.workspace
        assert self._workspace.store is not None
        self._workspace.store.keep_tapes(KeepTapes(days=None, bytes=TAPES))
        await self._begin()
        levels = [await self._tenth(number) for number in range(TENTHS)]
        first, end = levels[0], levels[-1]
        half, second = (max(level.file for level in some) for some in (levels[: TENTHS // 2], levels[TENTHS // 2 :]))
        return [
            at_most("memory, growth after the first tenth", 100 * (end.memory / first.memory - 1), "%", 5),
            Figure("memory after the first tenth", first.memory, "MB"),
            at_most("memory of its processes, growth", 100 * (end.children_memory / first.children_memory - 1), "%", 5),
            *(at_most(f"{name} added", getattr(end, name) - getattr(first, name), "", 0) for name in COUNTED),
            at_most("the store's file, largest of the second half, times that of the first", second / half, "×", 1.05),
            Figure("the store's file, largest", max(half, second) / 2**20, "MB"),
        ]

    async def _begin(self) -> None:
        """Do what a window does once in its first hour: load all modules, start all threads, open experiments."""
        await self._window.settle(CALM_S)
        await asyncio.gather(*(asyncio.to_thread(time.sleep, 0.1) for _ in range(loop.THREADS)))
        self._experiment_ids.append([await self._experiment() for _ in range(OPEN)])

    async def _tenth(self, number: int) -> _Level:
        created: list[str] = []
        for place in range(self._experiments):
            created.append(await self._experiment())
            await self._come_back(place)
        self._experiment_ids.append(created)
        for place in range(self._servers):
            await self._server(f"soak-{number}-{place}")
        await self._compare()
        if number % 2 == 0:
            await self._evaluate(number)
        await self._erase(self._experiment_ids[number])
        return await self._level()

    async def _experiment(self) -> str:
        """Made, run, asked again."""
        session = self._window.new(MODEL)
        for _ in range(RUNS - 1):
            await self._window.run(session)
            session.turns.add_turn(make_turn(Role.USER, "And what else?"))
        await self._window.run(session)
        return session.id

    async def _come_back(self, place: int) -> None:
        """Switch to an experiment left long ago, loaded again if it was closed meanwhile."""
        await self._workspace.show(self._experiment_ids[-1][place])
        await self._window.settle(0.05)

    async def _server(self, name: str) -> None:
        servers = self._workspace.tool_servers
        server = servers.book.add(tool_servers.hostile(id=name, name=name))
        servers.book.confirm(server)
        await servers.start(server.id)
        await servers.call(server.id, "echo", {"text": "x"}, Ticket())
        await servers.stop(server.id)
        servers.book.remove(server.id)

    async def _compare(self) -> None:
        session = self._window.new(MODEL)
        lanes = Lanes(session)
        for _ in range(1, LANES):
            lanes.add()
        self._press("compare.open")
        await self._window.settle(0.5)
        await loop.spawn(lanes.run(), name="soaked lanes")
        self._press("compare.open")
        await self._gone(session)

    async def _evaluate(self, number: int) -> None:
        session = self._window.new(MODEL, text="Is it warm in {{city}}?")
        cases = tuple(Case(id=f"c{place}", values={"city": f"C{number} {place}"}) for place in range(CASES))
        plan = Plan(cases=cases, checks=(Contains(text="stream"),), at_once=16, keep=Keep.NONE)
        session.change(evaluation=plan)
        self._press("evaluate.open")
        control: EvaluateControl = self._window.app.actions.features.evaluate
        assert control.evaluation is not None, "no evaluation is shown"
        look = control.evaluation
        await self._window.until(lambda: look.ready)
        self._press("run.run")
        await self._window.until(lambda: look.results.count == CASES and not look.under_way)
        assert look.results.failed == 0, "not all answers came"
        self._press("evaluate.open")
        await self._gone(session)

    def _press(self, action: str) -> None:
        self._window.app.window.action(action).trigger()

    async def _gone(self, session: Session) -> None:
        self._workspace.delete(session.id)
        await self._erase([session.id])

    async def _erase(self, experiment_ids: list[str]) -> None:
        """Delete experiments and empty the trash, as a person does."""
        for experiment_id in experiment_ids:
            if any(item.experiment.id == experiment_id for item in self._workspace.trash):
                continue
            self._workspace.delete(experiment_id)
        await self._workspace.flush()
        self._workspace.erase(experiment_ids)

    async def _level(self) -> _Level:
        """Return the measurements once all is at rest and on the disk."""
        await self._workspace.flush()
        await self._window.settle(CALM_S)
        memory = resident_mb()
        things = gc.get_objects()
        children = _children(os.getpid())
        return _Level(
            memory=memory,
            children_memory=sum(map(resident, children)) / 2**20,
            files=_entries("/proc/self/fd"),
            threads=_entries("/proc/self/task"),
            timers=sum(timer.isActive() for timer in _timers()),
            tasks=len(asyncio.all_tasks()),
            children=len(children),
            widgets=sum(isinstance(widget, QWidget) for widget in QApplication.allWidgets()),
            sessions=sum(isinstance(thing, Session) for thing in things),
            file=self._file(),
        )

    def _file(self) -> int:
        assert self._workspace.store is not None
        path = self._workspace.store.path
        return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*") if file.is_file())


def _entries(folder: str) -> int:
    return sum(1 for _ in Path(folder).iterdir())


def _timers() -> list[QTimer]:
    """Those of the application, of its windows and of all that lies in them."""
    roots = [QApplication.instance(), *QApplication.topLevelWidgets()]
    return [timer for root in roots if root is not None for timer in root.findChildren(QTimer)]


def _children(pid: int) -> list[int]:
    """The processes below one, theirs included."""
    results: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text(encoding="ascii").split():
            results += [int(child), *_children(int(child))]
    return results
