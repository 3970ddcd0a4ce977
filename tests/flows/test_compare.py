"""Lanes of Compare: opened, set, asked together, paused, stopped, continued, closed, restored, left."""

from __future__ import annotations

import re

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QDockWidget,
    QLineEdit,
    QPlainTextEdit,
    QTabBar,
    QTextEdit,
    QWidget,
)

from playground.demo.server import DemoConfig
from playground.engine.compare.lanes import Lanes
from playground.engine.session.changes import RunState
from playground.engine.session.session import Session
from tests.engine.debugging import WEATHER
from tests.flows.conftest import Person, Stage, flow
from tests.flows.pages.compare import ComparePage, find_docks
from tests.flows.pages.conversation import wait_for_dialog
from tests.flows.pages.inspector import Comparison
from tests.flows.pages.page import get_by_object_name
from tests.flows.test_store import opened

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
SLOW = DemoConfig(tokens_per_second=30, time_to_first_token=0.02, rate_limit=1_000_000)


def texts(lane: Session) -> list[str]:
    return [turn.text for turn in lane.transcript.path]


async def pause_at_calls(person: Person) -> ComparePage:
    """Open two lanes, each with a tool call that waits."""
    person.session.change(tools=(WEATHER,), model="demo-tools")
    compare = ComparePage(person)
    lanes = await compare.open()
    await person.run("Weather in Oslo")
    await person.until(lambda: all(lane.debugger.paused for lane in lanes.all), "a call in each lane")
    return compare


async def wait_for_streams(person: Person, lanes: Lanes) -> None:
    await person.until(lambda: all(lane.state is RunState.STREAMING for lane in lanes.ticked), "an answer in each lane")


def set_warm(lane: Session, temperature: float | None = 1) -> None:
    lane.set_parameters(lane.settings.current.with_value("temperature", temperature))


@flow()
async def test_question_goes_to_two_lanes_with_settings_and_panels_of_their_own(person: Person) -> None:
    main, window, compare = person.session, person.app.window, ComparePage(person)

    def panels() -> list[str]:
        return sorted(dock.windowTitle() for dock in find_docks(person) if isinstance(dock, QDockWidget))

    before = panels()
    assert before == ["Experiments", "Inspector", "Parameters and tools"]
    lanes = await compare.open()
    first, second = compare.lanes
    await person.until(lambda: panels() == [], "no panels around the lanes")

    await second.select()
    await person.until(lambda: person.session is lanes.all[1], "the second lane in front")
    model = main.settings.model
    await person.use_model("demo-chat")
    assert main.settings.model == model != "demo-chat"
    await person.until(lambda: second.model == "demo-chat", "its model above it")

    await person.run("Hello")
    await compare.wait_for_answers(2)
    assert first.widget.isAncestorOf(person.conversation.messages.widget)
    assert {person.body(-1)["model"], person.body(-2)["model"]} == {"demo-chat", model}
    assert (await second.messages.wait_for_message(lanes.all[1].transcript.path[-1])).text
    await person.until(lambda: "first token" in second.metrics, "metrics below it")
    await person.until(lambda: any(lane.best for lane in compare.lanes), "the best lane of each metric")

    # Each page remembers its panels
    buttons = second.find(QAbstractButton)
    await person.click(next(button for button in buttons if button.text().endswith(" set")))
    await person.until(lambda: panels() == ["Parameters and tools"], "the panel in which the lane is set")
    window.remember_layout()
    await compare.close()
    await person.until(lambda: panels() == before, "the panels around the conversation")
    await compare.bar.press("Compare")
    await person.until(lambda: panels() == ["Parameters and tools"], "the panels around the lanes")
    saved = [str(person.app.settings.value(f"window/page-{page}")) for page in ("conversation", "compare")]
    assert [layout[:3] for layout in saved] == ["111", "010"]

    await compare.wait_for_lanes(2)
    await compare.lanes[1].press("Continue here")
    await person.until(lambda: main.settings.model == "demo-chat", "the lane to be the conversation")
    await person.until(lambda: compare.lanes[0].model == "demo-chat", "its model above the first lane")
    await compare.close()
    assert person.session is main
    assert person.conversation.messages.visible
    await person.run("And now?")
    await person.idle(4)
    assert len(texts(main.experiment.lanes[1])) == 2


@flow(SLOW)
async def test_lanes_are_ticked_reached_by_keys_stopped_closed_and_restored(person: Person) -> None:
    compare = ComparePage(person)
    lanes = await compare.open(3)
    first, second, third = compare.lanes
    await person.click(third.tick)
    await person.until(lambda: len(lanes.ticked) == 2, "two lanes on the button")
    await person.run("!long=9000 !tps=30")
    await wait_for_streams(person, lanes)
    assert texts(lanes.all[2]) == []
    await second.press("Stop this lane")
    await person.until(lambda: lanes.all[1].state is RunState.IDLE, "one lane stopped")
    assert lanes.all[0].experiment.busy
    await person.key(Qt.Key.Key_Escape, SHIFT)
    await person.until(lambda: not lanes.all[0].experiment.busy, "all lanes stopped")

    await second.choose("Close")
    await compare.wait_for_lanes(2)
    await person.click(person.conversation.composer.widget)
    await person.conversation.notice.press("Undo")
    await compare.wait_for_lanes(3)
    assert first.visible

    # The Tab key goes lane by lane
    await person.click(compare.lanes[2].tick)
    await person.until(lambda: len(lanes.ticked) == 3, "three lanes on the button")
    await person.until(lambda: all(lane.messages.messages for lane in compare.lanes[:2]), "the messages")
    size = await person.seen(QWidget, "Estimated size of the next request:")
    await person.until(lambda: re.search(r"≈ [\d,]+ tokens( in 3 lanes| × 3)", size.accessibleName()), "the size")
    await person.do(compare.lanes[0].tick.setFocus)
    visited: list[str] = []
    while (letter := compare.focused_lane) != "-" and len(visited) < 200:
        visited.append(letter)
        await person.key(Qt.Key.Key_Tab)
    assert "".join(dict.fromkeys(visited)) == "ABC"
    assert visited == sorted(visited), "from the end of one lane to the beginning of the next"
    tick = compare.lanes[1].tick
    await person.do(tick.setFocus)
    await person.key(Qt.Key.Key_Backtab, SHIFT)
    assert compare.focused_lane == "A"
    await person.key(Qt.Key.Key_Tab)
    assert tick.hasFocus()

    # Escape stops the lane with the focus
    await person.run("!long=9000 !tps=30")
    await wait_for_streams(person, lanes)
    assert person.session is lanes.all[1]
    await person.key(Qt.Key.Key_Escape)
    await person.until(lambda: lanes.all[1].state is RunState.IDLE, "the lane in front stopped")
    assert all(lanes.all[position].state is not RunState.IDLE for position in (0, 2))
    await person.key(Qt.Key.Key_Escape, SHIFT)
    await person.until(lambda: not lanes.all[0].experiment.busy, "all lanes stopped")
    await person.until(lambda: person.conversation.composer.has_button("Run"), "the button to run again")
    await compare.bar.press("Experiment")
    await person.until(lambda: "dock-experiments" in [dock.objectName() for dock in find_docks(person)], "the list")


@flow()
async def test_calls_of_lanes_are_answered_one_by_one_or_together(person: Person) -> None:
    def find_insert(person: Person, number: int) -> QAbstractButton | None:
        lanes = ComparePage(person).lanes
        return next(iter(lanes[number].find(QAbstractButton, "Insert a result")), None) if len(lanes) > number else None

    compare = await pause_at_calls(person)
    lanes = compare.sessions

    # Another page is opened while the focus is in a lane: the conversation alone, an evaluation
    for key in (Qt.Key.Key_K, Qt.Key.Key_A):
        await person.until(lambda: find_insert(person, 1) is not None, "the call of lane B")
        button = find_insert(person, 1)
        assert button is not None
        button.setFocus()
        await person.until(button.hasFocus, "the focus in lane B")
        await person.key(key, CONTROL | SHIFT)
        await compare.wait_until_closed()
        await person.do(person.app.window.grab)
        await compare.open()
        await person.until(lambda: find_insert(person, 0) is not None, "the call of lane A")
        assert person.conversation.messages.visible

    call = await compare.wait_for_call(1)
    await call.type_result("sunny")
    await call.press("Send to all lanes")
    await compare.wait_for_answers(4)
    assert not any(lane.debugger.waiting for lane in lanes.all)
    await person.trigger("compare.copy")
    header, *rows = QApplication.clipboard().text().splitlines()
    assert header.split("\t")[0].startswith("A · ")
    assert any("get_weather" in row for row in rows)

    await person.run("Weather in Rome")
    await person.until(lambda: all(lane.debugger.paused for lane in lanes.all), "a call in each lane")
    await person.until(lambda: "1 tool call needs a result" in compare.lanes[1].metrics, "the call in its metrics")
    await (await compare.wait_for_call(1)).send_result("sunny")
    await person.until(
        lambda: len(texts(lanes.all[1])) == 8 and not lanes.all[0].experiment.busy, "the answer of lane B"
    )
    assert lanes.all[0].debugger.paused


@flow()
async def test_lanes_scroll_together_and_belong_to_their_experiment(person: Person) -> None:
    main, compare = person.session, ComparePage(person)
    lanes = await compare.open()

    # Losses of a protocol
    main.set_parameters(main.settings.current.with_value("n", 2))
    lanes.all[1].switch_protocol("messages")
    await person.until(lambda: "cannot go as" in compare.lanes[1].losses, "the losses")
    main.set_parameters(main.settings.current.with_value("n", None))
    lanes.all[1].switch_protocol("chat")
    await person.until(lambda: not compare.lanes[1].losses, "no losses")

    # Another experiment has lanes of its own
    await person.run("Hello !long=60")
    await compare.wait_for_answers(2)
    await person.key(Qt.Key.Key_N, CONTROL)
    await person.until(lambda: person.session.main is not main, "another experiment")
    await compare.wait_for_lanes(1)
    await person.do(lambda: person.app.workspace.open(main.id))
    lanes = await compare.wait_for_lanes(2)
    assert lanes.all[0] is main
    assert [texts(lane)[0] for lane in lanes.all] == ["Hello !long=60"] * 2

    for count in (2, 3):
        await person.run("Tell me about it !long=60")
        await compare.wait_for_answers(2 * count)
    first, second = compare.lanes
    bar = first.scroll_area.verticalScrollBar()
    await person.until(lambda: bar.maximum() > bar.pageStep() // 2, "something to scroll")

    def places() -> tuple[int, int]:
        return first.first_in_view(lanes.all[0]), second.first_in_view(lanes.all[1])

    for position in (bar.maximum(), 0, bar.maximum()):
        await person.do(lambda: bar.setValue(position))  # noqa: B023 - it is awaited
        await person.until(lambda: places()[0] == places()[1] >= 0, "the same message in both")
    last = places()[1]
    assert last > 0
    await person.trigger("compare.together")
    await person.do(lambda: bar.setValue(0))
    await person.until(lambda: places() == (0, last), "only the first lane scrolled")


@flow()
async def test_differences_are_marked_and_shown_below_a_lane_and_in_the_inspector(person: Person) -> None:
    main, compare = person.session, ComparePage(person)
    lanes = await compare.open()
    first, second = compare.lanes
    warm = lanes.all[1]
    await person.do(lambda: set_warm(warm))

    def difference() -> str:
        return "".join(view.toPlainText() for view in person.find(QTextEdit, "Differences"))

    def compare_with() -> QComboBox | None:
        return next(iter(person.find(QComboBox, "Compare with")), None)

    def compared_with(entry: str) -> bool:
        box = compare_with()
        return box is not None and box.currentText() == entry

    # The next requests, before the first run
    await second.select()
    await person.trigger("wire.diff")
    await person.until(lambda: compared_with("Next requests: lane A and this lane"), "lane A's next request")
    await person.until(lambda: "temperature" in difference(), "the next requests to be compared")
    assert "model" not in difference()

    await person.run("Hello")
    await compare.wait_for_answers(2)
    await person.trigger("compare.mark")
    await person.until(second.marked_texts, "marks in the second lane")
    await person.until(lambda: second.request_difference == "1 field of the request differs", "the difference")
    await person.until(lambda: " s)" in second.metrics, "the difference of the first token")
    assert "(" not in first.metrics

    tabs = person.get(QTabBar, "Inspector")
    titles = [tabs.tabText(number) for number in range(tabs.count())]
    await person.do(tabs.setFocus)
    await person.do(lambda: tabs.setCurrentIndex(titles.index("Response")))
    await second.show_request_difference()
    await person.until(lambda: compared_with("Lane A, same round"), "lane A in the inspector")
    await person.until(lambda: any(text.startswith("Lane B") for text in Comparison(person).scope), "the lane's name")
    await person.until(lambda: "temperature" in difference(), "the field")
    await person.until(lambda: "1 difference" in Comparison(person).summary, "the count")

    # Lane A is not compared with itself, nor with a round that it has not
    await first.select()
    await person.until(
        lambda: (box := compare_with()) is not None and box.findText("Lane A, same round") < 0, "no lane A"
    )
    await person.do(lambda: lanes.tick(main, on=False))
    await second.select()
    await person.run("And now?")
    await person.until(lambda: len(texts(warm)) == 4 and not main.experiment.busy, "a round without lane A")
    await person.until(lambda: not second.request_difference, "no comparison below it")
    await person.until(lambda: "Lane A has no request of the same round" in difference(), "the reason")

    await person.trigger("compare.mark")
    await person.until(lambda: "(" not in second.metrics, "metrics without differences")
    await person.until(lambda: not second.marked_texts(), "no marks")


@flow()
async def test_lanes_are_added_moved_by_keys_and_saved_as_presets(person: Person) -> None:
    main, compare = person.session, ComparePage(person)
    lanes = await compare.open()
    second = compare.lanes[1]

    # A lane becomes a preset, and the preset another lane
    await person.do(lambda: set_warm(lanes.all[1]))
    await compare.lanes[1].choose("Save as preset…")
    dialog = await wait_for_dialog(person, "Save as preset")
    name = await dialog.wait_for(QLineEdit, "Name")
    await person.do(lambda: name.setText("warm"))
    await person.do(lambda: QTest.keyClick(name, Qt.Key.Key_Return))
    await person.until(lambda: not dialog.visible, "the dialog to close")
    await compare.add_preset("warm")
    await compare.wait_for_lanes(3)
    assert lanes.title(lanes.all[2]) == "C · warm"
    assert lanes.all[2].settings.current.set_fields["temperature"] == 1
    await person.do(lambda: set_warm(lanes.all[1], None))
    await compare.lanes[2].choose("Close")
    await compare.wait_for_lanes(2)
    await person.conversation.notice.press("Undo")
    await compare.wait_for_lanes(3)
    await compare.lanes[2].choose("Close")
    await compare.wait_for_lanes(2)

    assert not compare.bar.has_button("Gateway")
    await second.select()
    await person.until(lambda: person.session is lanes.all[1], "the second lane in front")
    await person.use_model("demo-chat")
    await person.until(lambda: second.model == "demo-chat", "its model above it")
    await person.until(lambda: "otherwise same as A" in second.settings, "the differing settings")
    await compare.add("Copy of this lane")
    await compare.wait_for_lanes(3)
    assert lanes.all[2].settings.model == "demo-chat"
    assert "3 lanes" in compare.bar.texts

    await compare.lanes[2].choose("System message…")
    dialog = await wait_for_dialog(person, "System message of the lane")
    field = await dialog.wait_for(QPlainTextEdit, "System message")
    await person.do(lambda: field.setPlainText("Be brief."))
    await person.do(lambda: QTest.keyClick(field, Qt.Key.Key_Return, CONTROL))
    await person.until(lambda: texts(lanes.all[2]) == ["Be brief."], "the system message of the lane")
    await person.trigger("edit.undo")
    await person.until(lambda: texts(lanes.all[2]) == [], "the lane without it")
    await second.select()
    await person.until(lambda: person.session is lanes.all[1], "the second lane in front again")

    await compare.add("Other models…")
    dialog = await wait_for_dialog(person, "Add lanes of other models")
    search = await dialog.wait_for(QLineEdit, "Find a model, or type an id")
    for model in ("demo-tools", "typed/by-hand"):
        await person.do(lambda: search.setText(model))  # noqa: B023 - it is awaited
        await person.do(lambda: QTest.keyClick(search, Qt.Key.Key_Return))
    await dialog.press("Add 2 lanes")
    await compare.wait_for_lanes(5)
    assert [lane.settings.model for lane in lanes.all[3:]] == ["demo-tools", "typed/by-hand"]
    window = person.app.window
    await person.until(lambda: window.focusWidget() is person.message, "the focus in the message field")
    await person.do(window.activateWindow)
    await person.trigger("edit.undo")
    await compare.wait_for_lanes(3)

    await person.run("Hello")
    await compare.wait_for_answers(2)
    await person.until(lambda: person.session is lanes.all[1])
    await person.key(Qt.Key.Key_F6)
    await person.until(lambda: person.session is lanes.all[2], "the third lane")
    await person.until(lambda: compare.lanes[2].has_focus, "the focus in it")
    await person.key(Qt.Key.Key_F6)
    await person.until(lambda: person.session is main, "the first lane after the last")
    await person.key(Qt.Key.Key_F6, SHIFT)
    third = lanes.all[2]
    await person.key(Qt.Key.Key_PageUp, CONTROL | Qt.KeyboardModifier.AltModifier)
    await person.until(lambda: lanes.all[1] is third, "the lane one place to the left")

    answer = third.transcript.path[-1]
    await person.until(lambda: compare.lanes[1].messages.find_message(answer), "its answer in the second column")
    card = await compare.lanes[1].messages.wait_for_message(answer)
    buttons = [*card.find(QAbstractButton, "Earlier alternative"), *card.find(QAbstractButton, "Later alternative")]
    await person.do(next(button for button in buttons if button.isEnabled()).setFocus)
    number = get_by_object_name(person, "alternativeNumber", card.widget)
    assert sorted(re.findall("lane [A-Z]", number.toolTip())) == ["lane A", "lane C"]


@flow()
async def test_strip_shows_lanes_out_of_sight_and_panels_name_the_lane(person: Person) -> None:
    compare = ComparePage(person)
    lanes = await compare.open(2)
    assert compare.chips == [], "both columns fit"
    for _ in range(4):
        await person.do(lanes.add)
    await person.until(lambda: len(compare.chips) == 6, "a chip for each lane")
    assert compare.chips[0].mapTo(person.app.window, QPoint(0, compare.chips[0].height())).y() <= min(
        lane.widget.mapTo(person.app.window, QPoint(0, 0)).y() for lane in compare.lanes
    ), "the heads of the lanes are below the strip"
    await person.run("Hello")
    await compare.wait_for_answers(2)
    names = [f"Lane {letter}, " for letter in "ABCDEF"]
    await person.until(
        lambda: all("first token" in chip.accessibleName() for chip in compare.chips), "metrics on the chips"
    )
    assert all(chip.accessibleName().startswith(name) for chip, name in zip(compare.chips, names, strict=True))

    await person.click(compare.chips[5])
    await person.until(lambda: person.session is lanes.all[5], "the last lane in front")
    await person.until(lambda: compare.focused_lane == "F", "the focus in it")
    x = compare.lanes[5].widget.mapTo(person.app.window, QPoint(0, 0)).x()
    assert 0 <= x < person.app.window.width(), "the lane is in view"
    assert [chip.isChecked() for chip in compare.chips] == [False] * 5 + [True]

    await person.trigger("view.parameters")
    await person.trigger("view.inspector")
    await person.until(lambda: compare.lane_chips == ["Lane F", "Lane F"], "the lane on panel and inspector")
    await person.key(Qt.Key.Key_F6)
    await person.until(lambda: compare.lane_chips == ["Lane A", "Lane A"], "the next lane")
    await compare.close()
    await person.until(lambda: compare.lane_chips == [], "no lane beside the conversation")


def test_running_lanes_survive_the_trash_and_the_end_of_the_application(stage: Stage) -> None:
    def received(session: Session, turns: int) -> bool:
        """Return whether each lane has so many turns, the last a part of an answer."""
        ends = [lane.transcript.path[-1] for lane in session.experiment.lanes if len(lane.transcript.path) == turns]
        return len(ends) == 3 and all(turn.parts and turn.outcome and not turn.outcome.is_complete for turn in ends)

    async def ask(person: Person) -> None:
        session = person.session.main
        await person.run("!long=9000 !tps=60")

        def under_way() -> bool:
            return len(session.growing) == 3 and min(choice.deltas for choice in session.growing.values()) > 9

        await person.until(under_way, "three answers under way")

    async def first(person: Person) -> None:
        compare = ComparePage(person)
        await compare.open(3)
        session = person.session.main
        await ask(person)
        await person.trigger("experiment.delete")
        await person.until(
            lambda: person.session.main is not session and not session.experiment.busy, "another experiment"
        )
        await person.conversation.notice.press("Undo")
        await person.until(lambda: person.session.main.id == session.id, "the experiment to be back")
        await person.until(lambda: received(person.session.main, 2), "the received text in each lane")
        await compare.wait_for_lanes(3)
        await ask(person)

    async def second(person: Person) -> None:
        await opened(person)
        await person.until(lambda: received(person.session.main, 4), "the text received before the window closed")

    stage.play(first)
    stage.play(second)
