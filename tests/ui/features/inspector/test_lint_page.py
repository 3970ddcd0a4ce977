"""The Lint tab: findings, frames and the report."""

from __future__ import annotations

from typing import Any

from pytestqt.qtbot import QtBot

from playground.domain.errors import Failure, FailureKind
from playground.gateway.tape import Exchange
from playground.ui.features.inspector.lint_page import LintPage
from playground.ui.features.inspector.traces import Traces
from tests.engine.inspect.lint.answers import answer, asked, first, good, reviewed
from tests.protocols.streams import DONE
from tests.support.each_case import each_case


def make_page(qtbot: QtBot) -> LintPage:
    page = LintPage()
    qtbot.addWidget(page)
    page.resize(700, 200)
    page.show()
    return page


def show_exchange(page: LintPage, tape: Exchange) -> str:
    """What stands in the place of findings, once they are looked for."""
    page.show_trace(Traces().of(tape))
    page.slices.finish()
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
        ({"body": b"", "dropped": 9}, "The bytes of this answer were let go"),
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
