"""The list of calls: rows, filter, copies and branches."""

from __future__ import annotations

import csv
import io
import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from playground.domain.parts import ToolCall, ToolResult
from playground.domain.transcript import Role, Transcript, Turn, make_turn
from playground.engine.session.session import Session
from playground.ui.features.debugger.call_list import STATUS, TIME, TOOL, CallList
from tests.ui.conftest import ShowWidget
from tests.ui.features.debugger.seen import session


@pytest.fixture
def page(show_widget: ShowWidget) -> CallList:
    return show_widget(CallList(), 860, 240)


def read_rows(page: CallList) -> list[list[str]]:
    page.throttle.flush()
    model = page.model
    return [[model.index(row, column).data() for column in range(6)] for row in range(model.rowCount())]


def make_three_calls() -> Session:
    """Lisbon fits and is answered, Oslo misses its city and is an error, Rome waits."""
    calls = (
        ToolCall(id="c1", name="get_weather", arguments='{"city": "Lisbon"}'),
        ToolCall(id="c2", name="get_weather", arguments='{"town": "Oslo"}', received="{}"),
        ToolCall(id="c3", name="get_wind", arguments="{Rome"),
    )
    actual = session((make_turn(Role.USER, "?"), Turn(id="a", role=Role.ASSISTANT, parts=calls)))
    results = (
        ToolResult(call_id="c1", text="x", by="table", seconds=1.25),
        ToolResult(call_id="c2", text="=1+1", is_error=True, by="you", seconds=0.04),
    )
    for result in results:
        actual.turns.add_turn(make_turn(Role.TOOL, "", result))
    return actual


def test_rows_show_the_outcome_of_calls(page: CallList) -> None:
    page.show_session(make_three_calls())
    assert read_rows(page) == [
        ["2", "get_weather", '{"city": "Lisbon"}', "Valid", "from the mock table", "1.25 s"],
        ["2", "get_weather", '{"town": "Oslo"}', "2 problems · edited", "error, by you", "you 40 ms"],
        ["2", "get_wind", "{Rome", "Not JSON", "needs a result", ""],
    ]
    assert page.count.text == "3 calls · 2 invalid · 1 needs a result"
    tooltip = page.model.index(1, STATUS).data(Qt.ItemDataRole.ToolTipRole)
    assert "“city” is missing" in tooltip
    assert "town: is not allowed" in tooltip
    assert page.model.index(0, TOOL).data(Qt.ItemDataRole.AccessibleTextRole) == "Tool: get_weather"


def test_count_of_a_call_with_two_results_names_both(page: CallList) -> None:
    call = ToolCall(id="c", name="get_weather", arguments='{"city": "Lisbon"}')
    answered = session((make_turn(Role.USER, "?"), Turn(id="a", role=Role.ASSISTANT, parts=(call,))))
    sunny, rain = (make_turn(Role.TOOL, "", ToolResult(call_id="c", text=text, by="you")) for text in ("sunny", "rain"))
    answered.turns.add_turn(sunny)
    alternative = rain.model_copy(update={"parent": "a"})
    tree = Transcript({**answered.transcript.turns, rain.id: alternative}, answered.transcript.head)
    answered.set_up(tree, answered.settings)
    page.show_session(answered)
    assert len(read_rows(page)) == 2
    assert page.count.text == "1 call · 2 results"


def test_copied_rows_are_safe_for_spreadsheets(page: CallList) -> None:
    page.show_session(make_three_calls())
    read_rows(page)
    page.table.selectRow(1)
    QTest.keyClick(page.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    (row,) = csv.DictReader(io.StringIO(QGuiApplication.clipboard().text(), newline=""))
    assert (row["tool"], row["arguments"], row["result"]) == ("get_weather", '{"town": "Oslo"}', "'=1+1")
    page.copy("json", everything=True)
    assert [entry["call_id"] for entry in json.loads(QGuiApplication.clipboard().text())] == ["c1", "c2", "c3"]


def test_names_and_arguments_are_plain_text(page: CallList) -> None:
    calls = (ToolCall(id="c", name="a\u202eb", arguments='{"x": "<img src=http://evil/>\ud800"}'),)
    page.show_session(session((Turn(id="a", role=Role.ASSISTANT, parts=calls),)))
    (row,) = read_rows(page)
    assert row[1] == "a‹U+202E›b"
    assert "‹U+D800›" in row[2]
    assert "<img" not in page.model.index(0, 2).data(Qt.ItemDataRole.ToolTipRole)


def test_column_sorts_up_down_and_not(page: CallList) -> None:
    page.show_session(make_three_calls())
    orders = []
    for _ in range(3):
        page.table.horizontalHeader().sectionClicked.emit(TIME)
        read_rows(page)
        orders.append("".join(entry.call.id[1] for entry in page.model.entries))
    assert orders == ["321", "123", "123"]
