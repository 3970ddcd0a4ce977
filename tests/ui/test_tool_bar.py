"""The top row: what is chosen, and a model that may be any text."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QPushButton
from pytestqt.qtbot import QtBot

from playground.ui.tool_bar import NARROW, ROOMY, ModelPicker, ToolBar

pytestmark = pytest.mark.qt_log_ignore("plugin does not support")  # the offscreen one says so of pop-ups


@pytest.fixture
def picker(qtbot: QtBot) -> ModelPicker:
    picker = ModelPicker()
    qtbot.addWidget(picker)
    picker.show()
    qtbot.waitExposed(picker)
    return picker


def test_any_text_is_a_model(picker: ModelPicker) -> None:
    chosen: list[str] = []
    picker.chosen.connect(chosen.append)
    picker.show_models(["gpt-a", "claude-b"])
    picker.setFocus()
    QTest.keyClick(picker, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(picker, " vendor/no-such-model:v2 ")
    QTest.keyClick(picker, Qt.Key.Key_Return)
    assert chosen[-1] == "vendor/no-such-model:v2"
    assert picker.ids == ["gpt-a", "claude-b"]


def test_a_new_list_leaves_what_is_typed(picker: ModelPicker) -> None:
    chosen: list[str] = []
    picker.chosen.connect(chosen.append)
    picker.show_model("typed-by-hand")
    picker.show_models(["one", "two"])
    assert picker.currentText() == "typed-by-hand"
    assert picker.currentIndex() == -1
    picker.show_model("two")
    picker.show_models(["three", "two"])
    assert (picker.currentText(), picker.currentIndex()) == ("two", 1)
    assert chosen == []


def test_the_search_finds_the_middle_of_a_name(picker: ModelPicker) -> None:
    picker.show_models(["vendor/Alpha-large", "vendor/beta", "other/alpha-mini"])
    completer = picker.completer()
    assert completer is not None
    completer.setCompletionPrefix("alpha")
    found = {completer.completionModel().index(row, 0).data() for row in range(completer.completionCount())}
    assert found == {"vendor/Alpha-large", "other/alpha-mini"}


def test_an_empty_list_is_asked_for_when_it_is_opened(picker: ModelPicker, qtbot: QtBot) -> None:
    with qtbot.waitSignal(picker.refresh_asked):
        picker.showPopup()
    picker.hidePopup()
    picker.show_models(["a"])
    with qtbot.assertNotEmitted(picker.refresh_asked):
        picker.showPopup()
    picker.hidePopup()


@pytest.fixture
def bar(qtbot: QtBot) -> ToolBar:
    bar = ToolBar(QMenu(), QMenu())
    qtbot.addWidget(bar)
    return bar


def gateway(bar: ToolBar) -> QPushButton:
    return next(button for button in bar.findChildren(QPushButton) if button.accessibleName() == "Gateway")


def test_gateways_are_listed_with_the_one_in_use_marked(bar: ToolBar, qtbot: QtBot) -> None:
    bar.show_gateways([("a", "Research & Co"), ("b", "Demo")], "a")
    assert gateway(bar).text().strip() == "Research && Co"
    actions = [action for action in gateway(bar).menu().actions() if action.isCheckable()]
    assert [(action.text(), action.isChecked()) for action in actions] == [("Research && Co", True), ("Demo", False)]
    with qtbot.waitSignal(bar.gateway_chosen) as chosen:
        actions[1].trigger()
    assert chosen.args == ["b"]
    with qtbot.waitSignal(bar.gateways_asked):
        gateway(bar).menu().actions()[-1].trigger()


def test_the_state_is_a_colour_a_form_and_words(bar: ToolBar) -> None:
    pictures = set()
    for state, words in (("ok", "reached"), ("error", "not reached"), ("unknown", "not asked yet")):
        bar.show_state(state)
        assert gateway(bar).toolTip() == f"Gateway: {words}"
        image = gateway(bar).icon().pixmap(16, 16).toImage()
        pictures.add(tuple(image.pixel(x, y) for x in range(image.width()) for y in range(image.height())))
    assert len(pictures) == 3


def test_the_protocol_shown_is_not_a_choice_made(bar: ToolBar, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(bar.protocol_chosen):
        bar.show_protocol("messages")
    other = next(b for b in bar.findChildren(QPushButton) if b.text() == "Chat completions")
    with qtbot.waitSignal(bar.protocol_chosen) as chosen:
        other.click()
    assert chosen.args == ["chat"]


def test_get_code_is_one_press_away_and_gives_way_in_a_narrow_window(qtbot: QtBot) -> None:
    bar = ToolBar(QMenu(), QMenu())
    qtbot.addWidget(bar)
    bar.resize(1200, 46)
    bar.show()
    with qtbot.waitSignal(bar.code_asked):
        QTest.mouseClick(bar.code, Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(bar.compare_asked):
        QTest.mouseClick(bar.compare, Qt.MouseButton.LeftButton)
    assert bar.code.text() == "Get code"
    bar.resize(NARROW - 1, 46)
    assert bar.code.text() == ""
    bar.resize(ROOMY, 46)
    least = bar.minimumSizeHint().width()
    bar.resize(ROOMY - 1, 46)
    assert not bar.compare.isVisible()
    assert bar.minimumSizeHint().width() == least, "what gives way does not keep a window wide"
    bar.resize(NARROW - 1, 46)
    assert bar.code.accessibleName() == "Get code"
    assert bar.minimumSizeHint().width() <= 760, "no wider than the smallest window"
    bar.hide()
