"""The bar above the composer while calls wait."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from playground.domain.transcript import Ending, Outcome, Role, make_turn
from playground.engine.session.session import Experiment
from playground.ui.features.conversation.calls.call_bar import CallBar
from tests.ui.features.debugger.conftest import nowhere


def test_answer_paused_by_the_gateway_offers_continue(window: QWidget) -> None:
    session = Experiment(nowhere, profile_id="p", protocol="messages", model="m").main
    session.turns.add_turn(make_turn(Role.USER, "Tea?"))
    outcome = Outcome(ending=Ending.COMPLETE, finish_reason="pause_turn")
    session.turns.add_turn(make_turn(Role.ASSISTANT, "Let me look.").model_copy(update={"outcome": outcome}))
    bar = CallBar(session, window)
    assert not bar.isHidden()
    assert "The gateway paused this answer (pause_turn). Continue sends it back" in bar.text
    buttons = (bar.continue_button, bar.stop_button, bar.more_button)
    assert [not button.isHidden() for button in buttons] == [True, False, False]
