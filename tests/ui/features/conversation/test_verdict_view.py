"""The verdict on an answer in JSON: chip, marks and list of errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from playground.jsonkit.values import JSONObject
from playground.ui.features.conversation.verdict_view import AnswerCheckView
from playground.ui.widgets.problem_line import LISTED
from tests.support.each_case import each_case

SCHEMA: JSONObject = {
    "type": "object",
    "properties": {
        "vendor": {"type": "string"},
        "items": {"type": "array", "items": {"type": "object", "properties": {"price": {"type": "number"}}}},
    },
    "required": ["vendor"],
    "additionalProperties": False,
}
FORM: JSONObject = {"type": "json_schema", "json_schema": {"name": "invoice", "schema": SCHEMA}}
Show = Callable[..., AnswerCheckView]


@pytest.fixture
def show(qtbot: QtBot) -> Iterator[Show]:
    texts: list[AnswerCheckView] = []

    def make(text: str, form: JSONObject = FORM) -> AnswerCheckView:
        view = AnswerCheckView()
        qtbot.addWidget(view)
        view.resize(700, 600)
        view.show_answer(text, form)
        view.show()
        qtbot.waitExposed(view)
        texts.append(view)
        return view

    yield make
    for view in texts:
        view.hide()


def test_enter_on_an_error_selects_its_place(show: Show) -> None:
    view = show(json.dumps({"vendor": "Acme", "items": [{"price": n if n != 40 else "forty"} for n in range(80)]}))
    QTest.keyClick(view.list.lines[0], Qt.Key.Key_Return)
    assert view.view.textCursor().selectedText() == '"forty"'


def test_many_errors_are_marked_and_listed_on_request(show: Show) -> None:
    count = LISTED + 14
    view = show(json.dumps({"vendor": "x", "items": [{"price": "no"}] * count}))
    assert view.chip_text.words == f"{count} schema errors"
    assert len(view.list.lines) == LISTED
    assert len(view.view.problems) == count
    assert view.list.more_button.text() == "Show more of 14 others"
    QTest.mouseClick(view.list.more_button, Qt.MouseButton.LeftButton)
    assert len(view.list.lines) == count
    assert not view.list.more_button.isVisible()
    view.go_to(view.list.lines[-1].problem)
    assert view.view.textCursor().blockNumber() == max(view.view.problems) - 1


@each_case("text", ['{"vendor": "' + "x" * 30_000 + '", "note": 1}', '{"vendor": "a\u202eb\u0000"}', "[" * 5_000])
def test_hostile_answers_are_shown(show: Show, text: str) -> None:
    view = show(text)
    assert isinstance(view, QWidget)
    for line in view.list.lines:
        view.go_to(line.problem)
    view.grab()
