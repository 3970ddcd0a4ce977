"""The top row: what is chosen, and a model that may be any text."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QLayout,
    QMenu,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from playground.engine.gateways.reach import WORDS, Reach
from playground.ui.shell.tool_bar import NARROW, ROOMY, ToolBar
from playground.ui.widgets.model_picker import SHOWN, ModelPicker


@pytest.fixture
def picker(qtbot: QtBot) -> Iterator[ModelPicker]:
    """In an active window, the focus elsewhere."""
    window = QWidget()
    qtbot.addWidget(window)
    row = QVBoxLayout(window)
    elsewhere = QPushButton("Elsewhere")
    picker = ModelPicker()
    row.addWidget(elsewhere)
    row.addWidget(picker)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    elsewhere.setFocus()
    yield picker
    window.hide()


def leave(picker: ModelPicker) -> None:
    """Go on to the field beside it."""
    picker.window().findChildren(QPushButton)[0].setFocus()


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


def test_what_is_marked_stays_marked_when_the_list_arrives(picker: ModelPicker) -> None:
    picker.show_model("first")
    picker.setFocus()
    line = picker.lineEdit()
    assert line is not None
    picker.show_models(["one", "two"])
    assert line.selectedText() == "first", "what is typed next takes its place"
    picker.show_model("one")
    assert line.selectedText() == "one"
    line.setCursorPosition(1)
    picker.show_models(["three", "one"])
    assert (line.cursorPosition(), line.hasSelectedText()) == (1, False)


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


def popup(picker: ModelPicker) -> QAbstractItemView:
    completer = picker.completer()
    assert completer is not None
    view = completer.popup()
    assert view is not None
    return view


def test_escape_while_filtering_goes_back_to_the_model_in_use(picker: ModelPicker, qtbot: QtBot) -> None:
    chosen: list[str] = []
    picker.chosen.connect(chosen.append)
    picker.show_models(["vendor/alpha", "vendor/beta"])
    picker.show_model("typed/by-hand")
    picker.setFocus()
    QTest.keyClicks(picker, "alp")
    qtbot.waitUntil(lambda: popup(picker).isVisible())
    QTest.keyClick(popup(picker), Qt.Key.Key_Escape)
    assert not popup(picker).isVisible(), "one Escape does both"
    assert picker.currentText() == "typed/by-hand"
    leave(picker)
    assert set(chosen) <= {"typed/by-hand"}, "the fragment was never chosen"


def test_escape_goes_back_without_a_list_and_is_the_windows_own_after_that(picker: ModelPicker) -> None:
    picker.show_model("m-1")
    picker.setFocus()
    line = picker.lineEdit()
    assert line is not None
    QTest.keyClicks(picker, "frag")
    asked = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier)
    asked.ignore()
    QApplication.sendEvent(picker, asked)
    assert asked.isAccepted(), "Stop does not get it while something is typed"
    QTest.keyClick(picker, Qt.Key.Key_Escape)
    assert (picker.currentText(), line.selectedText()) == ("m-1", "m-1")
    asked.ignore()
    QApplication.sendEvent(picker, asked)
    assert not asked.isAccepted()


def test_escape_leaves_a_line_of_the_list_that_was_gone_to(picker: ModelPicker, qtbot: QtBot) -> None:
    picker.show_models(["vendor/alpha", "vendor/beta"])
    picker.show_model("vendor/beta")
    picker.setFocus()
    QTest.keyClicks(picker, "alp")
    qtbot.waitUntil(lambda: popup(picker).isVisible())
    QTest.keyClick(popup(picker), Qt.Key.Key_Down)
    QTest.keyClick(popup(picker), Qt.Key.Key_Escape)
    assert (picker.currentText(), picker.currentIndex()) == ("vendor/beta", 1)


def test_a_click_marks_the_model_and_the_next_one_sets_the_cursor(picker: ModelPicker) -> None:
    picker.show_model("vendor/alpha")
    line = picker.lineEdit()
    assert line is not None
    leave(picker)
    inside = QPoint(20, line.height() // 2)
    QTest.mouseClick(line, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, inside)
    assert line.selectedText() == "vendor/alpha"
    QTest.qWait(QApplication.doubleClickInterval() + 20)
    QTest.mouseClick(line, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, inside)
    assert not line.hasSelectedText()
    leave(picker)
    picker.setFocus()  # as Ctrl+L does
    assert line.selectedText() == "vendor/alpha"


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
    for reach in Reach:
        bar.show_state(reach)
        assert gateway(bar).toolTip() == f"Gateway: {WORDS[reach]}"
        assert gateway(bar).accessibleDescription() == WORDS[reach]
        image = gateway(bar).icon().pixmap(16, 16).toImage()
        pictures.add(tuple(image.pixel(x, y) for x in range(image.width()) for y in range(image.height())))
    assert len(pictures) == 4, "reached, not reached, not asked, and what needs a look"
    assert len(set(WORDS.values())) == len(Reach)


def test_a_model_that_is_in_no_list_is_marked_and_stays(bar: ToolBar) -> None:
    bar.resize(NARROW, 46)
    bar.show()
    bar.model.show_model("gpt-5")
    assert not bar.model.unlisted.isVisible()
    bar.model.show_model("gpt-5", "Other <b>gateway")
    assert bar.model.unlisted.isVisible()
    assert (bar.model.unlisted.text(), bar.model.currentText()) == ("not listed", "gpt-5")
    assert not bar.model.unlisted.icon().isNull()
    assert "is not in the list of Other &lt;b&gt;gateway" in bar.model.unlisted.toolTip()
    bar.resize(NARROW - 1, 46)
    assert bar.model.unlisted.text() == ""
    assert "“gpt-5” is not in the list of Other <b>gateway" in bar.model.unlisted.accessibleName()
    assert bar.minimumSizeHint().width() <= 760, "no wider than the smallest window"
    bar.hide()


def test_a_gateway_is_connected_from_the_menu_of_gateways(bar: ToolBar, qtbot: QtBot) -> None:
    bar.show_gateways([("b", "Demo")], "b")
    entry = next(action for action in gateway(bar).menu().actions() if action.text() == "Connect a gateway…")
    with qtbot.waitSignal(bar.connect_asked):
        entry.trigger()


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
    with qtbot.waitSignal(bar.page_chosen) as chosen:
        QTest.mouseClick(bar.pages.buttons[1], Qt.MouseButton.LeftButton)
    assert chosen.args == [1]
    assert bar.code.text() == "Get code"
    bar.setMinimumSize(1, 1)  # as in a window, where it is not its layout that keeps it wide
    row = bar.layout()
    assert row is not None
    row.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
    bar.resize(NARROW - 1, 46)
    assert bar.code.text() == ""
    bar.resize(ROOMY, 46)
    least = bar.minimumSizeHint().width()
    bar.resize(ROOMY - 1, 46)
    assert not bar.pages.isVisible()
    assert bar.minimumSizeHint().width() == least, "what gives way does not keep a window wide"
    bar.resize(NARROW - 1, 46)
    assert bar.code.accessibleName() == "Get code"
    assert bar.minimumSizeHint().width() <= 760, "no wider than the smallest window"
    bar.hide()


def listed(picker: ModelPicker) -> list[str]:
    """The lines of the list that is opened."""
    return [picker.itemData(row, Qt.ItemDataRole.DisplayRole) for row in range(picker.count())]


def test_of_a_hundred_thousand_models_some_are_offered_and_each_is_found(picker: ModelPicker) -> None:
    picker.show_models([f"vendor/model-{number}" for number in range(100_000)])
    assert len(picker.ids) == 100_000
    assert len(listed(picker)) == SHOWN + 1
    assert listed(picker)[-1].startswith("… more")
    chosen: list[str] = []
    picker.chosen.connect(chosen.append)
    picker.setFocus()
    QTest.keyClicks(picker, "DEL-99999")
    model = popup(picker).model()
    assert [model.index(row, 0).data() for row in range(model.rowCount())] == ["vendor/model-99999"]
    QTest.keyClick(popup(picker), Qt.Key.Key_Down)
    QTest.keyClick(popup(picker), Qt.Key.Key_Return)
    leave(picker)
    assert set(chosen) == {"vendor/model-99999"}


@pytest.mark.parametrize(
    "model", ["m" * 1_000_000, "two\nlines", "ends in a blank ", "\u202eodd\u200b", "x" * 2_000 + " "]
)
def test_what_is_chosen_is_the_id_as_it_was_listed(picker: ModelPicker, model: str) -> None:
    chosen: list[str] = []
    picker.chosen.connect(chosen.append)
    other = f"{model[:900]}-{model[901:]}" if len(model) > 1_000 else "other"
    picker.show_models([other, model])
    assert all(len(line) < 400 for line in listed(picker))
    assert len(set(listed(picker))) == 2
    picker.setCurrentIndex(1)
    picker.activated.emit(1)
    assert chosen == [model]
    picker.show_model(model)
    picker.show_models(["another gateway's"])
    picker._settled()
    assert chosen == [model, model], "leaving the field changes nothing"


def test_the_line_that_says_that_there_are_more_cannot_be_chosen(picker: ModelPicker) -> None:
    picker.show_models([f"model-{number}" for number in range(SHOWN + 1)])
    last = picker.model().index(SHOWN, 0)
    assert "… more" in str(last.data())
    assert not last.flags() & (Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
    assert picker.findText("… more", Qt.MatchFlag.MatchStartsWith) == SHOWN, "and it is there once"


def test_a_button_does_not_look_pointed_at_once_its_menu_has_closed(qtbot: QtBot) -> None:
    menu = QMenu()
    menu.addAction("Open a dialog")
    bar = ToolBar(menu, QMenu())
    qtbot.addWidget(bar)
    bar.show()
    qtbot.waitExposed(bar)
    QTest.mouseMove(bar, bar.rect().bottomRight())  # on none of the buttons
    for button in bar.findChildren(QAbstractButton):
        if (opened := button.menu() if isinstance(button, QPushButton | QToolButton) else None) is not None:
            opened.addAction("More")
            opened.popup(bar.mapToGlobal(QPoint(0, 200)))
            qtbot.waitUntil(opened.isVisible)
            button.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)  # what is left when a dialog comes in between
            opened.hide()
            qtbot.waitUntil(lambda button=button: not button.underMouse())  # type: ignore[misc]
