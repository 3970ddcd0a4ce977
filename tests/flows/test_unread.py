"""A row of the store is damaged between two starts: it is reported, and can be saved to a file."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from PySide6.QtWidgets import QDialog, QPushButton

from playground.domain.transcript import Role, make_turn
from tests.flows.conftest import Person, Stage
from tests.flows.pages.dialogs import name_file
from tests.flows.pages.experiments import wait_for_modal, wait_for_store, wait_for_turns
from tests.flows.pages.page import Page

WORDS = "1 turn could not be read. It is set aside in the store."


def test_unreadable_turn_is_reported_and_saved_to_a_file(stage: Stage, tmp_path: Path) -> None:
    paths: list[Path] = []

    async def begin(person: Person) -> None:
        await wait_for_store(person)
        for text in ("One", "Two", "Three"):
            person.session.turns.add_turn(make_turn(Role.USER, text))
        assert person.app.workspace.store is not None
        paths.append(person.app.workspace.store.path)

    async def see(person: Person) -> None:
        await wait_for_turns(person, 2)
        notice = person.conversation.notice
        await person.until(lambda: notice.text == WORDS, "the notice")
        assert [turn.text for turn in person.path] == ["One", "Three"]
        await person.click(await notice.wait_for(QPushButton))
        await name_file(person, tmp_path / "one.json")
        await notice.wait_for_text("Saved to")
        await person.trigger("settings.storage")
        dialog = Page(person, await wait_for_modal(person, QDialog))
        await dialog.wait_until(lambda: WORDS in dialog.texts, "the number of unread turns")
        await dialog.press("Save it to a file…")
        await name_file(person, tmp_path / "all.json")
        await person.until((tmp_path / "all.json").exists, "the file")
        await dialog.press("Cancel")

    stage.play(begin)
    with closing(sqlite3.connect(paths[0], isolation_level=None)) as connection:
        connection.execute("UPDATE turns SET json = '{\"cut' WHERE json LIKE '%Two%'")
    stage.play(see)
    for name in ("one.json", "all.json"):
        row, *others = json.loads((tmp_path / name).read_text())["rows"]
        assert [other["table"] for other in others] == ["pasts"]
        assert row["table"] == "turns"
        assert row["row"]["json"] == '{"cut'
