"""The events of an exchange as a table model. Texts are made only for the rows in view."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple

from PySide6.QtCore import QModelIndex, QObject, Qt
from PySide6.QtGui import QColor

from playground.domain.durations import duration_words
from playground.engine.inspect.frame_summary import summarize_frame
from playground.engine.inspect.frames import FrameIndex, Kind, Row
from playground.ui.widgets.icons import icon
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.theme import code_font, tokens
from playground.ui.widgets.titled_table import Index, TitledTable

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

    titles, tips, at_right = TITLES, TIPS, frozenset({NUMBER, TIME, DELTA})

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._frames: FrameIndex | None = None
        self._count = 0
        self._cells: OrderedDict[int, Cells] = OrderedDict()

    @property
    def frames(self) -> FrameIndex | None:
        """The events shown."""
        return self._frames

    def show(self, frames: FrameIndex | None) -> None:
        """Show the events of another exchange, as many as there are now."""
        self.beginResetModel()
        self._frames = frames
        self._count = len(frames) if frames is not None else 0
        self._cells.clear()
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

    def cells(self, number: int) -> Cells:
        """Return the texts of a row. Raises IndexError for an unknown one."""
        if (cells := self._cells.get(number)) is not None:
            return cells
        if self._frames is None:
            raise IndexError(number)
        row = self._frames.row(number)
        summary = show_hidden(summarize_frame(self._frames, row)[:MAX_CELL])
        texts = (str(number + 1), f"{row.at:.3f} s", duration_words(row.delta), row.kind.value, summary)
        cells = self._cells[number] = Cells(row, texts)
        if len(self._cells) > MAX_CACHED:
            self._cells.popitem(last=False)
        return cells

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else self._count

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        column = index.column()
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self.cells(index.row()).text[column]
            case Qt.ItemDataRole.ToolTipRole:
                return tip(_describe_cell(self.cells(index.row()), column))
            case Qt.ItemDataRole.AccessibleTextRole:
                cells = self.cells(index.row())
                note = ", deviates from the specification" if column == KIND and cells.row.deviations else ""
                return f"{TITLES[column]}: {cells.text[column]}{note}"
            case Qt.ItemDataRole.DecorationRole if column == KIND and self.cells(index.row()).row.deviations:
                return icon(*DEVIATION_ICON)
            case Qt.ItemDataRole.TextAlignmentRole:
                return self.side(column)
            case Qt.ItemDataRole.FontRole:
                return code_font() if column == DATA else None
            case Qt.ItemDataRole.ForegroundRole:
                return QColor(_colour(self.cells(index.row()).row, column))
        return None


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


def _describe_cell(cells: Cells, column: int) -> str:
    row = cells.row
    if column == DATA:
        return cells.text[DATA]
    if row.deviations:
        return "\n".join(note for _, note in row.deviations)
    return ", ".join(kind.value for kind in row.kinds) if column == KIND and len(row.kinds) > 1 else ""


def _colour(row: Row, column: int) -> str:
    t = tokens()
    if column == KIND:
        return kind_colour(row.kind)
    return t.text if column == DATA else t.muted
