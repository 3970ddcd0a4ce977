"""Screen readers get a name for every control of the composer, the side panel and the welcome page."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QAbstractSpinBox, QLineEdit, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from playground.protocols.chat.parameters import ChatParameters
from playground.protocols.messages.parameters import MessagesParameters
from playground.ui.features.conversation.composer import Composer
from playground.ui.features.conversation.welcome import Welcome
from playground.ui.features.debugger.result_rules import ResultDefaults
from playground.ui.features.extra_fields.panel import ExtraFieldsPanel
from playground.ui.features.output.panel import SCHEMA, OutputPanel
from playground.ui.features.parameters.panel import MORE, ParameterPanel
from tests.ui.conftest import ShowWidget


def parameters(kind: type[ChatParameters | MessagesParameters]) -> ParameterPanel:
    panel = ParameterPanel(kind=kind)
    panel.set_open(MORE, True)
    return panel


def output() -> OutputPanel:
    panel = OutputPanel()
    panel.set_value(ChatParameters())
    panel.choose(SCHEMA)
    return panel


MAKERS: dict[str, Callable[[], QWidget]] = {
    "composer": Composer,
    "welcome": Welcome,
    "chat": lambda: parameters(ChatParameters),
    "messages": lambda: parameters(MessagesParameters),
    "extra fields": ExtraFieldsPanel,
    "output": output,
    "responses": ResultDefaults,
}


def is_nameless(widget: QWidget) -> bool:
    inside_spin_box = isinstance(widget, QLineEdit) and isinstance(widget.parentWidget(), QAbstractSpinBox)
    takes_focus = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus) and widget.isVisible()
    if not takes_focus or inside_spin_box or isinstance(widget, QScrollArea):
        return False
    return not (widget.accessibleName() or (isinstance(widget, QAbstractButton) and widget.text()))


@pytest.mark.parametrize("name", MAKERS)
def test_every_control_has_an_accessible_name(show_widget: ShowWidget, name: str) -> None:
    widget = show_widget(MAKERS[name](), 420, 900)
    nameless = [type(child).__name__ for child in widget.findChildren(QWidget) if is_nameless(child)]
    assert nameless == []


def test_field_that_gets_the_focus_is_scrolled_into_view(show_widget: ShowWidget, qtbot: QtBot) -> None:
    panel = show_widget(parameters(ChatParameters), 330, 200)
    field = panel.rows["n"].main_field()
    panel.activateWindow()
    field.setFocus(Qt.FocusReason.OtherFocusReason)
    qtbot.waitUntil(field.hasFocus)
    assert panel.viewport().rect().contains(field.mapTo(panel.viewport(), field.rect().center()))
