"""Cases as rows: columns and pasted text."""

from __future__ import annotations

from playground.engine.session.plan import Case
from playground.ui.features.evaluate.panels.case_model import ColumnFinder, as_rows, pasted

LISBON, OSLO = Case(values={"city": "Lisbon"}, name="one"), Case(values={"city": "Oslo"}, expected="cold")


def test_first_pasted_row_can_name_the_columns() -> None:
    cases, without = pasted("NAME\tcity\r\nfirst\tRome\r\n", (), ColumnFinder().columns((LISBON,)), 0, 0)
    assert [(case.values, case.name) for case in cases] == [({"city": "Rome"}, "first")]
    assert not without


def test_copied_rows_are_pasted_unchanged() -> None:
    columns = ColumnFinder().columns((LISBON,))
    texts = ["two\nlines", 'a "word"', "tab\there"]
    cases, _ = pasted(as_rows([texts]), (), columns, 0, 0)
    assert [column.text_of(cases[0]) for column in columns] == texts
