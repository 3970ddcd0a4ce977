"""Cases as rows: columns and pasted text."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt

from playground.domain.transcript import Role, make_turn
from playground.engine.session.plan import Case
from playground.ui.features.evaluate.panels.case_model import LONG, CaseModel, Held, as_rows, pasted

LISBON, OSLO = Case(values={"city": "Lisbon"}, name="one"), Case(values={"city": "Oslo"}, expected="cold")


def test_columns_are_variables_and_fields_of_cases() -> None:
    asks = Case(turns=(make_turn(Role.USER, "Hello"),), values={"expected": "x"})
    found = Held().columns((LISBON, asks), ("question", "city"), ("added",))
    assert [one.title for one in found] == ["question", "city", "added", "Expected", "Name", "Asks"]
    assert [one.of(asks) for one in found] == [None, None, None, "", "", "Hello"]
    assert found[-1].put(asks, "Good bye") is asks


def test_pasted_rows_replace_and_extend_cases() -> None:
    columns = Held().columns((LISBON, OSLO))
    cases, without = pasted('Rome\t"19\nand sunny"\nBergen\train\textra\tmore\n', (LISBON, OSLO), columns, 1, 0)
    assert [(one.values["city"], one.expected, one.name) for one in cases] == [
        ("Lisbon", "", "one"),
        ("Rome", "19\nand sunny", ""),
        ("Bergen", "rain", "extra"),
    ]
    assert cases[1].id == OSLO.id
    assert without == 1


def test_first_pasted_row_can_name_the_columns() -> None:
    cases, without = pasted("NAME\tcity\r\nfirst\tRome\r\n", (), Held().columns((LISBON,)), 0, 0)
    assert [(one.values, one.name) for one in cases] == [({"city": "Rome"}, "first")]
    assert not without


def test_copied_rows_are_pasted_unchanged() -> None:
    columns = Held().columns((LISBON,))
    texts = ["two\nlines", 'a "word"', "tab\there"]
    cases, _ = pasted(as_rows([texts]), (), columns, 0, 0)
    assert [one.of(cases[0]) for one in columns] == texts


def test_empty_text_removes_a_value_and_long_text_is_not_edited_in_place(qapp: QObject) -> None:
    columns = Held().columns((LISBON,))
    assert columns[0].put(LISBON, "").values == {}
    model = CaseModel(qapp)
    long = Case(values={"city": "x" * (LONG + 1)})
    model.show_cases((LISBON, long), columns, {"city": "Rome"}, {LISBON.id: "No question."})
    assert model.rowCount() == 3
    editable = Qt.ItemFlag.ItemIsEditable
    assert [bool(model.flags(model.index(row, 0)) & editable) for row in range(3)] == [True, False, True]
    assert len(model.data(model.index(1, 0))) < LONG
    model.show_cases((Case(),), columns, {"city": "Rome"}, {})
    assert model.rowCount() == 2
    assert model.data(model.index(0, 0)) == "Rome"
