"""The parameters of the protocols in the panel."""

from __future__ import annotations

from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from playground.domain.parameters import Parameters
from playground.protocols.chat.parameters import ChatParameters
from playground.protocols.messages.parameters import MessagesParameters
from playground.ui.features.parameters.panel import ParameterPanel
from playground.ui.widgets.rows.kinds import ChoiceRow, SwitchRow

VALUES: dict[str, Any] = {
    "number": 0.5,
    "integer": 12,
    "switch": False,
    "text": "someone",
    "choice": "low",
    "list": ("END",),
    "json": {"type": "json_object"},
    "thinking": {"type": "adaptive"},
    "tool_choice": "auto",
}


@pytest.mark.parametrize("kind", [ChatParameters, MessagesParameters])
def test_every_parameter_is_shown_set_and_reset(qtbot: QtBot, kind: type[Parameters]) -> None:
    panel = ParameterPanel()
    qtbot.addWidget(panel)
    panel.set_value(kind())
    assert list(panel.rows) == [name for name, _ in kind.hints()]
    emitted: list[Parameters] = []
    panel.changed.connect(emitted.append)
    for name, hint in kind.hints():
        value = VALUES[hint.editor]
        panel.set_value(kind().with_value(name, value))
        row = panel.rows[name]
        assert row.value == value
        assert not emitted, "showing tells nobody"
        row.clear()
        assert emitted[-1].to_wire() == {}, name
        emitted.clear()


def test_named_tool_is_sent_as_the_protocol_needs(qtbot: QtBot) -> None:
    panel = ParameterPanel()
    qtbot.addWidget(panel)
    panel.set_tool_names(["get_weather"])
    for kind in (ChatParameters, MessagesParameters):
        panel.set_value(kind())
        row = panel.rows["tool_choice"]
        assert isinstance(row, ChoiceRow)
        row.field.picked.emit("get_weather")
        assert panel.value.to_wire() == {"tool_choice": kind.tool_choice_for("get_weather")}


def read_flag(panel: ParameterPanel, name: str) -> str:
    """What stands below a row, where anything does."""
    label = panel.rows[name].flag_label
    return label.text() if label.isVisibleTo(panel) else ""


def test_values_set_by_the_program_are_marked(qtbot: QtBot) -> None:
    panel = ParameterPanel()
    qtbot.addWidget(panel)
    panel.set_value(ChatParameters.begin({}))
    row = panel.rows["stream"]
    assert isinstance(row, SwitchRow)
    assert read_flag(panel, "stream") == read_flag(panel, "include_usage") == "the program's own; Delete leaves it out"
    row.pill.click()
    assert panel.value.to_wire() == {"stream": False}
    assert read_flag(panel, "stream") == ""
    assert read_flag(panel, "include_usage") == "not sent while Stream is not on"
    row.pill.click()
    assert panel.value.to_wire() == ChatParameters.begin({}).to_wire()
    assert read_flag(panel, "stream") == "", "now it is set"
    assert read_flag(panel, "include_usage") == "the program's own; Delete leaves it out"
    panel.set_value(MessagesParameters())
    assert read_flag(panel, "max_tokens") == "4096 is sent: the protocol requires a value"
