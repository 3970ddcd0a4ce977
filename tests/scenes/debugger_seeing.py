"""Scenes of looking at a run: the list of calls and the picture of the loop."""

from __future__ import annotations

from playground.domain.debugging import Answer, AnswerRow, Debugging, MatchKind, Policy, ToolRule
from playground.engine.compare.lanes import Lanes
from playground.engine.session.changes import RunState
from playground.ui.features.debugger.call_list import CallList
from playground.ui.features.debugger.sequence_view import SequencePage
from playground.ui.features.tools.samples import SAMPLE
from tests.scenes.registry import BOTH, scene
from tests.scenes.stage import SceneError, Stage

SUNNY = AnswerRow(answer=Answer(text='{"temp": 21, "sky": "clear"}', delay=0.08))
OSLO = AnswerRow(
    match=MatchKind.PATH, pattern="$[?@.city == 'Oslo']", answer=Answer(text="no station answers", is_error=True)
)
TABLE = ToolRule(policy=Policy.TABLE, rows=(OSLO, SUNNY), pause_on_misfit=False)


@scene(tokens_per_second=400, sizes=BOTH)
async def call_list(stage: Stage) -> None:
    """Calls of several rounds: answered, wrong, edited, on another branch, and two that wait."""
    await _three_rounds(stage)
    calls = _calls(stage)
    await stage.until(lambda: calls.model.rowCount() > 6, "the calls in the list")
    calls.table.selectRow(1)


@scene(tokens_per_second=300, sizes=BOTH)
async def sequence(stage: Stage) -> None:
    """Three rounds of parallel calls, one wrong, with a wait in between that is not to scale."""
    await _three_rounds(stage)
    page = _sequence(stage)
    await stage.until(lambda: len(page.view.spans) > 8, "the spans")
    page.view.choose(3)


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
    session.turns.edit_call(first[0], first[1].id, first[1].arguments.replace("celsius", "fahrenheit"))
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


def _calls(stage: Stage) -> CallList:
    stage.act("view.calls")
    found = stage.window.findChild(CallList)
    if found is None:
        raise SceneError("there is no list of calls")
    return found


def _sequence(stage: Stage) -> SequencePage:
    stage.act("view.sequence")
    found = stage.window.findChild(SequencePage)
    if found is None:
        raise SceneError("there is no picture of the loop")
    return found
