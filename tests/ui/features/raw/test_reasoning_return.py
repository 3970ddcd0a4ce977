"""The fields that decide if reasoning is sent back."""

from __future__ import annotations

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from playground.domain.request import ReasoningReturn, SendReasoning
from playground.ui.features.parameters.panel import ParameterPanel
from playground.ui.features.raw.reasoning_return import ReasoningReturnFields

TEAM = ReasoningReturn(when=SendReasoning.AFTER_TOOL_CALLS, field="reasoning")


@pytest.fixture
def panel(qtbot: QtBot) -> ParameterPanel:
    panel = ParameterPanel(without=("Output",))
    qtbot.addWidget(panel)
    return panel


@pytest.fixture
def fields(panel: ParameterPanel) -> ReasoningReturnFields:
    fields = ReasoningReturnFields(panel)
    panel.add_extra("Reasoning", "Send reasoning back", fields.when)
    panel.add_extra("Reasoning", "Under the name", fields.field)
    return fields


def choose_entry(combo: QComboBox, words: str) -> None:
    index = combo.findText(words)
    assert index >= 0
    combo.setCurrentIndex(index)
    combo.activated.emit(index)


def test_rule_of_the_gateway_is_shown_until_changed(fields: ReasoningReturnFields) -> None:
    emitted: list[object] = []
    fields.changed.connect(emitted.append)
    fields.show_value(None, TEAM, applies=True)
    assert fields.when.currentText() == "gateway: after tool calls"
    assert fields.field.currentText() == "reasoning"
    choose_entry(fields.when, "always")
    assert emitted[-1] == ReasoningReturn(when=SendReasoning.ALWAYS, field="reasoning")
    line = fields.field.lineEdit()
    assert line is not None
    line.selectAll()
    QTest.keyClicks(line, "thinking")
    assert emitted[-1] == ReasoningReturn(when=SendReasoning.ALWAYS, field="thinking")
    choose_entry(fields.when, "gateway: after tool calls")
    assert emitted[-1:] == [None]
    assert fields.rule == TEAM
    assert fields.field.currentText() == "reasoning"
