"""The list of experiments: keys, renaming, filters and many entries."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QPushButton
from pytestqt.qtbot import QtBot

from playground.engine.library.experiment_summary import ExperimentSummary
from playground.engine.library.store import Filters
from playground.ui.features.experiments.panel import DELETE, ExperimentsPanel
from playground.ui.features.experiments.rows import SHOWN, Line, More
from tests.ui.features.experiments.entries import entry
from tests.ui.windows import show_in_front

ROME = entry("rome", "Weather in Rome")
POEM = entry("poem", "A poem on rivers", ago=1, model="other", has_tools=True)
OLD = entry("old", "Put away", ago=2, archived=True)


@pytest.fixture
def panel(qtbot: QtBot) -> ExperimentsPanel:
    panel = ExperimentsPanel()
    qtbot.addWidget(panel)
    panel.resize(260, 500)
    panel.show_experiments([ROME, POEM, OLD], "rome")
    show_in_front(qtbot, panel)
    return panel


def titles(panel: ExperimentsPanel) -> list[str]:
    return [row.title for row in panel.model.rows if isinstance(row, Line)]


def test_arrow_keys_open_and_enter_leads_to_the_conversation(panel: ExperimentsPanel, qtbot: QtBot) -> None:
    panel.list.setFocus()
    with qtbot.waitSignal(panel.opened) as opened:
        QTest.keyClick(panel.list, Qt.Key.Key_Down)
    assert opened.args == ["poem", ""]
    with qtbot.waitSignal(panel.leave_requested):
        QTest.keyClick(panel.list, Qt.Key.Key_Return)


def test_arrow_keys_move_between_search_and_list(panel: ExperimentsPanel) -> None:
    panel.look_for()
    assert panel.search.hasFocus()
    QTest.keyClick(panel.search, Qt.Key.Key_Down)
    assert panel.list.hasFocus()
    QTest.keyClick(panel.list, Qt.Key.Key_Up)
    assert panel.search.hasFocus()


def test_delete_key_and_new_button_emit_requests(panel: ExperimentsPanel, qtbot: QtBot) -> None:
    with qtbot.waitSignal(panel.action_requested) as request:
        QTest.keyClick(panel.list, Qt.Key.Key_Delete)
    assert request.args == [DELETE, "rome"]
    with qtbot.waitSignal(panel.new_asked):
        next(b for b in panel.findChildren(QPushButton) if b.text() == "New experiment").click()


def test_filters_are_removed_with_their_chips(panel: ExperimentsPanel) -> None:
    panel.chips.set_filters(Filters(has_tools=True, archived=False))
    assert titles(panel) == ["A poem on rivers"]
    panel.chips.set_filters(Filters(model="demo-chat", has_tools=True, archived=False))
    assert titles(panel) == []
    assert panel.empty.isVisible()
    assert [chip.text() for chip in panel.chips.chips] == ["demo-chat ×", "Has tools ×"]
    for _ in range(2):
        panel.chips.chips[0].click()
    assert titles(panel) == ["Weather in Rome", "A poem on rivers"]
    assert not panel.chips.isVisible()
    panel.chips.set_filters(Filters(archived=True))
    assert titles(panel) == ["Put away"]


def test_hostile_titles_are_plain_text(panel: ExperimentsPanel) -> None:
    panel.show_experiments([entry("x", "<img src='http://127.0.0.1:9/x'>\u202ecod.exe " + "w" * 3000)], "x")
    assert "\u202e" not in titles(panel)[0]
    tip = panel.model.data(panel.model.place("x"), Qt.ItemDataRole.ToolTipRole)
    assert "<img" not in tip
    image = panel.grab().toImage()
    assert len({image.pixel(x, y) for x in range(0, 260, 3) for y in range(0, 300, 3)}) > 5


def many(count: int) -> list[ExperimentSummary]:
    return [entry(str(number), f"Experiment number {number}", ago=number / 20) for number in range(count)]


def lines(panel: ExperimentsPanel) -> list[str]:
    return [row.experiment.id for row in panel.model.rows if isinstance(row, Line)]


def test_many_experiments_are_listed_page_by_page(panel: ExperimentsPanel) -> None:
    entries = many(20_000)
    panel.show_experiments(entries, "0")
    assert lines(panel) == [str(number) for number in range(len(lines(panel)))]
    assert SHOWN - 30 < len(panel.model.rows) <= SHOWN + 1
    remaining = 20_000 - len(lines(panel))
    assert panel.model.rows[-1] == More(remaining)
    panel.list.setCurrentIndex(panel.model.index(len(panel.model.rows) - 1))
    before, index = len(lines(panel)), len(panel.model.rows) - 1
    panel.list.activated.emit(panel.list.currentIndex())
    assert len(lines(panel)) > before + SHOWN - 30
    assert panel.list.currentIndex().row() == index, "the first of those that came"
    assert isinstance(panel.model.rows[-1], More)
    panel.show_experiments(entries, "0")
    assert len(lines(panel)) > before + SHOWN - 30, "and they stay"


def test_menu_of_filters_lists_models_and_switches(panel: ExperimentsPanel) -> None:
    panel.chips.menu.aboutToShow.emit()
    models, *rest = panel.chips.menu.actions()
    menu = models.menu()
    assert isinstance(menu, QMenu)
    assert [action.text() for action in menu.actions()] == ["demo-chat", "other"]
    next(action for action in rest if action.text() == "Has tools").trigger()
    assert panel.filters == Filters(has_tools=True, archived=False)
