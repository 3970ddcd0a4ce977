"""Forms of the kinds of checks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from playground.domain.checks import CHECKS, UnknownCheck
from playground.domain.checks.check import Check
from playground.domain.checks.json_answers import FitsSchema
from playground.domain.checks.texts import Similar
from playground.ui.features.evaluate.panels.check_card import CheckCard
from playground.ui.features.evaluate.panels.judge_row import Models
from playground.ui.widgets.rows.kinds import JsonRow, NumberRow, SwitchRow
from playground.ui.widgets.rows.row import FieldRow


class Shown:
    """A card with its form open, and the checks it emitted."""

    def __init__(self, qtbot: QtBot, check: Check) -> None:
        self.got: list[Check] = []
        self.card = CheckCard(check, Models(None, lambda: ""), "For one case")
        self.card.changed.connect(self._take)
        qtbot.addWidget(self.card)
        self.card.resize(310, 500)
        self.card.show()
        qtbot.waitExposed(self.card)
        self.card.open()

    def _take(self, check: Check) -> None:
        self.got.append(check)
        self.card.show_check(check)

    def row(self, name: str) -> FieldRow:
        assert self.card.form is not None
        return self.card.form.rows[name]

    def type(self, name: str, text: str) -> None:
        """Replace the text of a field."""
        field = self.row(name).main_field()
        QTest.keyClick(field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        QTest.keyClicks(field, text) if text else QTest.keyClick(field, Qt.Key.Key_Backspace)


@pytest.fixture
def shown(qtbot: QtBot, request: pytest.FixtureRequest) -> Iterator[Shown]:
    created = Shown(qtbot, request.param)
    yield created
    created.card.hide()


def test_every_kind_of_check_has_a_form_of_all_its_fields(qtbot: QtBot) -> None:
    for kind in CHECKS:
        shown = Shown(qtbot, kind.model_validate({}))
        check = shown.card.check
        assert shown.card.form is not None
        assert set(shown.card.form.rows) == {name for name, _ in check.hints()}
        for name, row in shown.card.form.rows.items():
            assert row.value == getattr(check, name)
            assert row.main_field().accessibleName().startswith(row.hint.label)
            assert not row.reset.isVisible()
        assert shown.card.problem.text() == check.problem
        assert not shown.got
        shown.card.hide()


@pytest.mark.parametrize("shown", [Similar(text="a")], indirect=True)
def test_number_out_of_range_is_reported_and_not_taken(shown: Shown) -> None:
    row = shown.row("least")
    assert isinstance(row, NumberRow)
    assert row.field.text() == "0.80"
    for typed, problem in (("7", "from 0 to 1"), ("x", "not a number"), ('"0.5"', "not a number")):
        shown.got.clear()
        shown.type("least", typed)
        assert row.problem == problem
        assert not shown.got or shown.got == [Similar(text="a")]
        shown.card.show_check(shown.card.check)
        assert row.field.text() == typed
    shown.type("least", "0.25")
    assert not row.problem
    assert shown.got[-1] == Similar(text="a", least=0.25)
    shown.type("least", "")
    assert shown.got[-1] == Similar(text="a")
    assert row.field.placeholderText() == "0.80"


@pytest.mark.parametrize("shown", [FitsSchema()], indirect=True)
def test_half_typed_schema_is_kept_and_not_taken(shown: Shown) -> None:
    row = shown.row("json_schema")
    assert isinstance(row, JsonRow)
    shown.type("json_schema", '{"type": "string"}')
    assert shown.got[-1] == FitsSchema(json_schema={"type": "string"})
    for typed, problem in (('{"type": ', "not JSON yet: line 1"), ("[1]", "must be a JSON object")):
        shown.type("json_schema", typed)
        assert row.problem.startswith(problem)
        shown.card.show_check(shown.card.check)
        assert row.editor.text() == typed
        assert shown.card.check == FitsSchema(json_schema={"type": "string"})
    shown.type("json_schema", '{"type": "nonsense"}')
    assert "nonsense" in shown.card.problem.text()
    assert "parameters" not in shown.card.problem.text()


@pytest.mark.parametrize("shown", [UnknownCheck.model_validate({"kind": "entropy", "bits": 3})], indirect=True)
def test_fields_of_a_newer_version_are_kept(shown: Shown) -> None:
    row = shown.row("negated")
    assert isinstance(row, SwitchRow)
    row.pill.click()
    assert dict(shown.got[-1])["bits"] == 3
    assert shown.got[-1].kind == "entropy"
