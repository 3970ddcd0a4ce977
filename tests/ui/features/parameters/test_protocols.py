"""The parameters of the protocols in the panel."""

from __future__ import annotations

from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from playground.domain.parameters import Parameters
from playground.protocols.chat.parameters import ChatParameters
from playground.protocols.messages.parameters import MessagesParameters
from playground.ui.features.parameters.panel import ParameterPanel

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
    assert set(panel.rows) == {name for name, _ in kind.hints()}
    emitted: list[Parameters] = []
    panel.changed.connect(emitted.append)
    for name, hint in kind.hints():
        value = VALUES[hint.editor]
        panel.set_value(kind().with_value(name, value))
        row = panel.rows[name]
        assert row.value == value
        assert not emitted, "showing values emits no change"
        row.clear()
        assert emitted[-1].to_wire() == {}, name
        emitted.clear()
