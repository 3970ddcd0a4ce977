"""A second start reaches the first window; no other socket is asked, and malformed messages are ignored."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from playground.app import store_path
from playground.engine.library.store.opening import default_path
from playground.ui.shell.second_start import address, hand_over
from playground.ui.shell.second_start_listener import MOST_BYTES, SecondStarts
from tests.support.each_case import each_case

posix = pytest.mark.skipif(sys.platform == "win32", reason="platform: the socket is a file only on POSIX")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "runtime").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    return tmp_path / "experiments.db"


@pytest.fixture
def first(qtbot: QtBot, store: Path) -> Iterator[SecondStarts]:
    owner = QObject()
    first = SecondStarts(owner)
    assert first.listen(store)
    yield first
    first.close()


def test_store_path_of_the_window_is_that_of_the_engine() -> None:
    assert store_path() == default_path()


def test_second_start_without_a_window_of_its_store_is_alone(first: SecondStarts, store: Path) -> None:
    assert not hand_over(store.with_name("other.db"), None)
    assert address(store) != address(store.with_name("other.db"))
    first.close()
    assert not hand_over(store, None)


@posix
def test_socket_is_private_and_that_of_a_killed_process_is_taken_over(store: Path, qtbot: QtBot) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address(store))
    assert not hand_over(store, None)
    owner = QObject()
    second = SecondStarts(owner)
    assert second.listen(store)
    assert Path(address(store)).stat().st_mode & 0o077 == 0
    second.close()
    assert not Path(address(store)).exists()
    Path(address(store)).mkdir()
    assert not SecondStarts(owner).listen(store)


@posix
@each_case("message", [b"\xff\xfe\n", b"[]\n", b'{"open": 5}\n', b'{"open": "relative/path"}\n', b"[" * 50_000 + b"\n"])
def test_malformed_message_is_ignored(first: SecondStarts, store: Path, qtbot: QtBot, message: bytes) -> None:
    check_ignored(first, store, qtbot, message)


@posix
def test_message_that_is_too_long_is_ignored(first: SecondStarts, store: Path, qtbot: QtBot) -> None:
    check_ignored(first, store, qtbot, b"x" * (MOST_BYTES + 10))


def check_ignored(first: SecondStarts, store: Path, qtbot: QtBot, message: bytes) -> None:
    received: list[object] = []
    connection = first.asked.connect(lambda *words: received.append(words))
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.connect(address(store))
        stranger.setblocking(False)
        sent = 0
        answer = b""

        def is_over() -> bool:
            nonlocal sent, answer
            try:
                if sent < len(message):
                    sent += stranger.send(message[sent:])
                    return False
                answer += stranger.recv(100)
            except BlockingIOError:
                return False
            except OSError:
                return True
            return True

        qtbot.waitUntil(is_over)
    assert (answer, received) == (b"", [])
    with socket.socket(socket.AF_UNIX) as good:
        good.connect(address(store))
        with qtbot.waitSignal(first.asked):
            good.sendall(json.dumps({"open": ""}).encode() + b"\n")
    first.asked.disconnect(connection)
