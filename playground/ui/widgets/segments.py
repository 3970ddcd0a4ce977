"""A segmented control: a few exclusive buttons in one frame."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QPushButton, QSizePolicy, QWidget

from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.layouts import in_row


class Segments(QWidget):
    """Exclusive buttons. ``chosen`` carries the index that a person picked; ``set_index`` emits nothing.

    Left and Right move the choice. ``tall`` segments are as high as fields.
    """

    chosen = Signal(int)

    def __init__(
        self, titles: tuple[str, ...], says: str, parent: QWidget | None = None, *, tall: bool = False
    ) -> None:
        super().__init__(parent)
        self.setAccessibleName(says)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._group = QButtonGroup(self)
        row = in_row(parent=self, margins=0, spacing=0)
        self.buttons: list[QPushButton] = []
        for number, title in enumerate(titles):
            button = styled(QPushButton(title), "segment")
            button.setCheckable(True)
            button.setProperty("tall", "true" if tall else "false")
            button.setProperty("place", "first" if number == 0 else "last" if number == len(titles) - 1 else "middle")
            self._group.addButton(button, number)
            row.addWidget(button)
            self.buttons.append(button)
        self.buttons[0].setChecked(True)
        self._group.buttonClicked.connect(self._clicked)

    @property
    def index(self) -> int:
        """The index of the chosen segment; -1 if there is none."""
        return self._group.checkedId()

    def set_index(self, index: int) -> None:
        """Choose a segment without a signal; -1 for none."""
        self._group.setExclusive(index >= 0)  # an exclusive group keeps one button checked
        for number, button in enumerate(self.buttons):
            button.setChecked(number == index)
        self._group.setExclusive(True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        target = self.index + steps
        if steps and 0 <= target < len(self.buttons) and self.buttons[target].isEnabled():
            self.buttons[target].setFocus(Qt.FocusReason.TabFocusReason)
            self.buttons[target].click()
        else:
            super().keyPressEvent(event)

    def _clicked(self, button: QAbstractButton) -> None:
        self.chosen.emit(self._group.id(button))
