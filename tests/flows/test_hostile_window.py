"""Every shape of the table is played into the real window, and the window stays responsive."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from playground.domain.debugging import Answer, Debugging, Policy, ReasonCode, ToolRule
from playground.engine.questions import checking
from playground.engine.questions.worker import SECONDS
from playground.engine.session.call_notes import CallVerdictCode
from playground.engine.session.changes import RunState
from tests.flows.conftest import Person, Stage
from tests.hostile.gaps import MARGIN
from tests.hostile.in_window import Played, best_of, prepare, warm_up
from tests.hostile.shapes import WINDOW, WindowShape, doubled, tool
from tests.support.fault_server import FaultServer
from tests.support.slow import slow_except

SHARE = 6  # parts of the table, each in a window of its own
SMOKE = "a pattern that goes back", "a tool name of a megabyte in six lanes", "reasoning and text in turn"

#: What Qt says of fonts of the machine that lack something; texts in very many scripts ask for all of them.
pytestmark = pytest.mark.qt_log_ignore("Failed to compute left/right minimum", "OpenType support missing", extend=True)


@pytest.mark.parametrize(
    "shapes",
    [
        pytest.param(tuple(shape for shape in WINDOW if shape.name in SMOKE), id="smoke"),
        *(pytest.param(WINDOW[part::SHARE], id=str(part), marks=pytest.mark.slow) for part in range(SHARE)),
    ],
)
def test_window_responds_to_every_shape(stage: Stage, shapes: tuple[WindowShape, ...]) -> None:
    played: list[Played] = []

    async def scene(person: Person) -> None:
        await warm_up(person.app)
        for shape in shapes:
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


@pytest.mark.parametrize("stopped", slow_except([True], [True, False]))
def test_rule_waits_for_a_costly_check_until_stopped(
    stage: Stage, stopped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "SECONDS", 2 * SECONDS)  # time to see it, on a slow machine too

    async def scene(person: Person) -> None:
        with FaultServer() as server:
            session = prepare(person.app, replace(DOUBLED, rules=ANSWERS, tools=(tool(doubled(31)),)), server)
            run = asyncio.get_running_loop().create_task(session.run())
            await person.until(lambda: session.state is RunState.ANSWERING, "a rule that waits")
            (call,) = session.transcript.path[-1].calls
            (card,) = person.conversation.message(-1).calls
            assert session.debugger.verdict(call).code is CallVerdictCode.CHECKING
            await person.until(lambda: card.arguments_check == "checking…", "the check in the card")
            if stopped:
                session.stop()
                await run
                assert session.debugger.verdict(call).code is CallVerdictCode.CHECKING, "its end was not waited for"
            else:
                await run
            (reason,) = session.debugger.notes.stops.values()
            assert reason.code is (ReasonCode.STOPPED if stopped else ReasonCode.COSTLY), reason
            said = "too costly to check: it takes longer"
            await person.until(lambda: card.arguments_check.startswith(said), "the verdict in the card")
            await person.until(lambda: session.debugger.verdict(call).code is CallVerdictCode.TOO_COSTLY, "the verdict")
            assert session.state is RunState.IDLE

    stage.play(scene)
