"""Models for several lanes at once: found among very many, ticked, typed, no more than there is room for."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from playground.ui.widgets.models_dialog import ModelsDialog
from tests.support.models import catalog_of


@pytest.fixture
def around(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    return widget


def test_click_and_space_tick_a_model(around: QWidget, qtbot: QtBot) -> None:
    dialog = ModelsDialog(catalog_of(("a", "\u202eevil\nname", "x" * 5_000), "gate\u202eway"), 5, around)
    dialog.show()
    qtbot.waitExposed(dialog)
    view = dialog.models.list
    index = view.visualRect(dialog.models.rows.index(1))
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=index.center())
    QTest.keyClick(view, Qt.Key.Key_Down)
    QTest.keyClick(view, Qt.Key.Key_Space)
    assert list(dialog.models.rows.ticked) == ["\u202eevil\nname", "x" * 5_000]
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=index.center())
    assert list(dialog.models.rows.ticked) == ["x" * 5_000]
    dialog.close()


def test_keys_of_the_field_tick_models_and_add_them(around: QWidget, qtbot: QtBot) -> None:
    dialog = ModelsDialog(catalog_of(("a", "b", "c"), "gateway"), 5, around)
    dialog.show()
    qtbot.waitExposed(dialog)
    with qtbot.waitSignal(dialog.picked) as picked:
        QTest.keyClick(dialog.search, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)  # nothing is ticked yet
        for key in (Qt.Key.Key_Down, Qt.Key.Key_Space, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Space):
            QTest.keyClick(dialog.search, key)
        assert not dialog.search.text()
        QTest.keyClick(dialog.search, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert picked.args == [["a", "c"]]
