"""Some shapes of the table are played into the real window; the benchmark ``hostile`` plays all of them."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from playground.domain.debugging import Answer, Debugging, Policy, ReasonCode, ToolRule
from playground.engine.questions import checking
from playground.engine.questions.worker import TIME_LIMIT
from playground.engine.session.call_notes import CallVerdictCode
from playground.engine.session.changes import RunState
from tests.flows.conftest import Person, Stage, flow
from tests.hostile.gaps import MARGIN
from tests.hostile.in_window import Played, best_of, prepare, warm_up
from tests.hostile.shapes import WINDOW, doubled, tool
from tests.support.fault_server import FaultServer

SMOKE = "a pattern that goes back", "a tool name of a megabyte in six lanes", "reasoning and text in turn"

#: What Qt says of fonts of the machine that lack something; texts in very many scripts ask for all of them.
pytestmark = pytest.mark.qt_log_ignore("Failed to compute left/right minimum", "OpenType support missing", extend=True)


def test_window_with_hostile_answers_responds(stage: Stage) -> None:
    played: list[Played] = []

    async def scene(person: Person) -> None:
        await warm_up(person.app)
        for shape in (shape for shape in WINDOW if shape.name in SMOKE):
            played.append(await best_of(person.app, shape, MARGIN))

    stage.play(scene)
    late = [
        f"{shape.shape.name}: {shape.gap * 1000:.0f} ms, looked at: {shape.looked * 1000:.0f} ms"
        for shape in played
        if not shape.answered(MARGIN)
    ]
    assert not late, "; ".join(late)
    assert all(shape.whole for shape in played), [shape.shape.name for shape in played if not shape.whole]


DOUBLED = next(shape for shape in WINDOW if shape.name == "alternatives doubled")
ANSWERS = Debugging(default=ToolRule(policy=Policy.FIXED, fixed=Answer(text="ok")))


@flow()
async def test_rule_with_a_costly_check_waits_until_stopped(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "TIME_LIMIT", 2 * TIME_LIMIT)  # time to see it, on a slow machine too
    with FaultServer() as server:
        session = prepare(person.app, replace(DOUBLED, rules=ANSWERS, tools=(tool(doubled(31)),)), server)
        run = asyncio.get_running_loop().create_task(session.run())
        await person.until(lambda: session.state is RunState.ANSWERING, "a rule that waits")
        (call,) = session.transcript.path[-1].calls
        (card,) = person.conversation.message(-1).calls
        assert session.debugger.verdict(call).code is CallVerdictCode.CHECKING
        await person.until(lambda: card.arguments_check == "checking…", "the check in the card")
        session.stop()
        await run
        assert session.debugger.verdict(call).code is CallVerdictCode.CHECKING, "its end was not waited for"
        (reason,) = session.debugger.notes.stops.values()
        assert reason.code is ReasonCode.STOPPED
        await person.until(lambda: card.arguments_check.startswith("too costly to check: it takes longer"), "it")
        await person.until(lambda: session.debugger.verdict(call).code is CallVerdictCode.TOO_COSTLY, "the verdict")
        assert session.state is RunState.IDLE
