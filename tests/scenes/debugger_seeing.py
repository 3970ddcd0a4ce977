"""Scenes of looking at a run: the list of calls, the picture of the loop, a step asked many times, A against B."""

from __future__ import annotations

import asyncio

from playground.domain.debugging import Answer, AnswerRow, Debugging, MatchKind, Policy, ToolRule
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, make_turn
from playground.engine.compare.lanes import Lanes
from playground.engine.session.changes import RunState
from playground.ui.features.debugger.call_list import CallList
from playground.ui.features.debugger.sequence_view import SequencePage
from playground.ui.features.debugger.stability_window import StabilityWindow
from playground.ui.features.tools.samples import SAMPLE
from tests.scenes.registry import BOTH, WIDE, scene
from tests.scenes.stage import SceneError, Stage

SUNNY = AnswerRow(answer=Answer(text='{"temp": 21, "sky": "clear"}', delay=0.08))
OSLO = AnswerRow(
    match=MatchKind.PATH, pattern="$[?@.city == 'Oslo']", answer=Answer(text="no station answers", is_error=True)
)
FORECAST = ToolDefinition(
    name="get_forecast",
    description="The weather of the next days",
    parameters={
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Name of the city"},
            "days": {"type": "integer", "minimum": 1, "maximum": 3, "description": "How many days"},
        },
        "required": ["city", "days"],
    },
)
TABLE = ToolRule(policy=Policy.TABLE, rows=(OSLO, SUNNY), pause_on_misfit=False)


@scene(tokens_per_second=400, sizes=BOTH)
async def call_list(stage: Stage) -> None:
    """Calls of several rounds: answered, wrong, edited, on another branch, and two that wait."""
    await _three_rounds(stage)
    calls = _calls(stage)
    await stage.until(lambda: calls.model.rowCount() > 6, "the calls in the list")
    calls.table.selectRow(1)


@scene(sizes=WIDE)
async def call_list_filtered(stage: Stage) -> None:
    """A filter over the same list; sorted by verdict."""
    await _three_rounds(stage)
    calls = _calls(stage)
    calls.filter.setText("oslo not")
    await stage.until(lambda: 0 < calls.model.rowCount() < 5, "fewer calls in the list")


@scene(sizes=WIDE)
async def call_list_empty(stage: Stage) -> None:
    """The list before anything was called."""
    stage.fresh("demo-tools")
    _calls(stage)


@scene(tokens_per_second=300, sizes=BOTH)
async def sequence(stage: Stage) -> None:
    """Three rounds of parallel calls, one wrong, with a wait in between that is not to scale."""
    await _three_rounds(stage)
    page = _sequence(stage)
    await stage.until(lambda: len(page.view.spans) > 8, "the spans")
    page.view.choose(3)


@scene(tokens_per_second=300, sizes=WIDE)
async def sequence_one(stage: Stage) -> None:
    """One request without a call."""
    stage.fresh("demo-chat")
    await stage.ask("What is a token?")
    page = _sequence(stage)
    await stage.until(lambda: len(page.view.spans) > 1, "the spans")


@scene(tokens_per_second=2000, sizes=WIDE)
async def sequence_long(stage: Stage) -> None:
    """A loop of twenty-five requests, at its end."""
    _with_table(stage, limit=60)
    await stage.ask("Weather in Lisbon and Oslo !loop=24")
    await _rest(stage)
    async with asyncio.timeout(60):
        await stage.session.debugger.run_to_end()
    page = _sequence(stage)
    await stage.until(lambda: len(page.view.spans) > 100, "the spans")


@scene(sizes=BOTH)
async def stability(stage: Stage) -> None:
    """One step asked twelve times: which calls came, how often."""
    window = _repeat(stage)
    window.times.setValue(12)
    await _perform(stage, window)


@scene(sizes=BOTH)
async def stability_ab(stage: Stage) -> None:
    """The same step with two variants of the tools, what is different named."""
    window = _repeat(stage)
    window.times.setValue(8)
    window.compare.setChecked(True)
    text = window.editor.field.text
    changed = text.replace('"maximum": 3', '"maximum": 2').replace("The weather", "Only ever the weather")
    window.editor.field.replace_text(changed)
    window.editor.choice.setEditText("required")
    await _perform(stage, window)


@scene(tokens_per_second=20, sizes=WIDE)
async def stability_running(stage: Stage) -> None:
    """Under way: progress, Stop, and the figures so far."""
    window = _repeat(stage, " !tps=60")
    window.times.setValue(12)
    window.parallel.setValue(3)
    window.run()
    await stage.until(lambda: window.progress.value() >= 4, "four answers")


@scene(sizes=WIDE)
async def stability_refused(stage: Stage) -> None:
    """What cannot be asked is said in words."""
    stage.fresh("demo-tools")
    stage.act("debug.repeat")
    _window(stage).run()


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


def _repeat(stage: Stage, more: str = "") -> StabilityWindow:
    stage.fresh("demo-tools")
    stage.session.set_parameters(stage.session.settings.current.with_value("seed", None))
    stage.session.change(tools=(FORECAST,))
    stage.session.turns.add_turn(make_turn(Role.USER, f"Will it be warmer in Lisbon or in Oslo?{more}"))
    stage.act("debug.repeat")
    return _window(stage)


def _window(stage: Stage) -> StabilityWindow:
    found = stage.window.findChild(StabilityWindow)
    if found is None:
        raise SceneError("the window to repeat a step did not open")
    return found


async def _perform(stage: Stage, window: StabilityWindow) -> None:
    window.run()
    await stage.until(lambda: not window.running, "all answers")
