"""Deleted experiments: Ctrl+Z brings one back, the trash holds the others over a restart, and lets go when told to."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QMessageBox

from playground.ui.features.experiments.trash_page import TrashPage
from playground.ui.shell.features import EXPERIMENTS, EXPERIMENTS_PANEL
from tests.flows.conftest import Person, Stage
from tests.flows.test_store import act, modal, opened, titles

CONTROL = Qt.KeyboardModifier.ControlModifier


async def ask(person: Person, text: str) -> str:
    await act(person, "experiment.new")
    await person.type_into(person.message, text)
    await person.press("Add", person.pane.composer)
    await person.until(lambda: person.path and person.path[-1].text == text, text)
    return person.session.id


async def trash(person: Person) -> TrashPage:
    panel = person.app.window.panels.of(EXPERIMENTS_PANEL)
    if not panel.isVisible():  # a small screen has no room for it until it is asked for
        await act(person, "view.experiments")
    await person.click(panel.trash_button)
    return await person.seen(TrashPage)


def test_what_is_deleted_comes_back_by_keys_and_from_the_trash(stage: Stage) -> None:
    async def first(person: Person) -> None:
        await opened(person)
        one = await ask(person, "One river")
        await ask(person, "Two lakes")
        await ask(person, "Three seas")
        await person.do(lambda: person.app.actions.of(EXPERIMENTS).delete(one))
        assert "in the trash" in person.pane.notice.words
        await person.do(person.pane.view.setFocus)
        await person.key(Qt.Key.Key_Z, CONTROL)
        await person.until(lambda: person.session.id == one, "the experiment to be back")
        assert person.path[0].text == "One river", "no edit of it was taken back"
        await person.key(Qt.Key.Key_Z, CONTROL)
        await person.until(lambda: not person.path, "then its own last edit")
        await person.key(Qt.Key.Key_Y, CONTROL)
        await person.until(lambda: len(person.path) == 1, "and done again")
        for _ in range(2):
            await act(person, "experiment.delete")
        await person.until(lambda: titles(person) == ["Three seas"] or len(titles(person)) == 1, "one to be left")

    async def second(person: Person) -> None:
        await opened(person)
        panel = person.app.window.panels.of(EXPERIMENTS_PANEL)
        await person.until(lambda: panel.trash_button.text() == "Trash (2)", "the count")
        page = await trash(person)
        await person.until(lambda: page.model.rowCount() == 3, "a heading and two experiments")
        known = {"One river", "Two lakes", "Three seas"}
        await person.until(lambda: len(titles(person)) == 1 and known.issuperset(titles(person)), "what is left")
        gone = known.difference(titles(person))
        word = "river" if "One river" in gone else "lakes"
        await person.type_into(page.search, word)
        await person.until(lambda: "1 experiment" in str(page.model.data(page.model.index(0))), "it to be found")
        await person.key(Qt.Key.Key_Down)
        await person.until(lambda: page.chosen, "it to be chosen")
        await person.press("Restore", page)
        await person.until(lambda: person.path and word in person.path[0].text, "it to be shown")
        await person.do(page.search.clear)
        await person.until(lambda: page.model.rowCount() == 2, "one in the trash")
        await person.press("Empty trash…", page)
        box = await modal(person, QMessageBox)
        await person.click(next(b for b in box.buttons() if b.text() == "Cancel"))
        assert len(person.app.workspace.trash) == 1
        await person.press("Empty trash…", page)
        box = await modal(person, QMessageBox)
        await person.click(next(b for b in box.buttons() if b.text() == "Empty trash"))
        await person.until(
            lambda: "The trash is empty" in page.empty.text() and page.empty.isVisible(), "nothing in it"
        )
        assert not [b for b in page.findChildren(QAbstractButton) if b.text() and b.isEnabled()]
        await person.press("Back to the experiments", page)
        await person.until(lambda: len(titles(person)) == 2 and panel.list.isVisible(), "the list again")
        await person.until(lambda: panel.trash_button.text() == "Trash", "no count")

    stage.play(first)
    stage.play(second)
