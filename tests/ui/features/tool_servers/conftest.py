"""The dialogs of tool servers in the event loop, with real processes."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication, QMainWindow

from playground.domain.tool_servers import ToolServer
from playground.engine.gateways.secrets import Keys
from playground.engine.tool_servers.events import State
from playground.engine.tool_servers.registry import ServerRegistry
from playground.engine.tool_servers.servers import Servers
from playground.ui.features.tool_servers.dialog import ServersDialog
from playground.ui.features.tool_servers.draft_file import Drafts
from playground.ui.features.tool_servers.import_dialog import ImportServersDialog
from playground.ui.widgets import loop
from tests.engine.conftest import no_keyring
from tests.support.event_loop import play as play_on_loop


@dataclass
class ServersDriver:
    """The dialogs of tool servers and their services."""

    folder: Path
    keys: Keys = field(default_factory=lambda: Keys(backend=no_keyring))
    sign_ins: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.window = QMainWindow()
        self.window.resize(1200, 800)
        self.book = ServerRegistry(self.folder / "tool-servers.json")
        self.servers = Servers(self.book, self.keys)
        self.drafts = Drafts(self.book.path, self.window)

    def open(self, first: str = "") -> ServersDialog:
        """The dialog for servers."""
        dialog = ServersDialog(self.servers, self.drafts, self.sign_ins, loop.spawn, self.window, first)
        dialog.open()
        return dialog

    def open_import(self) -> ImportServersDialog:
        """The dialog that imports them."""
        dialog = ImportServersDialog(self.book, self.keys, self.window)
        dialog.open()
        return dialog

    def state(self, server_id: str) -> State:
        """How a server is."""
        return self.servers.live(server_id).state

    def only(self) -> ToolServer:
        """The one server that is set up."""
        (server,) = self.book.servers[1:]
        return server


Scene = Callable[[ServersDriver], Coroutine[Any, Any, None]]
PlayScene = Callable[[Scene], None]


@pytest.fixture
def play(qapp: QApplication, tmp_path: Path) -> PlayScene:
    """Play a scene in the event loop, with its files in ``tmp_path``."""
    return lambda scene: _play(qapp, tmp_path, scene)


def _play(qapp: QApplication, folder: Path, scene: Scene) -> None:
    async def main() -> None:
        driver = ServersDriver(folder)
        try:
            await scene(driver)
        finally:
            for dialog in driver.window.findChildren(ServersDialog):
                dialog.done(0)
            await driver.servers.close()
            driver.window.deleteLater()

    play_on_loop(qapp, main)  # a loaded machine starts servers slowly
