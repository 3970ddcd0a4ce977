"""Records of CSV text as spreadsheets and programs write it: the delimiter is found by reading with each that is usual.

RFC 4180 describes the format; ``sep=;`` as the first line is Excel's.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

LONGEST_CELL: Final = 4 * 1024 * 1024  # characters
_DELIMITERS: Final = (",", ";", "\t", "|")
_ABSENT: Final = ("\x1f", "\x1e", "\x1d", "\x01")  # delimiters of a single column, whichever its text has not
_SAMPLE: Final = 500_000  # characters by which dialects are compared
_SAMPLE_RECORDS: Final = 200
_SEPARATOR: Final = re.compile(r'"?sep=(\\t|[^"\r\n])"?[ \t,;]*(?:\r\n|\r|\n|\Z)', re.IGNORECASE)


class Record(NamedTuple):
    """A record and the line in which it begins, from 1; ``problem`` says why there are no cells."""

    line: int
    cells: list[str]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Dialect:
    delimiter: str
    skip_space: bool = False  # between a delimiter and a quote
    escape: str | None = None
    quoted: bool = True

    def read(self, text: str) -> Iterator[Record]:
        reader = csv.reader(
            io.StringIO(text, newline=""),  # only CR, LF and CRLF end a line
            delimiter=self.delimiter,
            skipinitialspace=self.skip_space,
            escapechar=self.escape,
            quoting=csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE,
            strict=True,
        )
        while True:
            line = reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                too_long = "field larger" in str(error)
                words = f"a cell has more than {LONGEST_CELL:,} characters" if too_long else f"not CSV: {error}"
                yield Record(line, [], words)
                if not too_long:
                    return  # where the next record begins is unknown
                continue
            if any(cell.strip() for cell in cells):
                yield Record(line, cells)


def read_records(text: str, delimiter: str = "") -> list[Record]:
    """Read all records that are not blank; ``delimiter`` is used where the first record has it."""
    first_line = 0
    if separator := _SEPARATOR.match(text):
        delimiter = separator[1].replace("\\t", "\t")
        text, first_line = text[separator.end() :], 1
    before = csv.field_size_limit(LONGEST_CELL)
    try:
        dialect = _dialect(text, (delimiter,) if separator else (delimiter, *_DELIMITERS) if delimiter else _DELIMITERS)
        return [record._replace(line=record.line + first_line) for record in dialect.read(text)]
    finally:
        csv.field_size_limit(before)


def without_trailing_blanks(cells: Sequence[str]) -> Sequence[str]:
    """Return the cells up to the last that is not blank."""
    count = len(cells)
    while count and not cells[count - 1].strip():
        count -= 1
    return cells[:count]


def _dialect(text: str, delimiters: Sequence[str]) -> _Dialect:
    """Return the dialect in which most records have as many cells as the first; with several cells, if any does."""
    sample = text[:_SAMPLE]
    best, best_fit = _Dialect(next((delimiter for delimiter in _ABSENT if delimiter not in text), _ABSENT[0])), (0.0, 0)
    for delimiter in delimiters:
        for dialect in _variants(_Dialect(delimiter), sample):
            fit = _fit(_sampled(dialect, sample, len(text)))
            if fit > best_fit:
                best, best_fit = dialect, fit
    return best


def _variants(plain: _Dialect, sample: str) -> Iterator[_Dialect]:
    """Yield a dialect, and others with its delimiter where something in the sample asks for them."""
    records = _sampled(plain, sample, len(sample))
    if any(cell.startswith(' "') for record in records for cell in record.cells):
        yield replace(plain, skip_space=True)
    yield plain
    if any(record.problem for record in records):
        if '\\"' in sample:
            yield replace(plain, escape="\\")
        if plain.delimiter == "\t":
            yield replace(plain, quoted=False)


def _sampled(dialect: _Dialect, sample: str, length: int) -> list[Record]:
    records: list[Record] = []
    for record in dialect.read(sample):
        records.append(record)
        if len(records) > _SAMPLE_RECORDS:
            return records
    return records[:-1] if length > len(sample) and len(records) > 1 else records  # the last may be cut off


def _fit(records: Sequence[Record]) -> tuple[float, int]:
    """Return the share of records that fit the first, and how many columns that names; 0 for a single cell."""
    if not records or len(records[0].cells) < 2:
        return 0.0, 0
    header = records[0].cells
    width = len(without_trailing_blanks(header))
    rest = records[1:]
    fits = sum(
        not record.problem
        and (
            len(record.cells) == len(header) or len(without_trailing_blanks(record.cells)) <= width <= len(record.cells)
        )
        for record in rest
    )
    return (fits / len(rest) if rest else 1.0), width
