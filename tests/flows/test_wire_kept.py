"""What went over the wire is there the next day: read from the disk when somebody looks, and not before."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from playground.demo.server import DemoServer
from playground.engine.cassettes.cassette import open_file
from playground.engine.compare.rounds import last_request
from playground.engine.library.store.opening import default_path
from playground.ui.features.code.get_code_window import GetCodeWindow
from playground.ui.features.inspector.diff_page import ANSWER, FIGURES
from playground.ui.features.inspector.wire_views import DiffView
from tests.engine.library.store.test_killed import killed, long_before
from tests.flows.conftest import Person, Stage
from tests.flows.test_cassettes import choose_file
from tests.flows.test_compare import answered, columns, open_lanes
from tests.flows.test_store import SLOW, act, back, opened
from tests.flows.test_wire import CALLING, page_of, sample, use


def test_frames_of_yesterday_are_found_from_the_card_of_a_call(stage: Stage) -> None:
    async def run(person: Person) -> None:
        await opened(person)
        await sample(person)
        turns.append(len(person.path))

    async def look(person: Person) -> None:
        await back(person, turns[0])
        turn = person.path[-1]
        assert all(exchange.dropped for exchange in person.session.exchanges.values())
        await person.do(lambda: person.pane.wire.frames_asked.emit(turn.id, turn.calls[1].id))
        page = page_of(person)
        await person.until(lambda: page.isVisible() and page.table.chosen, "the frame")
        assert page.trace is not None
        assert turn.calls[1].id in page.trace.index.raw(page.table.chosen[0]).decode()

    async def again(person: Person) -> None:
        """Asked for in the moment in which it came back from the disk, before that was drawn."""
        await back(person, turns[0])
        turn, session = person.path[-1], person.session
        assert turn.outcome is not None
        known = turn.outcome.exchange or ""
        await person.until(lambda: not session.exchanges[known].dropped, "the exchange shown to be fetched")
        await person.do(lambda: person.pane.wire.frames_asked.emit(turn.id, ""))
        page = page_of(person)
        await person.until(lambda: page.isVisible() and page.trace is not None, "its timeline")
        before = page.trace

        def arrive_and_ask() -> None:
            session.experiment.exchange_changed(replace(session.exchanges[known]))
            person.pane.wire.frames_asked.emit(turn.id, turn.calls[1].id)

        await person.do(arrive_and_ask)
        assert page.trace is not before
        assert page.trace is not None
        trace, chosen = page.trace, list(page.table.chosen)
        assert turn.calls[1].id in trace.index.raw(chosen[0]).decode()
        await person.do(person.app.window.inspector.draw_now)
        assert (page.trace, list(page.table.chosen)) == (trace, chosen)

    turns: list[int] = []
    stage.play(run, CALLING)
    stage.play(look, CALLING)
    stage.play(again, CALLING)


def test_yesterdays_exchanges_are_compared_written_as_code_and_saved(stage: Stage, tmp_path: Path) -> None:
    file, archive = tmp_path / "talk.cassette.json", tmp_path / "talk.har"

    async def run(person: Person) -> None:
        await opened(person)
        await use(person, "demo-reasoner")
        await person.run("Tell me about tides")
        await person.idle(2)
        await person.run("And about the moon")
        await person.idle(4)
        bodies.extend(exchange.body for exchange in person.session.exchanges.values())

    async def look(person: Person) -> None:
        await back(person, 4)
        first, _ = person.session.exchanges.values()
        assert first.dropped
        await choose_file(person, "cassette.save-all", file)
        await person.until(file.exists, "the file")
        assert [one.body for one in open_file(file).exchanges] == bodies
        await choose_file(person, "cassette.export", archive)
        await person.until(archive.exists, "the archive")
        assert "And about the moon" in archive.read_text(encoding="utf-8")

        await act(person, "wire.diff")
        diff = person.app.window.inspector.view(DiffView).page
        await person.until(lambda: "And about the moon" in diff.text.toPlainText(), "what was asked differently")

        await person.do(partial(diff.part.setCurrentIndex, ANSWER))
        await person.until(lambda: "alike" in diff.says.text(), "what was answered differently")

        await act(person, "run.code")
        code = GetCodeWindow.shown_for(person.session, person.app.window)
        await person.until(lambda: code.view.toPlainText(), "the code of the next request")
        code.source.setFocus()
        for _ in range(code.source.findData(first.id)):
            QTest.keyClick(code.source, Qt.Key.Key_Down)
        await person.until(lambda: code.view.toPlainText().count('"role"') == 1, "the code of the first request")
        assert "the moon" not in code.view.toPlainText()
        assert first.dropped, "memory holds no more than before"
        await person.key(Qt.Key.Key_Escape)

    bodies: list[bytes] = []
    stage.play(run, CALLING)
    stage.play(look, CALLING)


def test_killed_while_an_answer_comes_its_frames_are_there_and_it_is_called_not_whole(stage: Stage) -> None:
    server = DemoServer(SLOW)
    had = long_before(killed(default_path(), server.start()))
    server.stop()

    async def look(person: Person) -> None:
        await back(person, 2)
        assert "interrupted" in [label.text() for label in person.card(1).findChildren(QLabel)]
        await person.do(lambda: person.pane.wire.frames_asked.emit(person.path[1].id, ""))
        page = page_of(person)
        await person.until(lambda: page.isVisible() and page.table.model().rowCount() >= had, "the frames")
        status = person.app.window.inspector.status
        await person.until(lambda: "200 · not whole" in status.toolTip(), "what it says of the exchange")

    stage.play(look)


def test_what_lanes_asked_yesterday_is_compared_today(stage: Stage) -> None:
    async def ask(person: Person) -> None:
        await opened(person)
        await use(person, "demo-chat")
        lanes = await open_lanes(person)
        other = lanes.all[1]
        await person.do(lambda: other.set_parameters(other.settings.current.with_value("temperature", 1)))
        await person.run("Hello")
        await answered(person, lanes, 2)

    async def look(person: Person) -> None:
        await back(person, 2)
        await act(person, "compare.open")  # a window of the small screen has no room for the switch
        await person.until(lambda: person.pane.columns is not None, "the lanes")
        (second,) = columns(person)[1:]
        assert all(
            one.dropped for one in person.session.exchanges.values() if one.id == last_request(second.pane.session)
        )
        await act(person, "compare.mark")
        await person.until(lambda: second.request.text() == "1 field of the request differs", "what differs")
        await person.press("1 field of the request differs", second)
        diff = person.app.window.inspector.view(DiffView).page
        await person.until(lambda: "temperature" in diff.text.toPlainText(), "the field")
        await person.do(partial(diff.part.setCurrentIndex, FIGURES))
        await person.until(diff.figures.isVisible, "the figures")

    stage.play(ask, CALLING)
    stage.play(look, CALLING)
