"""What else can be done with the selected tools: move, group, switch, export, an example of arguments."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

from playground.domain.tools import ToolDefinition
from playground.engine.requests.spoken import TITLES
from playground.ui.widgets.plain_text import show_hidden

if TYPE_CHECKING:
    from playground.ui.features.tools.panel import ToolsPanel


class ToolMenu(QMenu):
    """Filled each time it opens, for what is selected then."""

    def __init__(self, panel: ToolsPanel) -> None:
        super().__init__(panel)
        self._panel = panel
        self.aboutToShow.connect(self.fill)

    def open_at(self, at: QPoint) -> None:
        """Open it beside a row of the list."""
        self.popup(self._panel.list.viewport().mapToGlobal(at))

    def fill(self) -> None:
        """Offer what can be done now."""
        self.clear()
        panel = self._panel
        chosen = panel.chosen
        tools = panel.tools
        many = len(chosen) > 1
        what = f"{len(chosen)} tools" if many else "the tool"
        self._offer("Open large", panel.open_large)
        self._offer("Sample arguments", panel.show_sample)
        self.addSeparator()
        self._offer(f"Duplicate {what}", panel.duplicate, "Ctrl+D")
        self._offer("Move up", partial(panel.move_tool, -1), "Ctrl+Shift+Up")
        self._offer("Move down", partial(panel.move_tool, 1), "Ctrl+Shift+Down")
        self._offer(f"Switch {what} on", partial(panel.switch, chosen, on=True))
        self._offer(f"Switch {what} off", partial(panel.switch, chosen, on=False))
        groups = self.addMenu("Move to group")
        names = dict.fromkeys(tool.group for tool in tools if tool.group)
        for name in names:
            action = groups.addAction(show_hidden(name).replace("&", "&&"))
            action.triggered.connect(partial(panel.set_group, chosen, name))
        if names:
            groups.addAction("No group").triggered.connect(partial(panel.set_group, chosen, ""))
            groups.addSeparator()
        groups.addAction("New group").triggered.connect(panel.new_group)
        self._offer(f"Delete {what}", panel.delete, "Del")
        self.addSeparator()
        copy = self.addMenu("Copy as JSON")
        for protocol, title in TITLES.items():
            words = title.lower()
            if len(chosen) < len(tools):
                said = f"{len(chosen)} selected" if many else "This tool"
                copy.addAction(f"{said}, for {words}").triggered.connect(partial(self.copy, protocol, chosen))
            every = list(range(len(tools)))
            copy.addAction(f"All {len(tools)}, for {words}").triggered.connect(partial(self.copy, protocol, every))
        self.addSeparator()
        self._offer("Add a sample", panel.add_sample)
        self._offer("Import…", panel.import_tools)

    def copy(self, protocol: str, numbers: list[int]) -> None:
        """Put the definitions on the clipboard in a protocol's shape."""
        from playground.engine.files.tool_import import export_tools

        chosen: list[ToolDefinition] = [self._panel.tools[number] for number in numbers]
        QGuiApplication.clipboard().setText(export_tools(chosen, protocol))

    def _offer(self, text: str, do: Callable[[], object], key: str = "") -> None:
        action = self.addAction(f"{text}\t{key}" if key else text)
        action.triggered.connect(partial(_call, do))


def _call(do: Callable[[], object], _checked: bool = False) -> None:
    do()
