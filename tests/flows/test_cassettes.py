"""Exchanges in files, in the real window: cassettes saved and replayed, archives, and what is kept in memory."""

from __future__ import annotations

import json
import socket
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from PySide6.QtWidgets import QComboBox, QPushButton

from playground.engine.cassettes.cassette import open_file
from playground.engine.session.experiment import DEFAULT_LIMIT
from tests.flows.conftest import PACE, Person, Stage
from tests.flows.pages.dialogs import choose_file
from tests.flows.pages.inspector import Timeline
from tests.flows.pages.preferences import PreferencesWindow
from tests.flows.test_wire import CALLING, use

MIB = 1024 * 1024
MEMORY_KEY = "tape_limit"  # in the settings file


def test_cassette_saved_and_opened_replays_the_answer(stage: Stage, tmp_path: Path) -> None:
    file = tmp_path / "talk.cassette.json"

    async def play(person: Person) -> None:
        await use(person, "demo-reasoner")
        await person.run("Tell me about tides")
        await person.idle(2)
        first = person.session
        answer = first.transcript.path[1]
        await choose_file(person, "cassette.save", file)
        await person.until(file.exists, "the file")
        await person.conversation.notice.wait_for_text("saved as")
        (recorded,) = open_file(file).exchanges
        assert recorded.body == next(iter(first.exchanges.values())).body
        archive = tmp_path / "talk.har"
        await choose_file(person, "cassette.export", archive)
        await person.until(archive.exists, "the archive")
        assert json.loads(archive.read_text(encoding="utf-8"))["log"]["version"] == "1.2"

        await choose_file(person, "cassette.open", file)
        await person.until(lambda: person.session is not first, "the cassette's experiment")
        assert [turn.text for turn in person.path] == [turn.text for turn in first.transcript.path]
        assert (await person.seen(QPushButton, "1×")).isChecked()
        request = len(person.server.requests)
        await person.press("Instant")
        await person.do(lambda: person.pane.regenerate(person.path[1].id))
        await person.until(lambda: len(person.session.exchanges) == 2, "the replay to begin")
        await person.idle(2)
        assert person.path[1].id != answer.id
        assert person.path[1].text == answer.text
        assert person.path[1].reasoning == answer.reasoning

        # frame by frame
        await person.press("Step")
        await person.do(lambda: person.pane.regenerate(person.path[1].id))
        await person.until(lambda: person.session.active_run is not None, "a run")
        await person.until(lambda: len(person.session.exchanges) == 3, "its exchange")
        for _ in range(5):
            before = received(person)
            await person.press("Next event")
            await person.until(partial(grown, person, before), "another frame")
        assert person.session.active_run is not None
        await person.press("Instant")
        await person.idle(2)
        assert person.path[1].text == answer.text
        assert len(person.server.requests) == request, "no request was made"
        assert person.session.profile is not None
        address = urlsplit(person.session.profile.base_url)
        assert address.port is not None
        served.append(address.port)
        socket.create_connection(("127.0.0.1", address.port), 1).close()

    served: list[int] = []
    stage.play(play, PACE)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", served[0]), 1)


def received(person: Person) -> int:
    """Bytes of the last answer so far."""
    return len(list(person.session.exchanges.values())[-1].body)


def grown(person: Person, before: int) -> bool:
    return received(person) > before


def test_memory_limit_chosen_is_remembered_and_enforced(stage: Stage) -> None:
    async def choose(person: Person) -> None:
        assert person.app.workspace.tape_limit == DEFAULT_LIMIT
        storage = await PreferencesWindow.open_page(person, "Storage and backups")
        assert storage.get(QComboBox, storage.memory).currentText() == f"{DEFAULT_LIMIT // MIB} MiB"
        await storage.select(storage.memory, "16 MiB")
        await storage.press("Apply limits")
        await person.until(lambda: person.session.exchanges.limit == 16 * MIB, "the limit")

    async def run_long(person: Person) -> None:
        assert person.session.exchanges.limit == MIB
        await use(person, "demo-chat")
        await person.trigger("wire.timeline")
        await person.run("Hello !long=6000")
        await person.idle(2)
        (exchange,) = person.session.exchanges.values()
        assert not exchange.dropped, "the last one stays"
        await person.run("Hello")
        await person.idle(4)
        assert exchange.dropped > MIB
        person.session.exchanges.limit = 0
        timeline = Timeline(person)
        await person.until(lambda: "was discarded" in timeline.exchange_text, "a word on it")

    app = stage.play(choose, CALLING)
    assert int(str(app.settings.value(MEMORY_KEY))) == 16 * MIB
    app.settings.setValue(MEMORY_KEY, MIB)
    app.settings.sync()
    stage.play(run_long, CALLING)


def test_unreadable_cassettes_are_reported_and_unknown_parts_saved(stage: Stage, tmp_path: Path) -> None:
    second = tmp_path / "other.cassette.json"
    second.write_text('{"hello": 1}', encoding="utf-8")
    file, again = tmp_path / "later.cassette.json", tmp_path / "again.cassette.json"
    later = {"machine": "of a later version"}

    async def play(person: Person) -> None:
        await choose_file(person, "cassette.open", second)
        await person.conversation.notice.wait_for_text("This is no cassette")
        await person.trigger("cassette.save-all")
        await person.conversation.notice.wait_for_text("No exchanges yet")

        await use(person, "demo-chat")
        await person.run("Hello")
        await person.idle(2)
        await choose_file(person, "cassette.save", file)
        await person.until(file.exists, "the file")
        content = json.loads(file.read_text(encoding="utf-8"))
        sound = content["exchanges"][0]
        content |= {"exchanges": [sound | later, {**sound, "id": "bad", "url": 7}]} | later
        file.write_text(json.dumps(content), encoding="utf-8")
        await choose_file(person, "cassette.open", file)
        await person.conversation.notice.wait_for_text("1 of 2 exchanges could not be read")
        await person.conversation.notice.wait_for_text("“url” of exchange 2 must be text")
        await person.until(lambda: len(person.path) == 2, "what could be read")
        await choose_file(person, "cassette.save-all", again)
        await person.until(again.exists, "the file")

    stage.play(play, PACE)
    saved = json.loads(again.read_text(encoding="utf-8"))
    assert [part["machine"] for part in (saved, *saved["exchanges"])] == [later["machine"]] * 2
