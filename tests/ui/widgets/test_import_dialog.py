"""The import dialog: hostile texts and files, check marks, masked secrets, drops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMainWindow

from playground.engine.gateways.secrets import Secret
from playground.ui.widgets.import_dialog import SHOWN, ImportDialog, ImportKind, NotImportableError, Preview, Source
from playground.ui.widgets.outline_tree import Item
from tests.support.each_case import each_case

CANARY = "sk-canary-8f2a61c0de"


class Lines(ImportDialog[list[str]]):
    """Imports the lines of a text, each on its own."""

    kind = ImportKind(
        title="Import lines",
        placeholder="Paste lines",
        noun="line",
    )

    def reader(self) -> Callable[[Source], Preview[list[str]]]:
        return read_lines

    def add_content(self, content: list[str], checked: tuple[int, ...]) -> None:
        self.imported.emit([content[number] for number in checked])
        self.accept()


def read_lines(source: Source) -> Preview[list[str]]:
    lines = source.text.split("\n")
    if "bad" in lines:
        raise NotImportableError(f"Line {lines.index('bad') + 1}: bad")
    if "[" * 100 in source.text:
        raise RecursionError
    items = [Item(line[:20], "a line", lambda: [Item("below")], checked=True) for line in lines[:50]]
    return Preview(lines, f"{len(lines)} lines", items, [f"note {n}" for n in range(300)], [Secret(CANARY)])


@pytest.fixture
def dialog(main: QMainWindow) -> Iterator[Lines]:
    dialog = Lines(main)
    dialog.open()
    yield dialog
    dialog.reject()


def test_checked_items_are_imported(dialog: Lines) -> None:
    values: list[list[str]] = []
    dialog.imported.connect(values.append)
    assert not dialog.add_button.isEnabled()
    assert dialog.preview.isHidden()
    dialog.set_text("a\nb\nc")
    assert dialog.add_button.text() == "Import 3 lines"
    QTest.keyClick(dialog.preview, Qt.Key.Key_Space)
    assert dialog.add_button.text() == "Import 2 lines"
    QTest.mouseClick(dialog.all_button, Qt.MouseButton.LeftButton)
    assert not dialog.add_button.isEnabled()
    QTest.mouseClick(dialog.all_button, Qt.MouseButton.LeftButton)
    dialog.preview.check(lambda number: number != 1)
    dialog.read_now()
    assert dialog.preview.checked == (0, 2), "the same items keep their check marks"
    dialog.set_text("a\nb")
    assert dialog.preview.checked == (0, 1)
    line = dialog.preview.lines[1]
    assert line.childCount() == 0
    line.setExpanded(True)
    assert line.child(0) is not None, "items below are made when they are shown"
    dialog.text.setFocus()
    QTest.keyClick(dialog.text, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert values == [["a", "b"]]


def test_edit_of_a_moment_ago_is_imported(dialog: Lines) -> None:
    values: list[list[str]] = []
    dialog.imported.connect(values.append)
    dialog.set_text("a")
    QTest.keyClicks(dialog.text, "b")
    dialog.add()
    assert values == [["ba"]]


@each_case(
    "text, words",
    [
        ("a\0b", "NUL"),
        ("x\nbad", "Line 2: bad"),
        ("[" * 40_000, "nested too deeply"),
        ("  \n ", "Nothing to read yet."),
    ],
)
def test_text_that_cannot_be_imported_gives_its_reason(dialog: Lines, text: str, words: str) -> None:
    dialog.set_text("a\nb")
    dialog.set_text(text)
    assert words in dialog.verdict.text()
    assert not dialog.add_button.isEnabled()
    assert dialog.preview.isHidden()
    assert dialog.text.text() == text


def test_long_text_is_read_whole_and_shown_in_part(dialog: Lines) -> None:
    text = f"{CANARY}\n" + "line\n" * 2_000_000
    data = QMimeData()
    data.setText(text)
    dialog.text.insertFromMimeData(data)
    assert dialog.content is not None
    assert len(dialog.content) == 2_000_002
    assert len(dialog.text.text()) == SHOWN
    assert CANARY not in dialog.text.text()
    assert "10,000,021 characters" in dialog.source_line.text()
    assert dialog.text.isReadOnly()
    assert dialog.notes.text().endswith("and 100 more")
    QTest.mouseClick(dialog.clear_button, Qt.MouseButton.LeftButton)
    assert dialog.text.text() == ""
    assert not dialog.text.isReadOnly()
    assert dialog.content is None


def test_secret_is_masked_and_still_imported(dialog: Lines) -> None:
    dialog.set_text(f"key {CANARY}")
    assert CANARY not in dialog.text.text()
    dialog.read_now()
    assert dialog.content == [f"key {CANARY}"]
    assert CANARY not in repr(dialog.source)


def test_file_is_dropped_pasted_or_refused(dialog: Lines, tmp_path: Path) -> None:
    files = {
        "a.txt": b"a",
        "b.txt": b"\xef\xbb\xbfb",
        "program": b"\x7fELF\x00\x01\xff",
        "nul": b"a\0b",
        "cut": b"a\xc3",
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)

    def data_of(name: str) -> QMimeData:
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(tmp_path / name))])
        return data

    no_keys, left_button = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton
    dropped = data_of("a.txt")  # the event does not own it
    dialog.dropEvent(QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, dropped, left_button, no_keys))
    assert dialog.content == ["a"]
    QGuiApplication.clipboard().setMimeData(data_of("b.txt"))
    QTest.mouseClick(dialog.paste_button, Qt.MouseButton.LeftButton)
    assert dialog.content == ["b"]
    for name in ("program", "nul", "cut", "gone", "."):
        dialog.open_file(tmp_path / name)
        assert "cannot be read" in dialog.message.text() or "NUL" in dialog.message.text()
        assert dialog.content == ["b"], "nothing is lost"
