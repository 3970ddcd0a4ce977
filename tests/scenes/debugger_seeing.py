"""Scenes of looking at a run: the list of calls and the picture of the loop."""

from __future__ import annotations

from PySide6.QtWidgets import QTableView

from playground.domain.debugging import Answer, AnswerRow, Debugging, MatchKind, Policy, ToolRule
from playground.engine.compare.lanes import Lanes
from playground.engine.session.changes import RunState
from tests.scenes.registry import BOTH, scene
from tests.scenes.stage import Stage
from tests.scenes.tools import SAMPLE
from tests.support.editors import edit_call

SUNNY = AnswerRow(answer=Answer(text='{"temp": 21, "sky": "clear"}', delay=0.08))
OSLO = AnswerRow(
    match=MatchKind.PATH, pattern="$[?@.city == 'Oslo']", answer=Answer(text="no station answers", is_error=True)
)
TABLE = ToolRule(policy=Policy.TABLE, rows=(OSLO, SUNNY), pause_on_misfit=False)


@scene(tokens_per_second=400, sizes=BOTH)
async def call_list(stage: Stage) -> None:
    """Calls of several rounds: answered, wrong, edited, on another branch, and two that wait."""
    await _three_rounds(stage)
    stage.act("view.calls")
    await stage.settle()
    calls = stage.find(QTableView, inside=stage.window.inspector)
    await stage.until(lambda: calls.model().rowCount() > 6, "the calls in the list")
    calls.selectRow(1)


@scene(tokens_per_second=300, sizes=BOTH)
async def sequence(stage: Stage) -> None:
    """Three rounds of parallel calls, one wrong, with a wait in between that is not to scale."""
    await _three_rounds(stage)
    stage.act("view.sequence")


def _with_table(stage: Stage, *, limit: int = 20) -> None:
    stage.fresh("demo-tools")
    stage.session.change(tools=(SAMPLE,))
    stage.session.change(debugging=Debugging(rules={SAMPLE.name: TABLE}, step_limit=limit))


async def _three_rounds(stage: Stage) -> None:
    session, debugger = stage.session, stage.session.debugger
    _with_table(stage)
    await stage.ask("Compare Lisbon, Oslo and Rome !broken=2")
    await _rest(stage)
    session.change(debugging=Debugging())
    await stage.ask("And Berlin and Madrid?")
    first, second = debugger.waiting
    edit_call(session, first[0], first[1].id, first[1].arguments.replace("celsius", "fahrenheit"))
    debugger.send(first[0], first[1].id, '{"temp": 66}')
    debugger.send(second[0], second[1].id, '{"temp": 30}')
    await session.run()
    answers = [Answer(text="30"), Answer(text="no answer", is_error=True)]
    await Lanes(session).add_answers(session, second[0], second[1].id, answers)
    await stage.ask("And in Paris and Vienna? !broken=1")
    await stage.scroll_to_top()


async def _rest(stage: Stage) -> None:
    """Wait until nothing is under way, delayed answers included."""
    await stage.until(lambda: stage.session.state is RunState.IDLE, "the loop to end")
