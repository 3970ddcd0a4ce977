"""What a schema format has besides the schema on chat completions: name, description, strict."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from playground.ui.widgets.choice_fields import SwitchPill, look
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.plain_text import tip
from playground.ui.widgets.theme import code_font

STRICT_HELP = "Ask the gateway to hold the model to the schema exactly. Left out while it is at default."


class SchemaHead(QWidget):
    """``edited`` when a person changed one of the three; ``show_values`` is silent."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.name = QLineEdit()
        self.name.setFont(code_font())
        self.name.setPlaceholderText("invoice")
        self.name.setAccessibleName("Name of the schema")
        self.name_flag = QLabel()
        self.name_flag.setTextFormat(Qt.TextFormat.PlainText)
        self.name_flag.setWordWrap(True)
        self.name_flag.setProperty("kind", "flag-error")
        self.name_flag.hide()
        self.description = QLineEdit()
        self.description.setPlaceholderText("optional: what the answer is for")
        self.description.setAccessibleName("Description of the schema")
        self.strict = SwitchPill()
        self.strict.setAccessibleName("Strict")
        self.strict.setAccessibleDescription(STRICT_HELP)
        self.strict.setToolTip(tip(STRICT_HELP))
        self.reset = IconButton("close", "Strict back to default (Delete)", size=12)
        self.reset.setFixedSize(20, 20)
        self.reset.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(_caption("Name", self.name))
        column.addWidget(self.name)
        column.addWidget(self.name_flag)
        column.addSpacing(4)
        column.addWidget(_caption("Description", self.description))
        column.addWidget(self.description)
        strict = QHBoxLayout()
        strict.setContentsMargins(0, 4, 0, 0)
        strict.setSpacing(4)
        strict.addWidget(_caption("Strict", self.strict))
        strict.addStretch(1)
        strict.addWidget(self.reset)
        strict.addWidget(self.strict)
        column.addLayout(strict)
        self.name.textEdited.connect(self.edited)
        self.description.textEdited.connect(self.edited)
        self.strict.switched.connect(self._switched)
        self.strict.cleared.connect(self._cleared)
        self.reset.clicked.connect(self._cleared)
        self.reset.hide()

    def show_values(self, name: str, description: str, strict: bool | None) -> None:
        """Show the three; a text that is the same keeps its cursor."""
        for field, text in ((self.name, name), (self.description, description)):
            if field.text() != text:
                field.setText(text)
        self.strict.show_state(strict)
        self.reset.setVisible(strict is not None)

    def flag_name(self, problem: str) -> None:
        """Say what is wrong with the name; it is sent all the same."""
        look(self.name, "true" if problem else "false", "bad")
        self.name_flag.setText(problem)
        self.name_flag.setVisible(bool(problem))

    def _switched(self, _state: bool) -> None:
        self.reset.show()
        self.edited.emit()

    def _cleared(self) -> None:
        self.strict.show_state(None)
        self.reset.hide()
        self.edited.emit()


def _caption(text: str, field: QWidget) -> QLabel:
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setProperty("kind", "group")
    label.setBuddy(field)
    return label
