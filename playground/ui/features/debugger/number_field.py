"""A field for a number from 0 on, where 0 means that nothing is set and is shown as a word."""

from __future__ import annotations

from PySide6.QtCore import QLocale, Qt, Signal
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QDoubleSpinBox

from playground.ui.widgets.form_parts import keep_from_wheel, styled
from playground.ui.widgets.plain_text import tip

LARGEST = 64_000_000


class NumberField(QDoubleSpinBox):
    """``edited`` reports a change by a person. An emptied field is 0; a comma counts as the decimal point."""

    edited = Signal()

    def __init__(self, name: str, nothing: str, *, whole: bool, most: float = LARGEST, help_text: str = "") -> None:
        super().__init__()
        styled(self, "field")
        self._whole = whole
        self.setLocale(QLocale(QLocale.Language.English, QLocale.Country.UnitedStates))
        self.setDecimals(0 if whole else 3)
        self.setRange(0, most)
        self.setSpecialValueText(nothing)
        self.setGroupSeparatorShown(whole)
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.setAccessibleName(name)
        self.setAccessibleDescription(help_text)
        self.setToolTip(tip(help_text or name))
        keep_from_wheel(self)
        self.valueChanged.connect(self.edited)

    def show_value(self, value: float) -> None:
        """Show a number without reporting a change."""
        if value != self.value():
            self.blockSignals(True)
            self.setValue(value)
            self.blockSignals(False)

    def textFromValue(self, value: float) -> str:
        text = super().textFromValue(value)
        return text if self._whole or "." not in text else text.rstrip("0").rstrip(".")

    def valueFromText(self, text: str) -> float:
        return super().valueFromText(self._plain(text)) if text.strip() else 0

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        return super().validate(self._plain(text), position) if text.strip() else (QValidator.State.Acceptable, text, 0)

    def _plain(self, text: str) -> str:
        return text if self._whole else text.replace(",", ".")
