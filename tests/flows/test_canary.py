"""One key, and every place that something goes to: no eight characters of it are in any of them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtGui import QAccessible, QAction, QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QApplication

from playground.engine.gateways.secrets import Secret
from playground.engine.library.store import Mode, Store
from playground.engine.library.store.backups import list_backups
from playground.system import log
from tests.flows.conftest import Person, Stage
from tests.flows.pages.dialogs import choose_file
from tests.flows.pages.experiments import wait_for_store
from tests.flows.pages.files import recent_files
from tests.flows.test_secrets import ERROR, KEY, chat_answer, cut, events, leaks, search, search_files, use_gateway
from tests.support.editors import edit_in_place
from tests.support.eventually import eventually
from tests.support.fault_server import FaultServer, send, whole

#: The texts that a screen reader reads of a widget.
ACCESSIBLE_TEXTS = (
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


def accessible_texts() -> Iterator[str]:
    """The texts that a screen reader reads of all widgets."""
    for widget in QApplication.allWidgets():
        interface = QAccessible.queryAccessibleInterface(widget)
        if interface.isValid():
            yield from (interface.text(kind) for kind in ACCESSIBLE_TEXTS)


async def copy_everything(person: Person) -> int:
    """Carry out every action and press every button that copies at once. Return how many there are."""
    window = person.app.window
    copies: list[tuple[str, Callable[[], object]]] = [
        (action.text(), action.trigger) for action in window.findChildren(QAction) if says_copy(action.text())
    ]
    for button in window.findChildren(QAbstractButton):
        text = f"{button.text()} {button.accessibleName()} {button.toolTip()}"
        if button.isVisible() and says_copy(text) and "file" not in text:
            copies.append((text, button.click))
    clipboard = QGuiApplication.clipboard()
    for text, copy in copies:
        clipboard.setText("nothing")
        await person.do(copy)
        data = clipboard.mimeData()
        copied = "".join(bytes(data.data(kind).data()).decode("utf-8", "replace") for kind in data.formats())
        assert not leaks(copied + clipboard.text()), f"copied by {text!r}"
    return len(copies)


def says_copy(text: str) -> bool:
    return "opy" in text and "…" not in text


async def send_message(person: Person, text: str) -> None:
    """Paste a message into the composer, run, and wait for the answer."""
    await person.do(partial(person.message.setPlainText, text))
    await person.conversation.composer.press("Run")
    await person.until(lambda: len(person.path) == 2, "an answer")
    await person.idle(2)


def test_no_eight_characters_of_a_key_are_anywhere(stage: Stage, tmp_path: Path) -> None:
    stores: list[Path] = []

    async def scene(person: Person) -> None:
        await wait_for_store(person)
        app = person.app
        store = app.workspace.store
        assert store is not None
        stores.append(store.path)
        await use_gateway(person, server, "chat", Secret(KEY))

        # an answer with the key, in the window
        server.play_at("/v1/chat/completions", events(chat_answer(15)))
        await send_message(person, "Which key?")
        search("window", QApplication.allWidgets())
        assert not [text for text in accessible_texts() if leaks(text)]
        assert await copy_everything(person)
        assert not leaks(" ".join(window.windowTitle() for window in QApplication.topLevelWidgets()))

        # a key in a prompt: in an experiment, in steps to undo, in a draft, in the trash, erased
        server.play_at("/v1/chat/completions", cut(401, ERROR))
        for name in ("kept", "deleted", "erased"):
            await person.do(app.workspace.new)
            await send_message(person, f"{KEY} is what I have, {name}")
            turn = person.path[0]
            await person.do(partial(edit_in_place, person.session, turn.id, f"{name}: not {KEY}, then"))
            await person.do(partial(person.message.setPlainText, f"And {KEY}?"))
            await app.workspace.flush()
            if name != "kept":
                await person.do(partial(app.workspace.delete, person.session.id))
            if name == "erased":
                await person.do(lambda: app.workspace.erase([entry.experiment.id for entry in app.workspace.trash]))
            await app.workspace.flush()
            assert not leaks(f"{app.window.windowTitle()} {app.workspace.experiments} {app.workspace.trash}")
        await person.until(lambda: app.workspace.current is not None, "another experiment")
        search_files(tmp_path)  # while it is open: the log of the store, and pages that are free

        # files that are named and remembered
        await person.do(app.workspace.new)
        await send_message(person, f"{KEY} in a file")
        await choose_file(person, "file.save", tmp_path / "copy.playground.json")
        await person.until((tmp_path / "copy.playground.json").exists, "a copy")
        await person.trigger("experiment.duplicate")
        await person.do(app.settings.sync)
        assert not leaks("".join(f"{key}={app.settings.value(key)}" for key in app.settings.allKeys()))
        await person.until(lambda: recent_files(person), "the file among the recent ones")

    with FaultServer() as server:
        server.play_at("/v1/models", send(whole(200, "application/json", b'{"data": []}')))
        stage.play(scene)
        assert sum(KEY in str(request.body) for request in server.requests) == 4, "it was sent as typed"
    search_files(tmp_path)
    names = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert {stores[0].name, "gateways.json", "window.ini"} <= names

    assert asyncio.run(count_restored(stores[0])) >= 2
    search_files(tmp_path)


async def count_restored(path: Path) -> int:
    """Back a store up, damage its schema, open it, and count its experiments."""
    store = Store(path)
    await store.open()
    await eventually(lambda: bool(list_backups(path)), "a backup")
    await store.close()
    with path.open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 300)
    status = await store.open()
    assert status.mode is Mode.READY
    assert "restored from the backup" in status.words
    experiments = await store.experiments()
    await store.close()
    return len(experiments)
