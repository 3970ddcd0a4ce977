"""The dialog of tool servers: drafts, secrets, start and removal, with real processes."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPlainTextEdit

from playground.domain.tool_servers import ToolServer
from playground.engine.gateways.secrets import Secret
from playground.engine.tool_servers.events import State
from playground.engine.tool_servers.registry import DEMO_ID
from playground.engine.tool_servers.secret_values import ORIGIN
from playground.ui.features.tool_servers.dialog import LOG, OFFERS
from playground.ui.features.tool_servers.draft_file import NAME
from tests.support.eventually import eventually
from tests.ui.features.tool_servers.conftest import PlayScene, ServersDriver

CANARY = "canary-8f2a61c0de7b"
SAYS_ITS_SECRET = (
    "import os, sys; print('key is', os.environ.get('API_KEY'), sys.argv[1], file=sys.stderr); sys.exit(1)"
)


def files_hold(folder: Path, text: str) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def test_secrets_reach_the_server_and_no_file(play: PlayScene, tmp_path: Path) -> None:
    async def scene(driver: ServersDriver) -> None:
        dialog = driver.open()
        dialog.body.buttons["add"].click()
        form = dialog.form
        QTest.keyClicks(form.line("command"), sys.executable)
        form.arguments.setPlainText(f"-c\n{SAYS_ITS_SECRET}\n--token={CANARY}-argument")
        form.environment.add.click()
        (row,) = form.environment.edits
        QTest.keyClicks(row.name, "API_KEY")
        QTest.keyClicks(row.value, f"{CANARY}-variable")
        assert row.value.echoMode() is QLineEdit.EchoMode.Password
        assert CANARY not in dialog.state.command.line.toPlainText() + dialog.state.command.more.toPlainText()
        dialog.state.confirm_button.click()
        await eventually(lambda: len(driver.book.servers) == 2 and driver.state(driver.only().id) is State.FAILED)
        server = driver.only()
        assert server.secret_environment == ("API_KEY",)
        assert server.arguments[2] == "--token={{secret:token}}"
        for name, value in (("env:API_KEY", f"{CANARY}-variable"), ("argument:token", f"{CANARY}-argument")):
            assert await driver.keys.get(server.id, ORIGIN, name) == Secret(value)
        dialog.body.tabs.buttons[LOG].click()
        await eventually(lambda: "key is" in dialog.log.stderr.toPlainText())
        assert CANARY not in dialog.log.stderr.toPlainText()
        await eventually(lambda: bool(form.environment.edits) and form.environment.edits[0].row().stored)
        assert [edit.row().name for edit in form.places.edits] == ["token"]
        assert not any(CANARY in label.text() for label in dialog.findChildren(QLabel))
        assert not any(CANARY in line.text() for line in dialog.findChildren(QLineEdit))
        assert not any(CANARY in editor.toPlainText() for editor in dialog.findChildren(QPlainTextEdit))

    play(scene)
    assert files_hold(tmp_path, "API_KEY")
    assert not files_hold(tmp_path, CANARY)


def test_pasted_command_line_can_be_split(play: PlayScene) -> None:
    async def scene(driver: ServersDriver) -> None:
        dialog = driver.open()
        dialog.body.buttons["add"].click()
        dialog.form.line("command").setText("node index.js")
        assert dialog.form.split_note.text() == "Command line: node with 1 argument."
        dialog.form.line("command").setText("npx -y @x/server '/a b'")
        assert dialog.form.split_note.text() == "Command line: npx with 3 arguments."
        assert dialog.form.split_button.isVisibleTo(dialog)
        dialog.form.split_button.click()
        assert dialog.form.line("command").text() == "npx"
        assert dialog.form.arguments.toPlainText() == "-y\n@x/server\n/a b"
        QApplication.clipboard().setText("--name=a\u00a0b")
        dialog.form.arguments.selectAll()
        dialog.form.arguments.paste()
        assert dialog.form.value.arguments == "--name=a\u00a0b", "what was pasted is what runs"
        dialog.form.arguments.set_text("/opt/server-everything/dist/index.js")
        assert dialog.form.value.title == "server-everything", "what tells it from others"
        assert not dialog.form.split_button.isVisibleTo(dialog)

    play(scene)


def test_unsaved_draft_survives_dialog_and_window(play: PlayScene, tmp_path: Path) -> None:
    async def scene(driver: ServersDriver) -> None:
        driver.book.add(ToolServer(id="one", name="One", command="true"))
        dialog = driver.open("one")
        QTest.keyClicks(dialog.form.line("folder"), "/srv")
        dialog.form.environment.add.click()
        row = dialog.form.environment.edits[0]
        QTest.keyClicks(row.name, "A_TOKEN")
        QTest.keyClicks(row.value, CANARY)
        dialog.select(DEMO_ID)
        dialog.select("one")
        assert dialog.form.line("folder").text() == "/srv"
        # while the dialog is open: the end may be sudden
        await eventually(lambda: bool(files_hold(tmp_path, "A_TOKEN")))
        dialog.close_button.click()
        dialog = driver.open("one")
        assert dialog.form.environment.edits[0].value.text() == CANARY
        assert "unsaved" in dialog.body.list.item(1).data(Qt.ItemDataRole.AccessibleTextRole)

    async def again(driver: ServersDriver) -> None:
        dialog = driver.open("one")
        assert dialog.form.line("folder").text() == "/srv"
        assert dialog.form.environment.edits[0].name.text() == "A_TOKEN"
        dialog.form.environment.edits[0].remove.click()
        dialog.save_button.click()
        await eventually(lambda: driver.only().folder == "/srv")
        dialog.close_button.click()

    play(scene)
    assert not files_hold(tmp_path, CANARY)
    play(again)
    assert "/srv" not in (tmp_path / NAME).read_text()


def test_removed_server_is_restored_with_its_secrets(play: PlayScene) -> None:
    async def scene(driver: ServersDriver) -> None:
        server = ToolServer(id="one", name="One", command="true", secret_environment=("API_KEY",))
        driver.book.add(server)
        driver.book.add(ToolServer(id="two", name="Two", command="true"))
        driver.book.confirm(server)
        await driver.keys.set("one", ORIGIN, Secret(CANARY), "env:API_KEY")
        dialog = driver.open("one")
        dialog.body.buttons["remove"].click()
        await eventually(lambda: driver.book.get("one") is None and not dialog.body.notice.isHidden())
        assert await driver.keys.get("one", ORIGIN, "env:API_KEY") is None
        dialog.body.notice.buttons[0].click()
        await eventually(lambda: driver.book.get("one") is not None)
        assert [it.id for it in driver.book.servers] == [DEMO_ID, "one", "two"]
        assert driver.book.confirmed(server)
        assert await driver.keys.get("one", ORIGIN, "env:API_KEY") == Secret(CANARY)

    play(scene)


def test_demo_server_is_started_restarted_and_stopped(play: PlayScene) -> None:
    async def scene(driver: ServersDriver) -> None:
        dialog = driver.open(DEMO_ID)
        assert not dialog.state.box.isVisibleTo(dialog), "it asks nothing"
        assert not dialog.body.buttons["remove"].isEnabled()
        assert not dialog.form.line("command").isVisibleTo(dialog)
        dialog.state.start_button.click()
        await eventually(lambda: "Ready" in dialog.state.words.text)
        dialog.body.tabs.buttons[LOG].click()
        await eventually(lambda: dialog.log.level.isEnabled())
        dialog.body.tabs.buttons[OFFERS].click()
        await eventually(lambda: bool(dialog.offers.text.toPlainText()))
        states: list[State] = []
        driver.servers.subscribe(lambda _change: states.append(driver.state(DEMO_ID)))
        dialog.state.restart_button.click()
        await eventually(lambda: State.STARTING in states and driver.state(DEMO_ID) is State.READY)
        dialog.state.stop_button.click()
        await eventually(lambda: driver.state(DEMO_ID) is State.STOPPED)
        await eventually(lambda: dialog.state.start_button.isVisibleTo(dialog))

    play(scene)


def test_failed_server_shows_reason_and_output(play: PlayScene) -> None:
    async def scene(driver: ServersDriver) -> None:
        words = "import sys; print('no \\x1b[31mlicence\\u202e here', file=sys.stderr); sys.exit(3)"
        driver.book.add(ToolServer(id="one", name="One", command=sys.executable, arguments=("-c", words)))
        dialog = driver.open("one")
        dialog.state.confirm_button.click()
        await eventually(lambda: driver.state("one") is State.FAILED)
        await eventually(lambda: "licence" in dialog.state.problem.text())
        dialog.body.tabs.buttons[LOG].click()
        message = dialog.state.problem.text() + dialog.log.stderr.toPlainText()
        assert "\x1b" not in message
        assert "\u202e" not in message
        assert dialog.state.start_button.text().replace("&", "") == "Start again"
        dialog.form.line("command").setText("true")
        assert dialog.state.box.isVisibleTo(dialog)
        assert not dialog.state.problem.isVisibleTo(dialog), "that was the other command"
        dialog.form.line("command").setText(sys.executable)
        assert "licence" in dialog.state.problem.text()

    play(scene)


def test_shortened_command_line_is_marked(play: PlayScene) -> None:
    async def scene(driver: ServersDriver) -> None:
        driver.book.add(ToolServer(id="one", name="One", command="true", arguments=("x" * 30_000, "; evil")))
        dialog = driver.open("one")
        assert "more characters follow" in dialog.state.command.more.toPlainText()
        driver.book.update(driver.only().model_copy(update={"arguments": ("x" * 300,)}))
        await eventually(lambda: "follow" not in dialog.state.command.more.toPlainText())
        assert dialog.form.arguments.toPlainText() == "x" * 300

        more = dialog.state.command.more
        hidden = {"OPTIONS": " " * 1_000 + "--require evil.js", "PADDED": "x" * 6_000 + "evil"}
        driver.book.update(driver.only().model_copy(update={"environment": hidden}))
        await eventually(lambda: "--require evil.js" in more.toPlainText())
        assert "1,004 more characters of PADDED follow" in more.toPlainText()
        many = {f"NAME_{number}": "x" * 1_000 for number in range(40)}
        driver.book.update(driver.only().model_copy(update={"environment": many}))
        await eventually(lambda: "of the details follow" in more.toPlainText())

    play(scene)
