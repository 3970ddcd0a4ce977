"""Read-only messages."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractButton, QMenu, QWidget
from pytestqt.qtbot import QtBot

from playground.domain.parts import Image, Text, ToolCall
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn
from playground.engine.session.session import Experiment
from playground.ui.features.conversation.transcript_pane import TranscriptPane
from playground.ui.features.conversation.turn_card import TurnCard
from tests.support.editors import no_gateway
from tests.ui.features.conversation.conftest import no_price

PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="
TURNS = (
    Turn(id="asked", role=Role.USER, parts=(Text(text="What is this, and how warm is it?"), Image(url=PIXEL))),
    Turn(
        id="answer",
        role=Role.ASSISTANT,
        parts=(ToolCall(id="call_1", name="get_weather", arguments='{"city":"Oslo"}'),),
        outcome=Outcome(model="demo-chat", ending=Ending.COMPLETE),
    ),
)
CHANGES = (
    "edit",
    "delete",
    "remove",
    "regenerate",
    "move",
    "role",
    "keep",
    "send",
    "step",
    "continue",
    "fill",
    "rules",
)


def _pane(qtbot: QtBot, *turns: Turn, fixed: bool) -> TranscriptPane:
    session = Experiment(no_gateway, profile_id="demo", literal=True).main
    session.history.reset(Transcript().append(*turns), session.settings)
    pane = TranscriptPane(session, no_price, QWidget(), fixed=fixed)
    qtbot.addWidget(pane)
    pane.resize(700, 700)
    pane.begin()
    pane.show()
    qtbot.waitUntil(lambda: len(pane.view.cards) == len(turns) and pane.view.complete)
    return pane


def _list_actions(pane: TranscriptPane) -> set[str]:
    """Return the names of all visible buttons and of all entries of the cards' menus."""
    result = set()
    for button in pane.findChildren(QAbstractButton):
        if button.isVisible():
            result.add(f"{button.accessibleName() or button.text()} {button.toolTip()}".lower())
    for card in pane.view.cards.values():
        assert isinstance(card, TurnCard)
        for menu in card.findChildren(QMenu):
            menu.aboutToShow.emit()
            result |= {action.text().lower() for action in menu.actions() if action.text()}
    return result


def _changing(offered: set[str]) -> list[str]:
    return [words for words in offered if any(change in words for change in CHANGES)]


def test_fixed_turn_offers_no_changes(qtbot: QtBot) -> None:
    free, fixed = (_list_actions(_pane(qtbot, *TURNS, fixed=fixed)) for fixed in (False, True))
    assert _changing(free)  # of the same turns, were they not fixed
    assert not _changing(fixed)
    assert {"copy text", "show its events", "raw arguments"} <= fixed
