"""The question before the end, when there is work that is not on the disk: save copies, lose it, or stay after all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from playground.engine.library.store import Status
from playground.engine.library.workspace import Workspace
from playground.engine.session.session import Session
from playground.ui.widgets.dialogs import dress
from playground.ui.widgets.loop import ask
from playground.ui.widgets.plain_text import short_title

#: Saves copies where a person says. Returns whether they are there; raises ExperimentFileError.
SaveCopies = Callable[[Sequence[Session]], Awaitable[bool]]

UNOPENED = "Experiments could not be opened, so nothing is saved."
WAITS = "or cancel: it is written as soon as that is possible."
_MOST_NAMED = 3


async def may_lose(window: QWidget, workspace: Workspace, save: SaveCopies) -> bool:
    """Ask until there is an answer. Returns whether to quit. Cancelled, it takes the question away."""
    from playground.engine.files.experiment_file import ExperimentFileError

    failed = ""
    while True:
        status = workspace.store.status if workspace.store is not None else Status()
        lost = workspace.unsaved
        chosen = await _ask(window, failed or why(status), what(status, lost), len(lost))
        if chosen is not QMessageBox.ButtonRole.AcceptRole:
            return chosen is QMessageBox.ButtonRole.DestructiveRole
        try:
            if await save(lost):
                return True
            failed = ""
        except ExperimentFileError as error:
            failed = f"The copy was not saved. {error}"


async def _ask(window: QWidget, words: str, more: str, copies: int) -> QMessageBox.ButtonRole:
    box = QMessageBox(window)
    box.setWindowTitle("Not everything is saved")
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(words)
    box.setInformativeText(more)
    stay = box.addButton("Cancel", QMessageBox.ButtonRole.RejectRole)
    box.addButton("Quit without saving", QMessageBox.ButtonRole.DestructiveRole)
    box.setDefaultButton(stay)
    box.setEscapeButton(stay)
    if copies:
        word = "Save a copy…" if copies == 1 else "Save copies…"
        box.setDefaultButton(box.addButton(word, QMessageBox.ButtonRole.AcceptRole))
    dress(box)
    try:
        await ask(box)
        return box.buttonRole(box.clickedButton())
    finally:
        box.deleteLater()


def why(status: Status) -> str:
    """Why it could not be saved."""
    if status.trouble:
        return f"Experiments cannot be saved now. {status.trouble}"
    return status.words or UNOPENED


def what(status: Status, lost: Sequence[Session]) -> str:
    """What is not on the disk, and what can be done."""
    shown = [f"“{short_title(session.title)}”" for session in lost[:_MOST_NAMED]]
    if len(lost) > _MOST_NAMED:
        shown.append(f"{len(lost) - _MOST_NAMED} more")
    if not shown:
        return f"What you changed in the list of experiments would be lost. Quit all the same, {WAITS}"
    names = " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
    advice = f"Save a copy of it elsewhere, {WAITS}" if status.trouble else "Save a copy of it, to go on with it later."
    return f"What you did in {names} would be lost. {advice}"
