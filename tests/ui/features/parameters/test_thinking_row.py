"""The row of the thinking parameter."""

from __future__ import annotations

from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from playground.protocols.messages.parameters import MessagesParameters
from playground.ui.features.parameters.panel import ParameterPanel
from playground.ui.widgets.rows.thinking_row import ThinkingRow


def panel_with_row(qtbot: QtBot, thinking: object = None) -> tuple[ParameterPanel, ThinkingRow]:
    panel = ParameterPanel()
    qtbot.addWidget(panel)
    panel.set_value(MessagesParameters.from_wire({"thinking": thinking} if thinking else {}))
    row = panel.rows["thinking"]
    assert isinstance(row, ThinkingRow)
    return panel, row


def test_kinds_of_thinking_are_sent(qtbot: QtBot) -> None:
    panel, row = panel_with_row(qtbot)
    for words, wire in (
        ("off", {"type": "disabled"}),
        ("adaptive", {"type": "adaptive"}),
        ("enabled", {"type": "enabled", "budget_tokens": 1024}),
    ):
        row.field.picked.emit(words)
        assert panel.value.to_wire() == {"thinking": wire}
        assert row.budget.isVisibleTo(row) == (words == "enabled")


def test_invalid_budget_is_not_sent(qtbot: QtBot) -> None:
    panel, row = panel_with_row(qtbot, {"type": "enabled", "budget_tokens": 2048})
    assert row.budget.text() == "2048"
    row.budget.selectAll()
    QTest.keyClicks(row.budget, "4000")
    assert panel.value.to_wire() == {"thinking": {"type": "enabled", "budget_tokens": 4000}}
    QTest.keyClicks(row.budget, "x")
    assert panel.value.to_wire() == {}
    assert row.budget.text() == "4000x"
    assert row.problem


def test_unknown_thinking_object_is_kept(qtbot: QtBot) -> None:
    odd = {"type": "enabled", "budget_tokens": 2048, "display": "summarized"}
    panel, row = panel_with_row(qtbot, odd)
    assert "display" in row.field.currentText()
    assert panel.value.to_wire() == {"thinking": odd}
