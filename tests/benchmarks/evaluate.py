"""Measure 10,000 answers in the window, 64 at once, with their table in view; the demo gateway is another process."""

from __future__ import annotations

import gc
import time

from playground.domain.checks.calls import ToolCalled
from playground.domain.checks.figures import Latency
from playground.domain.checks.texts import Contains, Matches
from playground.engine.gateways.gateways import DEMO_ID
from playground.engine.session.plan import Case, Keep, Plan
from playground.engine.session.variants import Variant
from playground.ui.features.evaluate.control import EvaluateControl
from playground.ui.features.evaluate.model import EvaluationModel
from playground.ui.features.evaluate.table import AnswersTable
from tests.benchmarks.demo_gateway import MODEL, DemoGateway
from tests.benchmarks.memory import resident_mb
from tests.benchmarks.registry import Figure, at_least, at_most
from tests.benchmarks.window import Pulse, Window, play

CASES, SHORT_CASES, VARIANTS, REPEATS, AT_ONCE = 1000, 50, 5, 2, 64
PASSES = 3
RATE, LONGEST_MS = 250, 300


def run(short: bool) -> list[Figure]:
    """Return the rate, gaps while answers come, memory, and the time to open the finished evaluation."""
    with DemoGateway() as gateway:
        return play(_Evaluation(gateway.url, SHORT_CASES if short else CASES).measure)


class _Evaluation:
    def __init__(self, url: str, cases: int) -> None:
        self._url, self._cases = url, cases

    async def measure(self, window: Window) -> list[Figure]:
        self._window = window
        gateways = window.app.gateways
        gateways.update(gateways.get(DEMO_ID).model_copy(update={"base_url": self._url}))
        session = window.new(MODEL, text="Is it warm in {{city}}? !fast")
        session.change(profile_id=DEMO_ID)
        session.change(model=MODEL)
        session.change(evaluation=_plan(self._cases))
        self._toggle()
        await window.until(lambda: self._evaluation.ready)
        await window.settle(2)
        before = resident_mb()
        count = self._cases * VARIANTS * REPEATS
        with Pulse() as pulse:
            window.app.window.action("run.run").trigger()
            await window.until(lambda: self._evaluation.under_way)
            await window.until(lambda: not self._evaluation.under_way)
        results = self._evaluation.results
        assert (results.count, results.failed) == (count, 0), "answers are missing"
        await window.until(
            lambda: self._evaluation.findings is not None and bool(self._evaluation.findings.comparisons)
        )
        await window.settle()
        added = resident_mb() - before
        opened = min([await self._open() for _ in range(PASSES)])
        return [
            at_least("answers per second", count / pulse.wall, "/s", RATE),
            at_most("longest gap while answers come", pulse.longest_ms, "ms", LONGEST_MS),
            Figure("p99 gap while answers come", pulse.p99_ms, "ms"),
            Figure("memory added", added, "MB"),
            at_most("the finished evaluation opened", 1000 * opened, "ms", LONGEST_MS),
        ]

    @property
    def _evaluation(self) -> EvaluationModel:
        control: EvaluateControl = self._window.app.actions.features.evaluate
        assert control.evaluation is not None, "no evaluation is shown"
        return control.evaluation

    def _toggle(self) -> None:
        self._window.app.window.action("evaluate.open").trigger()

    async def _open(self) -> float:
        """Return the seconds from the click to the first answers painted."""
        self._toggle()
        await self._window.settle(0.5)
        gc.collect()
        began = time.perf_counter()
        self._toggle()
        (table,) = self._window.app.window.findChildren(AnswersTable)
        await self._window.until(lambda: self._evaluation.ready and table.cells.rowCount() > 0)
        table.viewport().repaint()
        return time.perf_counter() - began


def _plan(cases: int) -> Plan:
    variants = [
        Variant.model_validate({"id": f"v{place}", "differences": {"parameters": {"chat": {"temperature": place / 4}}}})
        for place in range(VARIANTS - 1)
    ]
    return Plan(
        cases=tuple(Case(id=f"c{place}", values={"city": f"C{place}"}, expected="x") for place in range(cases)),
        variants=tuple(variants),
        checks=(Contains(text="{{city}}"), Latency(seconds=60), Matches(pattern="warm"), ToolCalled(negated=True)),
        repeats=REPEATS,
        at_once=AT_ONCE,
        streamed=False,
        keep=Keep.NONE,
    )
