"""The gateway dialog in the event loop, with a real store, real sockets and keys in memory."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from playground.engine.gateways.connection_test import ConnectionReport, try_gateway
from playground.engine.gateways.profiles import Connection, Profile, ProfileStore
from playground.engine.gateways.secrets import Keys
from playground.engine.gateways.services import services_near
from playground.ui.features.gateways.dialog import ProfileDialog
from playground.ui.widgets import loop
from playground.ui.widgets.theme import Theme
from tests.engine.conftest import no_keyring
from tests.support.event_loop import play as play_on_loop
from tests.support.eventually import eventually


@dataclass
class DialogDriver:
    """The gateway dialog, its services and the profiles of its signals."""

    store: ProfileStore
    keys: Keys = field(default_factory=lambda: Keys(backend=no_keyring))
    tested: list[Connection] = field(default_factory=list)
    saved: list[Profile] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)

    async def test(self, connection: Connection) -> ConnectionReport:
        """The real connection test; its settings are recorded."""
        self.tested.append(connection)
        return await try_gateway(connection)

    def open(self, in_use: str = "") -> ProfileDialog:
        services = services_near(self.store.path)
        dialog = ProfileDialog(self.store, self.keys, services, self.test, loop.spawn, in_use=in_use)
        dialog.saved.connect(self.saved.append)
        dialog.removed.connect(self.removed.append)
        dialog.open()
        return dialog


Scene = Callable[[DialogDriver], Coroutine[Any, Any, None]]


@pytest.fixture
def play(qapp: QApplication, tmp_path: Path) -> Iterator[Callable[[Scene], DialogDriver]]:
    """Plays a scene on the real event loop and hands back its driver; what the scene raises fails the test."""
    themes = Theme(qapp, "light")

    def run(scene: Scene) -> DialogDriver:
        driver = DialogDriver(ProfileStore(tmp_path / "gateways.json"))

        async def main() -> None:
            try:
                await scene(driver)
            finally:
                for window in qapp.topLevelWidgets():
                    if isinstance(window, ProfileDialog):
                        window.hide()
                        window.deleteLater()

        play_on_loop(qapp, main)
        return driver

    yield run
    themes.deleteLater()


def type_into(edit: QLineEdit, text: str) -> None:
    edit.setFocus()
    edit.selectAll()
    QTest.keyClicks(edit, text)


async def idle(dialog: ProfileDialog) -> None:
    await eventually(lambda: dialog.form.isEnabled())
