"""The rules of the debugger."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractItemView

from playground.domain.debugging import FAULTS, Answer, AnswerRow, Debugging, MatchKind, Policy, ToolRule
from tests.scenes.registry import scene
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


@scene()
async def rules_table(stage: Stage) -> None:
    """The answer table of one tool: which row answers the latest call, one that cannot be read, one never reached."""
    await stage.sample()
    stage.session.change(debugging=RULES)
    stage.act("debug.rules")
    dialog = await stage.dialog("Tool results")
    stage.select("Tools", "get_weather", dialog)
    await stage.settle()
    table = stage.find(QAbstractItemView, "Mock table", dialog)
    table.setCurrentIndex(table.model().index(1, 0))
