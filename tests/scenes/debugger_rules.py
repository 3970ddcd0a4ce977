"""Scenes of the debugger's rules: the answer table, the rules of several tools, several answers to a call."""

from __future__ import annotations

from playground.domain.debugging import FAULTS, Answer, AnswerRow, Debugging, MatchKind, Policy, ToolRule
from playground.ui.features.debugger.answers_dialog import AnswersDialog
from playground.ui.features.debugger.rules_dialog import RulesDialog
from tests.scenes.registry import BOTH, scene
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


@scene()
async def rules_table(stage: Stage) -> None:
    """The answer table of one tool: which row answers the latest call, one that cannot be read, one never reached."""
    await stage.sample()
    stage.session.change(debugging=RULES)
    dialog = RulesDialog.shown_for(stage.session, stage.window)
    dialog.open_on("get_weather")
    dialog.editor.table.select(1)


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
