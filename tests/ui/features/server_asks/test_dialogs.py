"""The dialogs for questions of tool servers."""

from __future__ import annotations

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from playground.domain.tool_servers import Elicitation
from playground.jsonkit.values import JSONObject
from playground.ui.features.server_asks.bar import AsksBar
from playground.ui.features.server_asks.elicitation_dialog import ElicitationDialog

CHOICES: JSONObject = {
    "type": "object",
    "properties": {
        "colour": {"type": "string", "enum": ["red", "green"], "default": "green"},
        "days": {"type": "array", "items": {"enum": ["mon", "tue"]}, "minItems": 1, "default": ["tue"]},
        "sure": {"type": "boolean"},
        "note": {"type": "string", "maxLength": 3},
        "more": {"type": "object"},
    },
    "required": ["colour"],
}


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    created = QWidget()
    created.resize(900, 700)
    qtbot.addWidget(created)
    return created


def open_dialog(window: QWidget, ask: Elicitation) -> tuple[ElicitationDialog, list[tuple[str, object]]]:
    """The dialog of a question, and what it told."""
    dialog = ElicitationDialog(ask, window)
    dialog.show()
    emitted: list[tuple[str, object]] = []
    dialog.answered.connect(lambda action, content: emitted.append((action, content)))
    return dialog, emitted


def test_endless_schema_does_not_block_the_dialog(window: QWidget) -> None:
    evil: JSONObject = {
        "type": "object",
        "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}, "b": {"$ref": "#/properties/b"}},
    }
    dialog, emitted = open_dialog(window, Elicitation(id="1", server="s", message="m", form=evil))
    assert dialog.form is not None
    QTest.keyClicks(dialog.form.rows["a"].main_field(), "a" * 40 + "!")
    dialog.decline_button.click()
    assert emitted == [("decline", None)]


def test_page_is_opened_only_by_the_button(window: QWidget) -> None:
    url = "https://calendar.example/connect?x=1"
    dialog, emitted = open_dialog(window, Elicitation(id="1", server="s", message="m", url=url))
    opened: list[str] = []
    dialog.page_requested.connect(opened.append)
    assert any(label.text() == url for label in dialog.findChildren(QLabel))
    assert opened == []
    dialog.accept_button.click()
    assert opened == [url]
    assert emitted == [("accept", None)]


def test_other_addresses_than_web_pages_are_refused(window: QWidget) -> None:
    dialog, _ = open_dialog(window, Elicitation(id="1", server="s", message="m", url="file:///etc/passwd"))
    assert not dialog.accept_button.isEnabled()
    dialog.close()


def test_text_of_a_server_is_plain_text(window: QWidget, qtbot: QtBot) -> None:
    ask = Elicitation(id="1", server="<b>s\u202e</b>", message="<h1>hi</h1>\u202e" + "x" * 50_000, form=CHOICES)
    dialog, _ = open_dialog(window, ask)
    assert dialog.message.text().startswith("<h1>hi</h1>‹U+202E›")
    assert len(dialog.message.text()) < 10_000
    assert "\u202e" not in dialog.windowTitle()
    dialog.close()
    bar = AsksBar()
    qtbot.addWidget(bar)
    bar.show_waiting((ask, ask, ask))
    assert "\u202e" not in bar.words.text()
    assert bar.more.text() == "2 more wait"
    bar.show_waiting(())
    assert bar.isHidden()
