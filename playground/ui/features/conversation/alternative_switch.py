"""‹ 1/3 › where branches part: which of the alternatives is shown, and the way to the ones beside it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from playground.ui.widgets.form_parts import text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import in_row


class AlternativeSwitch(QWidget):
    """Hidden while there is one only. ``chosen`` carries the id of the turn to show."""

    chosen = Signal(str)

    def __init__(self, of: str = "alternative", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._alternatives: Sequence[str] = ()
        self._at = 0
        self._before = IconButton("chevron-left", f"Earlier {of}", size=14)
        self._words = text_label("", "small")
        self._after = IconButton("chevron-right", f"Later {of}", size=14)
        self._before.clicked.connect(self._go_before)
        self._after.clicked.connect(self._go_after)
        in_row(self._before, self._words, self._after, of=self, margins=0, spacing=6)
        self.hide()

    def show_alternatives(self, turn_id: str, alternatives: Sequence[str]) -> None:
        """The ids of the alternatives, oldest first, and the one that is shown."""
        self._alternatives = alternatives
        self._at = alternatives.index(turn_id) if turn_id in alternatives else 0
        self._words.setText(f"{self._at + 1}/{len(alternatives)}")
        self._before.setEnabled(self._at > 0)
        self._after.setEnabled(self._at + 1 < len(alternatives))
        self.setVisible(len(alternatives) > 1)

    def _go_before(self) -> None:
        self._go(-1)

    def _go_after(self) -> None:
        self._go(1)

    def _go(self, step: int) -> None:
        if 0 <= self._at + step < len(self._alternatives):
            self.chosen.emit(self._alternatives[self._at + step])
