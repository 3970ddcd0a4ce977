"""The form of a call written by hand: odd text and very many calls."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from playground.domain.parts import ToolCall
from playground.domain.roles import Role
from playground.domain.tools import ToolDefinition
from playground.ui.features.conversation.calls.call_form import CallForm
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
