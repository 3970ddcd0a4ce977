"""The dialog for the export of conversations."""

from __future__ import annotations

from PySide6.QtWidgets import QMainWindow

from playground.domain.transcript import Role, Transcript, make_turn
from playground.engine.files.export import FORMATS
from playground.ui.features.files.export_dialog import ExportChoice, ExportDialog
from tests.support.each_case import each_case


def export(main: QMainWindow, transcript: Transcript) -> tuple[ExportDialog, list[ExportChoice]]:
    dialog = ExportDialog("Tides", transcript, main)
    dialog.open()
    emitted: list[ExportChoice] = []
    dialog.export_requested.connect(emitted.append)
    return dialog, emitted


@each_case("which", list(FORMATS))
def test_tree_is_exported_to_the_clipboard(main: QMainWindow, which: str) -> None:
    first = make_turn(Role.USER, "a")
    transcript = Transcript().append(first).append_alternatives([make_turn(Role.USER, "b"), make_turn(Role.USER, "c")])
    dialog, emitted = export(main, transcript)
    assert dialog.scopes.button(1).text() == "The whole tree, 3 messages on 2 branches"
    dialog.choose(which, whole_tree=True)
    dialog.copy_button.click()
    assert emitted == [ExportChoice(which, whole_tree=True, to_clipboard=True)]
