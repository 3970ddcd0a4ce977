"""The dialog of the rules of an experiment, and their files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from playground.domain.debugging import Answer, AnswerRow, Debugging, Policy, ToolRule
from playground.domain.tools import ToolDefinition
from playground.engine.session.session import Session
from playground.ui.features.debugger.control import renamed_rules
from playground.ui.features.debugger.rules_dialog import RulesDialog
from tests.support.each_case import each_case

TABLE = ToolRule(policy=Policy.TABLE, rows=(AnswerRow(answer=Answer(text="sunny")),), pause_from=4)


@pytest.fixture
def dialog(session: Session, window: QWidget, qtbot: QtBot) -> Iterator[RulesDialog]:
    dialog = RulesDialog.shown_for(session, window)
    qtbot.waitExposed(dialog)
    yield dialog
    dialog.hide()


def test_dialog_follows_changes_and_keeps_typed_text(dialog: RulesDialog, session: Session, qtbot: QtBot) -> None:
    dialog.open_on("get_weather")
    QTest.mouseClick(dialog.editor.policy.buttons[1], Qt.MouseButton.LeftButton)
    QTest.mouseClick(dialog.editor.table.add_button, Qt.MouseButton.LeftButton)
    text = dialog.editor.table.editor.answer.text
    text.setFocus()
    QTest.keyClicks(text, "sunny")
    QApplication.processEvents()  # the session's own notice comes back
    QTest.keyClicks(text, "!")
    assert text.text() == "sunny!"
    session.change(debugging=Debugging(rules={"get_weather": TABLE}))
    qtbot.waitUntil(lambda: dialog.editor.rule == TABLE)


def test_tables_are_saved_to_a_file_and_loaded(dialog: RulesDialog, session: Session, tmp_path: Path) -> None:
    before = Debugging(default=TABLE, rules={"get_weather": TABLE, "other": ToolRule()}, step_limit=7)
    session.change(debugging=before)
    file = tmp_path / "answers.json"
    dialog.write_file(str(file))
    assert "2 tables with 2 rows" in dialog.notice.words
    assert json.loads(file.read_text("utf-8"))["tools"].keys() == {"get_weather", "*"}
    condition = ToolRule(pause_from=2)
    session.change(debugging=Debugging(rules={"get_weather": condition}))
    dialog.open_file(str(file))
    after = session.debugger.debugging
    assert after.rules == {"get_weather": TABLE.model_copy(update={"pause_from": 2})}, "conditions are not the file's"
    assert after.default.rows == TABLE.rows
    assert after.step_limit == 7
    QTest.mouseClick(dialog.notice.buttons[0], Qt.MouseButton.LeftButton)
    assert session.debugger.debugging == Debugging(rules={"get_weather": condition})


@each_case("content", [b"[]", b'{"playground_answers": 1, "tools": 3}', b"\xff\xfe", None])
def test_unusable_file_of_answers_is_reported_and_changes_nothing(
    dialog: RulesDialog, session: Session, tmp_path: Path, content: bytes | None
) -> None:
    session.change(debugging=Debugging(default=TABLE))
    file = tmp_path / "bad.json"
    if content is None:
        file.unlink()
    else:
        file.write_bytes(content)
    dialog.open_file(str(file))
    assert dialog.notice.words.startswith("bad.json cannot be used: ")
    assert session.debugger.debugging == Debugging(default=TABLE)
    assert not dialog.notice.buttons


# In the panels


def test_rule_follows_a_renamed_tool() -> None:
    rules = Debugging(rules={"a": TABLE, "b": ToolRule()})

    def tools(*names: str) -> list[ToolDefinition]:
        return [ToolDefinition(name=name) for name in names]

    assert renamed_rules(rules, tools("a", "x"), tools("ab", "x")).rules == {"b": ToolRule(), "ab": TABLE}
    assert renamed_rules(rules, tools("a", "b"), tools("b", "b")) == rules, "the name has a rule already"
    ours = tuple(ToolDefinition(name=name, server="s") for name in ("a", "b"))
    with_prefix = tuple(tool.model_copy(update={"name": f"s_{tool.name}", "remote": tool.name}) for tool in ours)
    assert renamed_rules(rules, ours, with_prefix).rules == {"s_b": ToolRule(), "s_a": TABLE}, "all of a server's"
    assert renamed_rules(rules, tools("a", "a"), tools("x", "a")) == rules, "a tool of that name is still there"
    assert renamed_rules(rules, tools("a", "b"), tools("b", "a")) == rules, "moved, not renamed"
    assert renamed_rules(rules, tools("a"), tools("")) == rules
    assert renamed_rules(rules, tools("a"), tools("a", "c")) == rules
