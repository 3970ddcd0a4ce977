"""The list of exchanges: groups, filter, selection, hostile names and a flood."""

from __future__ import annotations

import time
from typing import Any

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from playground.engine.listen.exchanges import Stage, Summary
from playground.ui.features.listen.exchange_rows import Column, ExchangeRow, Filter, Kind, cell_text, filter_of
from playground.ui.features.listen.exchange_tree import ExchangeModel, ExchangeTree

DISPLAY = Qt.ItemDataRole.DisplayRole


def row(number: int, stage: Stage | None = None, **fields: Any) -> ExchangeRow:
    values: dict[str, Any] = {"method": "POST", "path": "/v1/messages", "program": "agent", "session": "one"}
    summary = Summary(number=number, id=f"id-{number}", started_at=1_700_000_000.0, **(values | fields))
    return ExchangeRow(summary, stage)


def groups_of(model: ExchangeModel) -> list[tuple[str, int]]:
    indexes = [model.index(place, 0) for place in range(model.rowCount())]
    return [(str(index.data()), model.rowCount(index)) for index in indexes]


@pytest.fixture
def model(qapp: object) -> ExchangeModel:
    model = ExchangeModel()
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal, model)
    return model


def test_rows_of_two_programs_are_in_groups(model: ExchangeModel) -> None:
    model.show_rows([row(1), row(2, program="sdk", session=""), row(3)])
    assert groups_of(model) == [("agent · session one · 2 requests", 2), ("sdk · 1 request", 1)]


def test_row_with_a_known_number_is_updated_in_place(model: ExchangeModel) -> None:
    model.show_rows([row(1, Stage.SENT), row(2)])
    model.show_rows([row(1, Stage.ENDED, finish="stop")])
    index = model.index_of(1)
    assert index.siblingAtColumn(Column.STATE).data() == "stop"
    assert model.total == 2


def test_row_whose_program_becomes_known_moves_to_its_group(model: ExchangeModel) -> None:
    model.show_rows([row(1, Stage.RECEIVING, program="", session="")])
    model.show_rows([row(1, Stage.SENT)])
    assert groups_of(model) == [("agent · session one · 1 request", 1)]


def test_filter_by_words_needs_all_of_them(model: ExchangeModel) -> None:
    model.show_rows([row(1, model="small"), row(2, model="large", tools=("search",))])
    model.set_filter(filter_of("LARGE sea", Kind.ALL))
    assert model.listed == 1
    assert model.index_of(2).isValid()
    assert not model.index_of(1).isValid()


def test_new_row_that_the_filter_hides_is_counted_and_not_listed(model: ExchangeModel) -> None:
    model.set_filter(filter_of("", Kind.FAILED))
    model.show_rows([row(1, finish="stop"), row(2, status=500)])
    assert (model.listed, model.total) == (1, 2)


def test_paused_row_leaves_the_filter_when_it_goes_on(model: ExchangeModel) -> None:
    model.set_filter(filter_of("", Kind.PAUSED))
    model.show_rows([row(1, Stage.ANSWER_PAUSED)])
    assert model.listed == 1
    model.show_rows([row(1, Stage.ENDED)])
    assert model.listed == 0


@pytest.mark.parametrize("text", ["<b>bold</b>", "a\nb", "\u202eevil", "x" * 5_000, "\x1b[31m", "\x00"])
def test_hostile_name_is_one_line_of_plain_text(qtbot: QtBot, model: ExchangeModel, text: str) -> None:
    tree = ExchangeTree(model)
    qtbot.addWidget(tree)
    tree.show()
    model.show_rows([row(1, program=text, session=text, model=text, tools=(text,), calls=(text,), failure=text)])
    tree.grab()
    group = model.index(0, 0)
    cells = [str(model.index(0, column, group).data()) for column in Column]
    for shown in (str(group.data()), *cells):
        assert not set(shown) & set("\n\u202e\x1b\x00")
        assert len(shown) < 2_000
    tooltip = str(model.index(0, Column.MODEL, group).data(Qt.ItemDataRole.ToolTipRole))
    assert "<b>" not in tooltip


def test_messages_name_the_new_ones_and_the_first_that_differs() -> None:
    assert cell_text(row(1, messages=12), Column.MESSAGES) == "12"
    assert cell_text(row(2, messages=12, extends=1, common=10), Column.MESSAGES) == "12 (+2)"
    assert cell_text(row(3, messages=12, common=2, broken_at=2), Column.MESSAGES) == "12, differs from 3"


def test_edit_by_a_person_is_in_the_result() -> None:
    edited = row(1, Stage.ENDED, finish="stop", changes=("arguments of search",))
    assert cell_text(edited, Column.STATE) == "stop · Edited: arguments of search"
    assert Filter(kind=Kind.EDITED).fits(edited)


def test_selected_row_stays_selected_while_rows_arrive(qtbot: QtBot) -> None:
    model = ExchangeModel()  # without the tester, which looks at all rows for each new one
    tree = ExchangeTree(model)
    qtbot.addWidget(tree)
    model.show_rows([row(number) for number in range(1, 5)])
    tree.select(2)
    model.show_rows([row(number, session=f"s{number}") for number in range(5, 300)])
    assert [selected.summary.number for selected in tree.selected] == [2]


def test_group_of_new_rows_is_unfolded(qtbot: QtBot, model: ExchangeModel) -> None:
    tree = ExchangeTree(model)
    qtbot.addWidget(tree)
    model.show_rows([row(1)])
    group = model.index(0, 0)
    assert tree.isExpanded(group)
    assert tree.isFirstColumnSpanned(0, QModelIndex())


def test_flood_of_rows_is_added_quickly(qtbot: QtBot) -> None:
    model = ExchangeModel()
    tree = ExchangeTree(model)
    qtbot.addWidget(tree)
    tree.resize(1000, 400)
    tree.show()
    slowest = 0.0
    for batch in range(100):  # a quarter of a second each, at 200 requests a second
        rows = [row(batch * 50 + number + 1, session=f"s{number % 7}") for number in range(50)]
        start = time.perf_counter()
        model.show_rows(rows)
        tree.grab()
        slowest = max(slowest, time.perf_counter() - start)
    assert model.total == 5_000
    assert slowest < 0.25  # the time until the next batch
