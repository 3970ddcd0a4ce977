"""A second start finds the first window; nobody else's socket is talked to, and odd words are not listened to."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from playground.app import store_path
from playground.engine.library.store.opening import default_path
from playground.ui.shell import second_start_listener
from playground.ui.shell.second_start import address, hand_over
from playground.ui.shell.second_start_listener import MOST_BYTES, SecondStarts

posix = pytest.mark.skipif(sys.platform == "win32", reason="platform: the socket is a file only on POSIX")

START = """
import sys
from pathlib import Path
from playground.ui.shell.second_start import hand_over
file = Path(sys.argv[2]) if len(sys.argv) > 2 else None
sys.exit(0 if hand_over(Path(sys.argv[1]), file) else 7)
"""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "runtime").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    return tmp_path / "experiments.db"


@pytest.fixture(params=["of this system", pytest.param("a pipe of Qt's", marks=posix)])  # there, it is a socket
def first(
    qtbot: QtBot, store: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SecondStarts]:
    from PySide6.QtCore import QObject

    if request.param != "of this system":
        monkeypatch.setattr(second_start_listener, "PIPES", True)
    owner = QObject()
    first = SecondStarts(owner)
    assert first.listen(store)
    yield first
    first.close()


def start(store: Path, *more: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", START, str(store), *more], cwd=Path(__file__).parents[3])


def test_the_store_is_where_the_engine_says() -> None:
    assert store_path() == default_path()


def test_without_a_first_one_there_is_nobody(store: Path) -> None:
    assert not hand_over(store, None)


def test_a_second_process_hands_its_file_over(first: SecondStarts, store: Path, qtbot: QtBot, tmp_path: Path) -> None:
    file = tmp_path / "a <b> name.playground.json"
    with qtbot.waitSignal(first.asked, timeout=20_000) as asked:
        process = start(store, str(file))
    assert asked.args == [str(file), ""]
    qtbot.waitUntil(lambda: process.poll() is not None, timeout=20_000)
    assert process.returncode == 0


def test_another_store_is_another_window(first: SecondStarts, store: Path) -> None:
    assert not hand_over(store.with_name("other.db"), None)
    assert address(store) != address(store.with_name("other.db"))


@posix
def test_only_this_user_can_reach_it(first: SecondStarts, store: Path) -> None:
    assert Path(address(store)).stat().st_mode & 0o077 == 0


@posix
def test_the_socket_of_a_killed_process_is_taken_over(store: Path, qtbot: QtBot) -> None:
    from PySide6.QtCore import QObject

    with socket.socket(socket.AF_UNIX) as left:
        left.bind(address(store))
    assert not hand_over(store, None), "nobody answers there"
    owner = QObject()
    second = SecondStarts(owner)
    assert second.listen(store)
    second.close()
    assert not Path(address(store)).exists()


@posix
def test_where_something_else_stands_nobody_listens(store: Path, qtbot: QtBot) -> None:
    from PySide6.QtCore import QObject

    Path(address(store)).mkdir()
    owner = QObject()
    assert not SecondStarts(owner).listen(store)


@posix
def test_qts_network_is_not_loaded_to_listen(store: Path) -> None:
    source = f"""
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from playground.ui.shell.second_start_listener import SecondStarts
qt = QCoreApplication([])
assert SecondStarts(qt).listen(Path({str(store)!r}))
sys.exit("PySide6.QtNetwork" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", source], cwd=Path(__file__).parents[3], check=False).returncode == 0


@posix
@pytest.mark.parametrize(
    "said",
    [
        b"\xff\xfe\n",
        b"[]\n",
        b'{"open": 5}\n',
        b'{"open": "relative/path"}\n',
        b"[" * 50_000 + b"\n",
        b"x" * (MOST_BYTES + 10),
    ],
    ids=["no text", "no object", "no path", "relative", "deep", "large"],
)
def test_odd_words_are_not_listened_to(first: SecondStarts, store: Path, qtbot: QtBot, said: bytes) -> None:
    heard: list[object] = []
    first.asked.connect(lambda *words: heard.append(words))
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.connect(address(store))
        stranger.setblocking(False)
        sent = 0
        answered = b""

        def over() -> bool:
            nonlocal sent, answered
            try:
                if sent < len(said):
                    sent += stranger.send(said[sent:])
                    return False
                answered += stranger.recv(100)
            except BlockingIOError:
                return False
            except OSError:
                return True
            return True

        qtbot.waitUntil(over)
    assert answered == b""
    assert heard == []
    with socket.socket(socket.AF_UNIX) as good:
        good.connect(address(store))
        with qtbot.waitSignal(first.asked):
            good.sendall(json.dumps({"open": ""}).encode() + b"\n")
