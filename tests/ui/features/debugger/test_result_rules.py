"""The results of tool calls beside the tools: the default, and that of one tool."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from playground.domain.debugging import Answer, AnswerRow, Debugging, Policy, ToolRule
from playground.domain.tools import ToolDefinition
from playground.ui.features.debugger.result_rules import ToolResultRow
from playground.ui.features.tools.panel import ToolsPanel
from tests.ui.conftest import ShowWidget

ROW = AnswerRow(answer=Answer(text="21"))
RULES = Debugging(rules={"get_weather": ToolRule(policy=Policy.TABLE, rows=(ROW,), pause_from=8)})
WEATHER = ToolDefinition(name="get_weather")
CLOCK = ToolDefinition(name="clock", server="demo", remote="clock")


@pytest.fixture
def row(show_widget: ShowWidget) -> ToolResultRow:
    row = ToolResultRow()
    row.show_debugging(RULES)
    row.show_tool("get_weather", has_server=False)
    return show_widget(row, 340, 80)


def choose(row: ToolResultRow, words: str) -> tuple[list[Debugging], list[str]]:
    """Choose an entry, and return the rules that were reported and the tools to edit."""
    changes: list[Debugging] = []
    requests: list[str] = []
    row.changed.connect(changes.append)
    row.rules_asked.connect(requests.append)
    index = row.policy.findText(words)
    row.policy.setCurrentIndex(index)
    row.policy.activated.emit(index)
    return changes, requests


def test_rule_of_a_tool_shows_its_policy_rows_and_breakpoints(row: ToolResultRow) -> None:
    assert row.policy.currentText() == "Mock table"
    assert row.words.text() == "Mock table, 1 row · asks from call 8"
    row.show_tool("other", has_server=False)
    assert row.policy.currentText() == "Default: Ask me"
    assert row.words.isHidden()


def test_rule_with_a_reply_changes_in_place(row: ToolResultRow) -> None:
    changes, request = choose(row, "Ask me")
    assert [rules.rules["get_weather"].policy for rules in changes] == [Policy.PAUSE]
    assert changes[0].rules["get_weather"].rows == (ROW,)
    assert request == []


def test_fixed_reply_without_text_opens_the_dialog(row: ToolResultRow) -> None:
    changes, request = choose(row, "Fixed reply")
    assert changes[-1].rules["get_weather"].policy is Policy.FIXED
    assert request == ["get_weather"]


def test_default_removes_the_rule_of_the_tool(row: ToolResultRow) -> None:
    changes, _ = choose(row, "Default: Ask me")
    assert changes == [Debugging()]


@pytest.mark.parametrize("has_server", [False, True])
def test_only_a_tool_of_a_server_calls_one(row: ToolResultRow, has_server: bool) -> None:
    row.show_tool("get_weather", has_server=has_server)
    index = row.policy.model().index(row.policy.findText("Call server"), 0)
    assert bool(index.flags() & Qt.ItemFlag.ItemIsEnabled) is has_server


def test_list_of_tools_shows_the_rule_of_each(show_widget: ShowWidget) -> None:
    panel = ToolsPanel()
    panel.set_tools((WEATHER, CLOCK))
    panel.result_rules.show_debugging(RULES)
    show_widget(panel, 340, 700)
    texts = [str(panel.model.index(row).data(Qt.ItemDataRole.AccessibleTextRole)) for row in range(2)]
    assert "when called: Mock table" in texts[0]
    assert "when called: Ask me" in texts[1]
    assert "asks from call 8" in str(panel.model.index(0).data(Qt.ItemDataRole.ToolTipRole))


def test_large_editor_changes_the_rule_of_its_tool(show_widget: ShowWidget) -> None:
    panel = ToolsPanel()
    panel.set_tools((WEATHER,))
    panel.result_rules.show_debugging(RULES)
    show_widget(panel, 340, 700)
    changes: list[Debugging] = []
    panel.result_rules.changed.connect(changes.append)
    large = panel.open_large()
    assert large.editor.result_rule.policy.currentText() == "Mock table"
    large.editor.result_rule.policy.activated.emit(1)
    assert changes[0].rules["get_weather"].policy is Policy.PAUSE
    large.close()
