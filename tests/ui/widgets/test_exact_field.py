"""What is typed, pasted or put into a field is what is read from it, character by character."""

from __future__ import annotations

import math
import re
import time
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QTextBlock, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

import playground.ui
from playground.domain.debugging import Answer
from playground.domain.roles import Role
from playground.ui.features.conversation.calls.result_field import ResultField
from playground.ui.features.conversation.composer import Composer
from playground.ui.features.conversation.inline_editor import InlineEditor
from playground.ui.features.variables.variables_bar import VariableRow
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.exact_field import ExactField, index_at, units
from playground.ui.widgets.folds import LONG_LINE, pieces
from playground.ui.widgets.growing_field import GrowingField
from playground.ui.widgets.json_highlight import JsonHighlighter

ODD = "a\u00a0b\u202fc\u2028d\u2029e\u200bf\ufdd0g\ufdd1h\u3000i\ufeffj\U0001f600k\tl\nm"


def paste(field: ExactField, text: str) -> None:
    """As Ctrl+V does with that on the clipboard."""
    data = QMimeData()
    data.setText(text)
    field.insertFromMimeData(data)


@pytest.mark.parametrize("kind", [ExactField, CodeEditor])
def test_what_is_pasted_is_what_is_read_and_copied(qtbot: QtBot, kind: type[ExactField]) -> None:
    field = kind()
    qtbot.addWidget(field)
    paste(field, ODD)
    assert field.text() == ODD
    field.selectAll()
    field.copy()
    assert QApplication.clipboard().text() == ODD
    field.undo()
    assert field.text() == ""


def test_every_kind_of_line_end_stays_until_somebody_types(qtbot: QtBot) -> None:
    field = ExactField()
    qtbot.addWidget(field)
    field.set_text("one\r\ntwo\rthree")
    assert field.text() == "one\r\ntwo\rthree"
    field.moveCursor(QTextCursor.MoveOperation.End)
    field.insertPlainText("!")
    assert field.text() == "one\ntwo\nthree!"
    field.undo()
    assert field.text() == "one\r\ntwo\rthree"


def test_the_composer_gives_what_was_pasted(qtbot: QtBot) -> None:
    composer = Composer()
    qtbot.addWidget(composer)
    (field,) = composer.findChildren(ExactField)
    paste(field, ODD)
    assert composer.text == ODD
    assert composer.role is Role.USER


def test_the_editor_of_a_turn_gives_what_was_there(qtbot: QtBot) -> None:
    editor = InlineEditor(ODD + "\r\n", "Text")
    qtbot.addWidget(editor)
    assert editor.text == ODD + "\r\n"
    kept: list[str] = []
    editor.kept.connect(lambda: kept.append(editor.text))
    paste(editor.findChildren(ExactField)[0], "\u00a0")
    editor.kept.emit()
    assert kept == [ODD + "\n\u00a0"]


def test_a_result_is_what_was_typed_or_chosen(qtbot: QtBot) -> None:
    result = ResultField()
    qtbot.addWidget(result)
    typed: list[str] = []
    result.drafted.connect(typed.append)
    paste(result.field, ODD)
    assert (result.text, typed[-1]) == (ODD, ODD)
    result._chosen(Answer(text="one\r\ntwo\u00a0"))
    assert result.text == "one\r\ntwo\u00a0"


def test_the_value_of_a_variable_is_what_was_pasted(qtbot: QtBot) -> None:
    row = VariableRow("city")
    qtbot.addWidget(row)
    edited: list[str] = []
    row.edited.connect(lambda _name, value: edited.append(value))
    paste(row.field, ODD)
    assert edited[-1] == ODD
    row.show_value(ODD, used=True)
    assert len(edited) == 1


@pytest.mark.parametrize("text", ["", "plain", ODD, "\U0001f600" * 3, "a\U0001f600b"])
def test_places_are_counted_as_a_document_does(qtbot: QtBot, text: str) -> None:
    field = ExactField()
    qtbot.addWidget(field)
    field.set_text(text)
    assert units(text) == field.document().characterCount() - 1
    for at in range(len(text) + 1):
        assert index_at(text, units(text[:at])) == at


def test_colours_of_json_end_where_its_tokens_do(qtbot: QtBot) -> None:
    editor = CodeEditor()
    qtbot.addWidget(editor)
    text = '{"\U0001f600\U0001f600": "\U0001f600", "b": 12}'
    editor.setPlainText(text)
    highlighter = editor.document().findChild(JsonHighlighter)
    assert highlighter is not None
    highlighter.rehighlight()
    got = {}
    raw = text.encode("utf-16-le")
    for run in editor.document().firstBlock().layout().formats():
        piece = raw[2 * run.start : 2 * (run.start + run.length)].decode("utf-16-le")  # raises inside a pair
        got[piece] = run.format.foreground().color().name()
    assert list(got) == ['"\U0001f600\U0001f600"', '"\U0001f600"', '"b"', "12"]


def test_a_mark_behind_an_emoji_stands_under_its_word(qtbot: QtBot) -> None:
    editor = CodeEditor()
    qtbot.addWidget(editor)
    editor.setPlainText('{"\U0001f600": nope}')
    editor.mark(1, 7, "not JSON")
    assert editor.extraSelections()[-1].cursor.selectedText() == "nope"


def test_nothing_else_reads_an_editor() -> None:
    root = Path(playground.ui.__file__).parent
    reading = re.compile(r"\.toPlainText\(")
    found = [str(path.relative_to(root)) for path in root.rglob("*.py") if reading.search(path.read_text("utf-8"))]
    assert found == []


def test_a_line_of_any_length_is_pasted_in_the_time_its_letters_take(qtbot: QtBot) -> None:
    def seconds(text: str) -> float:
        field = ExactField()
        qtbot.addWidget(field)
        field.resize(600, 100)
        field.show()
        data = QMimeData()
        data.setText(text)
        began = time.thread_time()
        field.insertFromMimeData(data)
        field.repaint()
        field.hide()
        assert field.text() == text
        return time.thread_time() - began

    long = "abcdefghij" * 10_000
    lines = "\n".join(long[at : at + 1_000] for at in range(0, len(long), 1_000))
    assert min(seconds(long) for _ in range(2)) < 8 * min(seconds(lines) for _ in range(2)) + 0.2


LONG = "abc\U0001f600d\ufffc fgh" * 3_000
FOLDING = {
    "one line": LONG,
    "long lines": f"first\n{LONG}\n\n{LONG}\nlast",
    "lines that are neither many nor long": f"{'lorem ipsum ' * 90}\U0001f600\n" * 3_000,
    "few lines that are nearly long": f"{'dolor sit ' * 990}\n" * 40,
    "many lines": "a line\u2029 of \ufdd0 some\n" * 30_000,
    "both": "x\n" * 9_000 + LONG + "\ny" * 9_000,
}


@pytest.mark.parametrize("text", FOLDING.values(), ids=FOLDING)
def test_what_is_folded_is_read_copied_and_brought_back_exactly(qtbot: QtBot, text: str) -> None:
    field = GrowingField()
    qtbot.addWidget(field)
    field.set_text("<>")
    field.moveCursor(QTextCursor.MoveOperation.Right)
    paste(field, text)
    assert field.document().characterCount() < 200_000
    assert field.text() == f"<{text}>"
    field.insertPlainText("!")
    field.moveCursor(QTextCursor.MoveOperation.Start)
    field.insertPlainText("?")
    assert field.text() == f"?<{text}!>"
    field.selectAll()
    field.copy()
    assert QApplication.clipboard().text() == f"?<{text}!>"
    field.cut()
    assert field.text() == ""
    for expected in (f"?<{text}!>", f"<{text}!>"):
        field.undo()
        assert field.text() == expected
    undone = 0
    while field.document().isUndoAvailable():
        field.undo()
        undone += 1
    assert field.text() == "<>"
    for _ in range(undone + 1):
        field.redo()
    assert field.text() == f"?<{text}!>"


def test_what_is_laid_out_at_once_is_bounded_however_a_text_is_cut_into_lines(qtbot: QtBot) -> None:
    for width in (40, 300, 1_000, 3_000, 9_999, 20_000):
        field = GrowingField()
        qtbot.addWidget(field)
        text = f"{'abcdefghij' * (width // 10)}\n" * (3_000_000 // width)
        paste(field, text)
        shown = [block.length() for block in blocks(field)]
        assert sum(length + length * length // 200 for length in shown) < 1_200_000, width
        assert shown[0] > min(width, 2_000), "its beginning is seen"
        assert field.text() == text


@pytest.mark.parametrize(
    "text", ["", "\n", "\n\n", "x" * 9_999 + "\n", ("x" * 9_999 + "\n") * 2, ("x" * 9_999 + "\n") * 3]
)
def test_few_lines_are_given_back_as_they_were(qtbot: QtBot, text: str) -> None:
    for ending in ("", "y", "y" * 9_999, "y" * 10_001):
        field = GrowingField()
        qtbot.addWidget(field)
        paste(field, text + ending)
        assert field.text() == text + ending


@pytest.mark.parametrize("text", FOLDING.values(), ids=FOLDING)
def test_what_is_folded_can_be_seen_and_edited_everywhere(qtbot: QtBot, text: str) -> None:
    field = GrowingField()
    qtbot.addWidget(field)
    field.set_text(text)
    opened = 0
    while (place := field.document().toRawText().find("\ufffc", field.textCursor().position())) >= 0 and opened < 40:
        assert field.open_fold(len(field.document().toRawText()[:place].encode("utf-16-le")) // 2)
        assert field.text() == text
        assert max(block.length() for block in blocks(field)) < 12_000
        opened += 1
    assert opened > 2
    field.moveCursor(QTextCursor.MoveOperation.End)
    before = field.text()
    field.insertPlainText("!")
    assert field.text() == f"{before}!"
    for _ in range(opened + 1):
        field.undo()
    assert field.text() == text


def blocks(field: ExactField) -> list[QTextBlock]:
    return [field.document().findBlockByNumber(at) for at in range(field.document().blockCount())]


def test_a_chip_is_opened_by_a_click_where_it_stands(qtbot: QtBot) -> None:
    field = GrowingField()
    qtbot.addWidget(field)
    text = "0123456789" * 2_000
    field.set_text(text)
    field.resize(600, 400)
    field.show()
    raw = field.document().toRawText()
    cursor = field.textCursor()
    cursor.setPosition(raw.index("\ufffc"))
    field.setTextCursor(cursor)
    field.ensureCursorVisible()
    at = field.cursorRect(cursor).center()
    at.setX(at.x() + 20)
    QTest.mouseClick(field.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert field.document().toRawText() != raw
    assert text[2_000:2_100] in field.document().toRawText()
    assert field.text() == text


def test_lines_that_are_long_and_not_folded_are_each_read_once() -> None:
    """Looked for from every character on, each line of this length took a twentieth of a second."""
    line = "x" * (LONG_LINE - 1) + "\n"

    def spent(count: int, line: str) -> float:
        best = math.inf
        for _ in range(3):
            start = time.thread_time()
            assert "".join(pieces(line * count)) == line * count
            best = min(best, time.thread_time() - start)
        return best

    assert spent(100, line) < 5 * spent(100, line[-100:] * 100) + 0.02


def test_lines_pasted_together_are_folded_as_one(qtbot: QtBot) -> None:
    field = GrowingField()
    qtbot.addWidget(field)
    for _ in range(8):
        paste(field, "abcdefgh\U0001f600" * 1_000)
    assert field.text() == "abcdefgh\U0001f600" * 8_000
    assert field.document().characterCount() < 30_000
    field.undo()
    assert field.text() == "abcdefgh\U0001f600" * 7_000


def test_a_key_costs_the_same_however_long_the_line_is(qtbot: QtBot) -> None:
    def seconds(text: str) -> float:
        field = GrowingField()
        qtbot.addWidget(field)
        field.resize(600, 200)
        field.show()
        began = time.thread_time()
        paste(field, text)
        for _ in range(20):
            QTest.keyClick(field, Qt.Key.Key_A)
            assert field.text().endswith("a")
            field.viewport().repaint()
        field.hide()
        return time.thread_time() - began

    assert min(seconds("abcdefghij" * 100_000) for _ in range(2)) < 8 * min(
        seconds("abcdefghij" * 900) for _ in range(2)
    )
