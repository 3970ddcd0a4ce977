"""The list of frames: as many as there are, cells made only where they are seen; what is chosen is told."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QItemSelection, QItemSelectionModel, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QTableView, QWidget

from playground.ui.features.inspector.timeline.frame_model import DATA, DELTA, TITLES, FrameModel
from playground.ui.widgets.page_parts import look_like_rows, set_row_height

ROW_HEIGHT = 20
WIDTHS, TIGHT = (52, 74, 66, 92), (42, 62, 56, 74)
NARROW, NARROWEST = 400, 300  # pixels: below the first the columns are tight, below the second Δ is left out
LEAST_DATA = 64


class FrameTable(QTableView):
    """``frames_chosen`` carries the numbers chosen, ascending, and whether a person chose them here."""

    frames_chosen = Signal(list, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.frames = FrameModel(self)
        self._by_hand = True
        self._tight = False
        self.setModel(self.frames)
        self.setAccessibleName("Frames")
        self.setAccessibleDescription("Arrow keys choose a frame. Ctrl+C copies the chosen frames as received.")
        look_like_rows(self)
        set_row_height(self, ROW_HEIGHT)
        columns = self.horizontalHeader()
        columns.setMinimumSectionSize(30)
        for column, width in enumerate(WIDTHS):
            columns.resizeSection(column, width)
        self.selectionModel().selectionChanged.connect(self._selection_changed)

    @property
    def chosen(self) -> list[int]:
        """The numbers of the frames chosen, ascending."""
        numbers: set[int] = set()
        for stretch in self.selectionModel().selection().toList():
            numbers.update(range(stretch.top(), stretch.bottom() + 1))
        return sorted(numbers)

    def choose(self, numbers: Sequence[int]) -> None:
        """Choose these, as nobody's hand; the first one comes into view."""
        selection = QItemSelection()
        last = self.frames.columnCount() - 1
        for first, end in _stretches([number for number in numbers if number < self.frames.rowCount()]):
            selection.select(self.frames.index(first, 0), self.frames.index(end, last))
        self._by_hand = False
        try:
            flags = QItemSelectionModel.SelectionFlag
            if not selection.isEmpty():
                self.selectionModel().setCurrentIndex(self.frames.index(numbers[0], 0), flags.NoUpdate)
            self.selectionModel().select(selection, flags.ClearAndSelect | flags.Rows)
        finally:
            self._by_hand = True
        if not selection.isEmpty():
            self.scrollTo(self.frames.index(numbers[0], 0), QAbstractItemView.ScrollHint.EnsureVisible)

    def show_new_frames(self) -> None:
        """More frames may have come; who stands at the end goes on standing there."""
        bar = self.verticalScrollBar()
        at_end = bar.value() >= bar.maximum()
        if self.frames.append_new_frames() and at_end and not self.selectionModel().hasSelection():
            self.scrollToBottom()

    def _selection_changed(self, _selected: QItemSelection, _deselected: QItemSelection) -> None:
        self.frames_chosen.emit(self.chosen, self._by_hand)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The data take the room there is; where that is little, the table is wider than the view."""
        super().resizeEvent(event)
        header, room = self.horizontalHeader(), self.viewport().width()
        if (room < NARROW) != self._tight:
            self._tight = room < NARROW
            for column, width in enumerate(TIGHT if self._tight else WIDTHS):
                header.resizeSection(column, width)
        self.setColumnHidden(DELTA, room < NARROWEST)
        others = sum(header.sectionSize(column) for column in range(len(TITLES)) if column != DATA)
        header.resizeSection(DATA, max(LEAST_DATA, room - others))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy) and self.frames.frames is not None:
            raw = b"".join(self.frames.frames.raw(number) for number in self.chosen)
            QGuiApplication.clipboard().setText(raw.decode("utf-8", "replace"))
        else:
            super().keyPressEvent(event)


def _stretches(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Ascending numbers as first and last of each run without a gap."""
    out: list[tuple[int, int]] = []
    for number in numbers:
        if out and number <= out[-1][1] + 1:
            out[-1] = (out[-1][0], number)
        else:
            out.append((number, number))
    return out
