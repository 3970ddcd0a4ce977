"""Deleted experiments: Ctrl+Z brings one back, the trash holds the others over a restart, and lets go when told to."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton

from tests.flows.conftest import Person, Stage
from tests.flows.pages.experiments import ExperimentList, answer, wait_for_store

CONTROL = Qt.KeyboardModifier.ControlModifier


async def ask(person: Person, text: str) -> str:
    await person.trigger("experiment.new")
    await person.conversation.composer.add(text)
    return person.session.id


def test_deleted_experiments_are_restored_by_keys_and_from_the_trash(stage: Stage) -> None:
    async def first(person: Person) -> None:
        await wait_for_store(person)
        item = await ask(person, "One river")
        await ask(person, "Two lakes")
        await ask(person, "Three seas")
        await ExperimentList(person).choose("One river", "Delete")
        await person.conversation.notice.wait_for_text("in the trash")
        await person.do(person.conversation.messages.widget.setFocus)
        await person.key(Qt.Key.Key_Z, CONTROL)
        await person.until(lambda: person.session.id == item, "the experiment to be back")
        assert person.path[0].text == "One river", "no edit of it was taken back"
        await person.key(Qt.Key.Key_Z, CONTROL)
        await person.until(lambda: not person.path, "then its own last edit")
        await person.key(Qt.Key.Key_Y, CONTROL)
        await person.until(lambda: len(person.path) == 1, "and done again")
        for _ in range(2):
            await person.trigger("experiment.delete")
        await person.until(lambda: len(ExperimentList(person).titles) == 1, "one to be left")

    async def second(person: Person) -> None:
        await wait_for_store(person)
        experiments = ExperimentList(person)
        await person.until(lambda: experiments.trash_button == "Trash (2)", "the count")
        await person.until(lambda: len(experiments.titles) == 1, "the rest")
        deleted = {"One river", "Two lakes", "Three seas"}.difference(experiments.titles)
        assert len(deleted) == 2
        word = "river" if "One river" in deleted else "lakes"
        trash = await experiments.open_trash()
        await person.until(lambda: len(trash.rows) == 3, "a heading and two experiments")
        search = trash.search_field
        await person.type_into(search, word)
        await person.until(lambda: "1 experiment" in trash.rows[0], "the search result")
        await person.key(Qt.Key.Key_Down)
        await trash.press("Restore")
        await person.until(lambda: person.path and word in person.path[0].text, "the experiment")
        await person.do(search.clear)
        await person.until(lambda: len(trash.rows) == 2, "one in the trash")
        await trash.press("Empty trash…")
        await answer(person, "Cancel")
        assert len(person.app.workspace.trash) == 1
        await trash.press("Empty trash…")
        await answer(person, "Empty trash")
        await person.until(lambda: any("The trash is empty" in text for text in trash.texts), "an empty trash")
        enabled = [button.text() for button in trash.find(QAbstractButton) if button.text() and button.isEnabled()]
        assert enabled in ([], ["Back to the experiments"])
        await experiments.press("Back to the experiments")
        await person.until(lambda: len(experiments.titles) == 2 and experiments.list_visible, "the list again")
        await person.until(lambda: experiments.trash_button == "Trash", "no count")

    stage.play(first)
    stage.play(second)
