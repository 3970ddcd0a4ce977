"""What is not known here, in a card: a quiet line with its names and its fate, and all of it to open and to copy."""

from __future__ import annotations

import json
import time
from typing import Any

from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from playground.domain.accumulator import Accumulator
from playground.domain.events import ExtraDelta
from playground.domain.parts import Part, Reasoning, Text, ToolCall, ToolResult
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn, new_id
from playground.ui.features.conversation.finding import Query
from playground.ui.features.conversation.members_fold import MembersFold
from playground.ui.features.conversation.rows import Rows
from playground.ui.features.conversation.turn_card import TurnCard
from tests.ui.features.conversation.test_transcript_view import TranscriptDriver, growing_turn, row, settle
from tests.ui.features.conversation.test_transcript_view import driver as driver

SIGNED = {"chat": {"extra_content": {"google": {"thought_signature": "sig"}}}}
CITED = {"messages": {"citations": [{"cited_text": "Grass is green."}]}}


def turn(*parts: Part, **more: Any) -> Turn:
    outcome = Outcome(ending=Ending.COMPLETE, finish_reason="stop")
    return Turn(id=new_id(), role=Role.ASSISTANT, parts=parts, outcome=outcome, **more)


def shown(driver: TranscriptDriver, said: Turn) -> TurnCard:
    driver.show([row(said)])
    card = driver.view.card(said.id)
    assert card is not None
    return card


def words(card: TurnCard) -> list[str]:
    return [fold.head.text() for fold in folds(card)]


def folds(card: TurnCard) -> list[MembersFold]:
    return [fold for fold in card.findChildren(MembersFold) if fold.isVisible()]


def test_each_line_stands_with_what_it_came_with(driver: TranscriptDriver) -> None:
    call = ToolCall(id="c1", name="look", arguments="{}", extra=SIGNED)
    card = shown(driver, turn(Text(text="Green.", extra=CITED), call, extra={"chat": {"channel": "final"}}))
    assert set(words(card)) == {
        "unknown: extra_content · sent back over Chat completions",
        "unknown: citations · sent back over Messages",
        "also received: channel · not sent back",
    }
    assert [type(view).__name__ for view in card.body] == ["TextView", "MembersFold", "CallCard", "MembersFold"]
    assert [fold.head.text() for fold in card.calls[0].folds] == [
        "unknown: extra_content · sent back over Chat completions"
    ]


def test_it_opens_to_its_json_and_the_card_makes_room(driver: TranscriptDriver, qtbot: QtBot) -> None:
    card = shown(driver, turn(ToolCall(id="c1", name="look", arguments="{}", extra=SIGNED)))
    (fold,) = folds(card)
    before = card.height()
    assert not fold.text_view.isVisible()
    fold.head.click()
    driver.settle()
    assert json.loads(fold.text_view.toPlainText()) == SIGNED["chat"]
    qtbot.waitUntil(lambda: card.height() > before)
    assert fold.head.accessibleName().endswith("shown")
    fold.head.click()
    qtbot.waitUntil(lambda: card.height() == before)


def test_what_is_long_is_shown_by_its_beginning_and_copied_whole(driver: TranscriptDriver) -> None:
    members = {"audio": {"id": "au", "data": "A" * 3_000_000}, "ids": list(range(100_000))}
    card = shown(driver, turn(extra={"chat": members}))
    (fold,) = folds(card)
    assert fold.head.text() == "also received: audio, ids · part of audio sent back over Chat completions"
    began = time.thread_time()
    fold.head.click()
    driver.settle()
    assert time.thread_time() - began < 2
    assert len(fold.text_view.toPlainText()) < 5_000
    assert "more characters" in fold.text_view.toPlainText()
    assert card.body == [fold]  # and no word that nothing arrived
    fold.copy.click()
    assert json.loads(QGuiApplication.clipboard().text()) == members
    assert "\n" not in QGuiApplication.clipboard().text()


def test_other_turns_and_edits_leave_no_line_behind(driver: TranscriptDriver) -> None:
    call = ToolCall(id="c1", name="look", arguments="{}", extra=SIGNED)
    said = turn(Text(text="a", extra=CITED), call)
    card = shown(driver, said)
    assert len(words(card)) == 2
    bare = said.model_copy(update={"parts": (Text(text="a"), call.model_copy(update={"extra": {}}))})
    card = shown(driver, bare)
    settle()
    assert words(card) == []
    assert len(words(shown(driver, said))) == 2


def test_names_written_by_others_do_no_harm(driver: TranscriptDriver) -> None:
    members = {"<b>x</b>": 1, "line\nbreak": 2, "turned\u202e": 3, "n" * 500: 4}
    card = shown(driver, turn(Reasoning(text="", extra={"chat": members})))
    (fold,) = folds(card)
    fold.resize(3000, fold.height())
    assert "<b>x</b>" in fold.head.text()
    assert "\n" not in fold.head.text()
    assert "\u202e" not in fold.head.text()
    fold.head.click()
    driver.settle()
    assert "\u202e" not in fold.text_view.toPlainText()


def test_it_is_found_and_opened_where_it_is_folded(driver: TranscriptDriver) -> None:
    call = ToolCall(id="c1", name="look", arguments="{}", extra=SIGNED)
    said = turn(Text(text="Green.", extra=CITED), call)
    card = shown(driver, said)
    card.finds.show(Query("grass").pattern, 0)
    assert card.finds.count == 1
    assert card.finds.unfold()
    opened = [fold for fold in folds(card) if fold.is_open]
    assert [fold.head.text() for fold in opened] == ["unknown: citations · sent back over Messages"]
    driver.settle()
    assert card.finds.rect() is not None
    card.finds.show(Query("thought_signature").pattern, 0)
    assert card.finds.unfold()
    assert len([fold for fold in folds(card) if fold.is_open]) == 2


def test_what_a_result_came_with_stands_in_the_card_of_its_call(driver: TranscriptDriver) -> None:
    said = turn(ToolCall(id="c1", name="look", arguments="{}", extra=SIGNED))
    result = ToolResult(call_id="c1", text="seen", extra={"messages": {"cache_control": {"type": "ephemeral"}}})
    driver.show(Rows().follow(Transcript().append(said, Turn(id="r", role=Role.TOOL, parts=(result,)))))
    card = driver.view.card(said.id)
    assert card is not None
    assert [fold.head.text() for fold in card.calls[0].folds] == [
        "unknown: extra_content · sent back over Chat completions",
        "unknown: cache_control · sent back over Messages",
    ]


def test_while_nothing_but_that_comes_the_card_says_so(driver: TranscriptDriver, qtbot: QtBot) -> None:
    growing, _ = growing_turn(driver)
    answer = Accumulator()
    answer.add_events([ExtraDelta(0, "message", "chat", {"audio": {"data": "AAAA"}})])
    driver.growing[growing.id] = answer.choices[0]
    driver.show([growing])
    driver.view.draw_growing_turn(growing.id)
    settle()
    card = driver.view.card(growing.id)
    assert card is not None
    assert "Receiving what is not text…" in [getattr(view, "text", str)() for view in card.body]
