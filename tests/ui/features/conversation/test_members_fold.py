"""Unknown members of a message: fold, copy and plain text."""

from __future__ import annotations

import json
from typing import Any

from PySide6.QtGui import QGuiApplication

from playground.domain.parts import Part, Reasoning, Text, ToolCall
from playground.domain.transcript import Ending, Outcome, Role, Turn, new_id
from playground.ui.features.conversation.folded_parts import MembersFold
from playground.ui.features.conversation.turn_card import TurnCard
from tests.ui.features.conversation.conftest import TranscriptDriver, make_row

SIGNED = {"chat": {"extra_content": {"google": {"thought_signature": "sig"}}}}
CITED = {"messages": {"citations": [{"cited_text": "Grass is green."}]}}


def turn(*parts: Part, **more: Any) -> Turn:
    outcome = Outcome(ending=Ending.COMPLETE, finish_reason="stop")
    return Turn(id=new_id(), role=Role.ASSISTANT, parts=parts, outcome=outcome, **more)


def show_turn(driver: TranscriptDriver, turn: Turn) -> TurnCard:
    driver.show([make_row(turn)])
    card = driver.view.card(turn.id)
    assert card is not None
    return card


def fold_texts(card: TurnCard) -> list[str]:
    return [fold.head.text() for fold in folds(card)]


def folds(card: TurnCard) -> list[MembersFold]:
    return [fold for fold in card.findChildren(MembersFold) if fold.isVisible()]


def test_unknown_members_are_listed_with_their_fate(driver: TranscriptDriver) -> None:
    call = ToolCall(id="c1", name="look", arguments="{}", extra=SIGNED)
    card = show_turn(driver, turn(Text(text="Green.", extra=CITED), call, extra={"chat": {"channel": "final"}}))
    assert set(fold_texts(card)) == {
        "unknown: extra_content · sent back over Chat completions",
        "unknown: citations · sent back over Messages",
        "also received: channel · not sent back",
    }


def test_long_members_are_shown_by_their_beginning_and_copied_whole(driver: TranscriptDriver) -> None:
    members = {"audio": {"id": "au", "data": "A" * 3_000_000}, "ids": list(range(100_000))}
    card = show_turn(driver, turn(extra={"chat": members}))
    (fold,) = folds(card)
    assert fold.head.text() == "also received: audio, ids · part of audio sent back over Chat completions"
    fold.head.click()
    driver.settle()
    assert len(fold.text_view.toPlainText()) < 5_000
    assert "more characters" in fold.text_view.toPlainText()
    fold.copy.click()
    assert json.loads(QGuiApplication.clipboard().text()) == members
    assert "\n" not in QGuiApplication.clipboard().text()


def test_names_of_members_are_plain_text(driver: TranscriptDriver) -> None:
    members = {"<b>x</b>": 1, "line\nbreak": 2, "turned\u202e": 3, "n" * 500: 4}
    card = show_turn(driver, turn(Reasoning(text="", extra={"chat": members})))
    (fold,) = folds(card)
    fold.resize(3000, fold.height())
    assert "<b>x</b>" in fold.head.text()
    assert "\n" not in fold.head.text()
    assert "\u202e" not in fold.head.text()
    fold.head.click()
    driver.settle()
    assert "\u202e" not in fold.text_view.toPlainText()
