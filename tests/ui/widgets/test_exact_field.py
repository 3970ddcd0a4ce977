"""A field returns the text that was typed, pasted or set, character by character."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QTextBlock, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from playground.domain.roles import Role
from playground.engine.session.session import Experiment
from playground.ui.features.conversation.calls.call_commands import CallCommands
from playground.ui.features.conversation.calls.result_field import ResultField
from playground.ui.features.conversation.composer import Composer
from playground.ui.features.conversation.editors import InlineEditor
from playground.ui.features.variables.variables_bar import VariableRow
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.exact_field import ExactField, index_at, units
from playground.ui.widgets.growing_field import GrowingField
from tests.support.each_case import each_case
from tests.support.editors import no_gateway

ODD = "a\u00a0b\u202fc\u2028d\u2029e\u200bf\ufdd0g\ufdd1h\u3000i\ufeffj\U0001f600k\tl\nm"


def paste(field: ExactField, text: str) -> None:
    """Paste as Ctrl+V does with this text on the clipboard."""
    data = QMimeData()
    data.setText(text)
    field.insertFromMimeData(data)


@pytest.mark.parametrize("kind", [ExactField, CodeEditor])
def test_pasted_text_is_read_and_copied_exactly(qtbot: QtBot, kind: type[ExactField]) -> None:
    field = kind()
    qtbot.addWidget(field)
    paste(field, ODD)
    assert field.text() == ODD
    field.selectAll()
    field.copy()
    assert QApplication.clipboard().text() == ODD
    field.undo()
    assert field.text() == ""


def test_line_ends_stay_until_typing(qtbot: QtBot) -> None:
    field = ExactField()
    qtbot.addWidget(field)
    field.set_text("one\r\ntwo\rthree")
    assert field.text() == "one\r\ntwo\rthree"
    field.moveCursor(QTextCursor.MoveOperation.End)
    field.insertPlainText("!")
    assert field.text() == "one\ntwo\nthree!"
    field.undo()
    assert field.text() == "one\r\ntwo\rthree"


def test_fields_of_the_window_return_the_text_pasted(qtbot: QtBot) -> None:
    session = Experiment(no_gateway, profile_id="demo").main
    calls = CallCommands(session, lambda: None, lambda: None)
    composer, editor, row = Composer(), InlineEditor(ODD + "\r\n", "Text"), VariableRow("city")
    result = ResultField(calls, lambda: ("t", "c"))
    for widget in (composer, editor, result, row):
        qtbot.addWidget(widget)
    paste(composer.findChildren(ExactField)[0], ODD)
    assert (composer.text, composer.role) == (ODD, Role.USER)
    assert editor.value == ODD + "\r\n"
    paste(editor.findChildren(ExactField)[0], "\u00a0")
    assert editor.value == ODD + "\n\u00a0"
    paste(result.field, ODD)
    draft = session.debugger.notes.draft("t", "c")
    assert draft is not None
    assert (result.text, draft.text) == (ODD, ODD)
    values: list[str] = []
    row.edited.connect(lambda _name, value: values.append(value))
    paste(row.field, ODD)
    count = len(values)
    row.show_value(ODD, used=True)
    assert (values[-1], len(values)) == (ODD, count)


@each_case("text", ["", "plain", ODD, "\U0001f600" * 3, "a\U0001f600b"])
def test_text_positions_match_the_document(qtbot: QtBot, text: str) -> None:
    field = ExactField()
    qtbot.addWidget(field)
    field.set_text(text)
    assert units(text) == field.document().characterCount() - 1
    for index in range(len(text) + 1):
        assert index_at(text, units(text[:index])) == index


LONG = "abc\U0001f600d\ufffc fgh" * 3_000
FOLDING = {
    "one line": LONG,
    "long lines": f"first\n{LONG}\n\n{LONG}\nlast",
    "many lines": "a line\u2029 of \ufdd0 some\n" * 30_000,
    "both": "x\n" * 9_000 + LONG + "\ny" * 9_000,
}


@pytest.mark.parametrize("text", FOLDING.values(), ids=FOLDING)
def test_folded_text_is_read_copied_and_restored_exactly(qtbot: QtBot, text: str) -> None:
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


def test_text_laid_out_at_once_is_bounded(qtbot: QtBot) -> None:
    for width in (40, 3_000, 20_000):
        field = GrowingField()
        qtbot.addWidget(field)
        text = f"{'abcdefghij' * (width // 10)}\n" * (1_000_000 // width)
        paste(field, text)
        texts = [block.length() for block in blocks(field)]
        assert sum(length + length * length // 200 for length in texts) < 1_200_000, width
        assert texts[0] > min(width, 2_000), "its beginning is seen"
        assert field.text() == text


@pytest.mark.parametrize("text", FOLDING.values(), ids=FOLDING)
def test_folded_text_can_be_opened_and_edited(qtbot: QtBot, text: str) -> None:
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
    return [field.document().findBlockByNumber(index) for index in range(field.document().blockCount())]


def test_fold_is_opened_by_a_click(qtbot: QtBot) -> None:
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
    point = field.cursorRect(cursor).center()
    point.setX(point.x() + 20)
    QTest.mouseClick(field.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert field.document().toRawText() != raw
    assert text[2_000:2_100] in field.document().toRawText()
    assert field.text() == text
