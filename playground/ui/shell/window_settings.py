"""The file of the window's own settings, opened so that nothing in it is lost or keeps the window from opening.

Qt rewrites the file without the lines that it cannot read, so a file with such lines is copied first.
"""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from PySide6.QtCore import QSettings

from playground.system.private import make_file, make_folder

_LARGEST: Final = 16 * 1024 * 1024  # bytes that are looked through


def open_settings(path: Path) -> tuple[QSettings, str]:
    """The settings in the file, and what is to be said of it: nothing, where all of it can be read."""
    words = ""
    if _damaged(path):
        aside = path.with_name(f"{path.stem}.damaged-{time.strftime('%Y-%m-%d-%H%M%S')}{path.suffix}")
        try:
            shutil.copy2(path, aside)
        except OSError as error:
            words = f"Some of the window's settings could not be read. {path} could not be copied: {error.strerror}."
        else:
            words = f"Some of the window's settings could not be read. The file is kept as {aside}."
    with suppress(OSError):  # where nothing can be kept, nothing is
        make_folder(path.parent)
        make_file(path)
    return QSettings(str(path), QSettings.Format.IniFormat), words


def _damaged(path: Path) -> bool:
    """Return whether a line of the file is no line of settings."""
    try:
        if path.stat().st_size > _LARGEST:
            return True
        text = path.read_bytes().decode()
    except FileNotFoundError:
        return False
    except (OSError, UnicodeDecodeError):
        return True
    return not all(map(_is_line, text.splitlines()))


def _is_line(line: str) -> bool:
    line = line.strip()
    section = line.startswith("[") and line.endswith("]")
    return (not line or section or "=" in line or line[0] in ";#") and "\0" not in line
