"""A person compares: lanes opened, set, asked together, paused, stopped, continued, closed, taken back, left."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QByteArray, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QCheckBox, QLabel, QMenu, QPushButton, QToolButton, QWidget

from playground.demo.server import DemoConfig
from playground.domain.transcript import Role, make_turn
from playground.engine.compare.lanes import Lanes
from playground.engine.compare.words import not_carried
from playground.engine.requests.protocol_conversion import Loss
from playground.engine.session.changes import RunState
from playground.engine.session.session import Session
from playground.ui.features.compare import page as compare_page
from playground.ui.features.compare.lane import LaneColumn
from playground.ui.features.compare.page import LanesPage
from playground.ui.features.conversation.alternative_switch import AlternativeSwitch
from playground.ui.features.conversation.card_texts import texts_of
from playground.ui.features.conversation.transcript_pane import TranscriptPane
from playground.ui.features.inspector.diff_page import LANE_A, NEXT_OF_A
from playground.ui.features.inspector.wire_views import DiffView
from playground.ui.features.presets.save_dialog import SavePresetDialog
from playground.ui.features.tools.samples import SAMPLE
from playground.ui.shell.features import EXPERIMENTS, GATEWAYS, PRESETS
from playground.ui.shell.main_window import STATE_VERSION
from playground.ui.widgets.model_picker import ModelPicker
from playground.ui.widgets.models_dialog import ModelsDialog
from tests.flows.conftest import Person, Stage
from tests.flows.test_store import opened

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def page(person: Person) -> LanesPage:
    found = person.pane.columns
    assert isinstance(found, LanesPage)
    return found


def columns(person: Person) -> list[LaneColumn]:
    return page(person).columns


def texts(lane: Session) -> list[str]:
    return [turn.text for turn in lane.transcript.path]


async def open_lanes(person: Person, count: int = 2) -> Lanes:
    await person.press("Compare", person.app.window.bar)
    await person.until(lambda: person.pane.columns is not None, "the lanes")
    lanes = page(person).lanes
    for _ in range(count - 2):
        await person.do(lanes.add)
    await person.until(lambda: len(columns(person)) == count and all(map(LaneColumn.isVisible, columns(person))))
    return lanes


async def wait_at_calls(person: Person) -> Lanes:
    """Two lanes, each with a call that waits."""
    person.session.change(tools=(SAMPLE,), model="demo-tools")
    lanes = await open_lanes(person)
    await person.run("Weather in Oslo")
    await person.until(lambda: all(lane.debugger.paused for lane in lanes.all), "a call in each lane")
    return lanes


async def answered(person: Person, lanes: Lanes, turns: int) -> None:
    def whole() -> bool:
        return all(len(texts(lane)) == turns and lane.transcript.path[-1].outcome for lane in lanes.all)

    await person.until(lambda: not lanes.all[0].busy and whole(), f"{turns} turns in each lane")


async def choose(person: Person, column: LaneColumn, entry: str) -> None:
    await person.choose(person.one(QToolButton, "More about this lane", column), entry)


def test_one_question_in_two_lanes_set_apart_in_the_panels_and_back_to_the_conversation(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        main = person.session
        lanes = await open_lanes(person)
        first, second = columns(person)
        assert first.isAncestorOf(person.pane.view)
        assert not person.app.window.left_dock.isVisible()

        await person.click(second.words)
        await person.until(lambda: person.session is lanes.all[1], "the second lane to have the focus")
        before = main.settings.model
        await person.use_model("demo-chat")
        assert main.settings.model == before != "demo-chat"
        await person.until(lambda: second.model.currentText() == "demo-chat", "its model above it")

        await person.run("Hello")
        await answered(person, lanes, 2)
        assert {person.body(-1)["model"], person.body(-2)["model"]} == {"demo-chat", before}
        assert second.pane.view.card(lanes.all[1].transcript.path[-1].id) is not None
        await person.until(lambda: "first token" in second.figures.text(), "figures below it")
        await person.until(
            lambda: any(one.best.isVisible() and one.best.mark for one in columns(person)), "the best of each marked"
        )

        await person.press("Continue here", second)
        await person.until(lambda: main.settings.model == "demo-chat", "the lane to be the conversation")
        await person.until(lambda: first.model.currentText() == "demo-chat", "the first column to say so")
        assert person.pane.view.card(main.transcript.path[-1].id) is not None

        await person.press("Conversation", person.app.window.bar)
        await person.until(lambda: person.pane.columns is None, "the conversation alone")
        assert person.session is main
        assert person.pane.view.isVisible()
        assert person.app.window.left_dock.isVisible()
        await person.run("And now?")
        await person.idle(4)
        assert len(texts(main.lanes[1])) == 2

    stage.play(scene)


def test_lanes_have_the_windows_room_and_what_stands_around_them_is_chosen_apart(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        window = person.app.window
        docks = (window.left_dock, window.right_dock, window.bottom_dock)

        def shown() -> list[bool]:
            return [dock.isVisible() for dock in docks]

        before = shown()
        assert before == [True, True, True]
        await open_lanes(person)
        assert shown() == [False, False, False]
        column = columns(person)[1]
        await person.click(column.count)
        await person.until(window.right_dock.isVisible, "the panel in which the lane is set")
        window.remember_layout()
        await person.press("Conversation", window.bar)
        await person.until(lambda: shown() == before, "all that stood around the conversation")
        await person.press("Compare", window.bar)
        await person.until(lambda: shown() == [False, True, False], "what stood around the lanes")
        stored = window.saveState()
        window.restoreState(QByteArray(person.app.settings.value("window/state")), STATE_VERSION)
        assert shown() == before, "a window opens as the conversation was left"
        window.restoreState(stored)

    stage.play(scene)


def test_lanes_are_ticked_stopped_one_and_all_closed_and_brought_back(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        lanes = await open_lanes(person, 3)
        first, second, third = columns(person)
        await person.click(person.one(QCheckBox, "Messages go to lane C", third))
        await person.until(lambda: len(lanes.ticked) == 2, "two lanes on the button")
        await person.run("!long=9000 !tps=30")
        await person.until(lambda: all(lane.state is RunState.STREAMING for lane in lanes.all[:2]), "two answers")
        assert texts(lanes.all[2]) == []
        await person.press("Stop this lane", second)
        await person.until(lambda: lanes.all[1].state is RunState.IDLE, "one lane stopped")
        assert lanes.all[0].state is not RunState.IDLE
        await person.key(Qt.Key.Key_Escape, SHIFT)
        await person.until(lambda: not lanes.all[0].busy, "all lanes stopped")

        await choose(person, second, "Close")
        await person.until(lambda: len(lanes.all) == 2, "a lane less")
        await person.click(person.pane.composer)
        await person.press("Undo", person.pane.notice)
        await person.until(lambda: len(columns(person)) == 3, "the lane back")
        assert first.isVisible()

    stage.play(scene, DemoConfig(tokens_per_second=30, time_to_first_token=0.02, rate_limit=1_000_000))


def test_each_lane_waits_at_its_own_call_and_goes_on_from_its_own_card(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        lanes = await wait_at_calls(person)
        second = columns(person)[1]
        await person.until(lambda: "waits at 1 call" in second.figures.text(), "its foot to say so")
        ((turn_id, call),) = lanes.all[1].debugger.waiting
        await person.do(lambda: second.pane.calls.answer(turn_id, call.id, "sunny", False))
        await person.until(lambda: len(texts(lanes.all[1])) == 4 and not lanes.all[0].busy, "the second lane to go on")
        assert lanes.all[0].debugger.paused

    stage.play(scene)


def test_lanes_scroll_together_by_turns_or_each_by_itself(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        lanes = await open_lanes(person)
        for count in (1, 2, 3):
            await person.run("Tell me about it !long=60")
            await answered(person, lanes, 2 * count)
        first, second = (column.pane.view for column in columns(person))
        await person.until(lambda: first.verticalScrollBar().maximum() > 400, "something to scroll")
        await person.do(lambda: first.show_place(2, 0.0))
        await person.until(lambda: first.place[0] == second.place[0] == 2, "the same turn in both")
        await person.do(person.app.window.action("compare.together").trigger)
        await person.do(lambda: first.verticalScrollBar().setValue(0))
        assert (first.place[0], second.place[0]) == (0, 2)

    stage.play(scene)


def test_what_differs_from_the_first_lane_is_marked_in_the_answers_and_no_longer(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        lanes = await open_lanes(person)
        second = columns(person)[1]
        warm = lanes.all[1]
        await person.do(lambda: warm.set_parameters(warm.settings.current.with_value("temperature", 1)))
        await person.run("Hello")
        await answered(person, lanes, 2)

        def marks() -> int:
            card = second.pane.view.card(warm.transcript.path[-1].id)
            return sum(len(text.view.linked.spans) for text in texts_of(card)) if card is not None else 0

        await person.do(person.app.window.action("compare.mark").trigger)
        await person.until(lambda: marks() > 0, "marks in the second lane")
        await person.do(person.app.window.action("compare.mark").trigger)
        await person.until(lambda: marks() == 0, "no marks")

    stage.play(scene)


def test_how_the_request_and_the_figures_of_a_lane_differ_stands_below_it_and_in_the_inspector(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        main = person.session
        lanes = await open_lanes(person)
        second, warm = columns(person)[1], lanes.all[1]
        await person.do(lambda: warm.set_parameters(warm.settings.current.with_value("temperature", 1)))
        diff = person.app.window.inspector.view(DiffView).page

        def shown(*words: str) -> bool:
            return all(word in diff.text.toPlainText() for word in words)

        # What would be sent, before anything was
        await person.click(second.words)
        await person.do(person.app.window.action("wire.diff").trigger)
        await person.until(lambda: diff.against.currentData() == NEXT_OF_A, "lane A's next request to be offered")
        await person.until(lambda: shown("temperature"), "the next requests to be compared")
        assert not shown("model")

        await person.run("Hello")
        await answered(person, lanes, 2)
        await person.do(person.app.window.action("compare.mark").trigger)
        await person.until(lambda: second.request.text() == "1 field of the request differs", "how many fields differ")
        await person.until(lambda: " s)" in second.figures.text(), "how the first token differs")
        assert "(" not in columns(person)[0].figures.text()

        await person.do(person.app.window.inspector.tabs.setFocus)
        await person.do(lambda: person.app.window.inspector.show_tab("Response"))
        await person.click(second.request)
        await person.until(lambda: diff.isVisible() and diff.against.currentData() == LANE_A, "lane A in the inspector")
        await person.until(lambda: shown("temperature") and "1 difference" in diff.says.text(), "the field")

        # Lane A has the one before; what is compared with lane A in another round is none
        await person.click(columns(person)[0].words)
        await person.until(lambda: diff.against.findData(LANE_A) == -1, "lane A not to be compared with itself")
        await person.do(lambda: lanes.tick(main, on=False))
        await person.click(second.words)
        await person.run("And now?")
        await person.until(lambda: len(texts(warm)) == 4 and not main.busy, "a round that lane A has not")
        await person.until(lambda: not second.request.isVisible(), "nothing to be compared below it")
        await person.until(lambda: shown("Lane A has no other request of the same round"), "the inspector to say so")

        await person.do(person.app.window.action("compare.mark").trigger)
        await person.until(lambda: "(" not in second.figures.text(), "figures alone")

    stage.play(scene)


def test_one_result_goes_to_all_lanes_from_the_card_of_a_call_and_the_lanes_are_copied_as_a_table(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        lanes = await wait_at_calls(person)
        pane = columns(person)[1].pane
        ((turn_id, call),) = lanes.all[1].debugger.waiting
        await person.until(lambda: pane.calls.state(turn_id, call.id).elsewhere == 1, "the same call in the other lane")
        card = pane.view.card(turn_id)
        assert card is not None
        shown = card.turn_to_call(call.id)
        assert shown is not None
        await person.press("Same to all lanes", shown)
        await answered(person, lanes, 4)
        assert not any(lane.debugger.waiting for lane in lanes.all)
        await person.do(person.app.window.action("compare.copy").trigger)
        header, *rows = QApplication.clipboard().text().splitlines()
        assert header.split("\t")[0].startswith("A · ")
        assert any("get_weather" in row for row in rows)

    stage.play(scene)


def test_another_experiment_has_lanes_of_its_own_and_the_first_keeps_its_lanes(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        first = person.session
        lanes = await open_lanes(person)
        await person.run("Hello")
        await answered(person, lanes, 2)
        await person.key(Qt.Key.Key_N, CONTROL)
        await person.until(lambda: person.session.main is not first, "another experiment")
        await person.until(lambda: page(person).lanes.all[0] is person.session.main, "its own lanes")
        assert len(page(person).lanes.all) == 1
        await person.do(lambda: person.app.workspace.open(first.id))
        await person.until(lambda: len(page(person).lanes.all) == 2, "the lanes of the first")
        assert [texts(lane)[0] for lane in page(person).lanes.all] == ["Hello", "Hello"]

    stage.play(scene)


def test_what_a_run_does_in_one_lane_draws_no_other_anew_at_once(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once: list[TranscriptPane] = []  # and not with the next picture
    show_rows = TranscriptPane._show_rows

    def noting(pane: TranscriptPane, *, latest: bool = False) -> None:
        if not pane.stale:
            at_once.append(pane)
        show_rows(pane, latest=latest)

    async def scene(person: Person) -> None:
        lanes = await open_lanes(person, 3)
        await person.run("!long=9000 !tps=30")
        await person.until(lambda: all(lane.state is RunState.STREAMING for lane in lanes.all), "three answers")
        second = columns(person)[1].pane
        await person.until(lambda: all(not column.pane.stale for column in columns(person)), "all of them drawn")
        at_once.clear()
        lanes.all[1].turns.add_turn(make_turn(Role.USER, "And then"))
        assert at_once == [second], "what is other turns there is drawn there at once"
        lanes.all[1].stop()
        await person.until(lambda: lanes.all[1].state is RunState.IDLE, "one lane stopped")
        await person.until(lambda: all(not column.pane.stale for column in columns(person)), "all of them drawn")
        assert at_once == [second], "its end is drawn with the next picture"
        assert [row.growing for row in second.rows.rows] == [False, False, False]
        await person.do(lanes.stop)
        await person.until(lambda: not lanes.all[0].busy, "all stopped")

    monkeypatch.setattr(TranscriptPane, "_show_rows", noting)
    stage.play(scene)


def test_what_a_protocol_cannot_carry_is_looked_for_again_only_where_something_else_would_be_sent(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[Session] = []

    def noting(lane: Session) -> list[Loss]:
        looked.append(lane)
        return not_carried(lane)

    async def scene(person: Person) -> None:
        main = person.session
        lanes = await open_lanes(person)
        main.set_parameters(main.settings.current.with_value("n", 2))
        lanes.all[1].switch_protocol("messages")
        second = columns(person)[1]
        await person.until(lambda: "cannot go as" in second.losses.text(), "what cannot go as it is")
        await person.until(lambda: not page(person).looking, "all looked at")
        looked.clear()
        for _ in range(5):
            page(person).arrange()
        await person.until(lambda: not page(person).looking, "all looked at")
        assert looked == []
        main.set_parameters(main.settings.current.with_value("n", None))
        await person.until(lambda: not second.losses.text(), "nothing that cannot go")

    monkeypatch.setattr(compare_page, "not_carried", noting)
    stage.play(scene)


def focus_in(column: LaneColumn) -> bool:
    at = QApplication.focusWidget()
    return at is not None and column.isAncestorOf(at)


async def add(person: Person, entry: str) -> None:
    await person.choose(person.one(QPushButton, "Add a lane", person.app.window.bar), entry)


def test_lanes_are_added_from_the_tool_bar_set_above_their_turns_and_gone_to_by_keys(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        main = person.session
        lanes = await open_lanes(person)
        bar, second = person.app.window.bar, columns(person)[1]
        assert not person.find(QPushButton, "Gateway", bar)
        await person.click(second.words)
        await person.until(lambda: person.session is lanes.all[1], "the second lane in front")
        await person.use_model("demo-chat")
        await person.until(lambda: "otherwise as set" in second.words.text(), "what differs, in words")
        assert main_picker(person) is second.model
        await person.until(lambda: "demo-tools" in second.model.ids, "the models of its gateway")
        await add(person, "Copy of this lane")
        await person.until(lambda: len(columns(person)) == 3, "a copy")
        assert lanes.all[2].settings.model == "demo-chat"
        assert "3 lanes" in [label.text() for label in person.find(QLabel, "", bar)]

        await add(person, "Other models…")
        dialog = await person.seen(ModelsDialog, "", None)
        for model in ("demo-tools", "typed/by-hand"):
            await person.do(lambda: dialog.search.setText(model))  # noqa: B023
            await person.do(lambda: QTest.keyClick(dialog.search, Qt.Key.Key_Return))
        await person.until(dialog.add.isEnabled, "two models ticked")
        await person.do(dialog.add.click)
        await person.until(lambda: len(columns(person)) == 5, "two lanes more")
        assert [lane.settings.model for lane in lanes.all[3:]] == ["demo-tools", "typed/by-hand"]
        window = person.app.window
        await person.until(lambda: window.focusWidget() is person.message, "the focus where a question is written")
        await person.do(window.activateWindow)
        await person.do(person.app.window.action("edit.undo").trigger)
        await person.until(lambda: len(columns(person)) == 3, "one undo for both")

        await person.run("Hello")
        await answered(person, lanes, 2)
        await person.until(lambda: person.session is lanes.all[1])
        await person.key(Qt.Key.Key_F6)
        await person.until(lambda: page(person).front_lane is lanes.all[2], "the third lane")
        await person.until(lambda: focus_in(columns(person)[2]), "the focus in it")
        await person.key(Qt.Key.Key_F6)
        await person.until(lambda: page(person).front_lane is main, "from the last on to the first")
        await person.key(Qt.Key.Key_F6, SHIFT)
        third = lanes.all[2]
        await person.key(Qt.Key.Key_PageUp, CONTROL | Qt.KeyboardModifier.AltModifier)
        await person.until(lambda: lanes.all[1] is third, "the lane one place to the left")

        card = columns(person)[1].pane.view.card(third.transcript.path[-1].id)
        assert card is not None
        switch = person.one(AlternativeSwitch, "", card)
        assert {switch.whose(key) for key in main.transcript.siblings(main.transcript.head or "")} == {
            "lane A",
            "",
            "lane C",
        }

    stage.play(scene)


def main_picker(person: Person) -> ModelPicker:
    return person.app.actions.of(GATEWAYS).picker


def test_a_lane_is_kept_as_a_preset_and_a_preset_makes_a_lane(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        lanes = await open_lanes(person)
        second = lanes.all[1]
        await person.do(lambda: second.set_parameters(second.settings.current.with_value("temperature", 1)))
        await choose(person, columns(person)[1], "Save as preset…")
        dialog = await person.seen(SavePresetDialog)
        await person.do(lambda: dialog.name.setText("warm"))
        await person.do(lambda: QTest.keyClick(dialog.name, Qt.Key.Key_Return))
        store = person.app.actions.of(PRESETS).store
        await person.until(lambda: [preset.name for preset in store.presets] == ["warm"], "the preset")

        button = person.one(QPushButton, "Add a lane", person.app.window.bar)
        await person.do(button.menu().aboutToShow.emit)
        (presets,) = (action.menu() for action in button.menu().actions() if action.text() == "From a preset")
        assert isinstance(presets, QMenu)
        await person.do(presets.actions()[0].trigger)
        await person.until(lambda: len(columns(person)) == 3, "a lane of the preset")
        assert lanes.title(lanes.all[2]) == "C · warm"
        assert lanes.all[2].settings.current.held["temperature"] == 1
        await choose(person, columns(person)[2], "Close")
        await person.until(lambda: len(columns(person)) == 2)
        await person.press("Undo", person.pane.notice)
        await person.until(lambda: len(columns(person)) == 3, "the lane back")

    stage.play(scene)


def lane_of_focus(person: Person) -> str:
    return next((name for name, column in zip("ABC", columns(person), strict=False) if focus_in(column)), "-")


def test_the_tab_key_goes_through_one_lane_after_the_other_and_escape_stops_the_one_in_front(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        lanes = await open_lanes(person, 3)
        await person.run("Hello")
        await answered(person, lanes, 2)
        await person.until(lambda: all(len(column.stops) > 10 for column in columns(person)), "cards in each lane")

        def estimated() -> bool:
            """Of the turns as they are drawn by now: that comes a lane at a time."""
            sizes = [column.pane.rows.tokens for column in columns(person)]
            words = f"{sum(sizes):,} tok in 3 lanes" if len(set(sizes)) > 1 else f"{sizes[0]:,} tok × 3"
            return bool(person.find(QWidget, f"Estimated size of the next request: ≈ {words}"))

        await person.until(estimated, "the size of the next requests")
        await person.do(columns(person)[0].tick.setFocus)
        went: list[str] = []
        while (here := lane_of_focus(person)) != "-" and len(went) < 200:
            went.append(here)
            await person.key(Qt.Key.Key_Tab)
        assert "".join(dict.fromkeys(went)) == "ABC"
        assert went == sorted(went), "from the end of one lane to the beginning of the next"
        assert min(map(went.count, "ABC")) > 10
        await person.do(columns(person)[1].tick.setFocus)
        await person.key(Qt.Key.Key_Backtab, SHIFT)
        assert lane_of_focus(person) == "A"
        await person.key(Qt.Key.Key_Tab)
        assert columns(person)[1].tick.hasFocus()

        await person.run("!long=9000 !tps=30")
        await person.until(lambda: all(lane.state is RunState.STREAMING for lane in lanes.all), "three answers")
        assert page(person).front_lane is lanes.all[1]
        await person.key(Qt.Key.Key_Escape)
        await person.until(lambda: lanes.all[1].state is RunState.IDLE, "the lane in front stopped")
        assert all(lanes.all[at].state is not RunState.IDLE for at in (0, 2))
        await person.key(Qt.Key.Key_Escape, SHIFT)
        await person.until(lambda: not lanes.all[0].busy, "all lanes stopped")
        await person.until(lambda: person.find(QPushButton, "Run", person.pane.composer), "the button to run again")

        await person.press("Experiment Hello: show the list of all", person.app.window.bar)
        await person.until(person.app.window.left_dock.isVisible, "the list of experiments")

    stage.play(scene, DemoConfig(tokens_per_second=300, time_to_first_token=0.02, rate_limit=1_000_000))


def test_lanes_under_way_outlive_the_trash_and_the_end_of_the_application(stage: Stage) -> None:
    def received(session: Session, turns: int) -> bool:
        """Whether each lane has so many turns, the last a part of an answer."""
        ends = [lane.transcript.path[-1] for lane in session.lanes if len(lane.transcript.path) == turns]
        return len(ends) == 3 and all(turn.parts and turn.outcome and not turn.outcome.whole for turn in ends)

    async def ask(person: Person) -> None:
        session = person.session.main
        await person.run("!long=9000 !tps=60")

        def under_way() -> bool:
            return len(session.growing) == 3 and min(choice.deltas for choice in session.growing.values()) > 9

        await person.until(under_way, "three answers under way")

    async def first(person: Person) -> None:
        await open_lanes(person, 3)
        known = person.session.main
        await ask(person)
        await person.do(lambda: person.app.actions.of(EXPERIMENTS).delete(known.id))
        await person.until(lambda: person.session.main is not known and not known.busy, "another experiment")
        await person.press("Undo", person.pane.notice)
        await person.until(lambda: person.session.main.id == known.id, "the experiment to be back")
        await person.until(lambda: received(person.session.main, 2), "what had arrived, in each lane")
        await person.until(lambda: len(columns(person)) == 3, "its columns")
        await ask(person)

    async def second(person: Person) -> None:
        await opened(person)
        await person.until(lambda: received(person.session.main, 4), "what had arrived when the window was closed")

    stage.play(first)
    stage.play(second)


def test_lanes_are_left_for_any_page_with_the_focus_in_one_of_them(stage: Stage) -> None:
    def step(person: Person, column: LaneColumn) -> QPushButton | None:
        found = [button for button in column.findChildren(QPushButton) if button.text() == "Step"]
        return next((button for button in found if button.isVisible()), None)

    async def scene(person: Person) -> None:
        await wait_at_calls(person)
        for left_for in (Qt.Key.Key_K, Qt.Key.Key_A):  # the conversation alone, an evaluation
            await person.until(lambda: step(person, columns(person)[1]) is not None, "the call of lane B")
            button = step(person, columns(person)[1])
            assert button is not None
            button.setFocus()
            await person.until(button.hasFocus, "the focus in lane B")
            await person.key(left_for, CONTROL | SHIFT)
            await person.until(lambda: person.pane.columns is None, "another page")
            await person.do(person.app.window.grab)
            await open_lanes(person)
            await person.until(lambda: step(person, columns(person)[0]) is not None, "the call of lane A")
            assert person.pane.turns.isVisible(), "the first lane's turns, which the other page had hidden"

    stage.play(scene)
