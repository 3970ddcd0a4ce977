"""Keys of the search field."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QVBoxLayout
from pytestqt.qtbot import QtBot

from playground.ui.widgets.search_field import SearchField


def test_escape_empties_the_field_before_it_closes_the_dialog(qtbot: QtBot) -> None:
    dialog, field, requests = QDialog(), SearchField("Search things…"), []
    qtbot.addWidget(dialog)
    QVBoxLayout(dialog).addWidget(field)
    field.results_asked.connect(lambda: requests.append(field.text()))
    dialog.show()
    assert field.accessibleName() == "Search things"
    QTest.keyClicks(field, "tides")
    QTest.keyClick(field, Qt.Key.Key_Return)
    QTest.keyClick(field, Qt.Key.Key_Down)
    assert requests == ["tides", "tides"]
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert (field.text(), dialog.isVisible()) == ("", True)
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
