"""Rows inside columns: what Qt deletes there leaves nothing behind that another thing could be taken for."""

from __future__ import annotations

from PySide6.QtWidgets import QFormLayout, QLabel, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import Shiboken

from playground.ui.widgets.layouts import in_column, in_row


def items() -> set[int]:
    """Where the items of layouts are of which Python has an object."""
    return {
        pointer
        for one in Shiboken.getAllValidWrappers()
        if type(one).__name__ == "QWidgetItem"
        for pointer in Shiboken.getCppPointer(one)
    }


def test_items_of_nested_layouts_have_no_python_objects(qtbot: QtBot) -> None:
    before = items()
    whole, label = QWidget(), QLabel("moved elsewhere later")
    qtbot.addWidget(whole)
    row = in_row(in_row(label, QLabel("stays")))
    form = QFormLayout()
    form.addRow("name", QLabel("value"))
    in_column(row, form, of=whole)
    assert items() == before
    other = QWidget()
    qtbot.addWidget(other)
    in_row(label, of=other)
    assert label.parentWidget() is other
    assert items() == before
