"""Text saved to a file that a person chooses, or opened in the program that the system has for it."""

from __future__ import annotations

import asyncio
import atexit
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from playground.engine.gateways.redacted_output import write_output
from playground.ui.widgets.dialogs import ask_where

if TYPE_CHECKING:
    from playground.engine.gateways.secrets import Secret

Say = Callable[[str], None]


async def save_as(
    place: QWidget, title: str, name: str, kind: str, make: Callable[[], str], known: Iterable[Secret], say: Say
) -> None:
    """Ask for a file, ``name`` offered, and write what ``make`` gives; ``say`` tells how that went.

    ``kind`` is the ending, such as ``csv``. ``make`` is called on another thread. None of the secrets ``known`` is
    written.
    """
    path = await ask_where(place.window(), title, name, f"{kind.upper()} (*.{kind});;All files (*)", kind)
    if path is None:
        return
    try:
        await asyncio.to_thread(lambda: write_output(path, make(), known))
    except OSError as error:
        say(f"{path.name} could not be written: {error.strerror or error}. Choose another place.")
    else:
        say(f"Saved as {path}.")


def open_in_editor(text: str, name: str) -> str:
    """Open a text with the system's program, from a private folder that is deleted when this program ends.

    Return what went wrong, in words; an empty text if nothing did.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix="gateway-playground-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        write_output(folder / name, text, ())
    except OSError as error:
        return f"The file could not be written: {error.strerror or error}. Use Save…"
    opened = QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder / name)))
    return "" if opened else "No program opens this file. Use Save…"
