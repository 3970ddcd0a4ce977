"""Scenes of the debugger's rules: the answer table, the rules of several tools, a fork and its lanes."""

from __future__ import annotations

from playground.domain.debugging import FAULTS, Answer, AnswerRow, Debugging, MatchKind, Policy, ToolRule
from playground.ui.features.debugger.fork_dialog import ForkDialog
from playground.ui.features.debugger.lanes_view import LanesView
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


async def fork(stage: Stage, *answers: Answer) -> None:
    """A fork of the second call, run to its end, with its lanes open."""
    turn_id, call_id = await waiting(stage)
    spawn(stage.session.debugger.fork(turn_id, call_id, answers), name="fork")
    debugger = stage.session.debugger
    await stage.until(lambda: bool(debugger.forks) and not debugger.loops, "the lanes to end")
    stage.act("debug.forks")
    await stage.settle()


@scene()
async def rules_table(stage: Stage) -> None:
    """The answer table of one tool: which row answers the latest call, one that cannot be read, one never reached."""
    await stage.sample()
    stage.session.change(debugging=RULES)
    dialog = RulesDialog.shown_for(stage.session, stage.window)
    dialog.open_on("get_weather")
    dialog.editor.table.select(1)


@scene(sizes=WIDE)
async def rules_row_wrong(stage: Stage) -> None:
    """A JSONPath that is not finished, checked while it is typed."""
    await stage.sample()
    stage.session.change(debugging=RULES)
    dialog = RulesDialog.shown_for(stage.session, stage.window)
    dialog.open_on("get_weather")
    dialog.editor.table.select(2)


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


@scene()
async def fork_answers(stage: Stage) -> None:
    """Three answers to one call, before they run."""
    turn_id, call_id = await waiting(stage)
    stage.session.debugger.notes.fork_drafts[turn_id, call_id] = THREE
    ForkDialog(stage.session, turn_id, call_id, stage.window).open()


@scene(sizes=WIDE)
async def fork_refused(stage: Stage) -> None:
    """A fork that cannot begin says why."""
    await stage.sample()
    turn_id, call = stage.session.debugger.waiting[0]
    ForkDialog(stage.session, turn_id, call.id, stage.window).open()


@scene()
async def fork_three_lanes(stage: Stage) -> None:
    """Three lanes side by side at their ends, what differs from the first marked."""
    await fork(stage, *THREE)


@scene()
async def fork_five_lanes(stage: Stage) -> None:
    """Five lanes, which scroll sideways."""
    await fork(stage, *THREE, Answer(text="x" * 400), Answer())


@scene(tokens_per_second=60)
async def fork_under_way(stage: Stage) -> None:
    """Lanes while they run: one waits for a delayed answer, one never gets it."""
    turn_id, call_id = await waiting(stage)
    debugger = stage.session.debugger
    answers = (THREE[0], Answer(text="late", delay=60), Answer(never=True))
    spawn(debugger.fork(turn_id, call_id, answers), name="fork")
    await stage.until(lambda: bool(stage.growing("text")), "an answer to grow")
    LanesView.shown_for(stage.session, stage.window).show_fork(None)


@scene(sizes=WIDE)
async def fork_none_yet(stage: Stage) -> None:
    """The window for forks before there is one."""
    stage.act("debug.forks")
