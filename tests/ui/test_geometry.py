"""The search for faults of a layout finds each kind of fault, and none in a layout that holds."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from tests.support.geometry import find_faults
from tests.ui.conftest import ShowWidget


def test_layout_with_enough_room_has_no_fault(show_widget: ShowWidget) -> None:
    widget = QWidget()
    column = QVBoxLayout(widget)
    column.addWidget(QLabel("A label"))
    column.addWidget(QPushButton("A button"))
    assert list(find_faults(show_widget(widget, 300, 200))) == []


def test_label_and_button_without_enough_room_are_cut_off(show_widget: ShowWidget) -> None:
    widget = QWidget()
    for part in (QLabel("A long label", widget), QPushButton("A long button", widget)):
        part.setGeometry(0, 0, 20, 30)
    faults = list(find_faults(show_widget(widget, 300, 200)))
    assert len([fault for fault in faults if fault.endswith("is cut off")]) == 2


def test_wrapped_label_without_enough_height_is_cut_off(show_widget: ShowWidget) -> None:
    widget = QWidget()
    label = QLabel("Several words that need more than one line", widget, wordWrap=True)
    label.setGeometry(0, 0, 80, 16)
    (fault,) = find_faults(show_widget(widget, 300, 200))
    assert "Several words" in fault


def test_widget_beyond_its_parent_is_outside(show_widget: ShowWidget) -> None:
    widget = QWidget()
    QPushButton("Button", widget).setGeometry(250, 0, 120, 40)
    (fault,) = find_faults(show_widget(widget, 300, 200))
    assert "outside its parent" in fault


def test_widgets_of_one_layout_at_one_place_overlap(show_widget: ShowWidget) -> None:
    widget = QWidget()
    column = QVBoxLayout(widget)
    first, second = QLabel("First"), QLabel("Second")
    column.addWidget(first)
    column.addWidget(second)
    show_widget(widget, 300, 200)
    second.setGeometry(first.geometry())
    (fault,) = find_faults(widget)
    assert "overlaps" in fault
