"""The parameters of the protocols in the panel."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from playground.domain.parameters import Parameters
from playground.protocols.chat.parameters import ChatParameters
from playground.protocols.messages.parameters import MessagesParameters
from playground.protocols.responses.parameters import ResponsesParameters
from playground.ui.features.parameters.panel import MORE, ParameterPanel
from tests.ui.conftest import ShowWidget

KINDS: list[type[Parameters]] = [ChatParameters, MessagesParameters, ResponsesParameters]

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


@pytest.mark.parametrize("kind", KINDS)
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


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_that_only_other_protocols_have_are_listed_with_the_reason(
    show_widget: ShowWidget, kind: type[Parameters]
) -> None:
    panel = show_widget(ParameterPanel(kind=kind), 330, 700)
    panel.set_open(MORE, True)
    shown = {label.text() for label in panel.findChildren(QLabel) if label.isVisible()}
    elsewhere = {hint.label for protocol in KINDS if protocol is not kind for _, hint in protocol.hints()}
    assert set(kind.unavailable) <= elsewhere - {hint.label for _, hint in kind.hints()}
    assert [f"{label}: {reason}" in shown for label, reason in kind.unavailable.items()] == [True] * len(
        kind.unavailable
    )
    assert {"Number of answers", "Seed", "Stop sequences", "Presence penalty", "Frequency penalty"} <= {
        *(hint.label for _, hint in kind.hints()),
        *kind.unavailable,
    }
