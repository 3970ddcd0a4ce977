"""The inspector: frames and text lead to each other, exchanges are compared, deviations reported."""

from __future__ import annotations

import json
from functools import partial

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtWidgets import QTextEdit, QWidget

from playground.demo.server import DemoConfig
from playground.engine.gateways.profiles import Profile
from tests.flows.conftest import PACE, Person, flow
from tests.flows.pages.inspector import (
    Comparison,
    Inspector,
    RequestPage,
    ResponseTab,
    SpecCheck,
    Timeline,
    read_frames,
)
from tests.support.editors import edit_text

URL = "http://127.0.0.1:9"
CALLING = DemoConfig(tokens_per_second=0, time_to_first_token=0, rate_limit=1_000_000)


async def use(person: Person, model: str) -> None:
    """Type a model's id once the models are listed, because the list sets the field, too."""
    await person.until(lambda: person.app.gateways.catalog(person.session.settings.profile_id).models, "the models")
    await person.use_model(model)


async def sample(person: Person) -> None:
    """Open the sample experiment and run it up to its calls."""
    await person.trigger("sample.tools")
    await person.key(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    await person.until(lambda: len(person.session.transcript.unanswered()) > 1, "calls that wait")


def text_of(person: Person, turn: int, name: str = "Text of the message") -> QTextEdit:
    """The text of a turn on the path."""
    return person.get(QTextEdit, name, person.card(turn))


async def select_text(person: Person, view: QTextEdit, text: str) -> None:
    """Select a passage, or nothing."""
    cursor = view.document().find(text) if text else QTextCursor(view.document())
    assert cursor.hasSelection() == bool(text)
    await person.do(partial(view.setTextCursor, cursor))


def words_in(frame: bytes) -> str:
    """The text in one chunk of Chat Completions."""
    delta = json.loads(frame.removeprefix(b"data: "))["choices"][0]["delta"]
    return str(delta.get("content") or delta.get("reasoning_content") or "")


@flow(PACE)
async def test_selected_text_selects_its_frames_and_a_frame_marks_its_text(person: Person) -> None:
    await use(person, "demo-reasoner")
    await person.run("Tell me about tides")
    await person.idle(2)
    await person.key(Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier)
    timeline = Timeline(person)
    (exchange,) = person.session.exchanges.values()
    frames = read_frames(exchange)
    await person.until(lambda: timeline.count == len(frames) > 40, "all frames")
    text = text_of(person, 1)
    await select_text(person, text, "demo gateway")
    await person.until(lambda: timeline.selected, "frames of the selection")
    carried = "".join(words_in(frames.raw(number)) for number in timeline.selected)
    assert "demo gateway" in carried
    assert len(carried) < 40, "and no frames but those"

    # back: one frame after the other, by key
    await select_text(person, text, "")
    await person.until(lambda: not timeline.selected, "the choice to go with the selection")
    content = next(number for number in range(60, len(frames)) if frames.row(number).kind == "content")
    for number, name in ((content, "Text of the message"), (8, "Reasoning")):
        await timeline.select(number)
        await person.key(Qt.Key.Key_Down)
        await person.until(lambda number=number: timeline.selected == [number + 1], "the next frame")  # type: ignore[misc]
        words = words_in(frames.raw(number + 1)).strip(" \n*#>`|-")
        view = await person.seen(QTextEdit, name, person.card(1))
        marked = f"Marked: {words}"
        await person.until(lambda view=view, marked=marked: view.accessibleDescription() == marked, marked)  # type: ignore[misc]
        await person.until(lambda view=view: not view.visibleRegion().isEmpty(), "the mark in view")  # type: ignore[misc]

    # A passage of an earlier answer, selected before the tab is in front
    await timeline.show_tab("Request")
    await person.run("And about the moon")
    await person.idle(4)
    frames = read_frames(next(iter(person.session.exchanges.values())))
    text = text_of(person, 1)
    for _ in range(2):  # the page is made, and then only shown
        await person.do(text.setFocus)
        await select_text(person, text, "demo gateway")
        await timeline.show_tab("Timeline")
        await person.until(lambda: timeline.selected, "its frames")
        await person.until(lambda: timeline.shown_exchange == 1, "the earlier exchange")
        assert "demo gateway" in "".join(words_in(frames.raw(number)) for number in timeline.selected)
        await select_text(person, text, "")
        await person.until(lambda: not timeline.selected, "the choice to go")
        await timeline.show_tab("Request")

    # A frame of a message that was edited
    await timeline.show_tab("Timeline")
    await person.until(lambda: timeline.count > 10, "frames")
    await timeline.show_exchange(1)
    edit_text(person.session, person.path[1].id, "Something else")
    await timeline.select(content)
    await person.until(lambda: "edited later" in timeline.summary, "a word on the edit")


@flow(PACE)
async def test_timeline_shows_the_frame_of_a_call_and_stalls_in_its_picture(person: Person) -> None:
    await sample(person)
    turn = person.path[-1]
    second = turn.calls[1]
    _, card = await person.conversation.wait_for_calls()
    await card.choose("Show its events")
    timeline = Timeline(person)
    await person.until(lambda: len(timeline.selected) == 1, "the frame")
    await person.until(lambda: second.id in timeline.frame_text, "the text of the frame")
    raw = (await timeline.show_raw()).strip()
    assert "tool_calls" in raw
    body = list(person.session.exchanges.values())[-1].body.decode()
    assert body.index(second.id) == body.index(raw) + raw.index(second.id)

    # A stall in the picture
    await timeline.show_tab("Timeline")
    await person.trigger("experiment.new")
    await use(person, "demo-chat")
    await person.run("Hello !stall=3")
    await person.idle(2)
    await person.until(lambda: timeline.stalls, "the stall")
    after, lasted = timeline.stalls[0]
    assert float(lasted) > 0.8, "what comes before it may be read late"
    stall = timeline.find_in_picture(f"stall: nothing for {lasted} s")
    await timeline.click_picture(stall)
    await person.until(lambda: timeline.selected == [after], "the frame behind the stall")
    assert not timeline.has_button("Show all")
    total = timeline.span[1] - timeline.span[0]
    for _ in range(3):
        await timeline.zoom_in(stall)
    start, end = timeline.span
    assert end - start < total / 1.25**2
    await timeline.drag(stall, QPoint(stall.x() - 40, stall.y()))
    assert timeline.span[0] > start
    assert timeline.selected == [after], "dragging is no click"
    await timeline.press("Show all")
    assert timeline.span[1] - timeline.span[0] == total
    assert not timeline.has_button("Show all")


@flow(CALLING)
async def test_exchanges_are_compared_checked_and_reached_in_a_narrow_window(person: Person) -> None:
    await use(person, "demo-chat")
    for count, words in enumerate(("First !nodone", "Second", "Third"), 1):
        await person.run(words)
        await person.idle(2 * count)
    await person.key(Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    diff = Comparison(person)
    await person.until(lambda: "Third" in diff.text, "what the third has more than the second")
    assert "messages[2]" not in diff.text
    await diff.compare_with("#1 ")
    await person.until(lambda: "messages[2]" in diff.text, "what it has more than the first")
    await diff.compare_with("Next request")
    await person.do(partial(person.session.change, model="demo-reasoner"))
    await person.until(lambda: "demo-reasoner" in diff.text, "what the next will have")

    await diff.compare_with("#1 ")
    await diff.compare_part("Answer")
    await person.until(lambda: "alike" in diff.summary, "how much of the answers is alike")
    await person.until(lambda: all(word in diff.text for word in ("First", "Third")), "both answers")
    await diff.compare_part("Metrics")
    await person.until(lambda: diff.metrics.keys() >= {"Whole time", "Completion tokens"}, "the metrics")
    await (await person.conversation.wait_for_message(3)).choose("Compare with…")
    await person.until(lambda: diff.shown_exchange == 2 and "alike" in diff.summary, "the answer of that message")
    assert not any(entry.startswith("#2 ") for entry in diff.others), "it is the one that is shown"

    # A problem leads to its event and is in the report
    await person.press("Spec check: 1 problem", (await person.conversation.wait_for_message(1)).widget)
    check = SpecCheck(person)
    await person.until(lambda: check.rows, "a deviation")
    await check.press("Copy report")
    copied = QGuiApplication.clipboard().text()
    assert "DONE" in copied
    assert "4.1" in copied
    frame, _ = check.rows[0]
    await check.click_row(0)
    timeline = Timeline(person)
    await person.until(lambda: timeline.selected == [int(frame) - 1], "the frame")
    await person.until(lambda: "DONE" in timeline.deviations, "its deviation")

    # Every exchange and every tab can be reached in a narrow window
    window = person.app.window
    await person.do(lambda: window.resize(1024, 700))
    await Inspector(person).show_tab("Request")
    request = RequestPage(person)
    await request.show_exchange(1)
    await request.press("Sent")
    await person.until(lambda: "First" in request.sent_text and "Second" not in request.sent_text, "the first one")
    await request.show_exchange(2)
    await person.until(lambda: "Second" in request.sent_text, "the second request")

    inspector = Inspector(person)
    await person.do(window.right_dock.hide)
    for width in (1024, 1600):
        await person.do(partial(window.resize, width, 700))
        await person.until(partial(has_width, window, width), f"{width} pixels")
        await person.until(lambda: inspector.tabs_fit, "all tabs inside the window")

    # Maximised, and back with Escape
    transcript = person.conversation.messages.widget
    height = inspector.widget.height()
    await inspector.press("Maximise the inspector")
    await person.until(lambda: not transcript.isVisible() and inspector.is_maximised, "the inspector alone")
    await person.do(inspector.tabs.setFocus)
    await person.key(Qt.Key.Key_Escape)
    await person.until(lambda: transcript.isVisible() and not inspector.is_maximised, "the conversation")
    await person.until(lambda: inspector.widget.height() == height, "the height that the inspector had")

    # Closed while it is maximised
    await inspector.press("Maximise the inspector")
    await person.until(lambda: inspector.is_maximised, "the inspector alone")
    await person.trigger("view.inspector")
    await person.until(lambda: transcript.isVisible(), "the conversation, with the inspector closed")


@flow(CALLING)
async def test_response_is_assembled_and_a_run_that_sends_nothing_says_so(person: Person) -> None:
    response = ResponseTab(person)
    await use(person, "demo-chat")
    await response.show_tab("Response", "Assembled")
    assert "No response yet. Run the conversation to see it here." in response.texts
    await person.run("Hello")
    await person.idle(2)
    await person.until(lambda: '"stop"' in response.assembled_text, "one body")
    assert json.loads(response.assembled_text)["choices"][0]["message"]["content"] == person.path[1].text
    await person.until(lambda: response.badge == "No problems found", "the spec check")
    await response.show_tab("Response", "Raw")
    await person.until(lambda: response.raw_text.startswith("data: "), "the bytes as received")

    profile = person.app.gateways.store.add_profile(Profile(name="Locked", base_url=URL, key_origin=URL))
    await person.do(partial(person.session.change, profile_id=profile.id))
    await person.run("Again")
    await person.until(lambda: any(text.startswith("Nothing was sent.") for text in response.texts), "the reason")
    await response.show_exchange(1)
    await person.until(lambda: response.raw_text.startswith("data: "), "the exchange that was chosen")


def has_width(widget: QWidget, width: int) -> bool:
    return widget.width() == width
