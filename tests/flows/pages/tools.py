"""The panel of tool definitions, with the tools of servers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QListView, QMenu, QPushButton, QTextEdit, QWidget

from tests.flows.pages.page import Page, find_by_object_name, get_by_object_name
from tests.flows.pages.steps import column_texts, open_tab, select_row, trigger

if TYPE_CHECKING:
    from tests.flows.conftest import Person


class ToolsPage(Page):
    """The tab "Tools" beside the conversation: a list of tools in groups, and the editor of the selected one."""

    @classmethod
    async def open(cls, person: Person) -> ToolsPage:
        """Turn to the tab."""
        await open_tab(person, "Tools")
        return cls(person, get_by_object_name(person, "toolsPanel"))

    # The list

    @property
    def rows(self) -> list[str]:
        """All rows of the list as a screen reader says them."""
        lists = self.find(QListView, "Tools")
        return column_texts(lists[0], role=Qt.ItemDataRole.AccessibleTextRole) if lists else []

    def state(self, tool: str) -> str:
        """The row of a tool without its name: "on, sent", "off, changed on the server, …"; empty if it has none."""
        return next((row.partition(", ")[2] for row in self.rows if row.partition(",")[0] == tool), "")

    def group(self, name: str) -> str:
        """The header of a group: how many of its tools are on, the state of its server, how many have changed."""
        return next((row for row in self.rows if row.startswith(f"group {name},")), "")

    def server_state(self, server: str) -> str:
        """The state of a server in the header of its group; empty if there is no such group."""
        match = re.search(rf"server {re.escape(server)}: ([^,]*)", self.group(server))
        return match[1] if match else ""

    def attention(self, server: str) -> str:
        """The text of a server's group header after the server's state, such as "1 changed"."""
        return self.group(server).partition(f"server {server}: ")[2].partition(", ")[2]

    @property
    def checked(self) -> bool:
        """True once the size of every tool is shown."""
        tools = [row for row in self.rows if not row.startswith("group ")]
        return bool(tools) and all(row.endswith(" tokens") for row in tools)

    async def select(self, row: int) -> None:
        """Select a row of the list."""
        await select_row(self.person, await self.wait_for(QListView, "Tools"), row)

    # Servers

    async def choose_for_server(self, server: str, entry: str) -> None:
        """Choose an entry in the submenu of a server."""
        await trigger(self.person, await self._wait_for_menu(), server, entry)

    async def choose_from_servers(self, entry: str) -> None:
        """Choose an entry in the menu of servers."""
        await trigger(self.person, await self._wait_for_menu(), entry)

    async def _wait_for_menu(self) -> QMenu:
        def buttons() -> list[QPushButton]:
            return self.find(QPushButton, "Tool servers") or self.find(QPushButton, "Tools from a server")

        await self.wait_until(lambda: buttons() and buttons()[0].menu(), "the menu of servers")
        menu = buttons()[0].menu()
        assert isinstance(menu, QMenu)
        return menu

    # The editor, with what it says of a server's tool

    @property
    def _card(self) -> QWidget:
        return get_by_object_name(self.person, "serverToolCard", self.widget)

    @property
    def origin(self) -> str:
        """The line that says from which server the selected tool is, and how that is; empty for a tool of one's own."""
        if not find_by_object_name(self.person, "serverToolCard", self.widget):
            return ""
        labels = [label.accessibleName() for label in self.person.find(QWidget, inside=self._card)]
        return next((label for label in labels if label.startswith("From: ")), "")

    @property
    def server_texts(self) -> list[str]:
        """All texts on the selected tool of a server."""
        return [self.origin, *Page(self.person, self._card).texts]

    @property
    def name_is_read_only(self) -> bool:
        """True if the name of the selected tool cannot be edited."""
        return self.get(QLineEdit, "Tool name").isReadOnly()

    @property
    def difference(self) -> str:
        """The text of the difference that is shown; empty if none is."""
        return "".join(edit.toPlainText() for edit in self.find(QTextEdit, "What the server changed"))

    async def press_server_button(self) -> None:
        """Press the button that sets up or starts the server of the selected tool."""
        await self.person.press("Set up or start the server", self._card)

    async def accept(self) -> None:
        """Accept the tool as its server lists it now."""
        await self.person.press("Accept", self._card)
