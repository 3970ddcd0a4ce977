"""‹ 1/3 › where branches part: which of the alternatives is shown, and the way to the ones beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QWidget

from playground.ui.widgets.form_parts import text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import in_row

MOST_NAMED = 12  # alternatives that the tooltip lists


def _nobody(_turn_id: str) -> str:
    return ""


class AlternativeSwitch(QWidget):
    """Hidden while there is one only. ``chosen`` carries the id of the turn to show.

    ``whose`` says where else an alternative is shown, "lane B" say; it is asked when somebody looks.
    """

    chosen = Signal(str)

    def __init__(self, of: str = "alternative", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.whose: Callable[[str], str] = _nobody
        self._of = of
        self._alternatives: Sequence[str] = ()
        self._at = 0
        self._before = IconButton("chevron-left", f"Earlier {of}", size=14)
        self._words = text_label("", "small")
        self._after = IconButton("chevron-right", f"Later {of}", size=14)
        self._before.clicked.connect(self._go_before)
        self._after.clicked.connect(self._go_after)
        self._watched = False
        self._words.setObjectName("alternativeNumber")
        in_row(self._before, self._words, self._after, of=self, margins=0, spacing=6)
        self.hide()

    def show_alternatives(self, turn_id: str, alternatives: Sequence[str]) -> None:
        """The ids of the alternatives, oldest first, and the one that is shown."""
        self._alternatives = alternatives
        self._at = alternatives.index(turn_id) if turn_id in alternatives else 0
        self._words.setText(f"{self._at + 1}/{len(alternatives)}")
        self._before.setEnabled(self._at > 0)
        self._after.setEnabled(self._at + 1 < len(alternatives))
        if len(alternatives) > 1 and not self._watched:  # most turns never have any
            self._watched = True
            for part in (self._before, self._words, self._after):
                part.installEventFilter(self)
        self.setVisible(len(alternatives) > 1)

    def _go_before(self) -> None:
        self._go(-1)

    def _go_after(self) -> None:
        self._go(1)

    def _go(self, step: int) -> None:
        if 0 <= self._at + step < len(self._alternatives):
            self.chosen.emit(self._alternatives[self._at + step])

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Enter, QEvent.Type.FocusIn):
            self._say_whose()
        return super().eventFilter(watched, event)

    def _say_whose(self) -> None:
        """Say of each way to go, and of all of them, which is another lane's."""
        for button, word, at in ((self._before, "Earlier", self._at - 1), (self._after, "Later", self._at + 1)):
            found = self.whose(self._alternatives[at]) if 0 <= at < len(self._alternatives) else ""
            button.setToolTip(f"{word} {self._of}{', of ' * bool(found)}{found}")
            button.setAccessibleDescription(f"of {found}" if found else "")
        others = [(at, one) for at, one in enumerate(self._alternatives[:MOST_NAMED]) if at != self._at]
        self._words.setToolTip("\n".join(f"{at + 1} of {found}" for at, one in others if (found := self.whose(one))))
