"""One variable: its name, its value, and what it means that there is none."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from playground.domain.variables import as_written
from playground.ui.features.conversation.inline_editor import GrowingField
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.theme import code_font

NAME_WIDTH = 132  # pixels
MOST_LINES = 4


class VariableRow(QWidget):
    """``edited`` carries the name and the value typed; ``removed`` and ``as_written`` the name."""

    edited = Signal(str, str)
    removed = Signal(str)
    as_written = Signal(str)
    left = Signal()  # Escape: back to the message
    run_asked = Signal()

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self._showing = False
        title = ElidedLabel("Variable", colour="text")
        title.setFont(code_font())
        title.set_text(name)
        title.setFixedWidth(NAME_WIDTH)
        self.field = GrowingField(most=MOST_LINES, compact=True)
        self.field.setProperty("kind", "field")
        self.field.setAccessibleName(f"Value of {name}")
        self.field.textChanged.connect(self._typed)
        self.field.cancelled.connect(self.left)
        self.field.submitted.connect(self.run_asked)
        self.state = QLabel()
        self.state.setProperty("kind", "small")
        self.written_button = QPushButton("Send as written")
        self.written_button.setProperty("kind", "quiet")
        self.written_button.setToolTip(f"{as_written(name)} goes out with its braces")
        self.written_button.setAccessibleName(f"Send {name} as written")
        self.remove_button = IconButton("close", f"Take the value of {name} away", size=12)
        self.remove_button.setFixedSize(20, 20)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(title)
        row.addWidget(self.field, 1)
        row.addWidget(self.state)
        row.addWidget(self.written_button)
        row.addWidget(self.remove_button)
        self.written_button.clicked.connect(self._send_as_written)
        self.remove_button.clicked.connect(self._remove)

    def show_value(self, value: str | None, *, used: bool) -> None:
        """The value; None where there is none yet. ``used`` says whether a turn mentions the variable."""
        written = value == as_written(self.name)
        text = "" if value is None or written else value
        if text != self.field.text():
            self._showing = True
            self.field.set_text(text)
            self._showing = False
        hint = "no value yet" if value is None else f"sent as written: {value}" if written else "empty"
        self.field.setPlaceholderText(hint)
        self.state.setText("" if used else "in no turn")
        self.state.setVisible(not used)
        self.written_button.setVisible(value is None and used)
        self.remove_button.setVisible(value is not None)
        self.field.setAccessibleDescription("" if text else hint)

    def _typed(self) -> None:
        if not self._showing:
            self.edited.emit(self.name, self.field.text())

    def _send_as_written(self) -> None:
        self.as_written.emit(self.name)
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def _remove(self) -> None:
        self.removed.emit(self.name)
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)
