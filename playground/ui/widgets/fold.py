"""A heading with a count that shows and hides its content."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QToolButton, QWidget

from playground.ui.widgets.form_parts import styled, text_label, thin_line
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import Gap, in_column, in_row


class Fold(QWidget):
    """A foldable section. ``toggled`` is emitted when a person opens or closes it, not by ``set_open``."""

    toggled = Signal(bool)

    def __init__(self, title: str, content: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.content = content
        self.button = styled(QToolButton(), "fold")
        self.button.setText(title)
        self.button.setCheckable(True)
        self.button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.button.setAccessibleName(title)
        self._count = text_label("", "muted")
        head = in_row(self.button, self._count, 1, spacing=2)
        in_column(thin_line(), Gap(4), head, Gap(4), content, parent=self, margins=0, spacing=0)
        self.button.clicked.connect(self._clicked)
        self.set_open(False)

    @property
    def is_open(self) -> bool:
        """True while the content is shown."""
        return self.button.isChecked()

    def set_open(self, is_open: bool) -> None:
        """Show or hide the content."""
        self.button.setChecked(is_open)
        self.button.setIcon(icon("chevron-down" if is_open else "chevron-right", "muted"))
        self.content.setVisible(is_open)

    def set_count(self, words: str) -> None:
        """Show how much is inside, for example "9" or "none"."""
        self._count.setText(words)
        self.button.setAccessibleDescription(words)

    @property
    def count(self) -> str:
        """The count next to the title."""
        return self._count.text()

    def _clicked(self, is_open: bool) -> None:
        self.set_open(is_open)
        self.toggled.emit(is_open)
