"""The page of Listen: strip, options, lines to paste, list of exchanges, details, pause, and its dialogs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Self

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QLineEdit,
    QListWidget,
    QMessageBox,
    QPlainTextEdit,
    QPushButton,
    QSpinBox,
    QTabBar,
    QTextEdit,
    QWidget,
)

from tests.flows.pages.dialogs import select_entry
from tests.flows.pages.page import find_by_object_name, get_by_object_name, read_label
from tests.flows.pages.steps import Dialog, answer_question, replace_text, trigger

if TYPE_CHECKING:
    from tests.flows.conftest import Person

COLUMNS = ("time", "model", "api", "messages", "tokens", "duration", "cost", "retry", "result")


class ListenPage(Dialog):
    """The centre of the window while Listen is shown."""

    object_name = "listenPage"

    @classmethod
    async def open(cls, person: Person) -> Self:
        """Open it from the menu unless it is open."""
        if not cls.count(person):
            await person.trigger("listen.open")
        return await cls.wait(person)

    # The strip

    @property
    def status(self) -> str:
        """The words of the strip."""
        return self._named("Listen: ")

    def _named(self, prefix: str) -> str:
        """The rest of the accessible name that begins with these words."""
        names = [widget.accessibleName() for widget in self.find(QWidget)]
        return next((name.removeprefix(prefix) for name in names if name.startswith(prefix)), "")

    @property
    def listens(self) -> bool:
        """True while it says that it listens."""
        return self.status.startswith("Listening since")

    async def start(self, *, record: bool = False) -> str:
        """Start listening and return the whole address. ``record``: agree to it if asked."""
        box = await self.wait_for(QCheckBox, "Record")
        if box.isChecked() != record:
            await self.person.do(box.click)
        await self.press("Start listening")
        if record:
            await self.wait_until(lambda: self.listens or self.person.find(QMessageBox), "the question or the start")
            if self.person.find(QMessageBox):
                await answer_question(self.person, "Record")
        await self.wait_until(lambda: self.listens, "it to listen")
        return self.person.app.listen.model.base_url

    async def select_option(self, name: str, entry: str) -> None:
        """Choose an entry of an option before the start."""
        await select_entry(self.person, await self.wait_for(QComboBox, name), entry)

    async def copy_address(self) -> str:
        """Copy the address and return it."""
        await self.press("Copy the address")
        return QGuiApplication.clipboard().text()

    async def stop(self) -> None:
        """Stop listening, and agree to end what is under way."""
        await self.press("Stop")
        await self.wait_until(lambda: not self.listens or self.person.find(QMessageBox), "the end or the question")
        if self.person.find(QMessageBox):
            await answer_question(self.person, "Stop listening")
        await self.wait_until(lambda: not self.listens, "it to stop")

    async def set_breakpoint(self, *path: str) -> None:
        """Choose an entry of the menu of breakpoints."""
        button = await self.wait_for(QPushButton, "Breakpoints")
        await trigger(self.person, button.menu(), *path)

    async def open_program(self) -> ProgramWindow:
        """Open the window that starts a program."""
        button = await self.wait_for(QPushButton, "Program: connect or start one")
        await trigger(self.person, button.menu(), "Start a program")
        return await ProgramWindow.wait(self.person)

    # The lines to paste

    @property
    def shows_lines(self) -> bool:
        """True while the lines to paste are shown."""
        return bool(find_by_object_name(self.person, "listenConnect", self.widget))

    @property
    def lines(self) -> str:
        """The lines to paste, as shown."""
        return self.get(QPlainTextEdit, "Lines to paste").toPlainText()

    async def copy_lines(self, program: str) -> str:
        """Choose a program, copy its lines and return them."""
        await select_entry(self.person, await self.wait_for(QComboBox, "Program"), program)
        await self.press("Copy the lines")
        return QGuiApplication.clipboard().text()

    # The list

    @property
    def _tree(self) -> QAbstractItemView | None:
        trees = self.find(QAbstractItemView, "Requests of programs")
        return trees[0] if trees else None

    @property
    def groups(self) -> list[str]:
        """The headings of the list."""
        model = self._tree.model() if self._tree is not None else None
        return [str(model.index(row, 0).data()) for row in range(model.rowCount())] if model is not None else []

    @property
    def rows(self) -> list[dict[str, str]]:
        """The cells of all exchanges, group by group."""
        return [
            {name: str(index.siblingAtColumn(column).data() or "") for column, name in enumerate(COLUMNS)}
            for index in self._indexes
        ]

    @property
    def _indexes(self) -> list[QModelIndex]:
        tree = self._tree
        if tree is None:
            return []
        model = tree.model()
        groups = [model.index(row, 0) for row in range(model.rowCount())]
        return [model.index(row, 0, group) for group in groups for row in range(model.rowCount(group))]

    async def wait_for_rows(self, count: int, *results: str) -> list[dict[str, str]]:
        """Wait until there are so many exchanges, with these results if they are given, and return their cells."""

        def matches() -> bool:
            rows = self.rows
            given = zip(rows, results, strict=False)
            return len(rows) == count and all(row["result"].startswith(result) for row, result in given)

        await self.wait_until(matches, f"{count} exchanges {results}")
        return self.rows

    async def select(self, *rows: int) -> None:
        """Select exchanges by their places in the list."""
        tree = self._tree
        assert tree is not None
        flags = QItemSelectionModel.SelectionFlag

        def act() -> None:
            tree.clearSelection()
            for row in rows:
                tree.selectionModel().setCurrentIndex(self._indexes[row], flags.Select | flags.Rows)

        await self.person.do(act)

    async def choose(self, command: str) -> None:
        """Choose a command for the selected exchanges."""
        button = await self.wait_for(QPushButton, "Actions for the selected requests")
        await trigger(self.person, button.menu(), command)

    async def search(self, text: str) -> None:
        """Type into the search."""
        await replace_text(self.person, await self.wait_for(QLineEdit, "Find request"), text)

    # The details

    @property
    def detail(self) -> QWidget:
        """The lower half."""
        return get_by_object_name(self.person, "listenDetail", self.widget)

    @property
    def notes(self) -> str:
        """The edits of the selected exchange, and notes on it."""
        return self._named("Notes: ")

    @property
    def body(self) -> str:
        """The texts of all editors of the lower half."""
        return "\n".join(editor.toPlainText() for editor in self.person.find(QPlainTextEdit, "", self.detail))

    async def open_tab(self, title: str) -> None:
        """Turn to a tab of the inspector."""
        (bar,) = self.person.find(QTabBar, "Inspector", self.detail)
        index = next(index for index in range(bar.count()) if bar.tabText(index) == title)
        await self.person.do(partial(bar.setCurrentIndex, index))

    # The pause

    @property
    def pause(self) -> str:
        """The words of the bar of a paused exchange."""
        return self._named("Paused: ")

    async def wait_for_pause(self, words: str) -> None:
        """Wait until the selected exchange is paused."""
        await self.wait_until(lambda: self.pause.startswith(words), f"the pause {words!r}")

    async def edit_arguments(self, number: int, text: str) -> None:
        """Replace the arguments of a call of the paused answer."""
        field = await self.wait_for(QPlainTextEdit, f"Arguments of call {number}")
        await replace_text(self.person, field, text)

    async def edit_text(self, name: str, text: str) -> None:
        """Replace the text of an editor of the pause."""
        await replace_text(self.person, await self.wait_for(QPlainTextEdit, name), text)

    async def fail(self, status: int, message: str) -> None:
        """Answer the paused request with an error."""
        await self.press("Fail")
        box = await self.wait_for(QSpinBox, "HTTP status")
        await self.person.do(partial(box.setValue, status))
        await replace_text(self.person, await self.wait_for(QLineEdit, "Message of the error"), message)
        await self.press("Send error")


class ProgramWindow(Dialog):
    """The window that starts a program."""

    object_name = "listenProgram"

    @property
    def variables(self) -> str:
        """The variables, as shown."""
        return self.get(QPlainTextEdit, "Variables").toPlainText()

    @property
    def output(self) -> str:
        """The output of the program."""
        return self.get(QPlainTextEdit, "Output of the program").toPlainText()

    @property
    def state(self) -> str:
        """The words on whether it runs, and how it ended."""
        return read_label(self.person, "programState", self.widget)

    async def select_program(self, name: str) -> None:
        """Choose the program whose variables are set."""
        await select_entry(self.person, await self.wait_for(QComboBox, "Variables of"), name)

    async def run(self, command: str) -> None:
        """Type a command line and confirm it."""
        field = await self.wait_for(QLineEdit, "Command line")
        await self.person.do(partial(field.setText, command))
        await self.press("Confirm and start")


class CompareWindow(Dialog):
    """The window that compares two exchanges."""

    object_name = "listenCompare"

    @property
    def text(self) -> str:
        """The texts in view."""
        plain = [editor.toPlainText() for editor in self.find(QPlainTextEdit)]
        rich = [editor.toPlainText() for editor in self.find(QTextEdit)]
        return "\n".join([*plain, *rich, *self.texts])


class RecordingsWindow(Dialog):
    """The list of recordings."""

    object_name = "listenRecordings"

    @classmethod
    async def open(cls, person: Person) -> Self:
        """Open it from the menu and wait until the folder is read."""
        await person.trigger("listen.recordings")
        window = await cls.wait(person)
        await window.wait_until(lambda: "Reading…" not in window.texts, "the recordings")
        return window

    @property
    def entries(self) -> list[str]:
        """The lines of the list."""
        lists = self.find(QListWidget, "Recordings")
        return [lists[0].item(row).text() for row in range(lists[0].count())] if lists else []

    async def press_key(self, key: Qt.Key) -> None:
        """Press a key in the list."""
        await self.person.do(partial(QTest.keyClick, self.get(QListWidget, "Recordings"), key))
