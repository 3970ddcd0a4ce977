"""The editor of a rule and of its answer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from playground.domain.debugging import Answer, AnswerRow, MatchKind, Policy, ToolRule
from playground.ui.features.debugger.fields import AnswerField
from playground.ui.features.debugger.result_rules import ResultDefaults
from playground.ui.features.debugger.rules_dialog import RuleEditor
from playground.ui.features.debugger.texts import answer_words, match_words, rule_words
from playground.ui.widgets.rows.kinds import CheckRow
from tests.ui.conftest import ShowWidget

WEATHER = ToolRule(
    policy=Policy.TABLE,
    rows=(
        AnswerRow(match=MatchKind.EQUAL, pattern='{"city": "Oslo"}', answer=Answer(text="cold")),
        AnswerRow(match=MatchKind.PATH, pattern="$[?@.city == 'Rome']", answer=Answer(text="hot", delay=1.5)),
        AnswerRow(answer=Answer(text="no such city", is_error=True)),
    ),
    pause_on_path="$.unit",
    pause_from=3,
)
ROME = '{"city": "Rome"}'


@pytest.fixture
def editor(show_widget: ShowWidget) -> RuleEditor:
    editor = RuleEditor()
    editor.set_rule(WEATHER, ROME)
    return show_widget(editor, 308, 900)


def record_changes(editor: RuleEditor) -> list[ToolRule]:
    out: list[ToolRule] = []
    editor.changed.connect(out.append)
    return out


def test_conditions_are_checked_while_typed(editor: RuleEditor) -> None:
    emitted = record_changes(editor)
    line, nth, misfit = (
        editor.path.field.line,
        editor.conditions.line("pause_from"),
        editor.conditions.rows["pause_on_misfit"],
    )
    assert isinstance(misfit, CheckRow)
    line.clear()
    QTest.keyClicks(line, "$.city")
    assert emitted[-1].pause_on_path == "$.city"
    assert editor.path.field.message.text() == "Matches the latest call."
    QTest.keyClicks(line, "[")
    assert emitted[-1].pause_on_path == "$.city[", "what is typed is kept, readable or not"
    assert editor.path.field.message.text().startswith("Not a JSONPath")
    assert line.property("bad") == "true"
    misfit.box.click()
    assert emitted[-1].pause_on_misfit is False
    nth.selectAll()
    QTest.keyClicks(nth, "12")
    assert emitted[-1].pause_from == 12
    count = len(emitted)
    QTest.keyClicks(nth, "x")
    assert len(emitted) == count
    assert editor.conditions.errors == {"pause_from": "not a whole number"}
    editor.set_rule(emitted[-1], '{"city": "Oslo"}')
    assert nth.text() == "12x", "unfinished text stays while the conversation goes on"
    nth.selectAll()
    QTest.keyClick(nth, Qt.Key.Key_Backspace)
    assert emitted[-1].pause_from == 0
    assert nth.placeholderText() == "never"
    editor.policy.chosen.emit(3)
    assert not editor.conditions.rows["before"].isHidden()


def test_default_rule_is_shown_at_the_start(show_widget: ShowWidget) -> None:
    misfit = show_widget(RuleEditor(), 308, 900).conditions.rows["pause_on_misfit"]
    assert isinstance(misfit, CheckRow)
    assert misfit.box.isChecked()
    defaults = show_widget(ResultDefaults(), 340, 200)
    assert defaults.form.line("step_limit").text() == "20"
    assert not defaults.form.rows["default.policy"].reset.isVisible()


# One answer


@pytest.fixture
def field(qtbot: QtBot) -> Iterator[AnswerField]:
    field = AnswerField()
    qtbot.addWidget(field)
    field.show()
    qtbot.waitExposed(field)
    yield field
    field.hide()


def test_edited_answer_keeps_its_other_fields(field: AnswerField) -> None:
    answer = Answer.model_validate({"text": "a\u00a0b", "is_error": True, "delay": 0.25, "size": 1000, "later": 1})
    emitted: list[Answer] = []
    field.changed.connect(emitted.append)
    field.set_answer(answer)
    assert emitted == []
    assert (field.delay.text(), field.length.text()) == ("0.25", "1,000")
    field.never.click()
    assert emitted == [answer.model_copy(update={"never": True})]
    assert not field.text.isEnabled()
    field.never.click()
    assert emitted[-1] == answer
    field.delay.selectAll()
    QTest.keyClicks(field.delay, "1,5")
    assert emitted[-1].delay == 1.5, "a comma is a decimal point"


# Words


def test_rules_are_summarized() -> None:
    assert rule_words(ToolRule()) == "Ask me"
    assert rule_words(ToolRule(rows=(AnswerRow(),))) == "Ask me · 1 row ready"
    assert rule_words(WEATHER) == "Mock table, 3 rows · asks on a match and from call 3"
    assert rule_words(ToolRule(policy=Policy.FIXED, fixed=Answer(never=True))) == "Fixed reply: no reply"
    assert answer_words(Answer(text="a\n b", is_error=True, delay=2)) == "error · a b · after 2 s"
    assert answer_words(Answer()) == "empty"
    assert match_words(WEATHER.rows[0]) == '{"city": "Oslo"}'
    assert "\u202e" not in answer_words(Answer(text="\u202eevil"))
    assert len(answer_words(Answer(text="x" * 1_000_000))) < 200
