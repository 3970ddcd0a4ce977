"""One key, and every place that something goes to: no eight characters of it are in any of them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtGui import QAccessible, QAction, QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from playground import log
from playground.engine.gateways.secrets import Secret
from playground.engine.library.store import Mode, Store
from playground.ui.shell.crash.crash_control import CrashControl
from playground.ui.shell.crash.report import report
from playground.ui.shell.features import FILES
from tests.flows.conftest import Person, Stage
from tests.flows.pages.dialogs import choose_file
from tests.flows.test_secrets import ERROR, KEY, chat_answer, cut, events, leaks, search, search_files, use_gateway
from tests.flows.test_store import act, opened
from tests.support.fault_server import FaultServer, send, whole

#: What an accessible thing says of itself.
SAID = (
    QAccessible.Text.Name,
    QAccessible.Text.Description,
    QAccessible.Text.Value,
    QAccessible.Text.Help,
    QAccessible.Text.Accelerator,
)


@pytest.fixture(autouse=True)
def logged(stage: Stage) -> Iterator[None]:
    """The log as the application writes it, in the folder of this test."""
    logger = logging.getLogger("playground")
    before, passes, level = logger.handlers[:], logger.propagate, logger.level
    logger.handlers.clear()
    log.begin()
    yield
    for handler in logger.handlers:
        handler.close()
    logger.handlers[:], logger.propagate = before, passes
    logger.setLevel(level)


def said_aloud() -> Iterator[str]:
    """What a screen reader is told of every widget."""
    for widget in QApplication.allWidgets():
        found = QAccessible.queryAccessibleInterface(widget)
        if found.isValid():
            yield from (found.text(kind) for kind in SAID)


async def copy_everything(person: Person) -> int:
    """Every action and button of the window that copies. Returns how many there are."""
    window = person.app.window
    actions = [one for one in window.findChildren(QAction) if "opy" in one.text() and "…" not in one.text()]
    buttons = [one for one in window.findChildren(QAbstractButton) if one.isVisible() and _copies(one)]
    for what, carry_out in ((one.text(), one.trigger) for one in actions):
        await copied(person, what, carry_out)
    for what, carry_out in ((_copies(one), one.click) for one in buttons):
        await copied(person, what, carry_out)
    return len(actions) + len(buttons)


def _copies(button: QAbstractButton) -> str:
    """What a button says that copies something at once; else nothing."""
    said = f"{button.text()} {button.accessibleName()} {button.toolTip()}"
    return said if "opy" in said and "…" not in said and "file" not in said else ""


async def copied(person: Person, what: str, carry_out: Callable[[], object]) -> None:
    """Copy, and look at all forms of what is on the clipboard then."""
    clipboard = QGuiApplication.clipboard()
    clipboard.setText("nothing")
    await person.do(carry_out)
    data = clipboard.mimeData()
    held = "".join(bytes(data.data(kind).data()).decode("utf-8", "replace") for kind in data.formats())
    assert not leaks(held + clipboard.text()), f"copied by {what!r}"


async def ask(person: Person, words: str) -> None:
    """Run with that message, and wait for the answer."""
    await person.do(partial(person.pane.composer.set_text, words))
    await person.do(person.pane.run)
    await person.until(lambda: len(person.path) == 2, "an answer")
    await person.idle(2)


async def crash(person: Person) -> None:
    """An error that nobody caught, with the key in all that it says."""
    control = CrashControl(person.app.window, person.app.without_secrets)
    try:
        try:
            raise ValueError(f"no {KEY}") from RuntimeError(KEY[:-1] + KEY[-1])
        except ValueError as error:
            told = report(type(error), error, error.__traceback__, f"the window {KEY}")
            assert leaks(told.text), "there is something to take out"
            control._take(told)
        await person.until(lambda: control.dialog is not None, "the report")
        search("report", [control.dialog, *control.dialog.findChildren(QWidget)])  # type: ignore[list-item, union-attr]
        await person.do(control.dialog.reject)  # type: ignore[union-attr]
    finally:
        control.remove()


def test_no_eight_characters_of_a_key_are_anywhere(stage: Stage, tmp_path: Path) -> None:
    stores: list[Path] = []

    async def scene(person: Person) -> None:
        await opened(person)
        app = person.app
        store = app.workspace.store
        assert store is not None
        stores.append(store.path)
        await use_gateway(person, server, "chat", Secret(KEY))

        # an answer that says it, in the window
        server.play_at("/v1/chat/completions", events(chat_answer(15)))
        await ask(person, "Which key?")
        search("window", QApplication.allWidgets())
        assert not [text for text in said_aloud() if leaks(text)]
        assert await copy_everything(person)
        await crash(person)
        assert not leaks(" ".join(one.windowTitle() for one in QApplication.topLevelWidgets()))

        # a person who types it: kept as an experiment, as steps to undo, as a draft, in the trash, erased
        server.play_at("/v1/chat/completions", cut(401, ERROR))
        for name in ("kept", "deleted", "erased"):
            await person.do(app.workspace.new)
            await ask(person, f"{KEY} is what I have, {name}")
            turn = person.path[0]
            await person.do(partial(person.session.turns.edit_text, turn.id, f"{name}: not {KEY}, then", in_place=True))
            await person.do(partial(person.pane.composer.set_text, f"And {KEY}?"))
            await app.workspace.flush()
            if name != "kept":
                await person.do(partial(app.workspace.delete, person.session.id))
            if name == "erased":
                await person.do(lambda: app.workspace.erase([one.experiment.id for one in app.workspace.trash]))
            await app.workspace.flush()
            assert not leaks(f"{app.window.windowTitle()} {app.workspace.experiments} {app.workspace.trash}")
        await person.until(lambda: app.workspace.current is not None, "another experiment")
        assert not leaks((await store.unread_file()).decode())
        search_files(tmp_path)  # while it is open: the log of the store, and pages that are free

        # files that are named and remembered
        await person.do(app.workspace.new)
        await ask(person, f"{KEY} in a file")
        await choose_file(person, "file.save", tmp_path / "copy.playground.json")
        await person.until((tmp_path / "copy.playground.json").exists, "a copy")
        await act(person, "experiment.duplicate")
        await person.do(app.settings.sync)
        assert not leaks("".join(f"{key}={app.settings.value(key)}" for key in app.settings.allKeys()))
        await person.until(lambda: app.actions.of(FILES).recent.paths, "the file among the recent ones")

    with FaultServer() as server:
        server.play_at("/v1/models", send(whole(200, "application/json", b'{"data": []}')))
        stage.play(scene)
        assert sum(KEY in str(request.body) for request in server.requests) == 4, "it was sent as typed"
    search_files(tmp_path)
    found = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert {stores[0].name, "gateways.json", "window.ini"} <= found, "and these were among them"
    written = log.log_path().read_text(encoding="utf-8")
    assert "An error nobody caught" in written
    assert not leaks(written)

    with stores[0].open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 300)
    assert asyncio.run(recovered(stores[0])) >= 2
    search_files(tmp_path)


async def recovered(path: Path) -> int:
    """Open a store whose schema is damaged. Returns how many experiments it has."""
    store = Store(path)
    status = await store.open()
    assert status.mode is Mode.READY
    assert status.words, "that it was recovered is said"
    found = await store.experiments()
    await store.close()
    return len(found)
