"""The price dialog."""

from __future__ import annotations

from PySide6.QtWidgets import QDialogButtonBox, QWidget
from pytestqt.qtbot import QtBot

from playground.domain.prices import Price
from playground.ui.features.gateways.control import PriceDialog


def press_save(dialog: PriceDialog) -> None:
    box = dialog.findChild(QDialogButtonBox)
    assert box is not None
    box.button(QDialogButtonBox.StandardButton.Save).click()


def test_earlier_answers_can_be_repriced(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    dialog = PriceDialog("m", "G", Price(input=15), window, kept=3)
    assert dialog.anew.isVisibleTo(dialog)
    assert "3 earlier answers" in dialog.anew.text()
    dialog.fields["input"].setText("1.5")
    dialog.anew.click()
    with qtbot.waitSignal(dialog.priced) as said:
        press_save(dialog)
    assert said.args == [Price(input=1.5), True]


def test_listed_price_is_the_default(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    listed = Price(input=2.5, output=10, told=True)
    dialog = PriceDialog("m", "G", Price(), window, listed=listed)
    shown = {name: (field.text(), field.placeholderText()) for name, field in dialog.fields.items()}
    assert shown == {
        "input": ("", "2.5 by the gateway's list"),
        "cached": ("", "as input"),
        "output": ("", "10 by the gateway's list"),
    }
    dialog.fields["input"].setText("1")
    with qtbot.waitSignal(dialog.priced) as said:
        press_save(dialog)
    assert said.args == [Price(input=1, output=10), False]
