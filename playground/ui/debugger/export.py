"""Text written to a file that a person chooses. Nothing waits for the disk, and nothing is written half."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from playground.ui.loop import ask

Say = Callable[[str], None]


async def save_as(place: QWidget, title: str, name: str, kind: str, make: Callable[[], str], say: Say) -> None:
    """Ask for a file, ``name`` offered, and write what ``make`` gives; ``say`` tells how that went.

    ``kind`` is the ending, such as ``csv``. ``make`` is called on another thread.
    """
    dialog = QFileDialog(place.window(), title, name, f"{kind.upper()} (*.{kind});;All files (*)")
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(kind)
    chosen = dialog.selectedFiles()[:1] if await ask(dialog) else []
    dialog.deleteLater()
    if not chosen:
        return
    path = Path(chosen[0])
    try:
        await asyncio.to_thread(_write, path, make)
    except OSError as error:
        say(f"{path.name} could not be written: {error.strerror or error}. Choose another place.")
    else:
        say(f"Saved as {path}.")


def _write(path: Path, make: Callable[[], str]) -> None:
    """Write beside the file, then take its place: a full disk leaves the file there was."""
    beside = path.with_name(f".{path.name}.part")
    try:
        beside.write_bytes(make().encode("utf-8"))
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
