"""Dialogs and pages of tool servers: their prompts and resources, their requests, the tape."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Self

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QCheckBox,
    QCompleter,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QTableView,
    QWidget,
)

from tests.flows.pages.page import read_label
from tests.flows.pages.steps import Dialog, column_texts, replace_text

if TYPE_CHECKING:
    from tests.flows.conftest import Person

ROLES = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole)


class ServerContentDialog(Dialog):
    """Prompts and resources that servers offer."""

    object_name = "serverContentDialog"

    @classmethod
    async def open(cls, person: Person, action: str) -> Self:
        """Open it by the action "servers.prompts" or "servers.resources"."""
        await person.trigger(action)
        return await cls.wait(person)

    async def start_servers(self) -> None:
        """Start the servers that do not run, and wait for what they offer."""
        if "is stopped" in self.stopped_servers:
            await self.press("Start server")
        await self.wait_until(lambda: self.offers and not self.has_button("Start server"), "what the server offers")

    @property
    def stopped_servers(self) -> str:
        """Which servers do not run."""
        return read_label(self.person, "stoppedServers", self.widget)

    # The list

    @property
    def _table(self) -> QTableView | None:
        return next(iter(self.find(QTableView, "Prompts and resources")), None)

    @property
    def offers(self) -> list[str]:
        """The names in the list."""
        return column_texts(self._table) if self._table is not None else []

    async def search(self, text: str) -> None:
        """Type into the search field."""
        await replace_text(self.person, self.get(QLineEdit, "Search prompts and resources"), text)

    async def choose(self, offer: str) -> None:
        """Choose an offer as soon as it is in the list, again if the list was renewed in the meantime."""

        def select() -> None:
            if self._table is not None and offer in self.offers:
                self._table.selectRow(self.offers.index(offer))

        while self.chosen != offer:
            await self.wait_until(lambda: offer in self.offers, offer)
            await self.person.do(select)

    @property
    def chosen(self) -> str:
        """The name of the offer that is selected in the list; empty if none is."""
        rows = self._table.selectionModel().selectedRows() if self._table is not None else []
        return self.offers[rows[0].row()] if rows else ""

    # The one that is chosen

    @property
    def fields(self) -> list[QLineEdit]:
        """The fields of its arguments."""
        lines = self.find(QLineEdit)
        return [line for line in lines if line.accessibleName() != "Search prompts and resources"]

    def field(self, name: str) -> QLineEdit:
        """The field of an argument."""
        return self.get(QLineEdit, name)

    async def type_into(self, name: str, text: str) -> None:
        """Replace the value of an argument."""
        await replace_text(self.person, await self.wait_for(QLineEdit, name), text)

    def proposals(self, name: str) -> list[str]:
        """The server's proposals for an argument."""
        completer: QCompleter | None = self.field(name).completer()
        if completer is None:
            return []
        model, role = completer.model(), completer.completionRole()
        return [str(model.index(row, 0).data(role)) for row in range(model.rowCount())]

    def button(self, name: str) -> QAbstractButton:
        """A button."""
        return self.get(QAbstractButton, name)

    async def ask(self) -> None:
        """Ask the server for the prompt or the resource."""
        await self.wait_until(lambda: self.can_ask, "enough filled in to ask")
        names = ("Get messages", "Read")
        (button,) = [button for button in self.find(QPushButton) if button.text() in names]
        await self.person.do(button.click)

    async def press(self, name: str) -> None:
        """Press a button, also while proposals for an argument are open in front of it."""
        button = await self.wait_for(QAbstractButton, name)
        await self.wait_until(button.isEnabled, f"{name} to be enabled")
        await self.person.do(button.click)

    @property
    def can_ask(self) -> bool:
        """True if the server can be asked."""
        names = ("Get messages", "Read")
        return any(button.text() in names and button.isEnabled() for button in self.find(QPushButton))

    @property
    def can_write(self) -> bool:
        """True if there is something to put into the message."""
        return self.button("Insert into message").isEnabled()

    @property
    def watched(self) -> bool:
        """True if a change of the resource is reported."""
        return self.get(QCheckBox, "Watch for changes").isChecked()

    @property
    def text(self) -> str:
        """The text to be put into the conversation."""
        return "".join(view.toPlainText() for view in self.find(QPlainTextEdit, "Preview"))

    @property
    def pictures(self) -> list[QWidget]:
        """The pictures that would be put into the conversation."""
        return [widget for widget in self.find(QWidget) if widget.accessibleName().startswith("Image ")]

    @property
    def address(self) -> str:
        """The address of the resource, filled in."""
        return read_label(self.person, "resourceAddress", self.widget)

    @property
    def problem(self) -> str:
        """The problem shown."""
        return read_label(self.person, "requestProblem", self.widget)

    @property
    def outcome(self) -> str:
        """The outcome shown."""
        return read_label(self.person, "outcome", self.widget)


class ServerMessagesPage(Dialog):
    """The list of all messages to and from servers."""

    object_name = "serverMessagesPage"

    @classmethod
    async def open(cls, person: Person) -> Self:
        """Open it from the menu."""
        await person.do(person.app.window.action("view.servers").trigger)
        return await cls.wait(person)

    @property
    def _table(self) -> QTableView | None:
        return next(iter(self.find(QTableView, "Messages of tool servers")), None)

    @property
    def row_count(self) -> int:
        """The number of messages."""
        return self._table.model().rowCount() if self._table is not None else 0

    def column(self, number: int) -> list[str]:
        """The texts of a column."""
        return column_texts(self._table, number) if self._table is not None else []

    @property
    def messages(self) -> list[str]:
        """The text of each message."""
        table = self._table
        return self.column(table.model().columnCount() - 1) if table is not None else []

    @property
    def all_texts(self) -> str:
        """Everything that a person sees or hears of the list."""
        table = self._table
        assert table is not None
        columns = range(table.model().columnCount())
        return "".join(text for position in columns for role in ROLES for text in column_texts(table, position, role))

    @property
    def at_end(self) -> bool:
        """True if the last message is in view."""
        assert self._table is not None
        bar = self._table.verticalScrollBar()
        return bar.value() >= bar.maximum()

    async def search(self, text: str) -> None:
        """Type into the search field."""
        await replace_text(self.person, self.get(QLineEdit, "Find in the messages of tool servers"), text)

    @property
    def selected_row(self) -> int:
        """The row of the current message; -1 without one."""
        return self._table.currentIndex().row() if self._table is not None else -1

    async def choose(self, row: int) -> None:
        """Choose a message."""
        assert self._table is not None
        await self.person.do(partial(self._table.selectRow, row))

    @property
    def detail(self) -> str:
        """The message that is chosen, whole."""
        return "\n".join([*(view.toPlainText() for view in self.find(QPlainTextEdit)), *self.texts])


class ServerRequestBar(Dialog):
    """The line that says that a server asks something."""

    object_name = "serverRequestBar"

    @property
    def text(self) -> str:
        """Its text."""
        return self.widget.accessibleName()


class ServerFormDialog(Dialog):
    """A form that a server wants filled in."""

    object_name = "serverFormDialog"

    async def type_into(self, field: str, text: str) -> None:
        """Replace the text of a field."""
        await replace_text(self.person, await self.wait_for(QLineEdit, field), text)

    def problem(self, field: str) -> str:
        """The problem of a field."""
        row = self.get(QLineEdit, field).parentWidget()
        assert row is not None
        return read_label(self.person, "problem", row)


class ModelRequestDialog(Dialog):
    """A server wants a model to be asked."""

    object_name = "modelRequestDialog"

    def text(self, field: str) -> str:
        """The text of a field."""
        lines = self.find(QLineEdit, field)
        return lines[0].text() if lines else self.get(QPlainTextEdit, field).toPlainText()

    async def set_text(self, field: str, text: str) -> None:
        """Replace the text of a field."""
        await self.wait_until(lambda: self.find(QLineEdit, field) or self.find(QPlainTextEdit, field), field)
        lines = self.find(QLineEdit, field)
        await replace_text(self.person, lines[0] if lines else self.get(QPlainTextEdit, field), text)

    @property
    def problem(self) -> str:
        """Why it cannot be asked."""
        return read_label(self.person, "problem", self.widget)

    @property
    def can_send(self) -> bool:
        """True if the server can be answered."""
        return self.get(QPushButton, "Send to the server").isEnabled()
