"""A turn with the values of its variables put in, below the turn as it was written. Only to look at."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QFrame, QLabel, QToolButton, QVBoxLayout

from playground.domain.roles import Role
from playground.domain.transcript import Turn
from playground.domain.variables import names_in, resolve_turns, unresolved
from playground.ui.features.conversation.text_view import TextView
from playground.ui.widgets.icons import icon
from playground.ui.widgets.plain_text import tip

SAYS = "Show this turn as it is sent"
LONGEST_TIP = 1500  # characters


class AsSent(QFrame):
    """Hidden until the ``button`` is pressed, which is there only for turns with variables.

    ``values`` gives theirs, by name.
    """

    height_changed = Signal()

    def __init__(self, values: Callable[[], Mapping[str, str]], button: QToolButton) -> None:
        super().__init__()
        self._values = values
        self._button = button
        self._turn: Turn | None = None
        self._view: TextView | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(10, 6, 8, 6)
        self._column.setSpacing(3)
        self.setProperty("kind", "as-sent")
        self.setAccessibleName("The turn as it is sent")
        button.setText("as sent")
        button.setCheckable(True)
        button.hide()
        button.toggled.connect(self._toggled)
        self.hide()

    def follow(self, turn: Turn) -> None:
        """Another turn is shown, or other values hold."""
        before, self._turn = self._turn, turn
        if turn.role is Role.ASSISTANT or not (names := names_in((turn,))):
            if before is not None and not self._button.isHidden():
                self._button.setChecked(False)
                self._button.hide()
            return
        if before is not None and before.id != turn.id:
            self._button.setChecked(False)
        missing = unresolved((turn,), self._values())
        lacks = f"; no value yet: {', '.join(missing)}" if missing else ""
        self._button.setIcon(icon("warning", "tool") if missing else QIcon())
        look = Qt.ToolButtonStyle.ToolButtonTextBesideIcon if missing else Qt.ToolButtonStyle.ToolButtonTextOnly
        self._button.setToolButtonStyle(look)
        self._button.setAccessibleName(f"{SAYS}{lacks}")
        self._button.setToolTip(tip(f"{SAYS}{lacks}. Variables: {', '.join(names)}\n\n{self.text[:LONGEST_TIP]}"))
        self._button.show()
        if self._button.isChecked() and self._view is not None:
            self._view.set_text(self.text)

    @property
    def text(self) -> str:
        """The text of the turn, or its result, with the values in it."""
        if self._turn is None:
            return ""
        (turn,) = resolve_turns((self._turn,), self._values())
        return turn.text or "\n".join(result.text for result in turn.results)

    def _toggled(self, on: bool) -> None:
        if on and self._view is None:
            caption = QLabel("As sent")
            caption.setProperty("kind", "group")
            self._view = TextView(mode="plain", zoom=1.0)
            self._view.setAccessibleName("Text as it is sent")
            self._view.height_changed.connect(self.height_changed)
            self._column.addWidget(caption)
            self._column.addWidget(self._view)
        if on and self._view is not None:
            self._view.set_text(self.text)
        self.setVisible(on)
        self.height_changed.emit()
