"""Cases from the rows of a table: CSV, JSON, lines of JSON, YAML. Columns become variables, an expectation, a name.

Rows that cannot become cases are listed with their line and the reason. The use of the columns is guessed, and a person
may change it. Some columns have a meaning to promptfoo, such as ``__expected1``:
``https://www.promptfoo.dev/docs/configuration/test-cases`` describes them.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from playground.domain.checks.check import Check
from playground.domain.checks.texts import Equals
from playground.domain.reasons import shortened
from playground.domain.variables import LONGEST_NAME
from playground.engine.evaluation.imports.asserts import EXPECTED_TEXT, read_asserts, read_expected, spelled_assert
from playground.engine.evaluation.imports.csv_records import read_records, without_trailing_blanks
from playground.engine.io.files import decode_text
from playground.engine.io.weighed_json import check_weight
from playground.engine.io.yaml_text import YamlError, read_yaml
from playground.engine.session.plan import EXPECTED, MOST_CASES, Case
from playground.engine.session.variants import Variant
from playground.jsonkit.reading import parse_json
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import MESSAGES

LARGEST: Final = 256 * 1024 * 1024  # bytes of a file that is read
MOST_ROWS: Final = 1_000_000
SUFFIXES: Final = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".yaml", ".yml")
#: Names of columns in small letters without separators, the most certain first.
_EXPECTED: Final = (
    *("expected", "expectedoutput", "expectedoutputs", "expectedanswer", "expectedresponse", "expectedresult"),
    *("expectedvalue", "expectedresults", "groundtruth", "referenceoutput", "referenceoutputs", "referenceanswer"),
    *("reference", "goldenanswer", "goldanswer", "golden", "gold", "correctanswer", "idealanswer", "ideal", "target"),
    *("answer", "output", "outputs"),
)
_NAME: Final = ("name", "description", "title", "id", "case")
_TURNS: Final = ("turns", MESSAGES, "conversation", "input")
_NESTED: Final = ("vars", "values", "variables")
_ODD: Final = re.compile(r"[^\w-]+")


class CasesError(ValueError):
    """Nothing can be taken from a file; the text says why."""


@dataclass(frozen=True, slots=True)
class UnreadableRow:
    """A row that cannot be read, with the reason in words. ``line`` counts from 1; 0: unknown."""

    line: int
    words: str

    def __str__(self) -> str:
        return f"Line {self.line}: {self.words}" if self.line else self.words


@dataclass(frozen=True, slots=True)
class Row:
    """A row: the line in which it begins, from 1, and its cells by column."""

    line: int
    cells: JSONObject


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a file, and those that cannot be read."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    bad: tuple[UnreadableRow, ...] = ()


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """The use of columns: ``variables`` has names by column, ``checks`` has columns of assertions."""

    variables: dict[str, str] = field(default_factory=dict)
    expected: str | None = None
    name: str | None = None
    turns: str | None = None
    checks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cases:
    """The cases of a file with its checks and variants.

    ``bad`` are the rows that cannot be read; ``notes`` are sentences on what was left out of the others.
    """

    cases: tuple[Case, ...] = ()
    bad: tuple[UnreadableRow, ...] = ()
    notes: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    variants: tuple[Variant, ...] = ()


# ---- reading ---------------------------------------------------------------------------------------------------------


def read_table(data: bytes, suffix: str) -> Table:
    """Read the content of a file whose name ends in ``suffix``, such as ".csv". Raises CasesError."""
    if len(data) > LARGEST:
        raise CasesError(f"The file has {len(data):,} bytes; {LARGEST:,} are read at most.")
    try:
        text = decode_text(data)
    except ValueError as error:
        raise CasesError(str(error)) from None
    kind = suffix.lower()
    if kind in (".csv", ".tsv"):
        return _csv(text, "\t" if kind == ".tsv" else "")
    try:
        check_weight(text.encode("utf-8", "replace"))
    except ValueError as error:
        raise CasesError(f"The file cannot be read: {error}.") from None
    if kind in (".jsonl", ".ndjson"):
        return _table(_json_lines(text))
    if kind == ".json":
        try:
            value = parse_json(text)
        except ValueError as error:
            raise CasesError(f"The file is not JSON: {shortened(str(error))}.") from None
        return _table(enumerate(_rows_of(value), 1))
    if kind in (".yaml", ".yml"):
        try:
            document = read_yaml(text)
        except YamlError as error:
            raise CasesError(f"The file is not YAML that can be read: {error}.") from None
        path = _path_of_rows(document.value)
        rows = enumerate(_rows_of(document.value))
        return _table((document.line((*path, place)), row) for place, row in rows)
    raise CasesError(f"Cases are read from {', '.join(SUFFIXES)}.")


def _csv(text: str, delimiter: str) -> Table:
    records = read_records(text, delimiter)
    header = next((record for record in records if not record.problem), None)
    if header is None:
        if records:
            raise CasesError(f"The file cannot be read: line {records[0].line}: {records[0].problem}.")
        raise CasesError("The file is empty: its first line must name the columns.")
    if len(records) > MOST_ROWS + 1:
        raise CasesError(f"The file has more than {MOST_ROWS:,} rows.")
    named = len(without_trailing_blanks(header.cells))
    bad: list[UnreadableRow] = []
    rows: list[tuple[int, list[str]]] = []
    for record in records:
        cells = list(without_trailing_blanks(record.cells))
        if record is header:
            continue
        if record.problem:
            bad.append(UnreadableRow(record.line, record.problem))
        elif len(record.cells) < named or len(cells) > len(header.cells):
            bad.append(UnreadableRow(record.line, f"{len(record.cells)} cells, and there are {named} columns"))
        else:
            rows.append((record.line, cells))
    columns = _columns(header.line, header.cells, max([named, *(len(cells) for _, cells in rows)]))
    empty = [
        place
        for place, name in enumerate(header.cells)
        if not name.strip() and not any(len(cells) > place and cells[place].strip() for _, cells in rows)
    ]
    places = [place for place in range(len(columns)) if place not in empty] if empty else range(len(columns))
    return Table(
        tuple(columns[place] for place in places),
        tuple(
            Row(line, {columns[place]: cells[place] if place < len(cells) else "" for place in places})
            for line, cells in rows
        ),
        tuple(bad),
    )


def _columns(line: int, header: Sequence[str], count: int) -> list[str]:
    """Return names for so many columns; those without one are called by their place. Raises CasesError."""
    names = [name.strip() for name in header[:count]]
    times = Counter(name for name in names if name)
    doubled = next((name for name, count in times.items() if count > 1), "")
    if doubled:
        raise CasesError(f"Line {line}: two columns are called “{doubled}”. Columns need names of their own.")
    return [name or _free(f"column {place}", times) for place, name in enumerate(names, 1)]


def _free(name: str, used: Container[str]) -> str:
    """Return a name that is not used: this one, or with a number appended."""
    names = itertools.chain([name], (f"{name}_{number}" for number in itertools.count(2)))
    return next(candidate for candidate in names if candidate not in used)


def _json_lines(text: str) -> Iterator[tuple[int, JSON | UnreadableRow]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, parse_json(line)
            except ValueError as error:
                yield number, UnreadableRow(number, f"not JSON: {shortened(str(error))}")


def _path_of_rows(value: JSON) -> tuple[str, ...]:
    """Return the path of the list of rows in a document."""
    if isinstance(value, dict):
        return next(((name,) for name in ("cases", "tests", "data") if isinstance(value.get(name), list)), ())
    return ()


def _rows_of(value: JSON) -> list[JSON]:
    path = _path_of_rows(value)
    rows = value[path[0]] if path else value
    if not isinstance(rows, list):
        raise CasesError("The file must hold a list of cases, or an object with one under “cases” or “tests”.")
    return rows


def _table(values: Iterable[tuple[int, JSON | UnreadableRow]]) -> Table:
    columns: dict[str, None] = {}
    rows: list[Row] = []
    bad: list[UnreadableRow] = []
    for line, value in values:
        if isinstance(value, UnreadableRow):
            bad.append(value)
        elif isinstance(value, dict):
            columns |= dict.fromkeys(value)
            rows.append(Row(line, value))
        elif isinstance(value, str):
            columns |= {"input": None}
            rows.append(Row(line, {"input": value}))
        else:
            bad.append(UnreadableRow(line, "a case must be an object"))
    return Table(tuple(columns), tuple(rows), tuple(bad))


# ---- what columns are ------------------------------------------------------------------------------------------------


def guess(table: Table) -> ColumnMapping:
    """Guess the use of columns from their names and from their cells."""
    checks = tuple(column for column in table.columns if kind_of(column) == "assert")
    plain = {_plain(column): column for column in reversed(table.columns) if not is_special(column)}
    expected = next((plain[name] for name in _EXPECTED if name in plain), None)
    names = (*(column for column in table.columns if kind_of(column) == "description"), *map(plain.get, _NAME))
    name = next((column for column in names if column is not None and column != expected), None)
    turns = next((plain[key] for key in _TURNS if key in plain and _are_turns(table, plain[key])), None)
    used = {expected, name, turns, *checks}
    nested = next((plain[key] for key in _NESTED if key in plain and _are_objects(table, plain[key])), None)
    if nested is not None:
        keys = dict.fromkeys(key for row in table.rows for key in row.cells.get(nested) or {})
        inner = {f"{nested}.{key}": key for key in keys}
        if expected is None:
            expected = next((column for column, key in inner.items() if key == EXPECTED), None)
        inner = {column: key for column, key in inner.items() if column != expected}
        return ColumnMapping(_variables(inner), expected, name, turns, checks)
    rest = {column: column for column in table.columns if column not in used and not is_special(column)}
    return ColumnMapping(_variables(rest), expected, name, turns, checks)


def _plain(column: str) -> str:
    return re.sub(r"[\W_]+", "", column).lower()


def _variables(columns: dict[str, str]) -> dict[str, str]:
    """Return a name for the variable of each column, each another one."""
    names: dict[str, str] = {}  # columns by the name of their variable
    for column, written in columns.items():
        names[_free(variable_name(written), names)] = column
    return {column: name for name, column in names.items()}


def _are_objects(table: Table, column: str) -> bool:
    cells = [row.cells.get(column) for row in table.rows]
    return any(isinstance(cell, dict) for cell in cells) and all(
        cell is None or isinstance(cell, dict) for cell in cells
    )


def variable_name(column: str) -> str:
    """Return a name for a variable, from the name of a column."""
    name = _ODD.sub("_", column.strip()).strip("_-") or "column"
    return (name if not name[0].isdigit() else f"_{name}")[:LONGEST_NAME]


def _are_turns(table: Table, column: str) -> bool:
    cells = [row.cells[column] for row in table.rows[:100] if row.cells.get(column)]
    return bool(cells) and all(isinstance(_parsed(cell), list) for cell in cells)


def _parsed(value: JSON) -> JSON:
    """Parse a cell whose text is a JSON list or object; return others unchanged."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return parse_json(value)
        except ValueError:
            return value
    return value


def to_cases(table: Table, mapping: ColumnMapping) -> Cases:
    """Return the cases of a table. Raises CasesError for more than an evaluation can have."""
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
            row_cases, left_out = _cases(row, mapping)
        except ValueError as error:
            bad.append(UnreadableRow(row.line, shortened(str(error))))
            continue
        cases += row_cases
        notes |= dict.fromkeys(left_out)
    if len(cases) > MOST_CASES:
        raise CasesError(f"The file makes {len(cases):,} cases; an evaluation has {MOST_CASES:,} at most.")
    notes |= dict.fromkeys(_left_out(table, mapping))
    return Cases(tuple(cases), tuple(sorted(bad, key=lambda row: row.line)), tuple(notes))


def _left_out(table: Table, mapping: ColumnMapping) -> Iterator[str]:
    """Name the columns that other programs use for more than values, and that have no use here."""
    used = {mapping.expected, mapping.name, mapping.turns, *mapping.checks, *mapping.variables}
    nested = any(column not in table.columns for column in mapping.variables)
    for column in table.columns:
        reason = reason_left_out(column) if column not in used and (nested or is_special(column)) else ""
        if reason and any(row.cells.get(column) for row in table.rows):
            yield reason


def _cases(row: Row, mapping: ColumnMapping) -> tuple[list[Case], Sequence[str]]:
    """Make the cases of a row: one, or one for each choice where ``vars`` has lists. Raises ValueError."""
    values: dict[str, list[str]] = {}
    for column, name in mapping.variables.items():
        value = _cell(row, column)
        if isinstance(value, list) and value and column not in row.cells:
            values[name] = [text_of(choice) for choice in value]
        elif value is not None:
            values[name] = [text_of(value)]
    choices = itertools.islice(itertools.product(*values.values()), MOST_CASES + 1)
    cases: list[Case] = []
    notes: dict[str, None] = {}
    for number, choice in enumerate(choices, 1):
        case, left_out = _case(row, mapping, dict(zip(values, choice, strict=True)))
        numbered = f"{case.name} {number}" if case.name and number > 1 else case.name
        cases.append(case.model_copy(update={"name": numbered}))
        notes |= dict.fromkeys(left_out)
    return cases, tuple(notes)


def _case(row: Row, mapping: ColumnMapping, values: dict[str, str]) -> tuple[Case, Sequence[str]]:
    name = text_of(row.cells.get(mapping.name)) if mapping.name is not None else ""
    expected = text_of(_cell(row, mapping.expected)) if mapping.expected is not None else ""
    checks: list[Check] = []
    left_out: list[str] = []
    for column in mapping.checks:
        cell = row.cells.get(column)
        if column.strip() == "assert":
            cell = _parsed(cell)
        if isinstance(cell, list | dict):
            added, notes = read_asserts(cell if isinstance(cell, list) else [cell], values)
        elif cell := text_of(cell).strip():
            added, text, notes = read_expected(cell, threshold_of(row.cells, column), values)
            if expected:  # {{expected}} means the text of another column
                added = tuple(Equals(text=cell) if check == Equals(text=EXPECTED_TEXT) else check for check in added)
            expected = expected or text
        else:
            continue
        checks += added
        left_out += notes
    case = Case(name=name, values=values, expected=expected, checks=tuple(checks))
    if mapping.turns is not None and (cell := _parsed(row.cells.get(mapping.turns))):
        turns = Case.model_validate({"turns": cell if isinstance(cell, list) else [text_of(cell)]}).turns
        case = case.model_copy(update={"turns": turns})
    return case, left_out


def _cell(row: Row, column: str) -> JSON:
    if column in row.cells:
        return row.cells[column]
    outer, _, inner = column.partition(".")
    cell = row.cells.get(outer)
    return cell.get(inner) if isinstance(cell, dict) else None


def text_of(value: JSON) -> str:
    """Return the text of a cell for a variable."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# ---- columns of promptfoo --------------------------------------------------------------------------------------------

_THRESHOLD: Final = "threshold of an assertion"
_KINDS: Final = (
    (re.compile(r"__expected\d*\Z|assert\Z"), "assert"),
    (re.compile(r"__config:__expected\d*:threshold\Z"), _THRESHOLD),
    (re.compile(r"__(prefix|suffix|description|providerOutput|metric|threshold)\Z"), ""),
    (re.compile(r"__(metadata|config)(:.*)?\Z"), "metadata"),
)
#: Why a member of a test is left out; the others have nothing like them here.
REASONS: Final = {
    "metric": "checks have no names",
    "threshold": "each check has to pass",
    "transform": "answers are not transformed",
    "env": "variables of the environment are not filled in",
    "prompts": "every test is a case with every prompt",
    "providers": "every variant gets every case",
}
#: Members of a test that no case has.
_TEST_MEMBERS: Final = frozenset(
    ("options", "metadata", "threshold", "provider", "providers", "prompts", "providerOutput", "assertScoringFunction")
)


def kind_of(column: str) -> str:
    """Return what a column means to promptfoo: "assert", "prefix", … ; empty for a variable."""
    name = column.strip()
    for pattern, kind in _KINDS:
        if match := pattern.match(name):
            return kind or match[1]
    return ""


def is_special(column: str) -> bool:
    """Return whether a column is no variable to promptfoo."""
    return bool(kind_of(column))


def reason_left_out(column: str) -> str:
    """Say why a column has no use where its rows become cases of an experiment; empty where it has one."""
    kind = kind_of(column)
    if kind in ("prefix", "suffix"):
        return f"“{column}” was left out: put its text into the prompt, or choose a variable for it."
    if kind in ("metric", "threshold", "providerOutput", "metadata") or column in _TEST_MEMBERS:
        return f"“{column}” was left out: {REASONS.get(kind or column, 'it has no counterpart')}."
    return ""


def threshold_of(cells: JSONObject, column: str) -> float | None:
    """Return the threshold that a row sets for the assertion in a column; None without one. Raises ValueError."""
    for name, cell in cells.items():
        if kind_of(name) != _THRESHOLD or cell in (None, ""):
            continue
        if _number(name.split(":")[1]) == _number(column):
            try:
                return float(cell)
            except (TypeError, ValueError):
                raise ValueError(f"“{name}” must be a number, not {cell!r:.40}") from None
    return None


def _number(column: str) -> int:
    """Return the number of a column such as ``__expected2``; the one without a number is the first."""
    digits = column.strip().lstrip("_expctd")
    return int(digits) if digits.isdecimal() else 1


def test_of(cells: JSONObject) -> JSONObject:
    """Return the test of a row of a table, with members as in a configuration."""
    test: JSONObject = {"vars": {}, "assert": [], "options": {}}
    for column, cell in cells.items():
        kind = kind_of(column)
        if not kind:
            test["vars"][column] = cell
        elif cell is None or cell == "" or kind == _THRESHOLD:
            continue
        elif kind == "assert":
            test["assert"] += _asserts(cells, column, cell)
        elif kind in ("prefix", "suffix"):
            test["options"][kind] = cell
        else:
            test[kind] = cell
    return {name: value for name, value in test.items() if value or name == "vars"}


def _asserts(cells: JSONObject, column: str, cell: JSON) -> list[JSON]:
    if not isinstance(cell, str):
        return cell if isinstance(cell, list) else [cell]
    if not cell.strip():
        return []
    assertion = spelled_assert(cell.strip())
    threshold = threshold_of(cells, column.strip())
    return [{**assertion, "threshold": threshold} if threshold is not None else assertion]
