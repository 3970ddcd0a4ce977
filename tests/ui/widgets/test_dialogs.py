"""The dialogs that Qt makes have the buttons of ours: Cancel first, what is to be done last and filled, no pictures."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QDialogButtonBox,
    QMessageBox,
    QPushButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from playground.domain.prices import Price
from playground.ui.features.gateways.control import PriceDialog
from playground.ui.widgets.dialogs import dress, file_dialog, line_dialog
from playground.ui.widgets.theme import Theme, tokens
from tests.support.each_case import each_case


def question(parent: QWidget) -> QMessageBox:
    box = QMessageBox(parent)
    box.setText("All experiments become those of the copy.")
    box.addButton("Restore", QMessageBox.ButtonRole.AcceptRole)
    box.addButton(QMessageBox.StandardButton.Cancel)
    dress(box)
    return box


DIALOGS: dict[str, tuple[Callable[[QWidget], QDialog], str]] = {
    "open": (lambda parent: file_dialog(parent, "Open", "/", "All files (*)"), "Open"),
    "save": (lambda parent: file_dialog(parent, "Save a copy", "/tmp/a.json", "All (*)", write="json"), "Save"),
    "line": (lambda parent: line_dialog(parent, "Rename experiment", "Title", "Tides", "Rename"), "Rename"),
    "question": (question, "Restore"),
    "price": (lambda parent: PriceDialog("m", "g", Price(), parent), "Save"),
}


@pytest.fixture
def window(qtbot: QtBot, qapp: QApplication) -> QWidget:
    Theme(qapp, "dark")
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(1024, 700)
    window.show()
    return window


@each_case("name", DIALOGS)
def test_dialog_buttons_are_cancel_then_the_filled_action(window: QWidget, name: str) -> None:
    make, does = DIALOGS[name]
    dialog = make(window)
    dialog.show()
    box = dialog.findChild(QDialogButtonBox)
    assert box is not None
    QApplication.processEvents()
    buttons = sorted((b for b in box.buttons() if b.isVisible()), key=lambda b: b.mapTo(dialog, b.rect().topLeft()).x())
    assert [button.text().replace("&", "") for button in buttons] == ["Cancel", does]
    assert [button.icon().isNull() for button in buttons] == [True, True]
    last = buttons[-1]
    assert isinstance(last, QPushButton)
    last.setEnabled(True)
    middle = last.grab().toImage().pixelColor(4, last.height() // 2).name().upper()
    assert middle == tokens().accent
    own = QPushButton("Cancel", window)
    own.ensurePolished()
    assert {button.height() for button in buttons} == {own.sizeHint().height()}
    right = dialog.width() - last.mapTo(dialog, last.rect().topRight()).x()
    assert right < 30
    dialog.close()
