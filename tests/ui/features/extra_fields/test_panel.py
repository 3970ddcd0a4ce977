"""Extra body fields and headers, and whether past reasoning is included."""

from __future__ import annotations

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox

from playground.domain.request import ReasoningReturn, SendReasoning
from playground.jsonkit.values import JSONObject
from playground.ui.features.extra_fields.headers import ExtraHeader
from playground.ui.features.extra_fields.panel import ExtraFieldsPanel, Inherited
from playground.ui.widgets.value_table import ValueRow
from tests.support.each_case import each_case
from tests.ui.conftest import ShowWidget

NOTHING = Inherited("Team")
CANARY = "sk-canary-8f2a61c0de"


@pytest.fixture
def panel(show_widget: ShowWidget) -> ExtraFieldsPanel:
    panel = ExtraFieldsPanel()
    panel.set_value({}, {}, NOTHING, fresh=True)
    return show_widget(panel, 340, 800)


@pytest.fixture
def bodies(panel: ExtraFieldsPanel) -> list[JSONObject]:
    emitted: list[JSONObject] = []
    panel.body_changed.connect(emitted.append)
    return emitted


@pytest.fixture
def unsent(panel: ExtraFieldsPanel) -> list[str]:
    emitted: list[str] = []
    panel.unsent_changed.connect(emitted.append)
    return emitted


@pytest.fixture
def headers(panel: ExtraFieldsPanel) -> list[dict[str, str]]:
    emitted: list[dict[str, str]] = []
    panel.headers_changed.connect(emitted.append)
    return emitted


def add_row(panel: ExtraFieldsPanel, name: str, value: str) -> ValueRow[ExtraHeader]:
    created = panel.headers.add_row()
    QTest.keyClicks(created.name, name)
    QTest.keyClicks(created.value, value)
    return created


@each_case("text", ['{"top_k": }', "[1]", '{"a": NaN}'])
def test_invalid_body_is_kept_and_not_sent(
    panel: ExtraFieldsPanel, bodies: list[JSONObject], unsent: list[str], text: str
) -> None:
    panel.set_value({"top_k": 1}, {}, NOTHING)
    panel.body.replace_text(text)
    assert bodies[-1] == {}
    assert unsent[-1] == text
    assert "not sent" in panel.body_state.text()
    assert panel.body.lines
    panel.set_value({}, {}, NOTHING)  # what the experiment says after the change
    assert panel.body.text == text
    panel.set_value({"other": True}, {}, NOTHING, fresh=True)
    panel.set_value({}, {}, NOTHING, unsent=text, fresh=True)
    assert panel.body.text == text
    assert panel.body_state.isVisible()


def test_key_in_the_body_is_neither_sent_nor_saved(
    panel: ExtraFieldsPanel, bodies: list[JSONObject], unsent: list[str]
) -> None:
    panel.body.replace_text(f'{{"api": "{CANARY}"}}')
    assert not any(CANARY in str(emitted) for emitted in (*bodies, *unsent))
    assert "gateway's settings" in panel.body_state.text()
    assert CANARY not in panel.body_state.text()


def test_invalid_headers_are_flagged_and_not_sent(panel: ExtraFieldsPanel, headers: list[dict[str, str]]) -> None:
    add_row(panel, "X-Trace", " on ")
    assert headers[-1] == {"X-Trace": "on"}
    bad = add_row(panel, "X Bad", "1")
    assert "character that header names cannot have" in bad.flag.text()
    secret = add_row(panel, "X-Api-Key", CANARY)
    assert "gateway's settings" in secret.flag.text()
    twice = add_row(panel, "x-trace", "off")
    assert "twice" in twice.flag.text()
    assert headers[-1] == {"X-Trace": "on"}
    assert not any(CANARY in str(emitted) for emitted in headers)
    panel.set_value({}, headers[-1], NOTHING)
    assert len(panel.headers.edits) == 4
    panel.headers.edits[0].remove.click()
    assert headers[-1] == {"x-trace": "off"}
    assert not twice.flag.isVisible()


def test_unsendable_headers_are_saved_without_secrets(panel: ExtraFieldsPanel) -> None:
    emitted_headers: list[list[list[str]]] = []
    panel.unsent_headers_changed.connect(emitted_headers.append)
    add_row(panel, "X-Trace", "on")
    add_row(panel, "X Bad", "1")
    add_row(panel, "X-Api-Key", CANARY)
    add_row(panel, "x-trace", "off")
    QTest.keyClicks(panel.headers.add_row().value, CANARY)
    assert emitted_headers[-1] == [["X Bad", "1"], ["x-trace", "off"]]
    assert not any(CANARY in str(emitted) for emitted in emitted_headers)
    saved = emitted_headers[-1]
    panel.set_value({}, {}, NOTHING, fresh=True)
    assert panel.headers.edits == []
    panel.set_value({}, {"X-Trace": "on"}, NOTHING, unsent_headers=saved, fresh=True)
    pairs = [(created.name.text(), created.value.text()) for created in panel.headers.edits]
    assert pairs == [("X-Trace", "on"), ("X Bad", "1"), ("x-trace", "off")]
    assert [bool(created.flag.text()) for created in panel.headers.edits] == [False, True, True]
    for odd in ({"a": 1}, "x", [["only one"], [1, 2], ["a", "b", "c"], "ab"]):
        panel.set_value({}, {}, NOTHING, unsent_headers=odd, fresh=True)
        assert panel.headers.edits == []


def choose_entry(combo: QComboBox, words: str) -> None:
    index = combo.findText(words)
    assert index >= 0
    combo.setCurrentIndex(index)
    combo.activated.emit(index)


def test_rule_of_the_gateway_is_shown_until_changed(panel: ExtraFieldsPanel) -> None:
    fields, emitted = panel.reasoning, list[object]()
    team = ReasoningReturn(when=SendReasoning.AFTER_TOOL_CALLS, field="reasoning")
    fields.changed.connect(emitted.append)
    fields.show_value(None, team, applies=True)
    assert fields.when.currentText() == "Gateway default (after tool calls)"
    assert fields.field.currentText() == "reasoning"
    choose_entry(fields.when, "Always")
    assert emitted[-1] == ReasoningReturn(when=SendReasoning.ALWAYS, field="reasoning")
    line = fields.field.lineEdit()
    assert line is not None
    line.selectAll()
    QTest.keyClicks(line, "thinking")
    assert emitted[-1] == ReasoningReturn(when=SendReasoning.ALWAYS, field="thinking")
    choose_entry(fields.when, "Gateway default (after tool calls)")
    assert emitted[-1:] == [None]
    assert fields.rule == team
    assert fields.field.currentText() == "reasoning"
