"""Rows inside columns: what Qt deletes there leaves nothing behind that another thing could be taken for."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QFormLayout, QLabel, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import Shiboken

from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.layouts import in_column, in_row


def items() -> set[int]:
    """Where the items of layouts are of which Python has an object."""
    return {
        pointer
        for one in Shiboken.getAllValidWrappers()
        if type(one).__name__ == "QWidgetItem"
        for pointer in Shiboken.getCppPointer(one)
    }


@pytest.mark.parametrize("deep", [1, 2])
def test_python_has_no_objects_of_what_stands_in_a_nested_row(qtbot: QtBot, deep: int) -> None:
    before = items()
    whole, label = QWidget(), QLabel("moved elsewhere later")
    qtbot.addWidget(whole)
    row = in_row(label, QLabel("stays"))
    for _ in range(1, deep):
        row = in_row(row)
    form = QFormLayout()
    form.addRow("name", QLabel("value"))
    in_column(row, form, of=whole)
    assert items() == before
    other = QWidget()
    qtbot.addWidget(other)
    in_row(label, of=other)
    assert label.parentWidget() is other
    assert items() == before


def test_a_layout_of_our_own_keeps_its_items(qtbot: QtBot) -> None:
    whole = QWidget()
    qtbot.addWidget(whole)
    flow = FlowLayout()
    flow.addWidget(QLabel("word"))
    in_column(flow, of=whole)
    assert flow.count() == 1
    assert flow.heightForWidth(100) > 0
