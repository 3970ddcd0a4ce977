"""The Diff tab."""

from __future__ import annotations

import pytest

from playground.engine.inspect.compare import CUT, Comparison, Metric, Piece, Side
from playground.ui.features.inspector.diff_page import ANSWER, FIGURES, NONE, NOTHING, REASONING, UNKNOWN, DiffPage
from tests.ui.conftest import ShowWidget

FOUND = Comparison(
    answer=(Piece(Side.SAME, "It is "), Piece(Side.REMOVED, "warm"), Piece(Side.ADDED, "cold")),
    reasoning=(),
    metrics=(Metric("Whole time", "s", 1.5, 3.0), Metric("Prompt tokens", "tokens", None, 5)),
    beside=(Piece(Side.SAME, '"sig": '), Piece(Side.ADDED, '"two"')),
)


@pytest.fixture
def page(show_widget: ShowWidget) -> DiffPage:
    return show_widget(DiffPage(), 700, 300)


def test_parts_of_a_comparison_are_shown_one_by_one(page: DiffPage) -> None:
    assert page.text.toPlainText() == NONE
    for part, words in ((ANSWER, "It is warmcold"), (REASONING, NOTHING), (UNKNOWN, '"sig": "two"')):
        page.part.setCurrentIndex(part)
        page.show_comparison(FOUND)
        assert page.text.toPlainText() == words
    page.part.setCurrentIndex(FIGURES)
    assert page.figures.isVisible()
    rows = [[page.figures.item(row, column) for column in (0, 1)] for row in range(page.figures.rowCount())]
    assert [[item.text() for item in row if item is not None] for row in rows] == [
        ["Whole time", "1.50 s → 3.00 s (+1.50 s)"],
        ["Prompt tokens", "not known → 5"],
    ]


def test_shortened_comparison_is_marked(page: DiffPage) -> None:
    page.part.setCurrentIndex(ANSWER)
    page.show_comparison(FOUND)
    assert page.says.text() == "60% of the answer is alike"
    page.show_comparison(Comparison(answer=FOUND.answer, reasoning=(), metrics=(), cut=True))
    assert CUT in page.says.text()
