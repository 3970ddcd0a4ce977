"""The dialogs for the import and export of conversations."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMainWindow
from shiboken6 import isValid

from playground.domain.transcript import Role, Transcript, make_turn
from playground.engine.files.export import FORMATS
from playground.engine.files.messages import Conversation, read
from playground.ui.features.files.export_dialog import ExportDialog, Wanted
from playground.ui.features.files.import_dialog import ImportMessagesDialog
from tests.support.each_case import each_case


def lines(count: int) -> str:
    def record(number: int) -> str:
        said = {"role": "user", "content": f"Question {number}\u202e", "weight": 1}
        return json.dumps({"messages": [said, {"role": "assistant", "content": "Yes."}], "source": "mine"})

    return "\n".join(map(record, range(count)))


@pytest.fixture
def dialog(main: QMainWindow) -> Iterator[ImportMessagesDialog]:
    dialog = ImportMessagesDialog(main)
    dialog.open()
    yield dialog
    if isValid(dialog):
        dialog.close()


def record_imports(dialog: ImportMessagesDialog) -> list[tuple[Conversation, ...]]:
    emitted: list[tuple[Conversation, ...]] = []
    dialog.imported.connect(emitted.append)
    return emitted


def test_several_conversations_can_be_picked(dialog: ImportMessagesDialog) -> None:
    found = read(lines(4))
    dialog.show_found("a.jsonl", found)
    assert dialog.verdict.text() == "4 conversations: one conversation a line."
    assert dialog.picked == found.conversations
    assert dialog.import_button.text() == "Import 4 as experiments"
    first = dialog.list.item(0).text()
    assert first.startswith("Question 0")
    assert first.endswith("2 turns: user, assistant")
    assert "\u202e" not in first
    assert "“weight” was left out" in dialog.notes.text()
    assert "“source”" in dialog.notes.text()
    dialog.list.setCurrentRow(2)
    turns = dialog.preview.topLevelItem(2)
    assert turns is not None
    assert (turns.text(0), turns.childCount()) == ("Turns", 2)
    dialog.list.item(1).setCheckState(Qt.CheckState.Unchecked)
    assert dialog.import_button.text() == "Import 3 as experiments"
    dialog.all_button.click()
    assert not dialog.import_button.isEnabled()
    dialog.all_button.click()
    dialog.pick(3, 1)
    emitted = record_imports(dialog)
    dialog.import_button.click()
    assert emitted == [(found.conversations[1], found.conversations[3])]


def test_one_conversation_is_imported_with_enter(dialog: ImportMessagesDialog) -> None:
    found = read('[{"role": "user", "content": "Hello"}]')
    emitted = record_imports(dialog)
    dialog.show_found("The clipboard", found)
    assert dialog.verdict.text() == "A list of messages."
    assert not dialog.list.isVisible()
    model = dialog.preview.topLevelItem(1)
    assert model is not None
    assert model.text(1) == "as it is set now"
    QTest.keyClick(dialog, Qt.Key.Key_Return)
    assert emitted == [found.conversations]


def export(main: QMainWindow, transcript: Transcript) -> tuple[ExportDialog, list[Wanted]]:
    dialog = ExportDialog("Tides", transcript, main)
    dialog.open()
    emitted: list[Wanted] = []
    dialog.wanted.connect(emitted.append)
    return dialog, emitted


@each_case("which", list(FORMATS))
def test_tree_is_exported_to_the_clipboard(main: QMainWindow, which: str) -> None:
    first = make_turn(Role.USER, "a")
    transcript = Transcript().append(first).append_alternatives([make_turn(Role.USER, "b"), make_turn(Role.USER, "c")])
    dialog, emitted = export(main, transcript)
    assert dialog.scopes.button(1).text() == "The whole tree, 3 turns on 2 branches"
    dialog.choose(which, whole_tree=True)
    dialog.copy_button.click()
    assert emitted == [Wanted(which, whole_tree=True, to_clipboard=True)]
