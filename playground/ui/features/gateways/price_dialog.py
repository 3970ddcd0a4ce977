"""What the model in use costs: three amounts for a million tokens, as the gateway's price list gives them."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDoubleValidator
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from playground.domain.prices import DOLLARS, Price
from playground.ui.widgets.dialogs import dress

FIELDS = (("input", "Input"), ("cached", "Cached input"), ("output", "Output"))


class PriceDialog(QDialog):
    """``priced`` carries the new ``Price``, and whether the ``kept`` answers asked at a price get this one as well."""

    priced = Signal(object, bool)

    def __init__(self, model: str, gateway: str, price: Price, parent: QWidget, *, kept: int = 0) -> None:
        super().__init__(parent)
        self.setWindowTitle("Price of the model")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        words = QLabel(
            f"Money for a million tokens of {model} on {gateway}. Turns and experiments then show what they cost. "
            "An answer keeps the price it was asked at; without any, what the gateway itself says it cost is shown.",
            textFormat=Qt.TextFormat.PlainText,
            wordWrap=True,
        )
        words.setProperty("kind", "muted")
        form = QFormLayout()
        form.setSpacing(8)
        self.fields: dict[str, QLineEdit] = {}
        for name, title in FIELDS:
            field = QLineEdit()
            value = getattr(price, name)
            field.setText("" if value is None else f"{value:g}")
            field.setValidator(QDoubleValidator(0, 1e9, 6, field))
            field.setPlaceholderText("as input" if name == "cached" else "not entered")
            self.fields[name] = field
            form.addRow(title, field)
        self.currency = QLineEdit(price.currency)
        self.currency.setMaxLength(4)
        form.addRow("Currency", self.currency)
        self.anew = QCheckBox(
            f"Price the {kept} earlier answers of this experiment anew"
            if kept > 1
            else "Price the earlier answer of this experiment anew"
        )
        self.anew.setVisible(kept > 0)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Save | QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self._save)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 16, 20, 16)
        layout.setSpacing(12)
        layout.addWidget(words)
        layout.addLayout(form)
        layout.addWidget(self.anew)
        layout.addWidget(buttons)
        self.setMinimumWidth(380)
        dress(self)

    def _save(self) -> None:
        amounts = {name: _amount(field.text()) for name, field in self.fields.items()}
        self.priced.emit(Price(**amounts, currency=self.currency.text().strip() or DOLLARS), self.anew.isChecked())
        self.accept()


def _amount(text: str) -> float | None:
    try:
        return float(text.replace(",", ".")) if text.strip() else None
    except ValueError:
        return None
