"""Table model of the messages of tool servers, and the words for a message."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from operator import attrgetter
from typing import Final

from PySide6.QtCore import QModelIndex, QObject

from playground.domain.durations import duration_words
from playground.domain.sizes import size_words
from playground.engine.tool_servers.tape import Entry, ServerTape
from playground.ui.widgets.plain_text import one_line_of, show_hidden
from playground.ui.widgets.theme import tokens
from playground.ui.widgets.titled_table import TitledTable

TIME, SERVER, NAME, DURATION, CONTENT = range(5)
TITLES: Final = ("time", "server", "message", "duration", "content")
TIPS: Final = (
    "When it was sent or received",
    "The server that sent or received it",
    "Direction and method",
    "From a request to its answer",
    "Its parameters, its result, or its error",
)
MAX_PREVIEW: Final = 600  # characters of a message that a row is made from
MAX_CACHED: Final = 400  # rows whose texts are cached
MAX_RANGES: Final = 40  # ranges of rows that are removed one by one; more reset the model

_number = attrgetter("number")


def kind_of(entry: Entry) -> str:
    """Return the kind of a message in a word."""
    frame = entry.frame
    if frame.notice:
        return "connection"
    if frame.error:
        return "error"
    if frame.id:
        return "answer" if entry.request or not frame.method else "request"
    return "notification" if frame.method else "message"


def name_of(entry: Entry) -> str:
    """Return the method of a message, or of the request it answers, with its kind where that says more."""
    kind = kind_of(entry)
    if entry.frame.notice or not entry.method:
        return kind
    return f"{kind} · {entry.method}" if kind in ("answer", "error") else entry.method


def direction_of(entry: Entry) -> str:
    """Return the direction of a message and its server in words."""
    if entry.frame.notice:
        return f"about {entry.server}"
    return f"{'to' if entry.frame.sent else 'from'} {entry.server}"


def time_of(entry: Entry) -> str:
    """Return the local time, to a thousandth of a second."""
    return datetime.fromtimestamp(entry.frame.time, UTC).astimezone().strftime("%H:%M:%S.%f")[:-3]


def content_of(preview: str) -> str:
    """Return the part of a message that differs from others: its parameters, its result or its error."""
    places = [place for part in ("params", "result", "error") if (place := preview.find(f'"{part}"')) >= 0]
    colon = preview.find(":", min(places)) if places else -1
    return preview[colon + 1 :].strip() if colon > 0 else preview


def summary_of(entry: Entry) -> str:
    """Return the facts about a message in one line."""
    frame = entry.frame
    facts = [name_of(entry), direction_of(entry), time_of(entry)]
    if frame.id:
        facts.insert(2, f"id {frame.id}")
    if entry.seconds is not None:
        facts.append(f"after {duration_words(entry.seconds)}")
    if frame.text:
        facts.append(size_words(frame.size))
    if frame.text and frame.text.rstrip()[-1:] not in ("}", "]") and len(frame.text) < frame.size:
        facts.append("only the beginning is saved")
    return " · ".join(facts)


class TapeModel(TitledTable):
    """``add`` appends rows; ``remove_dropped`` removes those of entries that the tape dropped."""

    titles, tips, at_right, in_code = TITLES, TIPS, frozenset({TIME, DURATION}), frozenset({CONTENT})

    def __init__(self, tape: ServerTape, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tape = tape
        self.rows: list[Entry] = []
        self._removed_count = tape.removed_count
        self._cells = lru_cache(MAX_CACHED)(self._cells_of)

    def reset(self) -> None:
        """Remove all rows."""
        self.beginResetModel()
        self.rows = []
        self._removed_count = self._tape.removed_count
        self.endResetModel()

    def add(self, entries: Sequence[Entry]) -> None:
        """Append rows."""
        if entries:
            first = len(self.rows)
            self.beginInsertRows(QModelIndex(), first, first + len(entries) - 1)
            self.rows += entries
            self.endInsertRows()

    def remove_dropped(self) -> int:
        """Remove the rows of entries that the tape dropped. Return their number."""
        tape = self._tape
        if tape.removed_count == self._removed_count:
            return 0
        self._removed_count = tape.removed_count
        end = bisect_right(self.rows, tape.last_removed, key=_number)
        entries = tape.entries
        numbers = {entry.number for entry in entries[: bisect_right(entries, tape.last_removed, key=_number)]}
        ranges: list[tuple[int, int]] = []
        for row in range(end):
            if self.rows[row].number in numbers:
                continue
            if ranges and ranges[-1][1] == row:
                ranges[-1] = ranges[-1][0], row + 1
            else:
                ranges.append((row, row + 1))
        if len(ranges) > MAX_RANGES:
            self.beginResetModel()
            self.rows[:end] = [entry for entry in self.rows[:end] if entry.number in numbers]
            self.endResetModel()
        else:
            for start, stop in reversed(ranges):
                self.beginRemoveRows(QModelIndex(), start, stop - 1)
                del self.rows[start:stop]
                self.endRemoveRows()
        return sum(stop - start for start, stop in ranges)

    def row_of(self, number: int) -> int:
        """Return the row of an entry; -1 for none."""
        row = bisect_right(self.rows, number, key=_number) - 1
        return row if row >= 0 and self.rows[row].number == number else -1

    def _cells_of(self, entry: Entry) -> tuple[str, ...]:
        """Return the texts of a row."""
        arrow = "•" if entry.frame.notice else "→" if entry.frame.sent else "←"
        duration = duration_words(entry.seconds) if entry.seconds is not None else ""
        content = content_of(self._tape.front(entry, MAX_PREVIEW))
        texts = time_of(entry), entry.server, f"{arrow} {name_of(entry)}", duration, show_hidden(content)
        return tuple(map(one_line_of, texts))

    def count(self) -> int:
        return len(self.rows)

    def text(self, row: int, column: int) -> str:
        return self._cells(self.rows[row])[column]

    def spoken(self, row: int, column: int) -> str:
        entry = self.rows[row]
        if column == NAME:
            return one_line_of(f"{TITLES[NAME]}: {name_of(entry)}, {direction_of(entry)}")
        return super().spoken(row, column)

    def sign(self, row: int, column: int) -> tuple[str, str] | None:
        return ("error", "error") if column == NAME and self.rows[row].frame.error else None

    def colour(self, row: int, column: int) -> str:
        return _colour(self.rows[row], column)


def _colour(entry: Entry, column: int) -> str:
    t = tokens()
    if entry.frame.error and column in (NAME, CONTENT):
        return t.error
    if column == NAME:
        return {"request": t.accent, "answer": t.ok, "connection": t.tool}.get(kind_of(entry), t.muted)
    return t.text if column == CONTENT else t.muted
