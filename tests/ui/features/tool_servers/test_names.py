"""Accessible names in the dialogs of tool servers."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractButton, QComboBox, QDialog, QLineEdit, QListWidget, QPlainTextEdit

from playground.domain.tool_servers import ToolServer
from playground.ui.features.tool_servers.confirm_dialog import ConfirmDialog
from tests.support.eventually import eventually
from tests.ui.features.tool_servers.conftest import PlayScene, ServersDriver
from tests.ui.features.tool_servers.test_import_dialog import VS_CODE

CONTROLS = (QAbstractButton, QComboBox, QLineEdit, QListWidget, QPlainTextEdit)
SERVER = ToolServer(
    id="one",
    name="One",
    command="true",
    arguments=("{{secret:key}}",),
    environment={"A": "1"},
    secret_environment=("B_KEY",),
    headers={"X-A": "1"},
    roots=("/srv",),
)


def find_nameless(dialog: QDialog) -> list[str]:
    return [
        f"{type(widget).__name__} in {type(widget.parent()).__name__}"
        for kind in CONTROLS
        for widget in dialog.findChildren(kind)
        if not widget.objectName().startswith("qt_")
        and not isinstance(widget.parent(), QComboBox | QLineEdit)
        and not (widget.accessibleName() or (isinstance(widget, QAbstractButton) and widget.text().strip()))
    ]


def test_every_control_has_a_name(play: PlayScene) -> None:
    async def scene(driver: ServersDriver) -> None:
        driver.book.add(SERVER)
        dialog = driver.open("one")
        assert len(dialog.findChildren(QLineEdit)) > 10
        assert find_nameless(dialog) == []
        importing = driver.open_import()
        importing.set_text(VS_CODE)
        await eventually(lambda: importing.preview.topLevelItemCount() == 3)
        assert find_nameless(importing) == []
        assert find_nameless(ConfirmDialog(SERVER, driver.window)) == []

    play(scene)
