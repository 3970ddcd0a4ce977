"""The installed application on a Wayland screen, as a person starts and uses it: typed into by keys of the screen,
looked at from outside, started a second time, ended in the middle of an answer, and opened again.

Usage: wayland.py PLAYGROUND FOLDER, on the screen of in_wayland.sh.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.support.sway import compositor, windows
from tests.support.wayland_hands import Hands

PLAYGROUND, FOLDER = sys.argv[1], Path(sys.argv[2])
SECONDS = 60  # the longest wait on a busy machine
OTHER = """
from PySide6.QtWidgets import QApplication, QLabel
app = QApplication([])
label = QLabel("another program")
label.show()
app.exec()
"""
SAID = "Written on Wayland !long=20000"


def until(condition: Callable[[], object], what: str) -> None:
    end = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"FAILED: never came: {what}")
        time.sleep(0.1)


def start(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [PLAYGROUND, *arguments], stdout=(FOLDER / "out").open("ab"), stderr=(FOLDER / "err").open("ab")
    )


def end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    if (code := process.wait(SECONDS)) != 0:
        sys.exit(f"FAILED: it ended with {code}")


def kept() -> list[str]:
    """The turns in the store, as JSON, oldest first; none before the store exists."""
    file = FOLDER / "home/data/gateway-playground/experiments.db"
    try:
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as store:
            return [turn for (turn,) in store.execute("SELECT json FROM turns ORDER BY number")]
    except sqlite3.OperationalError:
        return []


def listens(home: Path) -> bool:
    """Whether there is a socket for second starts: all that the window needs is in place."""
    return any((home / "run").glob("gateway-playground-*"))


def main() -> None:
    home = FOLDER / "home"
    for name, folder in (
        ("CONFIG", "config"),
        ("DATA", "data"),
        ("STATE", "state"),
        ("CACHE", "cache"),
        ("RUNTIME", "run"),
    ):
        place = home / folder
        place.mkdir(parents=True, mode=0o700)
        os.environ[f"XDG_{name}_DIR" if name == "RUNTIME" else f"XDG_{name}_HOME"] = str(place)
    os.environ.update(HOME=str(home), PYTHON_KEYRING_BACKEND="keyring.backends.fail.Keyring")
    with Hands() as hands:
        walk(hands, home)
    said = (FOLDER / "out").read_bytes() + (FOLDER / "err").read_bytes()
    if said:
        sys.exit(f"FAILED: it printed {said.decode(errors='replace')}")


def walk(hands: Hands, home: Path) -> None:
    first = start()
    until(lambda: windows() and windows()[0]["focused"], "a window with the focus")
    (window,) = windows()
    if window["app_id"] != "gateway-playground":  # what its icon and its name in the desktop hang on
        sys.exit(f"FAILED: the window belongs to {window['app_id']}")
    hands.type(SAID)  # at once, while the window is still being built: nothing may be lost
    hands.key("Ctrl+Return")
    until(lambda: len(kept()) == 2 and SAID in kept()[0], "what was typed and an answer, in the store")
    until(lambda: listens(home), "the socket for second starts")
    print(f"typed and run in a window of {window['rect']['width']}x{window['rect']['height']}")

    other = subprocess.Popen([sys.executable, "-c", OTHER])
    try:
        until(lambda: not next(one for one in windows() if one["pid"] == first.pid)["focused"], "another in front")
        if start().wait(SECONDS) != 0:
            sys.exit("FAILED: the second start did not end well")
        until(
            lambda: next(one for one in windows() if one["pid"] == first.pid)["urgent"], "the window marked as asking"
        )
        if len([one for one in windows() if one["app_id"] == "gateway-playground"]) != 1:
            sys.exit("FAILED: the second start opened a window")
    finally:
        other.kill()
        other.wait()
    print("a second start marks the first window for the person, and ends")

    compositor(f"[pid={first.pid}] resize set width 1100 px height 760 px")
    until(lambda: windows()[0]["rect"]["width"] == 1100, "the window of another size")
    before = kept()[1]
    until(lambda: kept()[1] != before, "the answer growing in the store")
    end(first)
    if listens(home):
        sys.exit("FAILED: the socket for second starts is still there")
    if "interrupted" not in kept()[1] and "stopped" not in kept()[1]:
        sys.exit(f"FAILED: the answer that was cut short is kept as {kept()[1][-300:]}")
    print("ended in the middle of an answer, which is kept as far as it came")

    again = start()
    until(lambda: windows() and windows()[0]["focused"], "the window again")
    until(lambda: windows()[0]["rect"]["width"] == 1100, "the window of the size it had")
    until(lambda: listens(home), "the socket for second starts again")  # before, it ends as it stands
    end(again)
    print("opened again as large as it was")


main()
