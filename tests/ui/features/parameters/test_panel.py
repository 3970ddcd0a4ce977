"""The rows of the parameter panel."""

from __future__ import annotations

from typing import Any, TypeVar

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from playground.ui.features.parameters.panel import MORE, ParameterPanel
from playground.ui.widgets.fold import Fold
from playground.ui.widgets.rows.kinds import ChoiceRow, JsonRow, NumberRow, SwitchRow
from playground.ui.widgets.rows.list_row import ListRow
from playground.ui.widgets.rows.row import FieldRow
from playground.ui.widgets.text_chip import spelled, unspelled
from tests.support.each_case import each_case
from tests.ui.conftest import ShowWidget
from tests.ui.features.parameters.sample import SampleParameters

Row = TypeVar("Row", bound=FieldRow)


@pytest.fixture
def panel(show_widget: ShowWidget) -> ParameterPanel:
    panel = ParameterPanel()
    panel.set_value(SampleParameters())
    panel.set_open(MORE, True)
    return show_widget(panel, 330, 700)


def find_row(panel: ParameterPanel, name: str, kind: type[Row]) -> Row:
    result = panel.rows[name]
    assert isinstance(result, kind)
    return result


def sent(panel: ParameterPanel) -> dict[str, Any]:
    return panel.value.to_wire()


def test_defaults_are_not_sent(panel: ParameterPanel) -> None:
    assert sent(panel) == {}
    assert set(panel.rows) == {name for name, _ in SampleParameters.hints()}
    for value in panel.rows.values():
        assert value.label.property("kind") == "muted"
        assert not value.reset.isVisible()
        assert value.main_field().accessibleName().startswith(value.hint.label)
        assert value.hint.help in value.main_field().accessibleDescription()


def test_common_parameters_come_first_and_the_fold_opens_for_a_changed_one(show_widget: ShowWidget) -> None:
    panel = show_widget(ParameterPanel(kind=SampleParameters), 330, 700)
    panel.set_value(SampleParameters(temperature=1))
    assert [name for name, row in panel.rows.items() if row.isVisible()] == ["temperature", "limit"]
    (fold,) = panel.findChildren(Fold)
    assert (fold.button.accessibleName(), fold.count, fold.is_open) == (MORE, "7", False)
    panel.set_value(SampleParameters(temperature=1, user="me"))
    assert (fold.count, fold.is_open) == ("7 · 1 changed", True)
    toggled: list[tuple[str, bool]] = []
    panel.fold_toggled.connect(lambda title, is_open: toggled.append((title, is_open)))
    fold.button.click()
    panel.set_value(SampleParameters(temperature=0.5, user="me"))
    assert toggled == [(MORE, False)]
    assert not panel.rows["user"].isVisible(), "a person closed it"
    panel.show_row("logit.bias")
    assert panel.rows["bias"].isVisible()


def test_slider_sets_and_resets_its_value(panel: ParameterPanel) -> None:
    number = find_row(panel, "temperature", NumberRow)
    assert number.slider is not None
    assert number.slider.property("kind") == "unset"
    QTest.mouseClick(number.slider, Qt.MouseButton.LeftButton, pos=QPoint(number.slider.width() // 2, 7))
    assert abs(sent(panel)["temperature"] - 1) <= 0.1
    assert number.slider.property("kind") == ""
    QTest.keyClick(number.slider, Qt.Key.Key_Home)
    assert sent(panel) == {"temperature": 0}
    QTest.keyClick(number.slider, Qt.Key.Key_Right)
    assert sent(panel) == {"temperature": 0.05}
    QTest.keyClick(number.slider, Qt.Key.Key_Delete)
    assert sent(panel) == {}
    assert number.slider.property("kind") == "unset"


def test_text_that_is_no_number_is_kept_and_not_sent(panel: ParameterPanel) -> None:
    number = find_row(panel, "limit", NumberRow)
    QTest.keyClicks(number.field, "12a")
    assert sent(panel) == {}
    assert number.field.text() == "12a"
    assert number.flag_label.property("kind") == "flag-error"
    assert "not sent" in number.flag_label.text()
    panel.set_value(panel.value)
    panel.set_value(panel.value.with_value("user", "another field"))
    assert number.field.text() == "12a"
    assert number.flag_label.isVisible()
    panel.set_value(SampleParameters(), fresh=True)
    assert number.field.text() == ""
    assert not number.flag_label.isVisible()


def test_choice_accepts_suggestions_and_free_text(panel: ParameterPanel) -> None:
    choice = find_row(panel, "effort", ChoiceRow)
    line = choice.field.lineEdit()
    assert line is not None
    QTest.keyClick(line, Qt.Key.Key_Down)
    assert sent(panel) == {"effort": "low"}
    line.selectAll()
    QTest.keyClicks(line, "hi")
    assert sent(panel) == {"effort": "hi"}, "no completion behind one's back"
    choice.field.setCurrentIndex(0)
    choice.field.activated.emit(0)
    assert sent(panel) == {}
    assert line.text() == ""
    QTest.keyClicks(line, "default")
    assert sent(panel) == {"effort": "default"}
    QTest.keyClick(line, Qt.Key.Key_Delete)
    assert sent(panel) == {}


def test_list_is_edited_with_the_keyboard(panel: ParameterPanel) -> None:
    chips = find_row(panel, "stop", ListRow)
    QTest.keyClicks(chips.field, "END")
    QTest.keyClick(chips.field, Qt.Key.Key_Return)
    QTest.keyClicks(chips.field, "\\n\\n")
    QTest.keyClick(chips.field, Qt.Key.Key_Return)
    assert sent(panel) == {"stop": ["END", "\n\n"]}
    assert chips.count.text() == "2 of 4"
    assert [chip.text.text() for chip in chips.chips] == ["END", "\\n\\n"]
    QTest.mouseClick(chips.chips[0].close_button, Qt.MouseButton.LeftButton)
    assert sent(panel) == {"stop": ["\n\n"]}
    QTest.keyClick(chips.field, Qt.Key.Key_Backspace)
    assert chips.field.text() == "\\n\\n"
    assert sent(panel) == {}


@each_case("text", ["plain", "\n", "tab\t", 'with "quotes"', "\u202e", "é"])
def test_text_of_a_chip_is_escaped(text: str) -> None:
    assert unspelled(spelled(text)) == text


def test_json_is_sent_when_valid_and_kept_when_not(panel: ParameterPanel) -> None:
    bias = find_row(panel, "bias", JsonRow)
    QTest.keyClicks(bias.editor, '{"50256": -100')
    assert sent(panel) == {}
    assert "not sent" in bias.flag_label.text()
    assert len(bias.editor.marks) == 1
    panel.set_value(panel.value)
    assert bias.editor.text() == '{"50256": -100'
    QTest.keyClicks(bias.editor, "}")
    assert sent(panel) == {"logit": {"bias": {"50256": -100}}}
    assert list(bias.editor.marks) == []
    assert not bias.flag_label.isVisible()
    panel.set_value(panel.value)
    assert bias.editor.text() == '{"50256": -100}', "typed text is not reformatted while it is edited"
    QTest.mouseClick(bias.reset, Qt.MouseButton.LeftButton)
    assert sent(panel) == {}
    assert bias.editor.text() == ""


def test_values_from_outside_are_shown_whatever_their_type(panel: ParameterPanel) -> None:
    wire = {"temperature": "hot", "stop": "END", "stream": "yes", "effort": 3, "logit": {"bias": [1]}, "foo": 1}
    odd = SampleParameters.from_wire(wire)
    panel.set_value(odd)
    assert find_row(panel, "temperature", NumberRow).field.text() == '"hot"'
    assert [chip.text.text() for chip in find_row(panel, "stop", ListRow).chips] == ["END"]
    assert find_row(panel, "stream", SwitchRow).pill.text() == "yes"
    assert find_row(panel, "effort", ChoiceRow).field.currentText() == "3"
    assert "foo" in panel.also_sent.text()
    assert panel.also_sent.isVisible()
    assert sent(panel) == wire
    flagged = {name for name, displayed in panel.rows.items() if displayed.flag_label.isVisible()}
    assert flagged == {"temperature", "stream", "effort", "bias"}


def test_wheel_scrolls_the_panel_and_changes_no_value(qtbot: QtBot, panel: ParameterPanel) -> None:
    panel.set_value(SampleParameters(temperature=1, effort="low", bias={"a": [1] * 30}))
    panel.resize(330, 200)
    bar = panel.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 200)
    number = find_row(panel, "temperature", NumberRow)
    assert number.slider is not None
    number.field.setFocus()
    window = panel.windowHandle()
    bias = find_row(panel, "bias", JsonRow).editor
    for widget in (number.slider, find_row(panel, "effort", ChoiceRow).field, bias):
        bar.setValue(0)
        place = widget.mapTo(panel, widget.rect().center()).y()
        bar.setValue(place - 100)
        before = bar.value()
        index = QPointF(widget.mapTo(panel, widget.rect().center()))
        QTest.wheelEvent(window, index, QPoint(0, -120 if before < bar.maximum() else 120))
        assert bar.value() != before, type(widget).__name__
    assert sent(panel) == {"temperature": 1, "effort": "low", "logit": {"bias": {"a": [1] * 30}}}
