"""The cards of very many checks."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from playground.domain.checks import OFFERED
from playground.domain.checks.check import Check
from playground.ui.features.evaluate.panels.checks import MOST, CheckList
from playground.ui.features.evaluate.panels.judge_row import Models


def test_many_checks_are_shown_in_part_until_all_are_asked_for(qtbot: QtBot) -> None:
    checks = CheckList(Models(None, lambda: ""), "elsewhere")
    qtbot.addWidget(checks)
    edited: list[tuple[Check, ...]] = []
    checks.changed.connect(edited.append)
    many = [OFFERED["Is JSON"]() for _ in range(MOST + 10)]
    checks.show_checks(many)
    assert len(checks.cards) == MOST
    assert checks.more.text() == f"Show all {MOST + 10} checks"
    checks.cards[0].asked.emit("delete")
    assert len(edited[-1]) == MOST + 9
    checks.more.click()
    assert len(checks.cards) == MOST + 10
    assert not checks.more.isVisibleTo(checks)
    checks.changed.connect(checks.show_checks)
    checks.add(OFFERED["Refusal"]())
    assert len(edited[-1]) == len(checks.cards) == MOST + 11
