"""A flow layout fills lines in reading direction."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget

from playground.ui.widgets.flow_layout import FlowLayout
from tests.ui.conftest import ShowWidget


@pytest.mark.parametrize("direction", [Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft])
def test_items_are_placed_in_reading_direction(show_widget: ShowWidget, direction: Qt.LayoutDirection) -> None:
    widget = QWidget()
    widget.setLayoutDirection(direction)
    flow = FlowLayout(widget, gap=5)
    buttons = [QPushButton(text) for text in ("First", "Second", "Third")]
    for button in buttons:
        button.setFixedSize(80, 20)
        flow.addWidget(button)
    show_widget(widget, 200, 100)
    mirrored = direction == Qt.LayoutDirection.RightToLeft
    first, second, third = (button.geometry() for button in buttons)
    assert (first.x(), second.x()) == ((120, 35) if mirrored else (0, 85))
    assert (third.x(), third.y()) == (120 if mirrored else 0, 25)
