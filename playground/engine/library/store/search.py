"""Full-text search: each typed word may be the beginning of a word, and an experiment must contain all of them.

Experiments with all words in one turn or in the title come first, then the others; both newest first.
"""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Container, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from itertools import islice
from typing import Final

from playground.engine.io.database import connect_memory
from playground.engine.library.experiment_summary import ExperimentSummary
from playground.engine.library.store.migrations import SHIFT, migrate
from playground.engine.library.store.reading import SUMMARY, summary_from_row
from playground.engine.library.store.rows import ExperimentRows
from playground.engine.session.snapshot import Snapshot
from playground.gateway.redact import Redactor

# ---- passages --------------------------------------------------------------------------------------------------------


_LENGTH: Final = 200  # characters of a passage: two lines of a wide list
_BEFORE: Final = 50  # of them before the first hit
_MOST_HITS: Final = 500  # looked at to find the passage with most of the words
_LETTER: Final = r"[^\W_]"  # a letter or a digit, as in the words of the full-text index


@dataclass(frozen=True, slots=True)
class Passage:
    """Words around a hit. ``field`` is "title", "model", "text", "reasoning" or "arguments"; ``marks`` are the hits in
    ``text``, as (start, end) in characters. ``turn_id`` is empty for a title and a model.
    """

    turn_id: str
    field: str
    text: str
    marks: tuple[tuple[int, int], ...]


class SearchWords:
    """The words that a person searches for: each may be the beginning of a word, in any case, without accents."""

    def __init__(self, words: Iterable[str]) -> None:
        alternatives = (r"[\W_]+".join(re.findall(rf"{_LETTER}+", _folded(word))) for word in words)
        self._patterns = [re.compile(rf"(?<!{_LETTER}){words}{_LETTER}*") for words in alternatives]

    def passage(self, turn_id: str, field: str, text: str) -> Passage | None:
        """The passage of ``text`` that has most of the words, or None without a hit. Line breaks become spaces."""
        folded = _folded(text)
        hits = [
            (*hit.span(), number)
            for number, pattern in enumerate(self._patterns)
            for hit in islice(pattern.finditer(folded), _MOST_HITS)
        ]
        if not hits:
            return None
        hits.sort()
        start = max(hits, key=lambda hit: (_words_within(hits, hit[0]), -hit[0]))[0]
        begin = max(start - _BEFORE, 0)
        if len(text) <= _LENGTH:
            begin, end = 0, len(text)
        else:
            end = min(begin + _LENGTH, len(text))
            begin = text.find(" ", begin, start) + 1 or begin if begin else 0
        head = "…" if begin else ""
        excerpt = "".join(" " if letter.isspace() else letter for letter in text[begin:end])
        shift = len(head) - begin
        marks = tuple(
            (first + shift, min(last, end) + shift)
            for first, last in sorted({hit[:2] for hit in hits})
            if begin <= first < end
        )
        return Passage(turn_id, field, f"{head}{excerpt}{'…' if end < len(text) else ''}", marks)


def _words_within(hits: list[tuple[int, int, int]], start: int) -> int:
    """The number of different words among the hits of a passage that starts at ``start``."""
    return len({number for first, _, number in hits if start <= first < start + _LENGTH - _BEFORE})


class _Letters(dict[int, int]):
    """Each letter's code without accents and in lower case, looked up once."""

    def __missing__(self, code: int) -> int:
        plain = unicodedata.normalize("NFD", chr(code))[0].lower()[0]
        self[code] = ord(plain)
        return ord(plain)


_LETTERS: Final = _Letters()


def _folded(text: str) -> str:
    """``text`` in lower case and without accents, of the same length."""
    return text.lower() if text.isascii() else text.translate(_LETTERS)


MOST_FOUND: Final = 100  # experiments
MOST_PASSAGES: Final = 2  # of one experiment


@dataclass(frozen=True, slots=True)
class Filters:
    """Which experiments are looked at. Empty texts and None ask for nothing."""

    model: str = ""
    protocol: str = ""
    has_error: bool | None = None
    has_tools: bool | None = None
    archived: bool | None = None

    def take(self, experiment: ExperimentSummary) -> bool:
        """Return whether an experiment passes the filters."""
        return (
            self.model in ("", experiment.model)
            and self.protocol in ("", experiment.protocol)
            and self.has_error in (None, experiment.has_error)
            and self.has_tools in (None, experiment.has_tools)
            and self.archived in (None, experiment.archived)
        )

    @property
    def condition(self) -> tuple[str, list[str | bool]]:
        """The filters in SQL, to follow another condition, and its values."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values = {name: value for name, value in values.items() if value not in ("", None)}
        return "".join(f" AND {name} = ?" for name in values), list(values.values())


EVERYTHING: Final = Filters()


@dataclass(frozen=True, slots=True)
class SearchResult:
    """An experiment with what was found in it; no passages where nothing was asked for but filters."""

    experiment: ExperimentSummary
    passages: tuple[Passage, ...] = ()


def words_in(typed: str) -> list[str]:
    """The words of a search; what holds no letter and no digit is none."""
    return [word for word in typed.replace("\0", " ").split() if any(letter.isalnum() for letter in word)]


def find(
    connection: sqlite3.Connection,
    typed: str,
    filters: Filters = EVERYTHING,
    most: int = MOST_FOUND,
    *,
    deleted: bool = False,
) -> list[SearchResult]:
    """Return at most ``most`` experiments, from the trash if ``deleted``.

    An interrupted connection ends it with sqlite3.OperationalError.
    """
    words = words_in(typed)
    if not words and typed.strip():
        return []
    where, values = filters.condition
    which = f"deleted_at IS {'NOT ' * deleted}NULL{where}"
    rows = connection.execute(f"SELECT number FROM experiments WHERE {which}", values)  # noqa: S608 - our own names
    among = {number for (number,) in rows}
    if not words:
        return _described(connection, sorted(among, reverse=True)[:most], {})
    terms = [_quoted(word) for word in words]
    hits = _Hits(connection, SearchWords(words), most)
    hits.titles(" AND ".join(terms), among)
    hits.turns(" AND ".join(terms), among)
    numbers = sorted(hits.passages, reverse=True)[:most]
    if len(terms) > 1 and len(numbers) < most:
        rest = (_scattered(connection, terms) & among) - set(numbers)
        scattered = sorted(rest, reverse=True)[: most - len(numbers)]
        either = " OR ".join(terms)
        hits.titles(either, set(scattered))
        hits.turns(either, set(scattered))
        numbers += scattered
    return _described(connection, numbers, hits.passages)


def find_in(snapshots: Iterable[Snapshot], typed: str, filters: Filters = EVERYTHING) -> list[SearchResult]:
    """Return what ``find`` returns for a store with these experiments."""
    with closing(connect_memory()) as connection:
        migrate(connection)
        rows = ExperimentRows(connection)
        for snapshot in sorted(snapshots, key=lambda snapshot: snapshot.created_at):
            rows.write(snapshot, (), Redactor(()), None)
        return find(connection, typed, filters)


def _described(
    connection: sqlite3.Connection, numbers: Sequence[int], passages: dict[int, list[Passage]]
) -> list[SearchResult]:
    """The experiments with these numbers, in that order."""
    marks = ", ".join("?" * len(numbers))
    rows = connection.execute(f"SELECT number, {SUMMARY} FROM experiments WHERE number IN ({marks})", numbers)  # noqa: S608 - our own names
    experiments = {row[0]: summary_from_row(row) for row in rows}
    return [
        SearchResult(experiments[number], tuple(passages.get(number, ())))
        for number in numbers
        if number in experiments
    ]


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"*'


def _scattered(connection: sqlite3.Connection, terms: Sequence[str]) -> set[int]:
    """The experiments in which all words occur."""
    out: set[int] | None = None
    for word in terms:
        query = f"SELECT DISTINCT rowid >> {SHIFT} FROM words WHERE words MATCH ?"  # noqa: S608 - our own names
        numbers = {number for (number,) in connection.execute(query, (word,))}
        numbers |= {
            number for (number,) in connection.execute("SELECT rowid FROM titles WHERE titles MATCH ?", (word,))
        }
        out = numbers if out is None else out & numbers
        if not out:
            break
    return out or set()


class _Hits:
    """Collects passages, some of each experiment, until there are enough experiments."""

    def __init__(self, connection: sqlite3.Connection, words: SearchWords, most: int) -> None:
        self.passages: dict[int, list[Passage]] = {}
        self._connection = connection
        self._words = words
        self._most = most

    def titles(self, query: str, among: Container[int]) -> None:
        """Hits in titles and names of models; they come before those in turns."""
        statement = "SELECT rowid, title, model FROM titles WHERE titles MATCH ? ORDER BY rowid DESC"
        for number, *texts in self._connection.execute(statement, (query,)):
            if number in among:
                passages = self._passages("", ("title", "model"), texts)
                self.passages[number] = passages + self.passages.get(number, [])

    def turns(self, query: str, among: set[int]) -> None:
        """Hits in turns, those of the newest experiment first; ended as soon as there are enough."""
        if not among:
            return
        counts: dict[int, int] = {}

        def is_wanted(row: int) -> bool:
            number = row >> SHIFT
            count = counts.get(number, 0)
            if count >= MOST_PASSAGES or number not in among:
                return False
            counts[number] = count + 1
            return True

        # A function in the condition: what is around a hit is looked up for the rows that are shown, in one pass.
        self._connection.create_function("wanted", 1, is_wanted)
        statement = (
            "SELECT words.rowid, text, reasoning, arguments FROM words WHERE words MATCH ? AND words.rowid >= ?"
            " AND wanted(words.rowid) ORDER BY words.rowid DESC"
        )
        for row, *texts in self._connection.execute(statement, (query, min(among) << SHIFT)):
            if len(counts) > self._most:
                break
            turn = self._connection.execute("SELECT id FROM turns WHERE number = ?", (row,)).fetchone()
            if turn is not None:
                self.passages.setdefault(row >> SHIFT, []).extend(
                    self._passages(turn[0], ("text", "reasoning", "arguments"), texts)
                )

    def _passages(self, turn_id: str, names: Sequence[str], texts: Sequence[str | None]) -> list[Passage]:
        """The passage of each field that has a hit."""
        passages = (self._words.passage(turn_id, name, text or "") for name, text in zip(names, texts, strict=True))
        return [passage for passage in passages if passage is not None]
