"""Import dialogs stay responsive while a huge text is read in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData
from PySide6.QtWidgets import QApplication, QMainWindow

from playground.engine.gateways.secrets import Keys
from playground.engine.tool_servers.registry import ServerRegistry
from playground.ui.features.code.import_request_dialog import ImportRequestDialog
from playground.ui.features.evaluate.import_dialog import ImportCasesDialog
from playground.ui.features.files.import_dialog import ImportMessagesDialog
from playground.ui.features.tool_servers.import_dialog import ImportServersDialog
from playground.ui.features.tools.import_dialog import ImportToolsDialog
from playground.ui.widgets import loop
from playground.ui.widgets.import_dialog import ImportDialog
from tests.hostile.gaps import LAID_OUT, LIMIT, MARGIN, PASSES, Gaps
from tests.support.eventually import eventually

LETTERS = "a" * 10_000_000
CASE_LINES = "question,expected\n" + "".join(f"What is {number}?,{number}\n" for number in range(100_000))


def no_keyring() -> Any:
    raise RuntimeError


DIALOGS: dict[str, Callable[[QMainWindow, Path], ImportDialog[Any]]] = {
    "messages": lambda window, _: ImportMessagesDialog("chat", window),
    "tools": lambda window, _: ImportToolsDialog((), window),
    "request": lambda window, _: ImportRequestDialog((), "", window),
    "cases": lambda window, _: ImportCasesDialog(0, window),
    "servers": lambda window, folder: ImportServersDialog(
        ServerRegistry(folder / "servers.json"), Keys(backend=no_keyring), window
    ),
}


@pytest.mark.parametrize("kind", DIALOGS)
def test_huge_pasted_text_does_not_block_the_window(qapp: QApplication, tmp_path: Path, kind: str) -> None:
    gaps: list[float] = []
    verdicts: list[str] = []

    async def paste(window: QMainWindow, text: str) -> None:
        dialog = DIALOGS[kind](window, tmp_path)
        dialog.open()
        data = QMimeData()
        data.setText(text)
        async with Gaps(LAID_OUT) as passed:
            dialog.text.insertFromMimeData(data)
            await eventually(lambda: dialog.verdict.text() != "Reading…")
            await asyncio.sleep(0.1)
        gaps.append(max(passed.seconds, passed.wall))  # a thread that holds the interpreter's lock uses no CPU here
        verdicts.append(dialog.verdict.text())
        dialog.hide()
        dialog.deleteLater()

    async def main() -> None:
        window = QMainWindow()
        window.show()
        for text in (LETTERS, CASE_LINES):
            for _ in range(PASSES):
                await paste(window, text)
                if gaps[-1] <= LIMIT * MARGIN:
                    break
            else:
                raise AssertionError(f"{kind}: {gaps}")
        window.hide()
        window.deleteLater()
        loop.finish()

    loop.run(qapp, main)
    assert len(verdicts) >= 2
    assert all(verdicts)
