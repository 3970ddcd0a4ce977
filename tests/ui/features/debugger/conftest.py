"""Sessions with waiting calls and without a gateway."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from playground.domain.parts import ToolCall
from playground.domain.transcript import Ending, Outcome, Role, make_turn
from playground.engine.session.session import Experiment, Session
from playground.gateway.client import GatewayClient
from tests.engine.debugging import WEATHER


async def nowhere(_profile_id: str) -> GatewayClient:
    raise OSError("there is no gateway here")


def call(city: str, call_id: str) -> ToolCall:
    return ToolCall(id=call_id, name="get_weather", arguments=f'{{"city": "{city}", "unit": "celsius"}}')


@pytest.fixture
def session() -> Session:
    """A session with two calls that wait."""
    session = Experiment(nowhere, profile_id="p", model="m").main
    session.change(tools=(WEATHER,))
    session.turns.add_turn(make_turn(Role.USER, "Is it warmer in Lisbon or Oslo?"))
    turn = make_turn(Role.ASSISTANT, "", call("Lisbon", "one"), call("Oslo", "two"))
    session.turns.add_turn(
        turn.model_copy(update={"outcome": Outcome(ending=Ending.COMPLETE, finish_reason="tool_calls")})
    )
    return session


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[QWidget]:
    """Stand-in for the main window."""
    window = QWidget()
    window.resize(1024, 700)
    qtbot.addWidget(window)
    window.show()
    qtbot.waitExposed(window)
    yield window
    window.hide()
