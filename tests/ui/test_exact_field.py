"""What is typed, pasted or put into a field is what is read from it, character by character."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

import playground.ui
from playground.domain.debugging import Answer
from playground.domain.roles import Role
from playground.ui.code_editor import CodeEditor
from playground.ui.conversation.calls.result_field import ResultField
from playground.ui.conversation.composer import Composer
from playground.ui.conversation.inline_editor import InlineEditor
from playground.ui.exact_field import ExactField, index_at, units
from playground.ui.json_highlight import JsonHighlighter
from playground.ui.variables.variable_row import VariableRow

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
        began = time.perf_counter()
        field.insertFromMimeData(data)
        field.repaint()
        field.hide()
        assert field.text() == text
        return time.perf_counter() - began

    long = "abcdefghij" * 10_000
    lines = "\n".join(long[at : at + 1_000] for at in range(0, len(long), 1_000))
    assert min(seconds(long) for _ in range(2)) < 8 * min(seconds(lines) for _ in range(2)) + 0.2
