"""The top row: what is chosen, and a model that may be any text."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QLayout,
    QMenu,
    QPushButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from playground.ui.shell.tool_bar import NARROW, ROOMY, ToolBar
from playground.ui.widgets.segments import Segments


@pytest.fixture
def bar(qtbot: QtBot) -> ToolBar:
    bar = ToolBar(QMenu(), QMenu())
    qtbot.addWidget(bar)
    return bar


def gateway(bar: ToolBar) -> QPushButton:
    return next(button for button in bar.findChildren(QPushButton) if button.accessibleName() == "Gateway")


def test_gateway_menu_marks_the_gateway_in_use(bar: ToolBar, qtbot: QtBot) -> None:
    listed = [("a", "Research & Co"), ("b", "Demo")]

    def entries() -> list[tuple[str, bool]]:
        menu = gateway(bar).menu().actions()
        return [(action.text(), action.isChecked()) for action in menu if action.isCheckable()]

    bar.show_gateways(listed, "a")
    assert gateway(bar).text().strip() == "Research && Co"
    assert entries() == [("Research && Co", True), ("Demo", False)]
    actions = {action.text(): action for action in gateway(bar).menu().actions()}
    with qtbot.waitSignal(bar.gateway_chosen) as chosen:
        actions["Demo"].trigger()
    assert chosen.args == ["b"]
    assert entries() == [("Research && Co", True), ("Demo", False)], "until the window has changed it"
    with qtbot.waitSignal(bar.gateways_asked):
        gateway(bar).menu().actions()[-1].trigger()
    with qtbot.waitSignal(bar.connect_asked):
        actions["Connect a gateway…"].trigger()
    bar.show_gateways([*listed, ("c", "Third")], "c")
    assert entries() == [("Research && Co", False), ("Demo", False), ("Third", True)]
    assert gateway(bar).text().strip() == "Third"


def test_unlisted_model_is_marked(bar: ToolBar) -> None:
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


def test_long_gateway_name_hides_pages_and_cuts_nothing(bar: ToolBar, qtbot: QtBot) -> None:
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
        QApplication.sendPostedEvents()
        qtbot.waitUntil(lambda: not is_cut())
    qtbot.waitUntil(lambda: not bar.pages.isVisible())
    bar.show_gateways([("b", "G")], "b")
    qtbot.waitUntil(bar.pages.isVisible)
    bar.hide()


def test_buttons_shrink_in_a_narrow_window(qtbot: QtBot) -> None:
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
