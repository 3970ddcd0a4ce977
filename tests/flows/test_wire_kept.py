"""Exchanges are there the next day: read from the disk when they are looked at, and not before."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu, QToolButton

from playground.demo.server import DemoServer
from playground.engine.cassettes.cassette import open_file
from playground.engine.library.store.opening import default_path
from tests.engine.library.store.test_killed import killed, long_before
from tests.flows.conftest import Person, Stage
from tests.flows.pages.code import CodeWindow
from tests.flows.pages.compare import ComparePage
from tests.flows.pages.dialogs import choose_file
from tests.flows.pages.inspector import Comparison, Inspector, Timeline
from tests.flows.test_store import SLOW, act, back, opened
from tests.flows.test_wire import CALLING, sample, use

CALL_MENU = "More for this call"
CARRIED = "Show its events"
FRAMES = "Show its events"


def turn_menu(person: Person, name: str, number: int = 0) -> QMenu:
    """A menu of the last turn on the path."""
    menu = person.find(QToolButton, name, person.card(-1))[number].menu()
    assert menu is not None
    return menu


def trigger(menu: QMenu, entry: str) -> None:
    """Trigger an entry of a menu without opening it."""
    menu.aboutToShow.emit()
    (action,) = [action for action in menu.actions() if action.text() == entry]
    action.trigger()


async def show_frames(person: Person, menu: QMenu, entry: str) -> None:
    await person.do(partial(trigger, menu, entry))


def test_frames_of_yesterday_are_found_from_the_card_of_a_call(stage: Stage) -> None:
    async def run(person: Person) -> None:
        await opened(person)
        await sample(person)
        turns.append(len(person.path))

    async def look(person: Person) -> None:
        await back(person, turns[0])
        turn = person.path[-1]
        await show_frames(person, turn_menu(person, CALL_MENU, 1), CARRIED)
        timeline = Timeline(person)
        await person.until(lambda: timeline.selected, "the frame")
        assert turn.calls[1].id in await timeline.show_raw()

    async def again(person: Person) -> None:
        """Asked for in the moment in which it came back from the disk, before that was drawn."""
        await back(person, turns[0])
        turn, session = person.path[-1], person.session
        assert turn.outcome is not None
        exchange_id = turn.outcome.exchange or ""
        await person.until(lambda: not session.exchanges[exchange_id].dropped, "the exchange shown to be fetched")
        await show_frames(person, turn_menu(person, "More for this message"), FRAMES)
        timeline = Timeline(person)
        await person.until(lambda: timeline.selected, "its timeline")
        before, menu = timeline.selected, turn_menu(person, CALL_MENU, 1)

        def arrive_and_show() -> None:
            session.experiment.exchange_changed(replace(session.exchanges[exchange_id]))
            trigger(menu, CARRIED)

        await person.do(arrive_and_show)
        chosen = timeline.selected
        assert len(chosen) == 1
        assert chosen != before
        assert turn.calls[1].id in await timeline.show_raw()
        for title in ("Request", "Timeline"):  # which draws it again
            await timeline.show_tab(title)
        assert timeline.selected == chosen

    turns: list[int] = []
    stage.play(run, CALLING)
    stage.play(look, CALLING)
    stage.play(again, CALLING)


def test_exchanges_of_lanes_and_conversations_are_there_after_a_restart(stage: Stage, tmp_path: Path) -> None:
    file, archive = tmp_path / "talk.cassette.json", tmp_path / "talk.har"

    async def run(person: Person) -> None:
        await opened(person)
        await use(person, "demo-reasoner")
        await person.run("Tell me about tides")
        await person.idle(2)
        await person.run("And about the moon")
        await person.idle(4)
        bodies.extend(exchange.body for exchange in person.session.exchanges.values())
        ids.append(person.session.id)

        await act(person, "experiment.new")
        await use(person, "demo-chat")
        compare = ComparePage(person)
        lanes = await compare.open()
        second = lanes.all[1]
        await person.do(lambda: second.set_parameters(second.settings.current.with_value("temperature", 1)))
        await person.run("Hello")
        await compare.wait_for_answers(2)

    async def look(person: Person) -> None:
        await back(person, 2)
        compare = ComparePage(person)
        await act(person, "compare.open")  # a window of the small screen has no room for the switch
        await compare.wait_for_lanes(2)
        await act(person, "compare.mark")
        await person.until(lambda: compare.lanes[1].request_difference == "1 field of the request differs", "it")
        await compare.lanes[1].show_request_difference()
        diff = Comparison(person)
        await person.until(lambda: "temperature" in diff.text, "the field")
        await diff.compare_part("Metrics")
        await person.until(lambda: diff.metrics, "the metrics")

        # The exchanges of the other experiment
        await compare.close()
        await person.app.workspace.show(ids[0])
        await person.until(lambda: len(person.path) == 4, "the other experiment")
        await choose_file(person, "cassette.save-all", file)
        await person.until(file.exists, "the file")
        assert [exchange.body for exchange in open_file(file).exchanges] == bodies
        await choose_file(person, "cassette.export", archive)
        await person.until(archive.exists, "the archive")
        assert "And about the moon" in archive.read_text(encoding="utf-8")

        await diff.show_tab("Request", "Compare")
        await diff.compare_part("Request")
        await person.until(lambda: "And about the moon" in diff.text, "what was asked differently")

        await diff.compare_part("Answer")
        await person.until(lambda: "alike" in diff.summary, "what was answered differently")

        code = await CodeWindow.opened(person, "run.code")
        await person.until(lambda: code.text, "the code of the next request")
        await code.choose_request(2)
        await person.until(lambda: code.text.count('"role"') == 1, "the code of the first request")
        assert "the moon" not in code.text
        await person.key(Qt.Key.Key_Escape)

    bodies: list[bytes] = []
    ids: list[str] = []
    stage.play(run, CALLING)
    stage.play(look, CALLING)


def test_frames_of_an_answer_are_there_after_the_application_was_killed(stage: Stage) -> None:
    server = DemoServer(SLOW)
    had = long_before(killed(default_path(), server.start()))
    server.stop()

    async def look(person: Person) -> None:
        await back(person, 2)
        assert "interrupted" in (await person.conversation.wait_for_message(1)).texts
        await show_frames(person, turn_menu(person, "More for this message"), FRAMES)
        timeline = Timeline(person)
        await person.until(lambda: timeline.count >= had, "the frames")
        await person.until(lambda: "200 · incomplete" in Inspector(person).status, "what it says of the exchange")

    stage.play(look)
