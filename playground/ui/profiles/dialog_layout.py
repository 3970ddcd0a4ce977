"""Where the parts of the window for gateways stand: the list on the left, the form and its words on the right."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QScrollArea, QToolButton, QVBoxLayout, QWidget

from playground.ui.profiles.rows import text_label


def left_side(gateways: QWidget, add: QToolButton, copy: QToolButton, remove: QToolButton) -> QFrame:
    """The list with its buttons below."""
    left = QFrame()
    left.setProperty("kind", "surface")
    left.setFixedWidth(216)
    buttons = QHBoxLayout()
    buttons.setSpacing(4)
    buttons.addWidget(add)
    buttons.addStretch(1)
    buttons.addWidget(copy)
    buttons.addWidget(remove)
    layout = QVBoxLayout(left)
    layout.setContentsMargins(8, 12, 8, 12)
    layout.setSpacing(8)
    heading = text_label("Gateways", "group")
    heading.setContentsMargins(8, 0, 0, 0)
    layout.addWidget(heading)
    layout.addWidget(gateways, 1)
    layout.addLayout(buttons)
    return left


def right_side(
    form_area: QScrollArea, told: tuple[QWidget, QLabel, QLabel], buttons: tuple[QPushButton, ...]
) -> QVBoxLayout:
    """The form; below it the question, the message and its details; then the buttons, the first apart from the rest."""
    question, message, details = told
    asking = QVBoxLayout()
    asking.setContentsMargins(16, 0, 16, 0)
    asking.addWidget(question)
    telling = QVBoxLayout()
    telling.setContentsMargins(24, 0, 24, 0)
    telling.setSpacing(4)
    telling.addWidget(message)
    telling.addWidget(details)
    row = QHBoxLayout()
    row.setContentsMargins(24, 0, 24, 0)
    row.setSpacing(8)
    for number, button in enumerate(buttons):
        if number == 1:
            row.addStretch(1)
        row.addWidget(button)
    layout = QVBoxLayout()
    layout.setContentsMargins(0, 0, 0, 12)
    layout.setSpacing(12)
    form = QVBoxLayout()
    form.setSpacing(0)  # the rule ends the form; rows go under it as it is scrolled
    form.addWidget(form_area, 1)
    form.addWidget(rule())
    layout.addLayout(form, 1)
    layout.addLayout(asking)
    layout.addLayout(telling)
    layout.addLayout(row)
    return layout


def rule(*, upright: bool = False) -> QFrame:
    """A line one pixel wide."""
    line = QFrame()
    line.setProperty("kind", "upright-line" if upright else "line")
    if upright:
        line.setFixedWidth(1)
    return line
