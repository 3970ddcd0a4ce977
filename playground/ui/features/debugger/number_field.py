"""A small field for a number from 0 on, where 0 means that nothing is set and shows as a word."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal

from playground.ui.widgets.choice_fields import ValueField
from playground.ui.widgets.form_parts import look
from playground.ui.widgets.numbers import plain_number, show_number
from playground.ui.widgets.plain_text import tip

LARGEST = 64_000_000


class NumberField(ValueField):
    """``edited`` after each keystroke that makes another number. Empty is 0; what is none is marked and not told."""

    edited = Signal()

    def __init__(self, says: str, nothing: str, *, whole: bool, most: float = LARGEST) -> None:
        super().__init__(widest=110)
        self._whole = whole
        self._most = most
        self._value: float = 0
        self._says = says
        self.setPlaceholderText(nothing)
        self.setAccessibleName(says)
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.setToolTip(tip(says))
        self.textEdited.connect(self._typed)
        self.cleared.connect(self._clear)
        self.stepped.connect(self._step)

    @property
    def value(self) -> float:
        """The number; the last good one while what is typed is none."""
        return self._value

    def show_value(self, value: float) -> None:
        """Show a number without telling. What is being typed stays while it stands for that number."""
        if value == self._value and (self.hasFocus() or bool(self.text()) == bool(value)):
            return
        self._value = value
        self.setText(show_number(value, 1, grouped=self._whole) if value else "")
        self._mark("")

    def _typed(self, text: str) -> None:
        try:
            value = self._read(text)
        except ValueError as error:
            self._mark(str(error))
            return
        self._mark("")
        self._take(value)

    def _read(self, text: str) -> float:
        if not text.strip():
            return 0
        value = plain_number(text, self._whole)
        if not 0 <= value <= self._most:
            raise ValueError(f"from 0 to {int(self._most):,}")
        return value

    def _take(self, value: float) -> None:
        if value != self._value:
            self._value = value
            self.edited.emit()

    def _clear(self) -> None:
        self.clear()
        self._typed("")

    def _step(self, steps: int) -> None:
        value = min(max(round(self._value + steps, 3), 0), self._most)
        self.setText(show_number(value, 1, grouped=self._whole) if value else "")
        self._mark("")
        self._take(value)

    def _mark(self, problem: str) -> None:
        look(self, "true" if problem else "false", "bad")
        self.setToolTip(tip(f"{self._says}: {problem}" if problem else self._says))
        self.setAccessibleDescription(problem)
