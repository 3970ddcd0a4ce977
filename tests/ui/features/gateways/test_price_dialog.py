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
