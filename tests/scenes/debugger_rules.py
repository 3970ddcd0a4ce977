"""Scenes of the debugger's rules: the answer table, the rules of several tools, several answers to a call."""

from __future__ import annotations

from playground.domain.debugging import FAULTS, Answer, AnswerRow, Debugging, MatchKind, Policy, ToolRule
from playground.engine.compare.lanes import Lanes
from playground.ui.features.debugger.answers_dialog import AnswersDialog
from playground.ui.features.debugger.rules_dialog import RulesDialog
from playground.ui.shell.features import DEFAULT_RULE, PARAMETER_PANEL
from playground.ui.widgets.loop import spawn
from tests.scenes.registry import BOTH, WIDE, scene
from tests.scenes.stage import Stage

LISBON = AnswerRow(
    match=MatchKind.EQUAL,
    pattern='{"city": "Lisbon", "unit": "celsius"}',
    answer=Answer(text='{"temp": 21, "sky": "clear"}'),
)
OSLO = AnswerRow(
    match=MatchKind.PATH,
    pattern="$[?@.city == 'Oslo']",
    answer=Answer(text='{"temp": 4, "sky": "overcast", "wind": {"speed": 31, "unit": "km/h"}}', delay=1.5),
)
BROKEN = AnswerRow(match=MatchKind.PATH, pattern="$[?@.city == ", answer=Answer(text="never used"))
OTHERS = AnswerRow(answer=Answer(text="There is no such city.", is_error=True))
WEATHER = ToolRule(policy=Policy.TABLE, rows=(LISBON, OSLO, BROKEN, OTHERS, FAULTS[3][1]), pause_from=8)
RULES = Debugging(
    rules={
        "get_weather": WEATHER,
        "get_forecast": ToolRule(policy=Policy.FIXED, fixed=Answer(text='{"days": [], "note": "no data",}')),
        "a_tool_with_a_rather_long_name_that_is_not_on_offer_any_more": ToolRule(),
    }
)
THREE = (
    Answer(text='{"temp": 4, "sky": "overcast"}'),
    Answer(text='{"temp": 31, "sky": "clear"}'),
    Answer(text="Error: the service did not answer.", is_error=True),
)


async def waiting(stage: Stage) -> tuple[str, str]:
    """The sample experiment at its two calls, the first of them answered; the second one's turn and id."""
    await stage.sample()
    first, second = stage.session.debugger.waiting
    stage.session.debugger.send(first[0], first[1].id, '{"temp": 21, "sky": "clear"}')
    return second[0], second[1].id


async def answered(stage: Stage, *answers: Answer) -> Lanes:
    """The second call with these answers, a lane for each."""
    turn_id, call_id = await waiting(stage)
    lanes = Lanes(stage.session)
    spawn(lanes.add_answers(stage.session, turn_id, call_id, answers), name="answers in lanes")
    stage.act("compare.open")
    await stage.until(lambda: stage.window.pane.columns is not None, "the lanes")
    return lanes


@scene()
async def rules_table(stage: Stage) -> None:
    """The answer table of one tool: which row answers the latest call, one that cannot be read, one never reached."""
    await stage.sample()
    stage.session.change(debugging=RULES)
    dialog = RulesDialog.shown_for(stage.session, stage.window)
    dialog.open_on("get_weather")
    dialog.editor.table.select(1)


@scene()
async def rules_fixed(stage: Stage) -> None:
    """A fixed answer that looks like JSON and is none; the conditions above it."""
    await stage.sample()
    stage.session.change(debugging=RULES)
    RulesDialog.shown_for(stage.session, stage.window).open_on("get_forecast")


@scene()
async def rules_default(stage: Stage) -> None:
    """The default rule of a new experiment: every call waits, and there is no row yet."""
    await stage.sample()
    stage.act("debug.rules")


@scene(sizes=BOTH)
async def rules_in_panels(stage: Stage) -> None:
    """What happens on a tool call, the rules by tool and the step limit, in the Parameters panel."""
    await stage.sample()
    stage.session.change(debugging=RULES)
    panel = stage.window.panels.of(PARAMETER_PANEL)
    panel.ensureWidgetVisible(stage.window.panels.of(DEFAULT_RULE).limit, 0, 120)


@scene(sizes=WIDE)
async def rules_of_a_tool(stage: Stage) -> None:
    """The rule of a tool in a few words, in the editor of the tool."""
    await stage.sample()
    stage.session.change(debugging=RULES)
    stage.window.side.show_page("Tools")


async def asked(stage: Stage, *answers: Answer) -> AnswersDialog:
    turn_id, call_id = await waiting(stage)
    stage.session.debugger.notes.set_fork_draft(turn_id, call_id, answers)
    dialog = AnswersDialog(stage.session, turn_id, call_id, stage.window)
    dialog.open()
    return dialog


@scene(sizes=BOTH)
async def answers_typed(stage: Stage) -> None:
    """Three answers to one call, before they run, and how many more there is room for."""
    await asked(stage, *THREE)


@scene(sizes=WIDE)
async def answers_refused(stage: Stage) -> None:
    """What cannot begin says why."""
    await stage.sample()
    turn_id, call = stage.session.debugger.waiting[0]
    AnswersDialog(stage.session, turn_id, call.id, stage.window).open()


@scene(tokens_per_second=400, sizes=BOTH)
async def answers_in_lanes(stage: Stage) -> None:
    """Three answers to one call as lanes, run on to their ends."""
    lanes = await answered(stage, *THREE)
    await stage.until(
        lambda: not stage.session.busy and all(lane.transcript.path[-1].outcome for lane in lanes.all[1:]), "answers"
    )
    await stage.settle()


@scene(tokens_per_second=60, sizes=WIDE)
async def answers_under_way(stage: Stage) -> None:
    """Lanes while they run: one waits for a delayed answer, one never gets it."""
    await answered(stage, THREE[0], Answer(text="late", delay=60), Answer(never=True))
    await stage.until(lambda: bool(stage.growing("text")), "an answer to grow")
