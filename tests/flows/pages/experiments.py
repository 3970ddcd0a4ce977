"""Page objects of the list of experiments, the trash, storage notices and dialogs that ask for a file or a decision."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QLineEdit,
    QListView,
    QMessageBox,
    QPushButton,
    QWidget,
)

from playground.domain.transcript import Role, make_turn
from playground.engine.library.store import Mode, Store
from playground.engine.session.drafts import Draft
from playground.engine.session.snapshot import Snapshot
from tests.flows.pages.page import Page
from tests.flows.pages.steps import click_cell

if TYPE_CHECKING:
    from pathlib import Path

    from tests.flows.conftest import Person

D = TypeVar("D", bound=QDialog)
SECONDS = 40  # the longest wait for a dialog to close


def fill_store(path: Path, count: int, draft: str = "") -> None:
    """Save so many experiments, each with a question, an answer and a draft; the last one was shown last."""

    async def save() -> None:
        path.parent.mkdir(exist_ok=True)
        store = Store(path)
        await store.open()
        for number in range(count):
            question = make_turn(Role.USER, f"Question {number}")
            answer = make_turn(Role.ASSISTANT, f"Answer {number}").model_copy(update={"parent": question.id})
            turns = question, answer
            snapshot = Snapshot(id=f"e{number}", profile_id="demo", model="demo-chat", turns=turns, head=answer.id)
            store.save(snapshot.model_copy(update={"draft": Draft(text=draft), "created_at": 1e9 + number}))
        if count:
            store.remember("current", f"e{count - 1}")
        await store.flush()
        await store.close()

    asyncio.run(save())


async def wait_for_store(person: Person, mode: Mode = Mode.READY) -> None:
    """Wait until the store is open, in this mode."""
    store = person.app.workspace.store
    assert store is not None
    await person.until(lambda: store.status.mode is mode, "the store")


async def wait_for_turns(person: Person, turns: int) -> None:
    """Wait until the experiment shown last is shown again, with so many turns."""
    await wait_for_store(person)
    await person.until(lambda: len(person.path) == turns, f"{turns} turns")


class ExperimentList(Page):
    """The panel with the list of experiments."""

    def __init__(self, person: Person) -> None:
        widget = person.app.window.findChild(QWidget, "experiments")
        assert isinstance(widget, QWidget)
        super().__init__(person, widget)

    @property
    def _list(self) -> QListView:
        (view,) = [view for view in self.widget.findChildren(QListView) if view.accessibleName() == "Experiments"]
        return view

    @property
    def rows(self) -> list[tuple[str, bool]]:
        """The text of each row, and whether it is an experiment (not a heading or a passage)."""
        model = self._list.model()
        indexes = [model.index(row, 0) for row in range(model.rowCount())]
        editable = Qt.ItemFlag.ItemIsEditable
        return [(str(index.data()), bool(index.flags() & editable)) for index in indexes]

    @property
    def titles(self) -> list[str]:
        """The titles of all experiments in the list."""
        return [text for text, is_experiment in self.rows if is_experiment]

    @property
    def passages(self) -> list[str]:
        """The passages that a search found."""
        role = Qt.ItemDataRole.AccessibleTextRole
        model = self._list.model()
        spoken = [str(model.index(row, 0).data(role)) for row in range(model.rowCount())]
        return [text.removeprefix("Found: ") for text in spoken if text.startswith("Found: ")]

    @property
    def list_visible(self) -> bool:
        """True while the list is in view, not the trash."""
        return self._list.isVisible()

    @property
    def search_field(self) -> QLineEdit:
        """The search field."""
        return self.get(QLineEdit, "Search experiments")

    @property
    def trash_button(self) -> str:
        """The text of the button that leads to the trash."""
        buttons = self.widget.findChildren(QPushButton)
        return next(button.text() for button in buttons if button.accessibleName().startswith("Trash"))

    async def wait_for_titles(self, *titles: str) -> None:
        """Wait until exactly these experiments are listed."""
        await self.wait_until(lambda: self.titles == list(titles), f"the list {titles}")

    async def click_row(self, text: str) -> None:
        """Click the row that contains ``text``."""
        await self.wait_until(lambda: any(text in words for words, _ in self.rows), text)
        row = next(number for number, (words, _) in enumerate(self.rows) if text in words)
        await click_cell(self.person, self._list, row)

    async def choose(self, title: str, entry: str) -> None:
        """Choose an entry of an experiment's menu."""
        view = self._list
        await self.wait_until(lambda: (title, True) in self.rows, title)
        number = self.rows.index((title, True))
        centre = view.visualRect(view.model().index(number, 0)).center()
        await self.person.do(lambda: view.customContextMenuRequested.emit(centre))
        await self.person.until(QApplication.activePopupWidget, "the menu")
        menu = QApplication.activePopupWidget()
        assert menu is not None
        (action,) = [action for action in menu.actions() if action.text() == entry]
        await self.person.until(action.isEnabled, f"{entry} to be enabled")
        await self.person.do(action.trigger)
        await self.person.do(menu.close)

    async def rename(self, title: str) -> None:
        """Type a title into the open editor and accept it."""
        field = await self.person.seen(QLineEdit, "Title of the experiment")
        await self.person.do(lambda: QTest.keyClicks(field, title))
        await self.person.do(lambda: QTest.keyClick(field, Qt.Key.Key_Return))

    async def retitle(self, title: str, new_title: str) -> None:
        """Give a row another title, as its editor does; it need not be the experiment that is open."""
        view = self._list
        number = self.rows.index((title, True))
        await self.person.do(lambda: view.model().setData(view.model().index(number, 0), new_title))

    async def open_trash(self) -> Trash:
        """Show the trash."""
        if not self.visible:  # a small screen has no room for it until it is asked for
            await self.person.trigger("view.experiments")
        await self.press("Trash")
        search = await self.wait_for(QLineEdit, "Search the trash")
        page = search.parentWidget()
        assert page is not None
        return Trash(self.person, page)


class Trash(Page):
    """The page of deleted experiments."""

    @property
    def rows(self) -> list[str]:
        """The texts of all rows."""
        (view,) = [
            view for view in self.widget.findChildren(QListView) if view.accessibleName() == "Deleted experiments"
        ]
        return [str(view.model().index(row, 0).data()) for row in range(view.model().rowCount())]

    @property
    def search_field(self) -> QLineEdit:
        """The search field."""
        return self.get(QLineEdit, "Search the trash")


def read_storage_notice(person: Person) -> str:
    """The text of the notice about the store; empty without one."""
    notices = person.app.window.findChildren(QWidget, "storageNotice")
    return "".join(notice.accessibleName() for notice in notices if notice.isVisible())


async def wait_for_modal(person: Person, kind: type[D]) -> D:
    """Wait until a dialog of this Qt class blocks the window."""
    await person.until(lambda: isinstance(QApplication.activeModalWidget(), kind), kind.__name__)
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, kind)
    return dialog


async def answer(person: Person, button: str, *texts: str) -> None:
    """Wait for a question that contains ``texts``, press a button, and wait until the question is closed."""
    box = await wait_for_modal(person, QMessageBox)
    for text in texts:
        assert text in f"{box.text()}\n{box.informativeText()}"
    press = next(b for b in box.findChildren(QPushButton) if b.text().replace("&", "") == button)
    await person.until(press.isEnabled, f"{button} to be enabled")
    await person.do(press.click)
    async with asyncio.timeout(SECONDS):
        while QApplication.activeModalWidget() is box:  # noqa: ASYNC110 - the application may end with it
            await asyncio.sleep(0.01)
