"""Metrics and error bodies of messages."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from playground.domain.errors import Failure, FailureKind
from playground.domain.parts import Reasoning, Text
from playground.domain.transcript import Ending, Outcome, Role, Turn, make_turn
from playground.domain.usage import Timing, Usage
from playground.ui.features.conversation.text_view import TextView
from playground.ui.features.conversation.turn_end import ErrorBody, ErrorCard
from playground.ui.widgets import figures
from tests.support.each_case import each_case

# Figures


@each_case("value, words", [(0.4211, "0.42 s"), (12.34, "12.3 s"), (99.94, "99.9 s"), (125, "2 min 5 s")])
def test_duration_has_three_digits(value: float, words: str) -> None:
    assert figures.seconds(value) == words


def _turn(usage: Usage | None, timing: Timing | None, **more: object) -> Turn:
    outcome = Outcome(ending=Ending.COMPLETE, finish_reason="stop", usage=usage, timing=timing)
    turn = make_turn(Role.ASSISTANT, "", Reasoning(text="think " * 10), Text(text="word " * 40))
    return turn.model_copy(update={"outcome": outcome.model_copy(update=more)})


TIMES = Timing(started_at=0, first_reasoning=0.5, reasoning_end=2.0, first_content=2.0, end=4.5)


def speed(turn: Turn) -> str:
    return " · ".join(figures.figures(turn))


def test_usage_of_all_choices_is_not_attributed_to_one() -> None:
    usage = Usage(prompt=10, completion=400, reasoning=96)
    turn = _turn(usage, TIMES, choice=1, choices=2)
    shared, own = figures.figures(turn, "$0.02")
    assert own == f"this one ≈ {figures.estimate_tokens(turn.text + turn.reasoning)} tok"
    assert shared == "all 2 choices: first token 0.50 s, 100 tok/s, 400 tok, $0.02"
    assert line_of(turn).startswith("≈ 1.50 s · ≈ ")
    assert figures.usage_line(usage, 2) == "all 2 choices: 10 in · 400 out (96 reasoning)"
    assert figures.usage_line(None, 2) == ""
    assert "choices" not in speed(_turn(None, TIMES, choice=1, choices=2)), "an estimate is of the turn's own text"


def line_of(turn: Turn, index: int = 0) -> str:
    return figures.reasoning_line(turn, [part for part in turn.parts if isinstance(part, Reasoning)][index])


def test_reasoning_line_has_time_and_tokens() -> None:
    assert line_of(_turn(Usage(completion=200, reasoning=96), TIMES)) == "1.50 s · 96 tokens"
    assert line_of(_turn(Usage(completion=200), TIMES)).startswith("1.50 s · ≈ ")


def test_reasoning_line_of_one_of_several_parts_has_its_own_length() -> None:
    thought = "a word " * 20
    parts = (Reasoning(text=thought), Text(text="So:"), Reasoning(text="more"), Reasoning(text="", redacted="xyz"))
    turn = _turn(Usage(completion=200, reasoning=96), TIMES).model_copy(update={"parts": parts})
    own = ["≈ 35 tokens", "≈ 1 token"]
    assert [line_of(turn, index) for index in range(3)] == [*own, ""]


def test_tokens_are_estimated_by_script() -> None:
    assert figures.estimate_tokens("") == 0
    assert figures.estimate_tokens("four" * 10) == 10
    assert figures.estimate_tokens("漢字かな") == 4


# The body of an error


def test_error_card_shows_and_copies_the_whole_body_when_asked(qtbot: QtBot) -> None:
    body = '{"error": {"message": "no", "trace": "' + "x" * 20_000 + '"}}'
    card = ErrorCard(Failure(kind=FailureKind.HTTP, message="no", status=400, body=body), streamed=None, arrived=False)
    qtbot.addWidget(card)
    card.resize(700, 300)
    card.show()
    qtbot.waitExposed(card)
    (button,) = [button for button in card.findChildren(QPushButton) if button.text() == "Show the error body"]
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    (view,) = [view for view in card.findChildren(TextView) if view.accessibleName() == "Body of the error"]
    assert view.isVisible()
    assert view.source.startswith('{"error"')
    assert view.source.endswith("more characters")
    (fold,) = card.findChildren(ErrorBody)
    QTest.mouseClick(fold.copy, Qt.MouseButton.LeftButton)
    assert QApplication.clipboard().text() == body
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert not view.isVisible()
