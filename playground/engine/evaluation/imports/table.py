"""Cases from the rows of a table: CSV, JSON, lines of JSON, YAML. Columns become variables, an expectation, a name.

A table is read whole and shown before anything is taken over. A row that cannot be a case is named by its line, with
why; the others can be taken without it. A person may map the columns otherwise than they were guessed.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from playground.domain.reasons import shortened
from playground.domain.variables import LONGEST_NAME
from playground.engine.evaluation.imports.asserts import read_expected
from playground.engine.io.weighed_json import check_weight
from playground.engine.io.yaml_text import YamlError, read_yaml
from playground.engine.session.plan import MOST_CASES, Case
from playground.jsonkit.reading import parse_json
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import MESSAGES

LARGEST: Final = 256 * 1024 * 1024  # bytes of a file that is read
LONGEST_CELL: Final = 4 * 1024 * 1024  # characters
MOST_ROWS: Final = 1_000_000
SUFFIXES: Final = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".yaml", ".yml")
_EXPECTED: Final = ("expected", "__expected", "expected_output", "target", "ideal", "answer", "output", "reference")
_NAME: Final = ("name", "description", "__description", "title", "id", "case")
_TURNS: Final = ("turns", MESSAGES, "conversation", "input")
_ODD: Final = re.compile(r"[^\w-]+")


class CasesError(ValueError):
    """Nothing can be taken from a file; the text says why."""


@dataclass(frozen=True, slots=True)
class Bad:
    """What could not be taken: in which line, and why."""

    line: int
    words: str

    def __str__(self) -> str:
        return f"Line {self.line}: {self.words}" if self.line else self.words


@dataclass(frozen=True, slots=True)
class Row:
    """One row: the line in which it begins, from 1, and its cells by column."""

    line: int
    cells: JSONObject


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a file, and those that are none."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    bad: tuple[Bad, ...] = ()


@dataclass(frozen=True, slots=True)
class Mapping:
    """What becomes of columns: ``variables`` by column the name of the variable; the others a column each, or none."""

    variables: dict[str, str] = field(default_factory=dict)
    expected: str | None = None
    name: str | None = None
    turns: str | None = None


@dataclass(frozen=True, slots=True)
class Cases:
    """What came of a table: cases, rows that are none, and what was left out of the others, in sentences."""

    cases: tuple[Case, ...] = ()
    bad: tuple[Bad, ...] = ()
    notes: tuple[str, ...] = ()


# ---- reading ---------------------------------------------------------------------------------------------------------


def read_table(data: bytes, suffix: str) -> Table:
    """The rows of a file's content; ``suffix`` is how its name ends, ".csv". Raises CasesError."""
    if len(data) > LARGEST:
        raise CasesError(f"The file has {len(data):,} bytes; {LARGEST:,} are read at most.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CasesError(f"The file is not UTF-8 text (line {line}). Save it as UTF-8.") from None
    kind = suffix.lower()
    if kind in (".csv", ".tsv"):
        return _csv(text, "\t" if kind == ".tsv" else "")
    try:
        check_weight(data)
    except ValueError as error:
        raise CasesError(f"The file cannot be read: {error}.") from None
    if kind in (".jsonl", ".ndjson"):
        return _of_rows(_json_lines(text))
    if kind == ".json":
        try:
            value = parse_json(text)
        except ValueError as error:
            raise CasesError(f"The file is not JSON: {shortened(str(error))}.") from None
        return _of_rows((number, one) for number, one in enumerate(_listed(value), 1))
    if kind in (".yaml", ".yml"):
        try:
            found = read_yaml(text)
        except YamlError as error:
            raise CasesError(f"The file is not YAML that can be read: {error}.") from None
        at = _list_at(found.value)
        return _of_rows((found.line((*at, place)), one) for place, one in enumerate(_listed(found.value)))
    raise CasesError(f"Cases are read from {', '.join(SUFFIXES)}.")


def _csv(text: str, delimiter: str) -> Table:
    head = text.split("\n", 1)[0]
    delimiter = delimiter or max((",", ";", "\t"), key=head.count)
    before = csv.field_size_limit(LONGEST_CELL)
    try:
        return _csv_rows(csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True))
    finally:
        csv.field_size_limit(before)


def _csv_rows(reader: Iterator[list[str]]) -> Table:
    rows: list[Row] = []
    bad: list[Bad] = []
    columns: tuple[str, ...] = ()
    while True:
        line = getattr(reader, "line_num", 0) + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            long = "field larger" in str(error)
            words = f"a cell has more than {LONGEST_CELL:,} characters" if long else f"not CSV: {error}"
            bad.append(Bad(line, words))
            if not long:
                break  # where the next row begins is not known
            continue
        if cells is None:
            break
        if not any(cell.strip() for cell in cells):
            continue
        if not columns:
            columns = tuple(cell.strip() for cell in cells)
            if doubled := [name for name in columns if columns.count(name) > 1]:
                raise CasesError(
                    f"Line {line}: two columns are called “{doubled[0]}”. Columns need names of their own."
                )
            continue
        if len(cells) != len(columns):
            bad.append(Bad(line, f"{len(cells)} cells, and there are {len(columns)} columns"))
            continue
        rows.append(Row(line, dict(zip(columns, cells, strict=True))))
        if len(rows) > MOST_ROWS:
            raise CasesError(f"The file has more than {MOST_ROWS:,} rows.")
    if not columns:
        raise CasesError("The file is empty: its first line must name the columns.")
    return Table(columns, tuple(rows), tuple(bad))


def _json_lines(text: str) -> Iterator[tuple[int, JSON | Bad]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, parse_json(line)
            except ValueError as error:
                yield number, Bad(number, f"not JSON: {shortened(str(error))}")


def _list_at(value: JSON) -> tuple[str, ...]:
    """Where in a document the rows stand."""
    if isinstance(value, dict):
        return next(((name,) for name in ("cases", "tests", "data") if isinstance(value.get(name), list)), ())
    return ()


def _listed(value: JSON) -> list[JSON]:
    at = _list_at(value)
    found = value[at[0]] if at else value
    if not isinstance(found, list):
        raise CasesError("The file must hold a list of cases, or an object with one under “cases” or “tests”.")
    return found


def _of_rows(found: Iterable[tuple[int, JSON | Bad]]) -> Table:
    columns: dict[str, None] = {}
    rows: list[Row] = []
    bad: list[Bad] = []
    for line, value in found:
        if isinstance(value, Bad):
            bad.append(value)
        elif isinstance(value, dict):
            columns |= dict.fromkeys(value)
            rows.append(Row(line, value))
        elif isinstance(value, str):
            columns |= {"input": None}
            rows.append(Row(line, {"input": value}))
        else:
            bad.append(Bad(line, "a case must be an object"))
    return Table(tuple(columns), tuple(rows), tuple(bad))


# ---- what columns are ------------------------------------------------------------------------------------------------


def guess(table: Table) -> Mapping:
    """What the columns of a table are by their names, and by what stands in them."""
    lower = {column.lower(): column for column in table.columns}
    expected = next((lower[name] for name in _EXPECTED if name in lower), None)
    name = next((lower[one] for one in _NAME if one in lower and lower[one] != expected), None)
    turns = next((lower[one] for one in _TURNS if one in lower and _are_turns(table, lower[one])), None)
    taken = {expected, name, turns}
    nested = next((lower[one] for one in ("vars", "values", "variables") if one in lower), None)
    if nested is not None and all(isinstance(row.cells.get(nested), dict) for row in table.rows):
        inner = dict.fromkeys(key for row in table.rows for key in row.cells[nested])
        return Mapping({f"{nested}.{key}": variable_name(key) for key in inner}, expected, name, turns)
    return Mapping({one: variable_name(one) for one in table.columns if one not in taken}, expected, name, turns)


def variable_name(column: str) -> str:
    """A name that {{…}} can have, from what a column is called."""
    name = _ODD.sub("_", column.strip()).strip("_-") or "column"
    return (name if not name[0].isdigit() else f"_{name}")[:LONGEST_NAME]


def _are_turns(table: Table, column: str) -> bool:
    found = [row.cells[column] for row in table.rows[:100] if row.cells.get(column)]
    return bool(found) and all(isinstance(_parsed(one), list) for one in found)


def _parsed(value: JSON) -> JSON:
    """A list or an object that stands as text in a cell."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return parse_json(value)
        except ValueError:
            return value
    return value


def to_cases(table: Table, mapping: Mapping) -> Cases:
    """The cases of a table. Raises CasesError for more than an evaluation can have."""
    if len(table.rows) > MOST_CASES:
        words = (
            f"The file has {len(table.rows):,} rows; an evaluation has {MOST_CASES:,} cases at most. Take a part of it."
        )
        raise CasesError(words)
    cases: list[Case] = []
    bad = list(table.bad)
    notes: dict[str, None] = {}
    for row in table.rows:
        try:
            case, left = _case(row, mapping)
        except ValueError as error:
            bad.append(Bad(row.line, shortened(str(error))))
            continue
        cases.append(case)
        notes |= dict.fromkeys(left)
    return Cases(tuple(cases), tuple(sorted(bad, key=lambda one: one.line)), tuple(notes))


def _case(row: Row, mapping: Mapping) -> tuple[Case, Sequence[str]]:
    values: dict[str, str] = {}
    for column, name in mapping.variables.items():
        value = _cell(row, column)
        if value is not None:
            values[name] = text_of(value)
    expected = row.cells.get(mapping.expected) if mapping.expected is not None else None
    made = Case(
        name=text_of(row.cells.get(mapping.name)) if mapping.name is not None else "",
        values=values,
        expected="",
    )
    if mapping.turns is not None and (found := _parsed(row.cells.get(mapping.turns))):
        turns = Case.model_validate({"turns": found if isinstance(found, list) else [text_of(found)]}).turns
        made = made.model_copy(update={"turns": turns})
    if mapping.expected is not None and mapping.expected.lower() == "__expected" and expected:
        checks, expects, left = read_expected(text_of(expected))
        return made.model_copy(update={"checks": checks, "expected": expects}), left
    return made.model_copy(update={"expected": text_of(expected)}), ()


def _cell(row: Row, column: str) -> JSON:
    if column in row.cells:
        return row.cells[column]
    outer, _, inner = column.partition(".")
    found = row.cells.get(outer)
    return found.get(inner) if isinstance(found, dict) else None


def text_of(value: JSON) -> str:
    """A cell as the text that goes into a variable."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def first_rows(table: Table, count: int) -> Table:
    """The same with so many rows at most, for a preview."""
    return replace(table, rows=table.rows[:count])
