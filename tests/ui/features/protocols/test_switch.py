"""The question before a protocol is switched."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from playground.domain.transcript import Role, make_turn
from playground.engine.session.session import Experiment, Session
from playground.ui.features.protocols.control import ProtocolSwitch
from tests.support.editors import no_gateway


@pytest.fixture
def session() -> Session:
    return Experiment(no_gateway, profile_id="p", model="m").main


@pytest.fixture
def bar(qtbot: QtBot) -> ProtocolSwitch:
    protocol_switch = ProtocolSwitch()
    qtbot.addWidget(protocol_switch)
    protocol_switch.resize(700, 300)
    return protocol_switch


def set_seed(session: Session, seed: int | None = 7) -> None:
    session.set_parameters(session.settings.current.with_value("seed", seed))


def test_switching_back_restores_parameters(bar: ProtocolSwitch, session: Session, qtbot: QtBot) -> None:
    set_seed(session)
    before = session.settings.current
    bar.choose(session, "messages")
    with qtbot.waitSignal(bar.switched):
        bar.switch.click()
    assert session.settings.protocol == "messages"
    bar.choose(session, "chat")
    assert session.settings.protocol == "chat"
    assert session.settings.current == before


def test_losses_follow_the_experiment(bar: ProtocolSwitch, session: Session) -> None:
    set_seed(session)
    bar.choose(session, "messages")
    session.turns.add_turn(make_turn(Role.USER, "One"))
    session.turns.add_turn(make_turn(Role.USER, "Two"))
    session.turns.add_turn(make_turn(Role.USER, "Three"))
    assert "Message 2 (user), Message 3 (user): joins the message before it in one user message" in bar.lines
    set_seed(session, None)
    assert not any("seed" in line for line in bar.lines)
    bar.hide()
