"""A row of the store is damaged between two starts: it is told where it is looked at, and can be looked into."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from playground.domain.transcript import Role, make_turn
from playground.ui.features.storage.dialog import StorageDialog
from tests.flows.conftest import Person, Stage
from tests.flows.test_store import act, back, modal, name_file, opened

WORDS = "1 turn could not be read. It is set aside in the store."


def test_a_turn_that_cannot_be_read_is_told_and_saved_to_a_file(stage: Stage, tmp_path: Path) -> None:
    paths: list[Path] = []

    async def begin(person: Person) -> None:
        await opened(person)
        for text in ("One", "Two", "Three"):
            person.session.turns.add_turn(make_turn(Role.USER, text))
        assert person.app.workspace.store is not None
        paths.append(person.app.workspace.store.path)

    async def see(person: Person) -> None:
        await back(person, 2)
        await person.until(lambda: person.pane.notice.isVisible(), "the notice")
        assert person.pane.notice.words == WORDS
        assert [turn.text for turn in person.path] == ["One", "Three"]
        (save,) = person.pane.notice.buttons
        await person.click(save)
        await name_file(person, tmp_path / "one.json")
        await person.until(lambda: "Saved to" in person.pane.notice.words, "that it is saved")
        await act(person, "settings.storage")
        dialog = await modal(person, StorageDialog)
        await person.until(lambda: dialog.unread.text() == WORDS, "what could not be read")
        await person.click(dialog.save_unread)
        await name_file(person, tmp_path / "all.json")
        await person.until((tmp_path / "all.json").exists, "the file")
        await person.do(dialog.reject)
        person.session.turns.add_turn(make_turn(Role.USER, "Four"))

    async def later(person: Person) -> None:
        await back(person, 3)
        await person.until(lambda: person.pane.notice.words == WORDS, "the notice")
        assert [turn.text for turn in person.path] == ["One", "Three", "Four"]

    stage.play(begin)
    with closing(sqlite3.connect(paths[0], isolation_level=None)) as connection:
        connection.execute("UPDATE turns SET json = '{\"cut' WHERE json LIKE '%Two%'")
    stage.play(see)
    for name in ("one.json", "all.json"):
        row, *others = json.loads((tmp_path / name).read_text())["rows"]
        assert [one["table"] for one in others] == ["pasts"]
        assert row["table"] == "turns"
        assert row["row"]["json"] == '{"cut'
    stage.play(later)
