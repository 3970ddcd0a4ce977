"""The events of an exchange as a table model. Texts are made only for the rows in view."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from PySide6.QtCore import QModelIndex, QObject

from playground.domain.durations import duration_words
from playground.engine.inspect.frame_summary import summarize_frame
from playground.engine.inspect.frames import FrameIndex, Kind, Row
from playground.ui.widgets.plain_text import show_hidden
from playground.ui.widgets.theme import tokens
from playground.ui.widgets.titled_table import TitledTable

NUMBER, TIME, DELTA, KIND, DATA = range(5)
TITLES = ("#", "time", "Δ", "kind", "data")
TIPS = (
    "Number of the event",
    "Time since the request began",
    "Time since the previous event",
    "Kind of event",
    "Content of the event",
)
MAX_CACHED = 400  # rows
MAX_CELL = 400  # characters
DEVIATION_ICON = "warning", "tool"  # and its colour


class Cells(NamedTuple):
    """The texts of one row."""

    row: Row
    text: tuple[str, ...]


class FrameModel(TitledTable):
    """`show` the events of another exchange; `append_new_frames` adds those that arrived since."""

    titles, tips, at_right, in_code = TITLES, TIPS, frozenset({NUMBER, TIME, DELTA}), frozenset({DATA})

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._frames: FrameIndex | None = None
        self._count = 0
        self._cells = lru_cache(MAX_CACHED)(self._cells_of)

    @property
    def frames(self) -> FrameIndex | None:
        """The events shown."""
        return self._frames

    def show(self, frames: FrameIndex | None) -> None:
        """Show the events of another exchange, as many as there are now."""
        self.beginResetModel()
        self._frames = frames
        self._count = len(frames) if frames is not None else 0
        self._cells.cache_clear()
        self.endResetModel()

    def append_new_frames(self) -> bool:
        """Add rows for new events. Returns whether there were any."""
        count = len(self._frames) if self._frames is not None else 0
        if count <= self._count:
            return False
        self.beginInsertRows(QModelIndex(), self._count, count - 1)
        self._count = count
        self.endInsertRows()
        return True

    def _cells_of(self, number: int) -> Cells:
        """Return the texts of a row. Raises IndexError for an unknown one."""
        if self._frames is None:
            raise IndexError(number)
        row = self._frames.row(number)
        summary = show_hidden(summarize_frame(self._frames, row)[:MAX_CELL])
        return Cells(row, (str(number + 1), f"{row.time:.3f} s", duration_words(row.delta), row.kind.value, summary))

    def count(self) -> int:
        return self._count

    def text(self, row: int, column: int) -> str:
        return self._cells(row).text[column]

    def tooltip(self, row: int, column: int) -> str:
        cells = self._cells(row)
        if column == DATA:
            return cells.text[DATA]
        if cells.row.deviations:
            return "\n".join(note for _, note in cells.row.deviations)
        kinds = cells.row.kinds
        return ", ".join(kind.value for kind in kinds) if column == KIND and len(kinds) > 1 else ""

    def spoken(self, row: int, column: int) -> str:
        note = ", deviates from the specification" if self.sign(row, column) is not None else ""
        return super().spoken(row, column) + note

    def sign(self, row: int, column: int) -> tuple[str, str] | None:
        return DEVIATION_ICON if column == KIND and self._cells(row).row.deviations else None

    def colour(self, row: int, column: int) -> str:
        if column == KIND:
            return kind_colour(self._cells(row).row.kind)
        return tokens().text if column == DATA else tokens().muted


def kind_colour(kind: Kind) -> str:
    """Return the colour of a kind of event."""
    t = tokens()
    return {
        Kind.REASONING: t.reasoning,
        Kind.CONTENT: t.accent,
        Kind.REFUSAL: t.accent,
        Kind.TOOL_CALL: t.tool,
        Kind.ARGUMENTS: t.tool,
        Kind.ERROR: t.error,
        Kind.FINISH: t.ok,
        Kind.END: t.ok,
    }.get(kind, t.muted)
