"""The import of servers from other applications."""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit

from playground.domain.tool_servers import ToolServer
from playground.engine.gateways.secrets import Secret
from playground.engine.tool_servers.config_file import Place
from playground.engine.tool_servers.secret_values import ORIGIN
from playground.ui.features.tool_servers.import_dialog import ImportServersDialog
from tests.support.eventually import eventually
from tests.ui.features.tool_servers.conftest import PlayScene, ServersDriver
from tests.ui.features.tool_servers.test_dialog import CANARY, files_hold

VS_CODE = """{
  // asked once
  "inputs": [{"type": "promptString", "id": "key", "description": "The key", "password": true}],
  "servers": {
    "one": {"command": "uvx", "args": ["one"], "env": {"ONE_KEY": "${input:key}"}},
    "two": {"url": "https://a.example/mcp", "headers": {"Authorization": "Bearer CANARY-two"}},
    "bad": {"args": []},
  },
}""".replace("CANARY", CANARY)


def lines(dialog: ImportServersDialog) -> str:
    tree, out = dialog.preview, []
    for number in range(tree.topLevelItemCount()):
        top = tree.topLevelItem(number)
        if top is not None:
            out += [top.text(0), top.text(1)]
            out += [f"{child.text(0)} {child.text(1)}" for child in map(top.child, range(top.childCount())) if child]
    return "\n".join(out)


def test_servers_are_imported_with_inputs_and_secrets(play: PlayScene, tmp_path: Path) -> None:
    async def scene(driver: ServersDriver) -> None:
        dialog = driver.open_import()
        added: list[list[str]] = []
        dialog.imported.connect(added.append)
        assert not dialog.asked_words.isVisibleTo(dialog), "nothing is asked for yet"
        dialog.set_text('{"mcpServers": {"three": {"command": "true"}}}')
        await eventually(lambda: dialog.preview.topLevelItemCount() == 1)
        assert not dialog.asked_words.isVisibleTo(dialog)
        dialog.set_text(VS_CODE)
        await eventually(lambda: dialog.preview.topLevelItemCount() == 3)
        assert dialog.asked_words.isVisibleTo(dialog)
        assert dialog.asked_area.isVisibleTo(dialog)
        assert CANARY not in dialog.text.toPlainText()
        assert CANARY not in lines(dialog)
        assert "neither a command nor an address" in lines(dialog)
        assert "3 servers" in dialog.verdict.text()
        (field,) = dialog.fields
        assert field.line is not None
        assert field.line.echoMode() is QLineEdit.EchoMode.Password
        QTest.keyClicks(field.line, f"{CANARY}-one")
        await eventually(lambda: "not filled in" not in lines(dialog))
        assert dialog.add_button.text() == "Add 2 servers"
        dialog.add_button.click()
        await eventually(lambda: bool(added))
        assert [server.name for server in driver.book.servers[1:]] == ["one", "two"]
        item, two = driver.book.servers[1:]
        assert added == [[item.id, two.id]]
        assert not driver.book.confirmed(item)
        assert await driver.keys.get(item.id, ORIGIN, "env:ONE_KEY") == Secret(f"{CANARY}-one")
        assert await driver.keys.get(two.id, ORIGIN, "header:Authorization") == Secret(f"Bearer {CANARY}-two")

    play(scene)
    assert files_hold(tmp_path, "ONE_KEY")
    assert not files_hold(tmp_path, CANARY)


def test_existing_server_is_unchecked_and_taken_name_numbered(play: PlayScene) -> None:
    async def scene(driver: ServersDriver) -> None:
        driver.book.add(ToolServer(id="there", name="a", command="uvx", arguments=("a",)))
        dialog = driver.open_import()
        servers = {"a": {"command": "other"}, "b": {"command": "uvx", "args": ["a"]}, "c": {"command": "c"}}
        dialog.set_text(json.dumps({"mcpServers": servers}))
        await eventually(lambda: dialog.preview.topLevelItemCount() == 3)
        assert "this one becomes “a 2”" in lines(dialog)
        assert "Already set up as “a”" in lines(dialog)
        assert dialog.add_button.text() == "Add 2 servers"
        last = dialog.preview.topLevelItem(2)
        assert last is not None
        last.setCheckState(0, Qt.CheckState.Unchecked)
        assert dialog.add_button.text() == "Add"
        dialog.add_button.click()
        await eventually(lambda: len(driver.book.servers) == 3)
        assert driver.book.servers[2].name == "a 2"

    play(scene)


def test_configuration_of_another_application_is_read_on_click(play: PlayScene, tmp_path: Path) -> None:
    path = tmp_path / "claude_desktop_config.json"
    path.write_text(json.dumps({"mcpServers": {"files": {"command": "npx", "args": ["files"]}}}))

    async def scene(driver: ServersDriver) -> None:
        dialog = driver.open_import()
        dialog.show_places((Place("Claude ServersDrivertop", path), Place("Cursor", tmp_path / "gone.json")))
        assert [button.text() for button in dialog.place_buttons] == ["Claude ServersDrivertop", "Cursor"]
        assert not dialog.text.toPlainText()
        dialog.place_buttons[0].click()
        await eventually(lambda: "npx files" in lines(dialog))
        dialog.place_buttons[1].click()
        await eventually(lambda: "cannot be read" in dialog.message.text())
        assert "npx files" in lines(dialog)

    play(scene)
