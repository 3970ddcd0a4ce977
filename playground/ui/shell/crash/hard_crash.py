"""A crash of the whole process: Python writes where it was into a file, and the next start finds it.

Each process has a file of its own, so that two of them do not take each other's for a crash. What is in a file are
names, files and lines; folders of the user's are taken out before anybody sees it. No Qt in here.
"""

from __future__ import annotations

import faulthandler
import os
import time
from contextlib import suppress
from io import FileIO
from pathlib import Path

from playground.system.log import log_path, versions
from playground.system.private import make_file, make_folder
from playground.ui.shell.stack_text import plain_stack

PREFIX = "running-"
CRASH_FILE = "last-crash.txt"
LONGEST = 64 * 1024  # bytes of a file that are read
OLD = 30 * 24 * 3600.0  # seconds after which an empty file is taken away: its process was ended from outside

_file: FileIO | None = None


def crash_file() -> FileIO | None:
    """Return this process's file between ``begin`` and ``end``; None without a writable folder."""
    return _file


def begin() -> str:
    """Watch this process from now on. Returns the report of one that crashed since the last start, or "".

    A report is given once; it stays in ``last-crash.txt``. Without a writable folder nothing is watched, and no more.
    """
    global _file
    folder = log_path().parent
    report = ""
    with suppress(OSError):
        make_folder(folder)
        report = _collect(folder)
        path = folder / f"{PREFIX}{os.getpid()}.txt"
        make_file(path)
        _file = FileIO(path, "w+")  # unbuffered: ``faulthandler`` writes at its descriptor's position
        faulthandler.enable(_file)
    return report


def end() -> None:
    """The process ends in order: nothing is left for the next start to find."""
    global _file
    if _file is not None:
        faulthandler.disable()
        faulthandler.cancel_dump_traceback_later()
        path = Path(_file.name)
        _file.close()
        _file = None
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _collect(folder: Path) -> str:
    """The newest crash as a report; the files of crashes are gone afterwards."""
    crashed: list[tuple[float, Path]] = []
    for path in folder.glob(f"{PREFIX}*.txt"):
        with suppress(OSError):
            state = path.stat()
            if state.st_size:
                crashed.append((state.st_mtime, path))
            elif time.time() - state.st_mtime > OLD:
                path.unlink()
    if not crashed:
        return ""
    when, newest = max(crashed)
    with newest.open("rb") as file:
        raw = file.read(LONGEST).decode("utf-8", "replace")
    moment = time.strftime("%Y-%m-%d %H:%M:%S %z", time.localtime(when))
    text = f"{versions()}\nEnded unexpectedly at {moment}\n\n{plain_stack(raw)}\n"
    for _, path in crashed:
        path.unlink()
    make_file(folder / CRASH_FILE)
    (folder / CRASH_FILE).write_text(text, encoding="utf-8")
    return text
