"""The dialogs of tool servers: their settings, the confirmation of a command line, the import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from PySide6.QtWidgets import QAbstractButton, QLineEdit, QListWidget, QPlainTextEdit, QPushButton

from tests.flows.pages.page import read_label
from tests.flows.pages.steps import Dialog, answer_question, replace_text

if TYPE_CHECKING:
    from tests.flows.conftest import Person


class ToolServersDialog(Dialog):
    """The settings and the state of all tool servers."""

    object_name = "toolServersDialog"

    @classmethod
    async def open(cls, person: Person) -> Self:
        """Open it from the menu."""
        await person.do(person.app.window.action("tools.servers").trigger)
        return await cls.wait(person)

    @property
    def servers(self) -> list[str]:
        """The names in the list."""
        list_widget = self.get(QListWidget, "Tool servers")
        return [list_widget.item(row).text() for row in range(list_widget.count())]

    async def select(self, server: str) -> None:
        """Select a server in the list."""
        await self.wait_until(lambda: server in self.servers, server)
        row = self.servers.index(server)
        await self.person.do(lambda: self.get(QListWidget, "Tool servers").setCurrentRow(row))

    @property
    def name(self) -> str:
        """The name of the server in the form."""
        return self.get(QLineEdit, "Name").text()

    def field(self, name: str) -> str:
        """The text of a line of the form."""
        return self.get(QLineEdit, name).text()

    async def type_into_field(self, field: str, text: str) -> None:
        """Type into a line of the form."""
        await replace_text(self.person, await self.wait_for(QLineEdit, field), text)

    async def toggle(self, box: str) -> None:
        """Click a check box of the form, scrolled into view."""
        match = await self.wait_for(QAbstractButton, box)
        await self.person.do(lambda: match.setFocus())
        await self.person.click(match)

    async def open_sign_in(self) -> str:
        """Press "Sign in…", agree to open the page, and return what was asked."""
        await self.press("Sign in…")
        return await answer_question(self.person, "Open")


class ConfirmServerDialog(Dialog):
    """The question before a server is run for the first time, or as another one than before."""

    object_name = "confirmServerDialog"

    @property
    def command_line(self) -> str:
        """The command line that would be run."""
        return self.get(QPlainTextEdit, "Command line").toPlainText()

    @property
    def question(self) -> str:
        """The explanation above it."""
        return read_label(self.person, "question", self.widget)


class ImportServersDialog(Dialog):
    """The import of servers from the configuration of another application."""

    object_name = "importServersDialog"

    async def paste(self, text: str) -> None:
        """Put a text into the field and wait until servers are found in it."""
        field = await self.wait_for(QPlainTextEdit, "Text to import from")
        await self.person.do(lambda: field.setPlainText(text))
        add = await self.wait_for(QPushButton, "Add")
        await self.wait_until(add.isEnabled, "the preview")
