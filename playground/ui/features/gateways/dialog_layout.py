"""Where the parts of the window for gateways stand: the list on the left, the form and its words on the right."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from playground.ui.widgets.form_parts import text_label


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
    form_area: QScrollArea, told: tuple[QWidget, QLabel, QWidget], buttons: tuple[QPushButton, ...]
) -> QVBoxLayout:
    """The form; below it the question, the message and what a test found; then the buttons, the first apart."""
    question, message, result = told
    asking = QVBoxLayout()
    asking.setContentsMargins(16, 0, 16, 0)
    asking.addWidget(question)
    telling = QVBoxLayout()
    telling.setContentsMargins(24, 0, 24, 0)
    telling.setSpacing(6)
    telling.addWidget(message)
    telling.addWidget(FittingArea(result))
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


class FittingArea(QScrollArea):
    """As high as what it holds, up to a share of the window, and scrolled beyond that; gone while that is hidden."""

    SHARE = 0.45

    def __init__(self, held: QWidget) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._held = held
        self.setWidget(held)
        held.installEventFilter(self)
        self.setVisible(not held.isHidden())

    def heightForWidth(self, width: int) -> int:
        return min(self._held.heightForWidth(width), int(self.window().height() * self.SHARE))

    def sizeHint(self) -> QSize:
        return QSize(self._held.sizeHint().width(), self.heightForWidth(max(self.width(), 1)))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._held.minimumSizeHint().width(), 0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._held:
            if event.type() in (QEvent.Type.ShowToParent, QEvent.Type.HideToParent):
                self.setVisible(not self._held.isHidden())
            elif event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
                self.updateGeometry()
        return super().eventFilter(watched, event)


def rule(*, upright: bool = False) -> QFrame:
    """A line one pixel wide."""
    line = QFrame()
    line.setProperty("kind", "upright-line" if upright else "line")
    if upright:
        line.setFixedWidth(1)
    return line
