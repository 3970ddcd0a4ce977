"""The turns: cards only for what is seen, the place kept, nothing typed lost."""

from __future__ import annotations

import gc
import re
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QTextDocument, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from playground.domain.accumulator import GrowingChoice, GrowingPart
from playground.domain.parts import Image, Reasoning, Text, ToolCall, ToolResult
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn, make_turn
from playground.engine.advice.parts import Action
from playground.engine.session.hand_made import Answerable
from playground.engine.session.session import Session
from playground.ui.features.conversation import transcript_view
from playground.ui.features.conversation.calls.call_answers import CallAnswers
from playground.ui.features.conversation.calls.call_card import CallCard
from playground.ui.features.conversation.calls.result_field import ResultField
from playground.ui.features.conversation.card_stock import POOL
from playground.ui.features.conversation.commands import CallCommands, Growth
from playground.ui.features.conversation.heights import LOT, Heights
from playground.ui.features.conversation.inline_editor import InlineEditor
from playground.ui.features.conversation.measures import READING_WIDTH
from playground.ui.features.conversation.reasoning_view import ReasoningView
from playground.ui.features.conversation.rows import Row, Rows
from playground.ui.features.conversation.text_view import TextView
from playground.ui.features.conversation.transcript_view import ZOOMS, TranscriptView
from playground.ui.features.conversation.turn_card import TurnCard
from playground.ui.features.conversation.turn_header import TurnHeader
from playground.ui.widgets.theme import tokens
from tests.support.editors import Edits, no_gateway


def _nothing() -> None:
    return


class Asked:
    """The commands of the pane for cards, without effect."""

    def __init__(self) -> None:
        self.session = Session(no_gateway, profile_id="demo")
        self.wire = self
        self.hand = self
        self.pictures = self
        self.tools: tuple[ToolDefinition, ...] = ()
        self.edits = Edits(self.session)
        self.calls: CallCommands = CallAnswers(self.session, _nothing, _nothing)

    def values(self) -> Mapping[str, str]:
        return self.session.settings.variables

    def show_turn(self, turn_id: str) -> None: ...

    def show_call(self, turn_id: str, call_id: str) -> None: ...

    def show_messages(self, turn_id: str, call_id: str) -> None: ...

    def compare(self, turn_id: str) -> None: ...

    def lint(self, turn_id: str) -> None: ...

    def hole(self, turn_id: str) -> None: ...

    def above(self, turn_id: str) -> list[Answerable]:
        return []

    def take(self, turn_id: str, mime: QMimeData, *, now: bool = True) -> bool:
        return False

    def choose(self, turn_id: str) -> None: ...

    def delete_call(self, turn_id: str, call_id: str) -> None: ...

    def give_call(self, turn_id: str, at: int, call_id: str) -> None: ...

    def open_image(self, image: Image) -> None: ...

    def shrink_image(self, turn_id: str, at: int) -> None: ...

    def delete_turn(self, turn_id: str) -> None: ...

    def move_turn(self, turn_id: str, step: int) -> None: ...

    def whose(self, turn_id: str) -> str:
        return ""

    def select_alternative(self, turn_id: str) -> None: ...

    def choose_alternative(self, turn_id: str) -> None: ...

    def make_case(self, turn_id: str) -> None: ...

    def open_in_compare(self, turn_id: str) -> None: ...

    def regenerate(self, turn_id: str) -> None: ...

    def take_advice(self, turn_id: str, action: Action) -> None: ...

    def open_link(self, address: str) -> None: ...

    def output_limit(self, turn_id: str) -> int | None:
        return None

    def cost_words(self, turn_id: str) -> str:
        return ""

    def show_exchange(self, turn_id: str) -> None: ...


class TranscriptDriver:
    """A view on rows of its own, 900 × 600, and what is growing in it."""

    def __init__(self) -> None:
        self.asked = Asked()
        self.growing: dict[str, GrowingChoice] = {}
        self.view = TranscriptView(self.asked, self._state)

    def _state(self, turn_id: str) -> Growth | None:
        choice = self.growing.get(turn_id)
        return None if choice is None else Growth(choice, 1.5)

    def show(self, rows: list[Row], tools: tuple[ToolDefinition, ...] = ()) -> None:
        self.view.set_rows(rows, tools)
        self.settle()

    def settle(self) -> None:
        """Until every card there is room for has been made: a frame makes only a few."""
        settle()
        for _ in range(200):
            if self.view.complete:
                break
            QTest.qWait(5)
        assert self.view.complete

    def scroll(self, share: float) -> None:
        bar = self.view.verticalScrollBar()
        bar.setValue(round(bar.maximum() * share))
        self.settle()

    def top(self, turn_id: str) -> int:
        """Where a turn's card begins, in pixels below the view's upper edge."""
        return self.view.cards[turn_id].y()

    @property
    def pill(self) -> QPushButton:
        return next(b for b in self.view.findChildren(QPushButton) if b.parent() is self.view)


def living(refs: Sequence[weakref.ref[Any]]) -> int:
    """How many different objects are still there."""
    return len({id(thing) for ref in refs for thing in [ref()] if thing is not None})


def settle() -> None:
    for _ in range(3):
        QApplication.processEvents()


@pytest.fixture
def driver(qtbot: QtBot) -> Iterator[TranscriptDriver]:
    driver = TranscriptDriver()
    qtbot.addWidget(driver.view)
    driver.view.resize(900, 600)
    driver.view.show()
    qtbot.waitExposed(driver.view)
    yield driver
    settle()


def row(turn: Turn, *, growing: bool = False) -> Row:
    return Row(turn, (turn.id,), {}, growing)


def talk(count: int, words: int = 12) -> list[Row]:
    roles = (Role.USER, Role.ASSISTANT)
    return [row(make_turn(roles[n % 2], f"Turn {n}. " + "some words " * (words + n % 7))) for n in range(count)]


def growing_turn(driver: TranscriptDriver, text: str = "", *, kind: str = "text") -> tuple[Row, GrowingPart]:
    turn = make_turn(Role.ASSISTANT)
    part = GrowingPart(kind, [text] if text else [])
    driver.growing[turn.id] = GrowingChoice(0, [part])
    return row(turn, growing=True), part


# Only what is seen exists


def test_ten_thousand_turns_are_a_few_cards(driver: TranscriptDriver) -> None:
    rows = talk(10_000)
    driver.show(rows)
    assert rows[-1].id in driver.view.cards
    for share in (0.0, 0.5, 1.0, 0.25, 0.75):
        driver.scroll(share)
        assert 3 < len(driver.view.cards) < 40
        ids = [r.id for r in rows]
        places = sorted(ids.index(turn_id) for turn_id in driver.view.cards)
        assert places == list(range(places[0], places[-1] + 1))
        assert abs(places[0] / 10_000 - share) < 0.03
    assert len(driver.view.findChildren(TurnCard)) < 60


def test_cards_cover_the_view_without_gaps(driver: TranscriptDriver) -> None:
    rows = talk(300, words=40)
    driver.show(rows)
    for share in (0.0, 0.33, 0.66, 1.0):
        driver.scroll(share)
        boxes = sorted((card.y(), card.y() + card.height()) for card in driver.view.cards.values())
        assert boxes[0][0] <= 10
        assert boxes[-1][1] >= driver.view.viewport().height() - 30
        gaps = [after[0] - before[1] for before, after in pairwise(boxes)]
        assert set(gaps) == {10}


def test_the_reading_column_is_bounded_and_in_the_middle(driver: TranscriptDriver) -> None:
    driver.show(talk(3))
    for width, wanted in ((700, 700 - 52), (1600, READING_WIDTH)):
        driver.view.resize(width, 600)
        settle()
        card = next(iter(driver.view.cards.values()))
        assert card.width() == wanted
        assert abs((width - wanted) // 2 - card.x()) <= 1


def test_turns_shown_and_gone_leave_nothing_behind(driver: TranscriptDriver) -> None:
    documents: list[weakref.ref[QTextDocument]] = []
    cards: list[weakref.ref[TurnCard]] = []
    for _ in range(200):
        driver.view.set_rows(talk(2), ())
        for card in driver.view.cards.values():
            cards.append(weakref.ref(card))
            documents += [weakref.ref(view.document()) for view in card.findChildren(TextView)]
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    driver.show(talk(2))
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.collect()
    assert len(cards) == 400
    assert living(cards) <= 2 + 2 * POOL
    assert living(documents) <= 2 * (2 + 2 * POOL)
    assert len(driver.view.findChildren(TurnCard)) <= 2 + 2 * POOL


# Following


def test_it_follows_only_while_it_stands_at_the_bottom(driver: TranscriptDriver, qtbot: QtBot) -> None:
    last, part = growing_turn(driver, "The answer begins. ")
    driver.show([*talk(20), last])
    bar = driver.view.verticalScrollBar()
    assert driver.view.at_bottom
    assert not driver.pill.isVisible()
    for _ in range(30):
        part.append("More and more words arrive. \n\n")
        driver.view.draw_growing_turn(last.id)
    assert driver.view.at_bottom
    with qtbot.waitSignal(driver.view.at_bottom_changed):
        bar.setValue(bar.value() - 120)
    place = bar.value()
    for _ in range(30):
        part.append("More and more words arrive. \n\n")
        driver.view.draw_growing_turn(last.id)
    assert bar.value() == place
    assert bar.value() < bar.maximum() - 100
    assert driver.pill.isVisible()
    QTest.mouseClick(driver.pill, Qt.MouseButton.LeftButton)
    assert driver.view.at_bottom
    assert not driver.pill.isVisible()
    part.append("The end. \n\n" * 10)
    driver.view.draw_growing_turn(last.id)
    assert driver.view.at_bottom


@pytest.mark.parametrize("height", [150, 240, 600])
def test_the_way_to_the_latest_covers_no_header(driver: TranscriptDriver, height: int) -> None:
    call = ToolCall(id="c1", name="get_weather", arguments='{"city": "Oslo"}')
    turns = [make_turn(Role.USER, "A word."), make_turn(Role.ASSISTANT).model_copy(update={"parts": (call,)})]
    driver.view.resize(600, height)
    driver.show([*talk(9, words=30), *[row(turn) for turn in turns], *talk(5, words=3)])
    bar, seen = driver.view.verticalScrollBar(), 0
    for value in range(0, bar.maximum() - 10, 7):
        bar.setValue(value)
        driver.view.settle()
        assert driver.pill.isVisible() != driver.view.at_bottom
        if driver.view.at_bottom:
            continue
        pill = QRect(driver.pill.mapToGlobal(QPoint(0, 0)), driver.pill.size())
        assert QRect(driver.view.viewport().mapToGlobal(QPoint(0, 0)), driver.view.viewport().size()).contains(pill)
        heads: list[QWidget] = [*driver.view.findChildren(TurnHeader)]
        heads += [card.more for card in driver.view.findChildren(CallCard)]
        rects = [QRect(head.mapToGlobal(QPoint(0, 0)), head.size()) for head in heads if head.isVisible()]
        seen += len(rects)
        assert [rect for rect in rects if rect.top() <= pill.bottom() and rect.bottom() >= pill.top()] == []
    assert seen > 100


@pytest.mark.parametrize("height", [150, 240])
def test_the_way_to_the_latest_covers_no_place_that_was_found(driver: TranscriptDriver, height: int) -> None:
    rows = talk(12, words=60)
    driver.view.resize(600, height)
    driver.show(rows)
    pattern = re.compile("words")
    for at in (row.id for row in rows[:-2]):
        for number in range(0, 60, 7):
            driver.view.show_found(pattern, (at, number))
            driver.view.reveal_found()
            card = driver.view.cards[at]
            found = card.finds.rect()
            assert found is not None
            edges = range(card.y() + found.top(), card.y() + found.bottom() + 1)
            assert edges[0] >= 0
            assert edges[-1] < height
            assert driver.pill.isVisible()
            assert not set(edges) & set(range(driver.pill.y(), driver.pill.geometry().bottom() + 1))


def test_a_card_is_as_high_as_its_parts_at_once_when_reasoning_folds_and_the_answer_goes_on(
    driver: TranscriptDriver,
) -> None:
    last, thinking = growing_turn(driver, kind="reasoning")
    driver.show([last])
    card = driver.view.cards[last.id]

    def fits() -> bool:
        """As painted now, and when Qt has told everybody of every other size."""
        driver.view.draw_growing_turn(last.id)
        now = card.height()
        for _ in range(4):
            QApplication.processEvents()
        return now == card.height() == card.height_at(card.width())

    for _ in range(6):
        thinking.append("A thought that is long enough.\n\n")
        assert fits()
    open_height = card.height()
    answer = GrowingPart("text")
    driver.growing[last.id].parts.append(answer)
    for words in ("And", " now", " the answer.\n\n", "It", " goes on."):
        answer.append(words)
        assert fits()
    assert card.height() < open_height


def test_reaching_the_bottom_by_hand_follows_again(driver: TranscriptDriver) -> None:
    last, part = growing_turn(driver, "x")
    driver.show([*talk(20), last])
    driver.scroll(0.2)
    driver.scroll(1.0)
    part.append("words \n\n" * 30)
    driver.view.draw_growing_turn(last.id)
    assert driver.view.at_bottom


def test_a_turn_that_grows_out_of_view_makes_no_card(driver: TranscriptDriver) -> None:
    last, part = growing_turn(driver, "x")
    driver.show([*talk(60), last])
    driver.scroll(0.0)
    assert last.id not in driver.view.cards
    part.append("words \n\n" * 30)
    driver.view.draw_growing_turn(last.id)
    assert last.id not in driver.view.cards
    driver.scroll(1.0)
    assert "words" in driver.view.cards[last.id].findChildren(TextView)[0].toPlainText()


def test_what_arrives_is_drawn_once_and_in_order(driver: TranscriptDriver) -> None:
    last, part = growing_turn(driver)
    driver.show([last])
    for number in range(50):
        part.append(f"word{number} ")
        if number % 7 == 0:
            driver.view.draw_growing_turn(last.id)
    driver.view.draw_growing_turn(last.id)
    (text,) = driver.view.cards[last.id].findChildren(TextView)
    assert text.source == "".join(f"word{number} " for number in range(50))
    whole = last.turn.model_copy(
        update={"parts": (Text(text=text.source),), "outcome": Outcome(ending=Ending.COMPLETE, finish_reason="stop")}
    )
    driver.show([row(whole)])
    assert driver.view.cards[last.id].findChildren(TextView)[0].source == text.source


# Keeping the place


def test_the_place_is_kept_when_a_turn_above_changes_height(driver: TranscriptDriver) -> None:
    rows = talk(60, words=30)
    driver.show(rows)
    driver.scroll(0.5)
    seen = min((turn_id for turn_id, card in driver.view.cards.items() if card.y() >= 0), key=driver.top)
    at = [r.id for r in rows].index(seen)
    place = driver.top(seen)
    for index in (at - 2, at - 3, at - 20):
        longer = rows[index].turn.model_copy(update={"parts": (Text(text="a line\n" * 60),)})
        rows[index] = row(longer)
        driver.show(rows)
        assert abs(driver.top(seen) - place) <= 1
    rows[at - 2] = row(rows[at - 2].turn.model_copy(update={"parts": (Text(text="short"),)}))
    driver.show(rows)
    settle()
    QTest.qWait(40)
    assert abs(driver.top(seen) - place) <= 1


def test_the_place_is_kept_when_a_turn_above_goes_or_comes(driver: TranscriptDriver) -> None:
    rows = talk(60, words=30)
    driver.show(rows)
    driver.scroll(0.5)
    seen = min((turn_id for turn_id, card in driver.view.cards.items() if card.y() >= 0), key=driver.top)
    place = driver.top(seen)
    del rows[3]
    driver.show(rows)
    assert abs(driver.top(seen) - place) <= 1
    driver.show([*talk(5), *rows])
    assert abs(driver.top(seen) - place) <= 1


@pytest.mark.parametrize("act", ["resize", "zoom"])
def test_the_turn_looked_at_stays_in_view(driver: TranscriptDriver, act: str) -> None:
    driver.show(talk(60, words=60))
    driver.scroll(0.5)
    anchor = max((t for t, card in driver.view.cards.items() if card.y() <= 0), key=driver.top)
    if act == "resize":
        driver.view.resize(500, 600)
    else:
        driver.view.set_zoom(1.5)
    settle()
    assert anchor in driver.view.cards
    assert -driver.view.cards[anchor].height() <= driver.top(anchor) <= 20


# What is typed


def calling() -> tuple[list[Row], Turn]:
    call = ToolCall(id="call_1", name="weather", arguments='{"city": "Rome"}')
    turn = make_turn(Role.ASSISTANT, "", call).model_copy(
        update={"outcome": Outcome(ending=Ending.COMPLETE, finish_reason="tool_calls")}
    )
    return [row(turn), *talk(60)], turn


def field_of(driver: TranscriptDriver, turn: Turn) -> ResultField:
    """The field of the only call of a turn, scrolled into view."""
    card = driver.view.card(turn.id)
    assert card is not None
    field = card.calls[0].field
    assert field is not None
    return field


def test_a_typed_result_survives_scrolling_away(driver: TranscriptDriver) -> None:
    rows, turn = calling()
    driver.show(rows)
    field_of(driver, turn).field.setPlainText("18 degrees")
    driver.scroll(1.0)
    assert turn.id not in driver.view.cards
    driver.scroll(0.0)
    assert field_of(driver, turn).text == "18 degrees"


def test_a_typed_result_survives_leaving_the_turn_and_can_be_emptied(driver: TranscriptDriver) -> None:
    rows, turn = calling()
    driver.show(rows)
    field_of(driver, turn).field.setPlainText("18 degrees")
    driver.show(rows[1:])
    driver.show(rows)
    assert field_of(driver, turn).text == "18 degrees"
    field_of(driver, turn).field.setPlainText("")
    driver.scroll(1.0)
    assert turn.id not in driver.view.cards
    driver.scroll(0.0)
    assert field_of(driver, turn).text == ""


def test_an_open_editor_survives_scrolling_away(driver: TranscriptDriver, qtbot: QtBot) -> None:
    rows = talk(80)
    session = driver.asked.session
    session.history.transcript = Transcript().append(*(row.turn for row in rows))
    driver.show(rows)
    driver.view.activateWindow()
    qtbot.waitUntil(driver.view.isActiveWindow)
    card = driver.view.card(rows[2].id)
    assert card is not None
    card.editing.begin()
    card.findChildren(InlineEditor)[0].set_text("being written")
    driver.scroll(1.0)
    assert driver.view.cards[rows[2].id] is card
    driver.scroll(0.0)
    QTest.keyClicks(QApplication.focusWidget() or card, " now")
    QTest.keyClick(QApplication.focusWidget() or card, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert session.transcript.path[2].text == "being written now"
    assert not session.editors.open
    driver.scroll(1.0)
    assert rows[2].id not in driver.view.cards


def test_a_selection_survives_scrolling_away(driver: TranscriptDriver) -> None:
    rows = talk(80)
    driver.show(rows)
    card = driver.view.card(rows[0].id)
    assert card is not None
    text = card.findChildren(TextView)[0]
    text.selectAll()
    driver.scroll(1.0)
    driver.scroll(0.0)
    assert driver.view.cards[rows[0].id] is card
    assert text.textCursor().hasSelection()


# Frames: no more cards than there is time for


def test_a_frame_makes_only_some_cards_and_sketches_the_others(
    driver: TranscriptDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = talk(400)
    driver.show(rows)
    monkeypatch.setattr(transcript_view, "FRAME_S", 0.0)
    bar = driver.view.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    assert driver.view.cards == {}
    assert not driver.view.complete
    at = driver.view.first_in_view() + 1
    picture = driver.view.viewport().grab().toImage()
    monkeypatch.setattr(transcript_view, "FRAME_S", 0.003)
    driver.settle()
    assert rows[at].id in driver.view.cards
    assert not driver.view.viewport().grab().isNull()
    colours = {picture.pixelColor(x, y).name() for x in range(0, 880, 2) for y in range(0, 590, 2)}
    assert tokens().role("user").lower() in colours
    assert len(colours) > 10, "there are words in the sketch"


def test_a_long_text_is_begun_and_goes_on_until_it_is_whole(
    driver: TranscriptDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    paragraphs = "\n\n".join(f"Paragraph {n} with **bold** words and `code`." for n in range(400))
    rows = [*talk(30), row(make_turn(Role.ASSISTANT, paragraphs)), *talk(30)]
    driver.show(rows)
    monkeypatch.setattr(transcript_view, "FILL_S", 0.0)
    driver.scroll(0.5)
    card = driver.view.cards[rows[30].id]
    assert card.whole
    (text,) = card.findChildren(TextView)
    assert text.source == paragraphs
    assert "Paragraph 399 with bold words" in text.toPlainText()


def test_a_card_asked_for_is_whole(driver: TranscriptDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript_view, "FILL_S", 0.0)
    rows = [row(make_turn(Role.ASSISTANT, "words and words. \n\n" * 500)), *talk(60)]
    driver.show(rows)
    card = driver.view.card(rows[0].id)
    assert card is not None
    assert card.whole


def test_a_card_used_again_shows_nothing_of_the_turn_before(driver: TranscriptDriver) -> None:
    def answer(number: int) -> Row:
        outcome = Outcome(ending=Ending.COMPLETE, finish_reason="stop", model=f"model-{number}")
        parts = (Reasoning(text=f"thought {number}"), Text(text=f"**answer** {number}\n\n```\ncode {number}\n```"))
        return row(make_turn(Role.ASSISTANT).model_copy(update={"parts": parts, "outcome": outcome}))

    rows = [answer(number) for number in range(120)]
    driver.show(rows)
    first = driver.view.cards[rows[-1].id]
    reasoning = first.findChildren(ReasoningView)[0]
    reasoning.unfold()
    made = len(driver.view.findChildren(TurnCard))
    for share in (0.0, 0.5, 0.9, 0.2):
        driver.scroll(share)
        for turn_id, card in driver.view.cards.items():
            number = next(n for n, r in enumerate(rows) if r.id == turn_id)
            (shown,) = [view for view in card.findChildren(TextView) if view.isVisible()]
            assert shown.toPlainText() == f"answer {number}\ncode {number}"
            assert [view.source for view in card.findChildren(ReasoningView)] == [f"thought {number}"]
            assert not card.findChildren(ReasoningView)[0].is_open
    assert len(driver.view.findChildren(TurnCard)) <= made + 2 * POOL


def test_what_is_read_stays_in_place_while_reasoning_above_it_folds(driver: TranscriptDriver, qtbot: QtBot) -> None:
    last, part = growing_turn(driver)
    choice = driver.growing[last.id]
    thought = GrowingPart("reasoning", ["A long thought.\n\n" * 30])
    choice.parts[:] = [thought, GrowingPart("text", ["words \n\n" * 200])]
    driver.show([*talk(5), last])
    card = driver.view.cards[last.id]
    qtbot.waitUntil(lambda: len(card.body) == 2)  # parts are made as there is time
    view = card.findChildren(ReasoningView)[0]
    view.unfold()
    qtbot.waitUntil(lambda: all(one.whole for one in card.findChildren(TextView)))
    driver.settle()
    bar = driver.view.verticalScrollBar()
    bar.setValue(bar.maximum() - 900)
    driver.settle()
    text = next(view for view in card.body if isinstance(view, TextView))
    place = text.mapTo(driver.view, QPoint(0, 0)).y()
    assert place < 0, "the text begins above the view"
    view.findChildren(QPushButton)[0].click()
    driver.settle()
    assert abs(text.mapTo(driver.view, QPoint(0, 0)).y() - place) <= 1
    for _ in range(20):
        choice.parts[1].append("more \n\n")
        driver.view.draw_growing_turn(last.id)
    assert abs(text.mapTo(driver.view, QPoint(0, 0)).y() - place) <= 1
    assert part is not None


def test_scrolling_up_leaves_what_is_seen_where_it_is(driver: TranscriptDriver) -> None:
    rows = [row(make_turn(Role.USER, "x\n" * (n % 40))) for n in range(200)]  # guessed badly
    driver.show(rows)
    bar = driver.view.verticalScrollBar()
    for _ in range(60):
        seen = min((t for t, card in driver.view.cards.items() if card.y() >= 0), key=driver.top, default=None)
        before = driver.top(seen) if seen else 0
        bar.setValue(bar.value() - 90)
        if seen in driver.view.cards:
            assert driver.top(seen) == before + 90
        driver.settle()
        if seen in driver.view.cards:
            assert driver.top(seen) == before + 90


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_heights_that_are_guessed_later_leave_what_is_seen_where_it_is(
    driver: TranscriptDriver, qtbot: QtBot, share: float
) -> None:
    # The upper half is far taller than the lower: on average, all are wrong.
    driver.view.set_rows([row(make_turn(Role.USER, "x\n" * (40 if n < 2000 else n % 3))) for n in range(4000)], ())
    column, bar = driver.view.heights, driver.view.verticalScrollBar()
    assert column.rough
    total = column.total
    driver.scroll(share)
    seen = {turn_id: card.geometry() for turn_id, card in driver.view.cards.items() if card.y() > -card.height()}
    qtbot.waitUntil(lambda: not column.rough)
    assert column.total != total
    assert {turn_id: driver.view.cards[turn_id].geometry() for turn_id in seen} == seen
    assert driver.view.at_bottom == (share == 1.0)
    bar.setValue(bar.value() - 20)
    moved = {turn_id: card.geometry() for turn_id, card in driver.view.cards.items() if turn_id in seen}
    assert moved == {turn_id: seen[turn_id].translated(0, 20 * (bar.value() > 0)) for turn_id in moved}


def test_heights_of_rows_that_are_come_back_to_are_those_that_were_measured(driver: TranscriptDriver) -> None:
    first, second = ([row(make_turn(Role.USER, "x\n" * (n % 9))) for n in range(30)] for _ in range(2))
    driver.show(first)
    driver.scroll(0.5)
    heights, bar = driver.view.heights, driver.view.verticalScrollBar()
    total = heights.total
    driver.view.take_heights(Heights())
    driver.show(second)
    assert set(driver.view.cards) <= {one.id for one in second}
    driver.view.take_heights(heights)
    driver.view.set_rows(list(first), ())
    assert driver.view.heights.total == total
    assert bar.maximum() == total - driver.view.viewport().height()


def test_of_many_rows_the_words_are_drawn_before_the_cards(driver: TranscriptDriver) -> None:
    rows = [row(make_turn(Role.USER, f"turn {n}")) for n in range(LOT + 1)]
    driver.view.set_rows(rows, (), began=time.perf_counter() - 1, latest=True)  # a second was spent on them
    assert not driver.view.cards
    driver.view.jump_to_latest()
    driver.view.resize(880, 600)
    assert not driver.view.cards  # what has it laid out before the next frame makes none either
    driver.settle()
    assert rows[-1].id in driver.view.cards
    assert driver.view.at_bottom


# Text size, keys


def test_the_wheel_with_control_changes_the_text_size(driver: TranscriptDriver) -> None:
    driver.show(talk(4))
    before = {turn_id: card.height() for turn_id, card in driver.view.cards.items()}

    def wheel(delta: int) -> None:
        at = QPointF(200, 200)
        event = QWheelEvent(
            at,
            driver.view.mapToGlobal(at),
            QPoint(),
            QPoint(0, delta),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.ControlModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(driver.view.viewport(), event)
        settle()

    wheel(120)
    assert driver.view.zoom == ZOOMS[ZOOMS.index(1.0) + 1]
    wheel(120)
    assert all(card.height() >= before[turn_id] for turn_id, card in driver.view.cards.items())
    for _ in range(20):
        wheel(120)
    assert driver.view.zoom == ZOOMS[-1]
    for _ in range(20):
        wheel(-120)
    assert driver.view.zoom == ZOOMS[0]
    driver.view.set_zoom(1.0)
    settle()
    assert {turn_id: card.height() for turn_id, card in driver.view.cards.items()} == before


def test_home_end_and_pages(driver: TranscriptDriver) -> None:
    driver.show(talk(100))
    driver.view.setFocus()
    bar = driver.view.verticalScrollBar()
    QTest.keyClick(driver.view, Qt.Key.Key_Home)
    assert bar.value() == 0
    QTest.keyClick(driver.view, Qt.Key.Key_PageDown)
    assert bar.value() == bar.pageStep()
    QTest.keyClick(driver.view, Qt.Key.Key_End)
    assert driver.view.at_bottom
    QTest.keyClick(driver.view, Qt.Key.Key_PageUp)
    assert not driver.view.at_bottom


def test_the_focus_goes_from_turn_to_turn(driver: TranscriptDriver, qtbot: QtBot) -> None:
    rows = talk(40, words=50)
    driver.show(rows)
    driver.view.activateWindow()
    qtbot.waitUntil(driver.view.isActiveWindow)
    if (focused := QApplication.focusWidget()) is not None:
        focused.clearFocus()  # some platforms focus a control as soon as the window is active
    for number in range(1, 13):
        driver.view.step_turn(-1)
        settle()
        assert driver.view.focused_turn() == rows[-number].id
        card = driver.view.cards[rows[-number].id]
        assert card.y() < driver.view.viewport().height()
        assert card.y() + card.height() > 0
    driver.view.step_turn(1)
    assert driver.view.focused_turn() == rows[-11].id


# Rows


def _path(*turns: Turn) -> Transcript:
    return Transcript().append(*turns)


def test_results_stand_in_the_call_they_answer() -> None:
    asked = make_turn(Role.ASSISTANT, "", *(ToolCall(id=i, name="f", arguments="{}") for i in ("a", "b")))
    answers = [make_turn(Role.TOOL, "", ToolResult(call_id=i, text=f"result {i}")) for i in ("b", "a")]
    rows = Rows().follow(_path(make_turn(Role.USER, "hi"), asked, *answers, make_turn(Role.ASSISTANT, "so")))
    assert [r.turn.role for r in rows] == [Role.USER, Role.ASSISTANT, Role.ASSISTANT]
    assert {call: found.result.text for call, found in rows[1].answers.items()} == {"a": "result a", "b": "result b"}


def test_a_result_that_answers_nothing_or_twice_has_a_row() -> None:
    asked = make_turn(Role.ASSISTANT, "", ToolCall(id="a", name="f", arguments="{}"))
    results = [make_turn(Role.TOOL, "", ToolResult(call_id=i, text=i)) for i in ("a", "a", "other")]
    rows = Rows().follow(_path(asked, *results))
    assert [r.turn.role for r in rows] == [Role.ASSISTANT, Role.TOOL, Role.TOOL]


def test_a_row_knows_its_alternatives() -> None:
    first, second = make_turn(Role.ASSISTANT, "one"), make_turn(Role.ASSISTANT, "two")
    transcript = _path(make_turn(Role.USER, "hi")).append_alternatives([first, second])
    assert Rows().follow(transcript, {first.id})[-1] == Row(
        transcript.turns[first.id], (first.id, second.id), {}, growing=True
    )
