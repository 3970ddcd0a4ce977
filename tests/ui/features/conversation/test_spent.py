"""What an experiment cost, in words."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from playground.domain.prices import Asked, Price
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn, new_id
from playground.domain.usage import Usage
from playground.ui.features.conversation.spent import Spent
from playground.ui.features.conversation.stage import Stage

PRICES = {"free": Price(input=0, output=0, told=True), "dear": Price(output=1_000_000)}


@pytest.mark.parametrize(
    ("models", "words"),
    [
        (("free", "free"), ""),
        (("free", "unknown"), ""),  # nothing is the least that anything costs
        (("dear", "free"), "$2.00"),
        (("dear", "free", "unknown"), "at least $2.00"),
        (("unknown",), ""),
    ],
)
def test_the_least_is_said_where_there_is_any(qtbot: QtBot, models: tuple[str, ...], words: str) -> None:
    usage = Usage(prompt=1, completion=2)
    outcomes = [Outcome(ending=Ending.COMPLETE, usage=usage, asked=Asked(model=model)) for model in models]
    turns = [Turn(id=new_id(), role=Role.ASSISTANT, outcome=outcome) for outcome in outcomes]
    session = SimpleNamespace(settings=SimpleNamespace(profile_id="p"), transcript=Transcript().append(*turns))
    owner = QObject()
    spent = Spent(cast("Stage", SimpleNamespace(session=session)), lambda _profile, model: PRICES.get(model), owner)
    spent.count()
    qtbot.waitUntil(lambda: not spent._adding.busy)
    assert spent.words == words
