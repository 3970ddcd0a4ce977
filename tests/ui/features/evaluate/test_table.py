"""The table of answers: cells, filter, search, sorting and selection."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from playground.domain.checks.texts import Contains
from playground.engine.evaluation.resolved import ResolvedEvaluation
from playground.engine.session.plan import Case
from playground.engine.session.session import Session
from playground.ui.features.conversation.markdown import Style
from playground.ui.features.evaluate.table import NO_CASES_OF_FILTER, NO_MATCH, AnswersTable, Start
from playground.ui.features.evaluate.table_model import NAME, Filter, Mark, Order
from playground.ui.features.evaluate.table_painting import preview_spans
from tests.engine.evaluation.evaluations import planned, variant
from tests.engine.session.test_session import make_session
from tests.support.eventually import eventually
from tests.ui.features.evaluate.answered import Looked, Outcomes, answers, run_with_evaluation


@pytest.fixture
def session() -> Session:
    return make_session_of(4)


def make_session_of(count: int, **fields: Any) -> Session:
    return planned(
        make_session(),
        cases=tuple(
            Case(id=f"c{index}", name=f"case {index}", values={"city": f"town {index}"}) for index in range(count)
        ),
        variants=(variant("B", model="other"),),
        **{"repeats": 2, "checks": (Contains(text="x"),), **fields},
    )


def only_first_of_b(case: int, column: int, _repeat: int) -> bool:
    """Case 0 fails in B; all else passes."""
    return not (case == 0 and column == 1)


def names(table: AnswersTable) -> list[str]:
    return [table.cells.head(row).title for row in range(table.cells.rowCount())]


class Shown:
    """The table in a window, over answers that are kept."""

    def __init__(self, qtbot: QtBot, qapp: QApplication, path: Path) -> None:
        self._qtbot, self._qapp, self._path = qtbot, qapp, path

    def __call__(self, session: Session, created: Outcomes | None, work: Any, starts: Sequence[Start] = ()) -> None:
        async def shown(index: Looked) -> None:
            table = AnswersTable(index.evaluation, starts)
            self._qtbot.addWidget(table)
            table.resize(900, 400)
            table.show()
            await index.wait_for_findings()
            await work(index, table)
            table.hide()

        saved = answers(ResolvedEvaluation(session), created) if created is not None else []
        run_with_evaluation(self._qapp, self._path, session, saved, shown)


@pytest.fixture
def shown(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> Shown:
    return Shown(qtbot, qapp, tmp_path)


def test_cell_shows_each_repeat_and_its_failed_checks(shown: Shown, session: Session) -> None:
    async def work(index: Looked, table: AnswersTable) -> None:
        first = table.cells.content(0, 2)
        assert first.marks == (Mark.FAILED, Mark.NO_ANSWER)
        assert (first.text, first.failed, first.tally) == ("answer to c0", ("contains “x”",), "2 of 2")
        assert table.cells.content(1, 1).marks == (Mark.PASSED, Mark.PASSED)
        message = table.cells.data(table.cells.index(0, 2), Qt.ItemDataRole.AccessibleTextRole)
        assert message == "B · B: 1 failed a check, 1 failed to answer. answer to c0. Failed: contains “x”"
        heads = table.cells.heads
        assert [head.title for head in heads] == ["Case", "A · current settings", "B · B"]
        assert heads[0].words == "city"
        assert heads[2].words == "other"
        assert heads[2].figures.startswith("86 % pass")
        assert "1 failed to answer" in heads[2].figures
        assert table.grab().width() == table.width()  # all of it can be drawn

    shown(
        session,
        lambda case, column, repeat: (None if repeat == 2 else False) if (case, column) == (0, 1) else True,
        work,
    )


def test_rows_are_those_of_the_filter(shown: Shown, session: Session) -> None:
    async def work(index: Looked, table: AnswersTable) -> None:
        counted: list[list[int | None]] = []
        table.counts.connect(counted.append)
        index.evaluation.figured.emit()
        assert counted[-1] == [4, 1, 1, 0]
        table.set_filter(Filter.FAILING)
        assert names(table) == ["case 0"]
        table.set_filter(Filter.DIFFERING)
        assert names(table) == ["case 0"]
        table.set_filter(Filter.STALE)
        assert names(table) == []
        assert table.empty.words.text() == NO_CASES_OF_FILTER[Filter.STALE]
        table.set_filter(Filter.ALL)
        index.evaluation.session.change(model="yet another")
        await eventually(lambda: counted[-1] == [4, 1, 0, 4])
        assert table.cells.content(0, 1).marks == (Mark.STALE, Mark.STALE)
        assert table.cells.content(0, 1).text == "answer to c0"
        table.set_filter(Filter.STALE)
        assert len(names(table)) == 4

    shown(session, only_first_of_b, work)


def test_cases_are_found_by_their_words_and_by_those_of_answers_and_sorted_by_figures(
    shown: Shown, session: Session
) -> None:
    async def work(index: Looked, table: AnswersTable) -> None:
        table.find_text("TOWN 2")
        await eventually(lambda: names(table) == ["case 2"])
        table.find_text("answer c3")
        await eventually(lambda: names(table) == ["case 3"])
        table.find_text("nowhere")
        await eventually(lambda: table.empty.words.text() == NO_MATCH and not names(table))
        table.find_text("")
        await eventually(lambda: len(names(table)) == 4)
        table.sort(Order("seconds", 1, down=True))
        await eventually(lambda: names(table)[0] == "case 3")
        table.sort(Order("rate", 2, down=False))
        await eventually(lambda: names(table) == ["case 0", "case 1", "case 2", "case 3"])
        actions = {action.text(): action for action in table.sorting_menu(0).actions()}
        actions["Name"].trigger()
        actions = {action.text(): action for action in table.sorting_menu(0).actions()}
        actions["Name"].trigger()  # again: the other way round
        await eventually(lambda: names(table)[0] == "case 3")
        assert Order(NAME, 0, down=True) == table.order
        actions["Order of the plan"].trigger()
        assert names(table)[0] == "case 0"

    shown(session, only_first_of_b, work)


def test_preview_of_markdown_is_spans_without_signs() -> None:
    spans = preview_spans("**17 + 25 = 42** is _simulated_ `x` ~~no~~")
    assert "".join(span.text for span in spans) == "17 + 25 = 42 is simulated x no"
    assert [span.style for span in spans if span.text.strip() in ("17 + 25 = 42", "simulated")] == [
        Style.BOLD,
        Style.ITALIC,
    ]
    assert "".join(span.text for span in preview_spans("# Title")) == "Title"
    assert "".join(span.text for span in preview_spans("| a | b |")) == "| a | b |"


def test_table_without_cases_offers_starts(shown: Shown, session: Session) -> None:
    async def work(index: Looked, table: AnswersTable) -> None:
        assert not table.empty.isVisible()
        index.evaluation.change(cases=())
        await eventually(table.empty.isVisible)
        buttons = [button.text() for button in table.empty.findChildren(QPushButton) if button.isVisible()]
        assert buttons == ["Add a case"]
        QTest.mouseClick(table.empty.findChildren(QPushButton)[0], Qt.MouseButton.LeftButton)
        assert started == ["case"]

    started: list[str] = []
    starts = Start("Add a case", lambda: started.append("case")), Start("Use my lanes", lambda: None, lambda: False)
    shown(session, only_first_of_b, work, starts=starts)
