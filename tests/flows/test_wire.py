"""What went over the wire, in the real window: frames and text lead to each other, cassettes replay."""

from __future__ import annotations

import json
from functools import partial

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QTextCursor, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QPushButton, QWidget

from playground.demo.server import DemoConfig
from playground.ui.features.conversation.calls.call_card import CallMenu
from playground.ui.features.conversation.reasoning_view import ReasoningView
from playground.ui.features.conversation.text_view import TextView
from playground.ui.features.conversation.turn_header import TurnHeader
from playground.ui.features.inspector.diff_page import ANSWER, FIGURES, NEXT
from playground.ui.features.inspector.exchange_words import exchange_words
from playground.ui.features.inspector.timeline.page import TimelinePage
from playground.ui.features.inspector.views import RequestView
from playground.ui.features.inspector.wire_views import DiffView, LintView, TimelineView
from tests.flows.conftest import PACE, Person, Stage, click_at

CALLING = DemoConfig(tokens_per_second=0, time_to_first_token=0, rate_limit=1_000_000)


def page_of(person: Person) -> TimelinePage:
    return person.app.window.inspector.view(TimelineView).page


async def use(person: Person, model: str) -> None:
    """Type a model's id, once those that there are have been listed: that sets the field, too."""
    await person.until(lambda: person.app.window.bar.model.ids, "the models")
    await person.use_model(model)


async def sample(person: Person) -> None:
    """The sample experiment, up to its calls."""
    await person.do(person.app.window.action("sample.tools").trigger)
    await person.key(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    await person.until(lambda: len(person.session.transcript.unanswered()) > 1, "calls that wait")


def test_the_exact_frame_that_carried_a_call(stage: Stage) -> None:
    async def play(person: Person) -> None:
        await sample(person)
        turn = person.path[-1]
        second = turn.calls[1]
        card = person.card(len(person.path) - 1).calls[1]
        more = await person.seen(CallMenu, "More for this call", card)
        await person.reveal(more)
        await person.choose(more, "Show the frame that carried it")
        page = page_of(person)
        await person.until(lambda: page.isVisible() and page.table.chosen, "the frame")
        (number,) = page.table.chosen
        assert page.trace is not None
        frame = page.trace.index.raw(number).decode()
        assert second.id in frame
        assert "tool_calls" in frame
        assert second.id in page.detail.text.text()
        body = page.trace.exchange.body
        assert body.index(second.id.encode()) == body.index(page.trace.index.raw(number)) + frame.index(second.id)

    stage.play(play, CALLING)


def test_selected_text_chooses_its_frames_and_a_frame_its_text(stage: Stage) -> None:
    async def play(person: Person) -> None:
        await use(person, "demo-reasoner")
        await person.run("Tell me about tides")
        await person.idle(2)
        await person.key(Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier)
        page = page_of(person)
        await person.until(lambda: page.trace and page.trace.index.closed and not page.slices.busy, "all frames")
        assert page.table.frames.rowCount() > 40
        (text,) = [view for view in person.card(1).body if isinstance(view, TextView)]
        cursor = text.document().find("demo gateway")
        assert not cursor.isNull()
        await person.do(lambda: text.setTextCursor(cursor))
        await person.until(lambda: page.table.chosen, "frames of the selection")
        index = page.trace.index if page.trace is not None else None
        assert index is not None
        carried = "".join(said(index.raw(number)) for number in page.table.chosen)
        assert "demo gateway" in carried
        assert len(carried) < 40, "and no frames but those"

        # back: one frame after the other, by key
        await person.do(lambda: text.setTextCursor(QTextCursor(text.document())))
        await person.until(lambda: not page.table.chosen, "the choice to go with the selection")
        content = next(number for number in range(60, len(index)) if index.row(number).kind == "content")
        reasoning = person.card(1).body[0]
        assert isinstance(reasoning, ReasoningView)
        for number, view in ((content, text), (8, reasoning.text_view)):
            await person.do(partial(page.table.selectRow, number))
            await person.do(page.table.setFocus)
            await person.key(Qt.Key.Key_Down)
            await person.until(partial(chosen_is, page, number + 1), "the next frame")
            await person.until(partial(marked_places, view), "its words marked")
            begin, end = view.linked.places[0]
            marked = QTextCursor(view.document())
            marked.setPosition(begin)
            marked.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            assert marked.selectedText().strip() == said(index.raw(number + 1)).strip(" \n*#>`|-")
            assert not view.visibleRegion().isEmpty(), "it was scrolled to"

    stage.play(play, PACE)


def test_what_was_selected_before_the_frames_were_looked_at_chooses_them(stage: Stage) -> None:
    async def play(person: Person) -> None:
        await use(person, "demo-reasoner")
        await person.run("Tell me about tides")
        await person.idle(2)
        await person.run("And about the moon")
        await person.idle(4)
        (text,) = [view for view in person.card(1).body if isinstance(view, TextView)]
        cursor = text.document().find("demo gateway")
        for _ in range(2):  # the page is made, and then only shown
            await person.do(text.setFocus)
            await person.do(partial(text.setTextCursor, cursor))
            await person.do(partial(person.app.window.inspector.show_tab, TimelineView.title))
            page = page_of(person)
            await person.until(lambda page=page: page.table.chosen, "its frames")  # type: ignore[misc]
            assert page.trace is not None
            outcome = person.path[1].outcome
            assert outcome is not None
            assert page.trace.exchange.id == outcome.exchange, "of the earlier exchange"
            carried = "".join(said(page.trace.index.raw(number)) for number in page.table.chosen)
            assert "demo gateway" in carried
            await person.do(partial(text.setTextCursor, QTextCursor(text.document())))
            await person.until(lambda page=page: not page.table.chosen, "the choice to go")  # type: ignore[misc]
            await person.do(partial(person.app.window.inspector.show_tab, "Request"))

    stage.play(play, PACE)


def chosen_is(page: TimelinePage, number: int) -> bool:
    return page.table.chosen == [number]


def marked_places(view: TextView) -> bool:
    return bool(view.linked.places)


def said(frame: bytes) -> str:
    """The words of one chat chunk."""
    delta = json.loads(frame.removeprefix(b"data: "))["choices"][0]["delta"]
    return str(delta.get("content") or delta.get("reasoning_content") or "")


def test_an_edited_turn_is_not_taken_for_what_came(stage: Stage) -> None:
    async def play(person: Person) -> None:
        await use(person, "demo-chat")
        await person.run("Hello")
        await person.idle(2)
        await person.do(person.app.window.action("wire.timeline").trigger)
        page = page_of(person)
        await person.until(lambda: page.table.frames.rowCount() > 10, "frames")
        person.session.turns.edit_text(person.path[1].id, "Something else")
        await person.do(lambda: page.table.selectRow(8))
        await person.until(lambda: "edited since" in page.detail.says.text, "a word on the edit")

    stage.play(play, CALLING)


def test_deviations_lead_to_their_frame(stage: Stage) -> None:
    async def play(person: Person) -> None:
        await use(person, "demo-chat")
        await person.run("Hello !nodone")
        await person.idle(2)
        header = person.card(-1).findChild(TurnHeader)
        assert header is not None
        await person.click(next(b for b in header.findChildren(QPushButton) if "deviation" in b.text()))
        lint = person.app.window.inspector.view(LintView).page
        await person.until(lambda: lint.found, "a finding")
        item = lint.table.item(0, 1)
        assert item is not None
        await person.do(lambda: click_at(lint.table.viewport(), lint.table.visualItemRect(item).center()))
        page = page_of(person)
        await person.until(lambda: page.isVisible() and page.table.chosen, "the frame")
        assert page.table.chosen == [lint.found[0].frame]
        await person.until(lambda: "DONE" in page.detail.odd.text(), "what is odd about it")

    stage.play(play, CALLING)


def test_a_request_against_the_one_before_and_two_answers_with_their_figures(stage: Stage) -> None:
    async def play(person: Person) -> None:
        await use(person, "demo-chat")
        await person.run("Name a river in Europe")
        await person.idle(2)
        await person.run("And one in Asia")
        await person.idle(4)
        await person.key(Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
        diff = person.app.window.inspector.view(DiffView).page
        await person.until(lambda: "messages[2]" in diff.text.toPlainText(), "the difference")
        assert "And one in Asia" in diff.text.toPlainText()
        await person.do(partial(diff.part.setCurrentIndex, ANSWER))
        await person.until(lambda: "alike" in diff.says.text(), "how much of the answers is alike")
        await person.until(lambda: all(word in diff.text.toPlainText() for word in ("Europe", "Asia")), "both answers")
        await person.do(partial(diff.part.setCurrentIndex, FIGURES))
        await person.until(diff.figures.isVisible, "the figures")
        shown = [diff.figures.item(row, 0) for row in range(diff.figures.rowCount())]
        assert {item.text() for item in shown if item is not None} >= {"Whole time", "Completion tokens"}

        header = person.card(1).findChild(TurnHeader)
        assert header is not None
        await menu_entry(person, header.menu, "Compare with…")
        await person.until(lambda: "alike" in diff.says.text(), "the answer of that turn against the other one")
        assert person.path[1].outcome is not None
        assert diff.against.currentData() != person.path[1].outcome.exchange
        assert diff.against.findData(person.path[1].outcome.exchange) == -1, "it is the one that is shown"

    stage.play(play, CALLING)


async def menu_entry(person: Person, menu: QMenu, entry: str) -> None:
    await person.do(menu.aboutToShow.emit)
    (action,) = [action for action in menu.actions() if action.text() == entry]
    await person.do(action.trigger)


def test_the_timeline_is_zoomed_and_moved_with_the_mouse_and_a_stall_is_clicked(stage: Stage) -> None:
    async def play(person: Person) -> None:
        await use(person, "demo-chat")
        await person.run("Hello !stall=3")
        await person.idle(2)
        await person.key(Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier)
        page = page_of(person)
        picture = page.picture
        await person.until(lambda: picture.stalls and page.trace and page.trace.index.closed, "the stall")
        stall = max(picture.stalls, key=lambda one: one.end - one.start)
        assert stall.end - stall.start > 0.8, "what comes before it may be read late"
        at = QPoint(round(picture.scale.x((stall.start + stall.end) / 2)), 30)
        await person.do(partial(click_at, picture, at))
        await person.until(lambda: page.table.chosen == [stall.after], "the frame behind the stall")
        for _ in range(3):
            await person.do(partial(turn_wheel, picture, at))
        span = picture.scale.end - picture.scale.start
        assert span == pytest.approx(picture.scale.total / 1.25**3)
        start = picture.scale.start
        await person.do(partial(drag, picture, at, QPoint(at.x() - 40, at.y())))
        assert picture.scale.start > start
        assert page.table.chosen == [stall.after], "dragging is no click"
        await person.press("Show all")
        assert (picture.scale.start, picture.scale.end) == (0, picture.scale.total)
        assert not picture.whole.isVisible()

    stage.play(play, PACE)


def turn_wheel(widget: QWidget, at: QPoint) -> None:
    """One notch away from oneself."""
    where, none = QPointF(at), Qt.MouseButton.NoButton
    spot = QPointF(widget.mapToGlobal(at))
    phase, keys = Qt.ScrollPhase.NoScrollPhase, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(widget, QWheelEvent(where, spot, QPoint(), QPoint(0, 120), none, keys, phase, False))


def drag(widget: QWidget, start: QPoint, end: QPoint) -> None:
    left = Qt.MouseButton.LeftButton
    QTest.mousePress(widget, left, pos=start)
    for step in range(1, 11):
        QTest.mouseMove(widget, start + (end - start) * step / 10)
    QTest.mouseRelease(widget, left, pos=end)


def test_every_exchange_is_at_hand_and_every_tab_however_narrow_the_window(stage: Stage) -> None:
    async def play(person: Person) -> None:
        window = person.app.window
        await person.do(lambda: window.resize(1024, 700))
        await use(person, "demo-chat")
        await person.run("Name a river in Europe")
        await person.idle(2)
        await person.run("And one in Asia")
        await person.idle(4)
        inspector = window.inspector
        first, second = person.session.exchanges.values()
        await person.until(lambda: inspector.status.others.isVisible(), "the menu of exchanges")
        await person.choose(inspector.status.others, exchange_words(1, first))
        await person.press("As sent", inspector)
        body = inspector.view(RequestView).pane.text
        await person.until(lambda: "Europe" in body.text() and "Asia" not in body.text(), "the first request")
        await person.choose(inspector.status.others, exchange_words(2, second))
        await person.until(lambda: "Asia" in body.text(), "the second request")

        row = inspector.row
        for width in (1024, 900, 1600):
            await person.do(partial(window.resize, width, 700))
            await person.until(partial(has_width, window, width), f"{width} pixels")
            tabs = range(row.tabs.count())
            left = [row.tabs.tabText(number) for number in tabs if not row.tabs.isTabVisible(number)]
            assert row.tabs.geometry().right() <= row.width()
            assert row.more.isVisible() == bool(left)
            for title in left:
                await person.choose(row.more, title)
                assert row.tabs.tabText(row.tabs.currentIndex()) == title
                assert row.tabs.isTabVisible(row.tabs.currentIndex())
            assert not left or width < 1600

    stage.play(play, CALLING)


def has_width(widget: QWidget, width: int) -> bool:
    return widget.width() == width


def test_a_report_is_copied_and_a_request_compared_with_any_other_and_the_next(stage: Stage) -> None:
    async def play(person: Person) -> None:
        await use(person, "demo-chat")
        for count, words in enumerate(("First !nodone", "Second", "Third"), 1):
            await person.run(words)
            await person.idle(2 * count)
        exchanges = list(person.session.exchanges.values())
        await person.do(person.app.window.action("wire.diff").trigger)
        diff = person.app.window.inspector.view(DiffView).page
        await person.until(lambda: "Third" in diff.text.toPlainText(), "what the third has more than the second")
        assert "messages[2]" not in diff.text.toPlainText()
        at = diff.against.findData(exchanges[0].id)
        await person.do(lambda: diff.against.setCurrentIndex(at))
        await person.until(lambda: "messages[2]" in diff.text.toPlainText(), "what it has more than the first")
        await person.do(lambda: diff.against.setCurrentIndex(diff.against.findData(NEXT)))
        await person.do(partial(person.session.change, model="demo-reasoner"))
        await person.until(lambda: "demo-reasoner" in diff.text.toPlainText(), "what the next will have")

        await person.choose(person.app.window.inspector.status.others, exchange_words(1, exchanges[0]))
        await person.do(person.app.window.action("wire.lint").trigger)
        lint = person.app.window.inspector.view(LintView).page
        await person.until(lambda: lint.found, "a finding")
        await person.press("Copy report", lint)
        copied = QGuiApplication.clipboard().text()
        assert "DONE" in copied
        assert "4.1" in copied

    stage.play(play, CALLING)
