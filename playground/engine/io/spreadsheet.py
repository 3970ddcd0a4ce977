"""Tables as text for other programs: CSV that a spreadsheet shows and never runs, JSON that any reader takes."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from playground.jsonkit.layout import indented
from playground.jsonkit.values import JSON

#: What makes a spreadsheet take a cell for a formula. What a model wrote must not become one.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV with a header line, CRLF between lines (RFC 4180). None is an empty cell."""
    return _table("excel", header, rows)


def tab_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """The same with tabs between cells, as spreadsheets take it from the clipboard."""
    return _table("excel-tab", header, rows)


def _table(dialect: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, dialect)
    writer.writerow([_cell(name) for name in header])
    writer.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue().encode("utf-8", "replace").decode("utf-8")


def json_text(value: JSON) -> str:
    """Indented JSON."""
    return indented(value) + "\n"


def _cell(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, str):
        value = value.replace("\0", "\ufffd")  # readers stop there
        return f"'{value}" if value.startswith(_FORMULA) else value
    return value
