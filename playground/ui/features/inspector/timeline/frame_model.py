"""The frames of an exchange as a table's rows. Text is made only for the cells that are looked at."""

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

NUMBER, AT, DELTA, KIND, DATA = range(5)
TITLES = ("#", "at", "Δ", "kind", "data")
SAID = (
    "The frame's number",
    "When the read that completed it came, since the request began",
    "The time since the frame before",
    "What it was",
    "What it said",
)
KEPT = 400  # rows whose text is kept
LONGEST = 400  # characters of a cell
ODD = "warning", "tool"  # the icon of a frame that deviates from the specification, and its colour


class Cells(NamedTuple):
    """One row, ready to show."""

    row: Row
    text: tuple[str, ...]


class FrameModel(TitledTable):
    """``show`` another exchange's frames; ``append_new_frames`` when there are more."""

    titles, tips, at_right = TITLES, SAID, frozenset({NUMBER, AT, DELTA})

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._frames: FrameIndex | None = None
        self._count = 0
        self._cells: OrderedDict[int, Cells] = OrderedDict()

    @property
    def frames(self) -> FrameIndex | None:
        """The frames shown."""
        return self._frames

    def show(self, frames: FrameIndex | None) -> None:
        """Show other frames, as many as there are now."""
        self.beginResetModel()
        self._frames = frames
        self._count = len(frames) if frames is not None else 0
        self._cells.clear()
        self.endResetModel()

    def append_new_frames(self) -> bool:
        """More frames may have come. Returns whether there are."""
        count = len(self._frames) if self._frames is not None else 0
        if count <= self._count:
            return False
        self.beginInsertRows(QModelIndex(), self._count, count - 1)
        self._count = count
        self.endInsertRows()
        return True

    def cells(self, number: int) -> Cells:
        """One row's texts. Raises IndexError where there is none."""
        found = self._cells.get(number)
        if found is not None:
            return found
        if self._frames is None:
            raise IndexError(number)
        row = self._frames.row(number)
        said = show_hidden(summarize_frame(self._frames, row)[:LONGEST])
        texts = (str(number + 1), f"{row.at:.3f} s", duration_words(row.delta), row.kind.value, said)
        found = self._cells[number] = Cells(row, texts)
        if len(self._cells) > KEPT:
            self._cells.popitem(last=False)
        return found

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else self._count

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        column = index.column()
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self.cells(index.row()).text[column]
            case Qt.ItemDataRole.ToolTipRole:
                return tip(_about(self.cells(index.row()), column))
            case Qt.ItemDataRole.AccessibleTextRole:
                cells = self.cells(index.row())
                odd = ", deviates from the specification" if column == KIND and cells.row.deviations else ""
                return f"{TITLES[column]}: {cells.text[column]}{odd}"
            case Qt.ItemDataRole.DecorationRole if column == KIND and self.cells(index.row()).row.deviations:
                return icon(*ODD)
            case Qt.ItemDataRole.TextAlignmentRole:
                return self.side(column)
            case Qt.ItemDataRole.FontRole:
                return code_font() if column == DATA else None
            case Qt.ItemDataRole.ForegroundRole:
                return QColor(_colour(self.cells(index.row()).row, column))
        return None


def kind_colour(kind: Kind) -> str:
    """The colour that goes with the word for a kind."""
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


def _about(cells: Cells, column: int) -> str:
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
