"""A call written by hand: judged as the card of a call is, told while it is typed, and never half kept."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from playground.domain.parts import ToolCall
from playground.domain.roles import Role
from playground.domain.tools import ToolDefinition
from playground.ui.features.conversation.calls.call_form import CallForm
from playground.ui.features.conversation.card_editing import CallEditor
from playground.ui.features.conversation.composer_beside import MOST_FORMS, ComposerBeside
from tests.engine.debugging import WEATHER

OTHER = ToolDefinition(name="get_time")
GOOD = '{"city": "Oslo", "unit": "celsius"}'


@pytest.fixture
def place(qtbot: QtBot) -> Iterator[QWidget]:
    window = QWidget()
    window.setLayout(QVBoxLayout())
    window.resize(600, 400)
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    yield window
    window.hide()


def put(place: QWidget, widget: QWidget) -> None:
    layout = place.layout()
    assert layout is not None
    layout.addWidget(widget)
    widget.show()


def form_in(place: QWidget) -> CallForm:
    form = CallForm()
    form.set_tools((WEATHER, OTHER))
    put(place, form)
    return form


def test_typed_call_is_checked_and_sent_with_every_key(place: QWidget) -> None:
    form = form_in(place)
    told: list[ToolCall] = []
    form.edited.connect(lambda: told.append(form.call))
    form.name.setFocus()
    QTest.keyClicks(form.name, "get_weather")
    popup = form.name.completer().popup()  # type: ignore[union-attr]  # an editable one has it
    assert popup is not None
    popup.hide()
    QTest.keyClick(form.name, Qt.Key.Key_Tab)
    assert form.id.hasFocus()
    QTest.keyClicks(form.id, "mine")
    form.arguments.setFocus()
    QTest.keyClicks(form.arguments, "{")
    assert form.verdict.mark == "error"
    assert told[-1] == ToolCall(id="mine", name="get_weather", arguments="{")
    assert len(told) == len("get_weather") + len("mine") + 1
    form.set_call(ToolCall(id="", name="no_such_tool", arguments=GOOD))
    assert form.verdict.text() == "no tool of this name is defined"
    assert len(told) == len("get_weather") + len("mine") + 1, "what is put there is not told"


def test_tool_names_are_suggested_and_free(place: QWidget) -> None:
    form = form_in(place)
    assert [form.name.itemText(row) for row in range(form.name.count())] == ["get_weather", "get_time"]
    assert form.call.name == "", "none is chosen for anybody"
    form.set_call(ToolCall(id="", name="own_tool", arguments=""))
    form.set_tools((OTHER,))
    assert form.call.name == "own_tool", "other tools on offer change nothing that is written"


def test_call_editor_saves_with_control_enter_and_cancels_with_escape(place: QWidget) -> None:
    editor = CallEditor(ToolCall(id="c", name="get_weather", arguments=GOOD), (WEATHER,))
    put(place, editor)
    kept: list[ToolCall] = []
    left: list[bool] = []
    editor.kept.connect(lambda: kept.append(editor.call))
    editor.cancelled.connect(lambda: left.append(True))
    editor.form.arguments.setFocus()
    QTest.keyClick(editor.form.arguments, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(editor.form.arguments, Qt.Key.Key_Escape)
    assert kept == [ToolCall(id="c", name="get_weather", arguments=GOOD)]
    assert left == [True]
    assert not editor.form.remove.isVisible(), "one that is there is taken out in its own menu"


def test_calls_of_a_message_are_added_removed_and_named(place: QWidget) -> None:
    beside = ComposerBeside(list, (WEATHER,))
    put(place, beside)
    edits: list[bool] = []
    beside.edited.connect(lambda: edits.append(True))
    beside.show_role(Role.ASSISTANT)
    QTest.mouseClick(beside.add, Qt.MouseButton.LeftButton)
    assert beside.forms[0].name.hasFocus() or beside.forms[0].isAncestorOf(place.focusWidget())
    QTest.mouseClick(beside.add, Qt.MouseButton.LeftButton)
    beside.forms[1].id.setText("second")
    assert beside.forms[1].arguments.accessibleName() == "Arguments of call 2"
    assert beside.forms[1].remove.accessibleName() == "Remove call 2"
    beside.forms[0].remove.click()
    assert [call.id for call in beside.calls] == ["second"]
    assert beside.forms[0].arguments.accessibleName() == "Arguments of the call"
    assert len(edits) == 3
    beside.show_role(Role.USER)
    assert not beside.isVisible()
    assert [call.id for call in beside.calls] == ["second"], "it waits until the role is back"
    beside.put("", ())
    assert beside.calls == ()
    assert len(edits) == 3


@pytest.mark.parametrize("odd", ["a\ud800b", "a\u202eb", "two\nlines", "x" * 100_000])
def test_text_a_field_cannot_hold_is_kept_exactly(place: QWidget, odd: str) -> None:
    form = form_in(place)
    call = ToolCall(id=odd, name=odd, arguments=GOOD)
    form.set_call(call)
    assert form.call == call
    form.id.setText("other")
    assert form.call == ToolCall(id="other", name=odd, arguments=GOOD)


def test_draft_of_thousands_of_calls_makes_few_forms_and_loses_none(place: QWidget) -> None:
    beside = ComposerBeside(list, (WEATHER,))
    put(place, beside)
    calls = tuple(ToolCall(id=str(number), name="n", arguments="{") for number in range(5_000))
    beside.put("", calls)
    beside.show_role(Role.ASSISTANT)
    assert len(beside.forms) == MOST_FORMS
    assert beside.calls == calls
    beside.forms[0].remove.click()
    assert beside.calls == calls[1:]
