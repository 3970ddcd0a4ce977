"""Save a text to a chosen file, or open it in the system's program."""

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

from playground.engine.gateways.redaction import write_output
from playground.ui.widgets.dialogs import ask_where

if TYPE_CHECKING:
    from playground.engine.gateways.secrets import Secret

Say = Callable[[str], None]


async def save_as(
    place: QWidget, title: str, name: str, kind: str, make: Callable[[], str], secrets: Iterable[Secret], say: Say
) -> None:
    """Ask for a file, with ``name`` suggested, and write the result of ``make``; report the outcome with ``say``.

    ``kind`` is the suffix, such as ``csv``. ``make`` is called on another thread. ``secrets`` are redacted.
    """
    path = await ask_where(place.window(), title, name, f"{kind.upper()} (*.{kind});;All files (*)", kind)
    if path is None:
        return
    try:
        await asyncio.to_thread(lambda: write_output(path, make(), secrets))
    except OSError as error:
        say(f"{path.name} could not be written: {error.strerror or error}. Choose another place.")
    else:
        say(f"Saved as {path}.")


def open_in_editor(text: str, name: str) -> str:
    """Open a text with the system's program, from a private folder that is deleted when this program ends.

    Return an error message, empty on success.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix="gateway-playground-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        write_output(folder / name, text, ())
    except OSError as error:
        return f"The file could not be written: {error.strerror or error}. Use Save…"
    success = QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder / name)))
    return "" if success else "No program opens this file. Use Save…"
