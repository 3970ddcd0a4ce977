"""Tables as text for other programs: CSV without formulas, and indented JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from playground.jsonkit.layout import indented
from playground.jsonkit.values import JSON

#: Beginnings of a formula in a spreadsheet; a model's text must not become one.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV with a header line and CRLF between lines (RFC 4180). None is an empty cell."""
    return _table("excel", header, rows)


def tab_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return rows with tabs between cells, for pasting into a spreadsheet."""
    return _table("excel-tab", header, rows)


def _table(dialect: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    output = io.StringIO()
    writer = csv.writer(output, dialect)
    writer.writerow([_cell(name) for name in header])
    writer.writerows([_cell(value) for value in row] for row in rows)
    return output.getvalue().encode("utf-8", "replace").decode("utf-8")


def json_text(value: JSON) -> str:
    """Return indented JSON."""
    return indented(value) + "\n"


def _cell(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, str):
        value = value.replace("\0", "\ufffd")  # it ends the text in some readers
        return f"'{value}" if value.startswith(_FORMULA_STARTS) else value
    return value
