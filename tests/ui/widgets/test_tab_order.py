"""The order of the Tab key by the place of the controls."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QPushButton, QScrollArea, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.tab_order import order_tab_stops
from tests.ui.conftest import ShowWidget


def test_tab_order_follows_rows_also_in_a_scrolled_area(show_widget: ShowWidget, qtbot: QtBot) -> None:
    page, content, area = QWidget(), QWidget(), QScrollArea(widgetResizable=True)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    last, combo, first, left, right = QLineEdit(), QComboBox(editable=True), QLineEdit(), QPushButton(), QPushButton()
    in_column(first, combo, last, parent=content)
    content.setMinimumHeight(900)
    area.setWidget(content)
    column = QVBoxLayout(page)
    column.addWidget(area, 1)
    column.insertLayout(0, in_row(left, right))
    hidden = QPushButton(page)
    hidden.hide()
    show_widget(page, 300, 200)
    page.activateWindow()
    qtbot.waitUntil(page.isActiveWindow)
    area.verticalScrollBar().setValue(500)
    order_tab_stops(page)
    left.setFocus()
    reached = []
    for _ in range(5):
        focus = QApplication.focusWidget()
        assert focus is not None
        reached.append(focus)
        QTest.keyClick(focus, Qt.Key.Key_Tab)
    assert reached == [left, right, first, combo, last]
