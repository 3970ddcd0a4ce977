"""The end of a turn: the gateway's explanation of an answer that ended early."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from playground.domain.parts import Text
from playground.domain.transcript import Ending, Outcome, Role, Turn
from playground.ui.features.conversation.turn_end import TurnEnd
from tests.ui.features.conversation.conftest import make_pane

EXPLANATION = {"messages": {"stop_details": {"type": "refusal", "category": "cyber", "explanation": "May help\u202e."}}}


def labels_of(qtbot: QtBot, turn: Turn) -> list[str]:
    """The texts of the labels in the end of ``turn``."""
    holder = QWidget()
    qtbot.addWidget(holder)
    pane = make_pane()
    qtbot.addWidget(pane)
    end = TurnEnd(pane.commands, lambda: turn.id)
    holder.setLayout(end)
    end.show_turn(turn)
    return [label.text() for label in holder.findChildren(QLabel)]


@pytest.mark.parametrize(("reason", "labels"), [("refusal", ["May help‹U+202E›. Category: cyber."]), ("end_turn", [])])
def test_turn_end_with_stop_details_shows_explanation_of_refusals(qtbot: QtBot, reason: str, labels: list[str]) -> None:
    outcome = Outcome(ending=Ending.COMPLETE, finish_reason=reason)
    turn = Turn(id="t", role=Role.ASSISTANT, parts=(Text(text="I"),), outcome=outcome, extra=EXPLANATION)
    assert labels_of(qtbot, turn) == labels
