"""The page of deleted experiments with many entries."""

from __future__ import annotations

from PySide6.QtCore import QItemSelectionModel
from pytestqt.qtbot import QtBot

from playground.engine.library.experiment_summary import Deleted
from playground.ui.features.experiments.rows import SHOWN, Line, More
from playground.ui.features.experiments.trash_page import TrashPage
from tests.ui.features.experiments.entries import NOON, entry


def test_full_trash_is_listed_page_by_page(qtbot: QtBot) -> None:
    page = TrashPage()
    qtbot.addWidget(page)
    page.resize(260, 500)
    page.show()
    deleted = [Deleted(entry(str(number)), NOON - number) for number in range(SHOWN * 3)]
    restored: list[list[str]] = []
    page.restored.connect(restored.append)
    page.show_deleted(deleted, 30)
    listed = [row for row in page.model.rows if isinstance(row, Line)]
    assert page.model.rows[-1] == More(len(deleted) - len(listed))
    last = page.model.index(len(page.model.rows) - 1)
    page.list.selectionModel().select(last, QItemSelectionModel.SelectionFlag.ClearAndSelect)
    assert page.chosen == []
    assert not page.restore_button.isEnabled()
    page.list.activated.emit(last)
    assert len([row for row in page.model.rows if isinstance(row, Line)]) > len(listed)
    page.list.clicked.emit(page.model.index(len(page.model.rows) - 1))
    page.list.clicked.emit(page.model.index(len(page.model.rows) - 1))
    assert [row.experiment.id for row in page.model.rows if isinstance(row, Line)] == [
        item.experiment.id for item in deleted
    ]
    assert restored == []
    first = page.model.index(1)
    page.list.selectionModel().setCurrentIndex(first, QItemSelectionModel.SelectionFlag.ClearAndSelect)
    page.list.activated.emit(first)
    assert restored == [["0"]]
    page.hide()
