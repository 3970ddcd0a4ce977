"""Menu of the selected tools."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Protocol

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from playground.domain.tools import ToolDefinition
from playground.engine.requests.protocol_info import TITLES
from playground.ui.widgets.plain_text import short_name, show_hidden


class ToolCommands(Protocol):
    """Commands on tools by their numbers, and on the selected tools, ``chosen``."""

    @property
    def chosen(self) -> list[int]: ...

    @property
    def tools(self) -> tuple[ToolDefinition, ...]: ...

    def open_large(self) -> object: ...

    def show_sample(self) -> object: ...

    def duplicate(self) -> None: ...

    def move_tool(self, steps: int) -> None: ...

    def switch(self, numbers: Iterable[int], on: bool) -> None: ...

    def set_group(self, numbers: Iterable[int], group: str) -> None: ...

    def new_group(self) -> None: ...

    def delete(self) -> None: ...

    def add_sample(self) -> None: ...

    def import_tools(self) -> object: ...


class ToolMenu(QMenu):
    """Menu that is filled for the selected tools each time it opens."""

    def __init__(self, commands: ToolCommands, parent: QWidget) -> None:
        super().__init__(parent)
        self._commands = commands
        self.fill_server: Callable[[QMenu, str], None] | None = None  # adds the actions on a server, by its name
        self.aboutToShow.connect(self.fill)

    def fill(self) -> None:
        """Fill the menu with the commands for the selected tools."""
        self.clear()
        commands = self._commands
        chosen = commands.chosen
        tools = commands.tools
        many = len(chosen) > 1
        what = f"{len(chosen)} tools" if many else "the tool"
        servers = {tools[number].server for number in chosen}
        if self.fill_server is not None and len(servers) == 1 and (name := servers.pop()):
            self.fill_server(self.addMenu(f"Server {show_hidden(short_name(name))}".replace("&", "&&")), name)
            self.addSeparator()
        self._offer("Open large", commands.open_large)
        self._offer("Sample arguments…", commands.show_sample)
        self.addSeparator()
        self._offer(f"Duplicate {what}", commands.duplicate, "Ctrl+D")
        self._offer("Move up", partial(commands.move_tool, -1), "Ctrl+Shift+Up")
        self._offer("Move down", partial(commands.move_tool, 1), "Ctrl+Shift+Down")
        self._offer(f"Switch {what} on", partial(commands.switch, chosen, on=True))
        self._offer(f"Switch {what} off", partial(commands.switch, chosen, on=False))
        groups = self.addMenu("Move to group")
        names = dict.fromkeys(tool.group for tool in tools if tool.group)
        for name in names:
            action = groups.addAction(show_hidden(name).replace("&", "&&"))
            action.triggered.connect(partial(commands.set_group, chosen, name))
        if names:
            groups.addAction("No group").triggered.connect(partial(commands.set_group, chosen, ""))
            groups.addSeparator()
        groups.addAction("New group").triggered.connect(commands.new_group)
        self._offer(f"Delete {what}", commands.delete, "Del")
        self.addSeparator()
        copy = self.addMenu("Copy as JSON")
        for protocol, title in TITLES.items():
            words = title.lower()
            if len(chosen) < len(tools):
                scope = f"{len(chosen)} selected" if many else "This tool"
                copy.addAction(f"{scope}, for {words}").triggered.connect(partial(self.copy, protocol, chosen))
            all_numbers = list(range(len(tools)))
            copy.addAction(f"All {len(tools)}, for {words}").triggered.connect(
                partial(self.copy, protocol, all_numbers)
            )
        self.addSeparator()
        self._offer("Add a sample", commands.add_sample)
        self._offer("Import…", commands.import_tools)

    def copy(self, protocol: str, numbers: list[int]) -> None:
        """Copy the definitions to the clipboard in the format of a protocol."""
        from playground.engine.files.tool_import import export_tools

        chosen: list[ToolDefinition] = [self._commands.tools[number] for number in numbers]
        QGuiApplication.clipboard().setText(export_tools(chosen, protocol))

    def _offer(self, text: str, do: Callable[[], object], key: str = "") -> None:
        action = self.addAction(f"{text}\t{key}" if key else text)
        action.triggered.connect(partial(_call, do))


def _call(do: Callable[[], object], _checked: bool = False) -> None:
    do()
