"""Reasoning, notices, the editor in place and the figures."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from playground.domain.errors import Failure, FailureKind
from playground.domain.parts import Reasoning, Text
from playground.domain.transcript import Ending, Outcome, Role, Turn, make_turn
from playground.domain.usage import Timing, Usage
from playground.ui.features.conversation.inline_editor import InlineEditor
from playground.ui.features.conversation.reasoning_view import ReasoningView
from playground.ui.features.conversation.text_view import TextView
from playground.ui.features.conversation.turn_end import ErrorBody, ErrorCard
from playground.ui.widgets import figures
from playground.ui.widgets.notice_bar import NoticeBar

# Reasoning


@pytest.fixture
def reasoning(qtbot: QtBot) -> ReasoningView:
    view = ReasoningView()
    qtbot.addWidget(view)
    view.resize(700, 100)
    view.show()
    qtbot.waitExposed(view)
    return view


def head(view: ReasoningView) -> QPushButton:
    button = view.findChild(QPushButton)
    assert isinstance(button, QPushButton)
    return button


def is_open(view: ReasoningView) -> bool:
    return view.is_open and view.text_view.isVisibleTo(view)


def test_reasoning_is_open_while_it_comes_and_folds_when_it_is_whole(reasoning: ReasoningView) -> None:
    fragments = ["First I think. "]
    reasoning.draw_growing_thinking(fragments, "0.40 s")
    assert is_open(reasoning)
    assert "0.40 s" in head(reasoning).text()
    fragments.append("Then I know.")
    reasoning.draw_growing_thinking(fragments, "0.80 s")
    assert reasoning.text_view.source == reasoning.source == "First I think. Then I know."
    reasoning.settle("1.80 s · 96 tokens")
    assert not is_open(reasoning)
    assert not reasoning.text_view.isVisible()
    assert "1.80 s · 96 tokens" in head(reasoning).text()
    assert "First I think." in head(reasoning).text()
    assert head(reasoning).accessibleName() == "Reasoning, folded"


def test_a_fold_by_hand_stays(reasoning: ReasoningView) -> None:
    fragments = ["a "]
    reasoning.draw_growing_thinking(fragments, "")
    head(reasoning).click()
    assert not is_open(reasoning)
    fragments.append("b ")
    reasoning.draw_growing_thinking(fragments, "")
    assert not is_open(reasoning)
    assert reasoning.source == "a b "
    reasoning.settle("1 s")
    head(reasoning).click()
    assert is_open(reasoning)
    assert reasoning.text_view.source == "a b "
    reasoning.settle("2 s")
    assert is_open(reasoning)


def test_reasoning_that_is_folded_while_it_comes_is_not_joined_again_and_again(reasoning: ReasoningView) -> None:
    fragments = ["x" * 50]
    reasoning.draw_growing_thinking(fragments, "")
    head(reasoning).click()
    for _ in range(200):
        fragments.append("y" * 50)
        reasoning.draw_growing_thinking(fragments, "")
    assert "xxx" in head(reasoning).text()
    head(reasoning).click()
    assert reasoning.text_view.source == "".join(fragments)


def test_whole_reasoning_is_folded_and_can_be_replaced(reasoning: ReasoningView) -> None:
    reasoning.set_text("one\n\ntwo", "3 s")
    assert not is_open(reasoning)
    assert "one two" in head(reasoning).text()
    reasoning.set_text("other", "4 s")
    head(reasoning).click()
    assert reasoning.text_view.source == "other"


# Notices


def test_a_notice_stays_or_goes_and_does_one_thing(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("playground.ui.widgets.notice_bar.STAYS_MS", 30)
    bar = NoticeBar()
    qtbot.addWidget(bar)
    assert not bar.isVisible()
    done: list[str] = []
    bar.say("<i>deleted</i>", "Undo", lambda: done.append("undone"), stays=False)
    assert bar.isVisible()
    assert bar.words == bar.accessibleName() == "<i>deleted</i>"
    undo = next(button for button in bar.findChildren(QPushButton) if button.text() == "Undo")
    undo.click()
    assert done == ["undone"]
    assert not bar.isVisible()
    bar.say("goes", stays=False)
    qtbot.waitUntil(lambda: not bar.isVisible())
    bar.say("goes", stays=False)
    bar.say("stays")
    qtbot.wait(60)
    assert bar.isVisible()
    assert not [b for b in bar.findChildren(QPushButton) if b.text() == "Undo" and b.isVisible()]
    bar.hide()


# The editor in place


@pytest.fixture
def editor(qtbot: QtBot) -> InlineEditor:
    editor = InlineEditor("some text", "Edit the turn")
    qtbot.addWidget(editor)
    editor.resize(500, 200)
    editor.show()
    qtbot.waitExposed(editor)
    return editor


def field(editor: InlineEditor) -> QPlainTextEdit:
    found = editor.findChild(QPlainTextEdit)
    assert isinstance(found, QPlainTextEdit)
    return found


def test_control_enter_keeps_and_escape_cancels(editor: InlineEditor, qtbot: QtBot) -> None:
    field(editor).moveCursor(field(editor).textCursor().MoveOperation.End)
    QTest.keyClicks(field(editor), "!")
    with qtbot.waitSignal(editor.kept):
        QTest.keyClick(field(editor), Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert editor.text == "some text!"
    with qtbot.waitSignal(editor.cancelled):
        QTest.keyClick(field(editor), Qt.Key.Key_Escape)
    for name, signal in (("Keep", editor.kept), ("Cancel", editor.cancelled)):
        button = next(b for b in editor.findChildren(QPushButton) if b.text() == name)
        with qtbot.waitSignal(signal):
            button.click()


def test_an_editor_that_runs_says_on_its_face_which_key_keeps_and_which_runs(qtbot: QtBot) -> None:
    editor = InlineEditor("some text", "Edit the turn", runs=True)
    qtbot.addWidget(editor)
    editor.resize(500, 200)
    editor.show()
    assert "Ctrl+Enter keeps · Alt+Enter runs" in [
        label.text() for label in editor.findChildren(QLabel) if label.isVisible()
    ]
    tips = {button.text(): button.toolTip() for button in editor.findChildren(QPushButton)}
    assert "(Ctrl+Enter)" in tips["Keep"]
    assert "(Alt+Enter)" in tips["Run from here"]


def test_the_editor_is_as_tall_as_its_wrapped_text(editor: InlineEditor) -> None:
    short = field(editor).height()
    editor.set_text("a long paragraph without a break " * 12)
    QApplication.processEvents()
    wide = field(editor).height()
    assert wide > 2 * short
    editor.resize(250, 400)
    QApplication.processEvents()
    assert field(editor).height() > wide


def test_an_editor_opened_on_a_long_paragraph_shows_it(qtbot: QtBot) -> None:
    editor = InlineEditor("a long paragraph without a break " * 20, "Edit")
    qtbot.addWidget(editor)
    editor.resize(400, 300)
    editor.show()
    qtbot.waitExposed(editor)
    assert field(editor).height() > 8 * field(editor).fontMetrics().lineSpacing()


# Figures


@pytest.mark.parametrize(
    ("value", "words"), [(0.4211, "0.42 s"), (12.34, "12.3 s"), (99.94, "99.9 s"), (125, "2 min 5 s")]
)
def test_a_duration_can_be_compared(value: float, words: str) -> None:
    assert figures.seconds(value) == words


def _turn(usage: Usage | None, timing: Timing | None, **more: object) -> Turn:
    outcome = Outcome(ending=Ending.COMPLETE, finish_reason="stop", usage=usage, timing=timing)
    turn = make_turn(Role.ASSISTANT, "", Reasoning(text="think " * 10), Text(text="word " * 40))
    return turn.model_copy(update={"outcome": outcome.model_copy(update=more)})


TIMES = Timing(started_at=0, first_reasoning=0.5, reasoning_end=2.0, first_content=2.0, end=4.5)


def speed(turn: Turn) -> str:
    return " · ".join(figures.figures(turn))


def test_exact_figures_are_given_as_such_and_estimates_are_marked() -> None:
    exact = speed(_turn(Usage(prompt=10, completion=200, reasoning=96), TIMES))
    assert "0.50 s" in exact
    assert "50 tok/s" in exact
    assert "200 tok" in exact
    assert "≈" not in exact
    estimated = speed(_turn(None, TIMES))
    assert estimated.count("≈") == 2
    assert figures.figures(make_turn(Role.USER, "hi")) == []
    assert figures.live_figures(3.0, 20) == ["3.00 s", "≈ 20 tok"]
    assert figures.live_figures(0.5, 0) == ["0.50 s"]


def test_what_all_choices_used_is_never_said_to_be_one_choices_own() -> None:
    usage = Usage(prompt=10, completion=400, reasoning=96)
    turn = _turn(usage, TIMES, choice=1, choices=2)
    shared, own = figures.figures(turn, "$0.02")
    assert own == f"this one ≈ {figures.estimate_tokens(turn.text + turn.reasoning)} tok"
    assert shared == "all 2 choices: first token 0.50 s, 100 tok/s, 400 tok, $0.02"
    assert line_of(turn).startswith("≈ 1.50 s · ≈ ")
    assert figures.usage_line(usage, 2) == "all 2 choices: 10 in · 400 out (96 reasoning)"
    assert figures.usage_line(None, 2) == ""
    assert "choices" not in speed(_turn(None, TIMES, choice=1, choices=2)), "an estimate is of the turn's own text"


def line_of(turn: Turn, at: int = 0) -> str:
    return figures.reasoning_line(turn, [part for part in turn.parts if isinstance(part, Reasoning)][at])


def test_reasoning_has_its_time_and_its_tokens() -> None:
    assert line_of(_turn(Usage(completion=200, reasoning=96), TIMES)) == "1.50 s · 96 tokens"
    assert line_of(_turn(Usage(completion=200), TIMES)).startswith("1.50 s · ≈ ")


def test_one_of_several_parts_of_reasoning_tells_its_own_length_and_not_that_of_the_turn() -> None:
    thought = "a word " * 20
    parts = (Reasoning(text=thought), Text(text="So:"), Reasoning(text="more"), Reasoning(text="", redacted="xyz"))
    turn = _turn(Usage(completion=200, reasoning=96), TIMES).model_copy(update={"parts": parts})
    own = [f"≈ {figures.estimate_tokens(text)} tokens" for text in (thought, "more")]
    assert [line_of(turn, at) for at in range(3)] == [*own, ""]


def test_what_was_used_tells_the_details_apart() -> None:
    assert figures.usage_line(Usage(prompt=412, completion=214, reasoning=96, cached=128)) == (
        "412 in · 214 out (96 reasoning, 128 cached)"
    )
    assert figures.usage_line(None) == ""


@pytest.mark.parametrize(
    ("ending", "reason", "chip"),
    [
        (Ending.COMPLETE, "stop", "stop"),
        (Ending.COMPLETE, "eos_of_sorts", "eos_of_sorts"),
        (Ending.COMPLETE, "", "(empty)"),
        (Ending.COMPLETE, None, ""),
        (Ending.STOPPED, None, "stopped"),
        (Ending.CUT_OFF, None, "cut off"),
        (Ending.FAILED, "stop", "failed"),
        (Ending.INTERRUPTED, None, "interrupted"),
    ],
)
def test_why_a_turn_ended_is_said_as_it_came(ending: Ending, reason: str | None, chip: str) -> None:
    words = figures.ending_words(Outcome(ending=ending, finish_reason=reason))
    assert words[0] == chip
    assert bool(words[1]) is bool(chip)


@pytest.mark.parametrize(
    ("reason", "written", "choices", "most", "said"),
    [
        ("length", 4096, 1, 4096, True),
        ("max_tokens", 4097, 1, 4096, True),
        ("length", 300, 1, 4096, False),
        ("length", 4096, 1, None, False),
        ("length", 4096, 2, 4096, False),
        ("length", None, 1, 4096, False),
        ("stop", 4096, 1, 4096, False),
    ],
)
def test_an_answer_that_met_the_models_own_limit_says_so(
    reason: str, written: int | None, choices: int, most: int | None, said: bool
) -> None:
    outcome = Outcome(ending=Ending.COMPLETE, finish_reason=reason, usage=Usage(completion=written), choices=choices)
    chip, words = figures.ending_words(outcome, most)
    assert chip == reason
    assert ("the most that it writes by the gateway's list" in words) is said


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


def test_error_card_without_more_in_its_body_has_nothing_to_show(qtbot: QtBot) -> None:
    card = ErrorCard(Failure(kind=FailureKind.HTTP, message="no", body="no\n"), streamed=None, arrived=False)
    qtbot.addWidget(card)
    assert card.findChild(ErrorBody) is None
