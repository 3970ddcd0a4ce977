"""Deviations are listed with the frame that shows each; the report can be copied."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from playground.ui.inspector.lint_page import LintPage
from playground.ui.inspector.traces import Traces
from tests.ui.inspector.recordings import chunk, exchange, weather


def made(qtbot: QtBot) -> LintPage:
    page = LintPage()
    qtbot.addWidget(page)
    page.resize(700, 200)
    page.show()
    return page


def test_each_finding_leads_to_its_frame(qtbot: QtBot) -> None:
    page = made(qtbot)
    odd = exchange([(0.1, chunk({"content": "hello"})), (0.2, b"data: not json\n\n"), (0.3, chunk({}, "stop"))])
    page.show_trace(Traces().of(odd))
    page.slices.finish()
    codes = [finding.code for finding in page.found]
    assert "not_json" in codes
    assert "no_end_marker" in codes
    row = codes.index("not_json")
    frame, note = page.table.item(row, 0), page.table.item(row, 1)
    assert frame is not None
    assert note is not None
    assert frame.text() == "2"
    assert f"{len(codes)} deviation" in page.count.text()
    with qtbot.waitSignal(page.frame_asked) as asked:
        rect = page.table.visualItemRect(note)
        QTest.mouseClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
    assert asked.args == [1]
    QTest.mouseClick(page.copy_button, Qt.MouseButton.LeftButton)
    report = QGuiApplication.clipboard().text()
    assert report.startswith("# What this answer does differently")
    assert "data: not json" in report
    assert page.copy_button.text() == "Copied"


def test_an_answer_as_it_should_be_says_so(qtbot: QtBot) -> None:
    page = made(qtbot)
    assert "No exchange yet" in page.empty.text()
    page.show_trace(Traces().of(weather()))
    page.slices.finish()
    assert page.found == ()
    assert page.empty.text().startswith("Nothing to report: ")
    page.show_trace(None)
    assert "No exchange yet" in page.empty.text()
