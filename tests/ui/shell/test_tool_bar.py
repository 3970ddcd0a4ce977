"""The top row: what is chosen, and a model that may be any text."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QLayout,
    QMenu,
    QPushButton,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from playground.engine.gateways.reach import WORDS, Reach
from playground.ui.shell.tool_bar import NARROW, ROOMY, ToolBar
from playground.ui.widgets.segments import Segments


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


def test_the_gateway_in_use_stays_marked_whatever_is_clicked_and_told(bar: ToolBar) -> None:
    listed = [("a", "Mine"), ("b", "Demo")]

    def marked() -> list[bool]:
        return [action.isChecked() for action in gateway(bar).menu().actions() if action.isCheckable()]

    bar.show_gateways(listed, "a")
    gateway(bar).menu().actions()[0].trigger()
    assert marked() == [True, False]
    bar.show_gateways(listed, "b")
    assert marked() == [False, True]
    assert gateway(bar).text().strip() == "Demo"
    bar.show_gateways([*listed, ("c", "Third")], "c")
    assert marked() == [False, False, True]


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


def test_a_long_name_makes_words_and_pages_give_way_and_cuts_nothing(bar: ToolBar, qtbot: QtBot) -> None:
    bar.setMinimumSize(1, 1)
    row = bar.layout()
    assert row is not None
    row.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
    bar.resize(1024, 46)
    bar.show()
    bar.model.show_model("gpt-5", "Other")
    sign = bar.model.unlisted

    def is_cut() -> list[str]:
        shown = filter(QWidget.isVisible, bar.findChildren(Segments))
        buttons = [button for segments in shown for button in segments.buttons]
        narrow = [one.text() for one in buttons if one.width() < one.minimumSizeHint().width()]
        covers = sign.width() < sign.sizeHint().width() or bar.model.geometry().intersects(sign.geometry())
        return [*narrow, *([sign.text()] if covers else [])]

    for name in ("G", "Made-up router", "Gateway of a team " * 2):
        bar.show_gateways([("b", name)], "b")
        qtbot.wait(20)
        qtbot.waitUntil(lambda: not is_cut())
    qtbot.waitUntil(lambda: not bar.pages.isVisible())
    bar.show_gateways([("b", "G")], "b")
    qtbot.waitUntil(bar.pages.isVisible)
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
