"""The form of a call written by hand: odd text and very many calls."""

from __future__ import annotations

import json

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from playground.domain.parts import ToolCall
from playground.domain.tools import ToolDefinition
from playground.ui.features.conversation.calls.call_form import CallForm
from playground.ui.features.conversation.editors import CallEditor
from playground.ui.widgets.arguments_dialog import ArgumentsDialog
from tests.engine.debugging import WEATHER
from tests.support.each_case import each_case
from tests.ui.conftest import ShowWidget


@each_case("odd", ["a\ud800b", "a\u202eb", "two\nlines", "x" * 100_000])
def test_text_a_field_cannot_hold_is_kept_exactly(show_widget: ShowWidget, odd: str) -> None:
    form = CallForm()
    form.set_tools((WEATHER,))
    show_widget(form, 600, 400)
    call = ToolCall(id=odd, name=odd, arguments='{"city": "Oslo"}')
    form.set_call(call)
    assert form.call == call
    form.id.setText("other")
    assert form.call == call.model_copy(update={"id": "other"})


def test_arguments_are_filled_in_in_a_form(show_widget: ShowWidget) -> None:
    form = show_widget(CallForm(), 600, 200)
    tool = ToolDefinition(name="clock", parameters={"type": "object", "properties": {"zone": {"type": "string"}}})
    form.set_tools((tool,))
    assert not form.form_button.isVisible()
    form.set_call(ToolCall(id="", name="clock", arguments='{"zone": "UTC"}'))
    edits: list[bool] = []
    form.edited.connect(lambda: edits.append(True))
    form.form_button.click()
    (dialog,) = form.findChildren(ArgumentsDialog)
    QTest.keyClick(dialog.form.rows["zone"].main_field(), Qt.Key.Key_End)
    QTest.keyClicks(dialog.form.rows["zone"].main_field(), "+1")
    dialog.take_button.click()
    assert json.loads(form.call.arguments) == {"zone": "UTC+1"}
    assert edits
    form.arguments.set_text('{"zone": ')
    assert not form.form_button.isVisible(), "a form cannot show invalid JSON"


def test_escape_and_ctrl_enter_work_in_every_field_of_a_call_editor(show_widget: ShowWidget, qtbot: QtBot) -> None:
    editor = CallEditor(ToolCall(id="c", name="get_weather", arguments="{}"), (WEATHER,))
    show_widget(editor, 600, 400)
    for field in (editor.form.id, editor.form.name, editor.form.arguments):
        with qtbot.waitSignal(editor.cancelled):
            QTest.keyClick(field, Qt.Key.Key_Escape)
        with qtbot.waitSignal(editor.saved):
            QTest.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
