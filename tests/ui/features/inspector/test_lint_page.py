"""The Lint tab: findings, frames and the report."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from playground.domain.errors import Failure, FailureKind
from playground.gateway.tape import Exchange
from playground.ui.features.inspector.lint_page import LintPage
from playground.ui.features.inspector.traces import Traces
from tests.engine.inspect.lint.answers import answer, asked, first, good, reviewed
from tests.protocols.streams import DONE
from tests.support.each_case import each_case
from tests.ui.features.inspector.recordings import chunk, exchange, weather


def make_page(qtbot: QtBot) -> LintPage:
    page = LintPage()
    qtbot.addWidget(page)
    page.resize(700, 200)
    page.show()
    return page


def test_each_finding_leads_to_its_frame(qtbot: QtBot) -> None:
    page = make_page(qtbot)
    odd = exchange([(0.1, chunk({"content": "hello"})), (0.2, b"data: not json\n\n"), (0.3, chunk({}, "stop"))])
    page.show_trace(Traces().of(odd))
    page.throttle.flush()
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


def show_exchange(page: LintPage, tape: Exchange) -> str:
    """What stands in the place of findings, once they are looked for."""
    page.show_trace(Traces().of(tape))
    page.throttle.flush()
    assert page.found == reviewed(tape).findings == ()
    return page.empty.text()


@each_case(
    "tape, words",
    [
        (
            {"body": first(), "complete": False},
            "Nothing to report of what was seen. The answer was stopped: what would",
        ),
        ({"body": b"", "status": None, "complete": False}, "No answer came: there is nothing to judge."),
        ({"body": b"", "dropped": 9}, "The bytes of this answer were dropped"),
        ({"body": first(), "ended": False}, "Nothing to report so far."),
        (
            {"body": b'{"code":1,"message":"no","data":null}', "status": 400},
            "Nothing to report: the error is as the specification describes it.",
        ),
        (
            {"body": first(), "complete": False, "failure": Failure(kind=FailureKind.CONNECTION, message="x")},
            "Nothing to report of what was seen. The connection broke off",
        ),
        (
            {"body": first() + good({}, "stop") + DONE, "request_body": b"?"},
            "Nothing to report of what was seen. The req",
        ),
    ],
)
def test_page_without_findings_says_why(qtbot: QtBot, tape: dict[str, Any], words: str) -> None:
    body = tape.pop("body")
    text = show_exchange(make_page(qtbot), answer(body, asked(), **tape))
    assert text.startswith(words)
    assert "the answer is as the specification" not in text


def test_findings_follow_an_answer_on_its_way(qtbot: QtBot) -> None:
    page = make_page(qtbot)
    tape = answer(first(), asked(n=2), ended=False)
    trace = Traces().of(tape)
    page.show_trace(trace)
    page.throttle.flush()
    assert "so far" in page.empty.text()
    tape.reads.append(type(tape.reads[0])(0.2, good({}, "stop") + DONE))
    tape.ended, tape.complete = 0.2, True
    page.show_trace(trace)
    page.throttle.flush()
    assert [one.code for one in page.found] == ["choices_count"]
    page.show_trace(Traces().of(weather()))
    assert (page.found, page.count.text(), page.empty.text()) == ((), "", ""), "another one, and not looked at yet"
    QTest.mouseClick(page.copy_button, Qt.MouseButton.LeftButton)
    assert "choices" not in QGuiApplication.clipboard().text()
