"""The Timeline tab's page: the picture above the list of frames, and beside both the frame that is chosen.

Seen, it takes in what is new a few milliseconds at a time; hidden, it does nothing.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from PySide6.QtCore import QItemSelection, QItemSelectionModel, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QSplitter, QStackedWidget, QTableView, QVBoxLayout, QWidget

from playground.ui.features.inspector.timeline.frame_detail import FrameDetail
from playground.ui.features.inspector.timeline.frame_model import DATA, DELTA, TITLES, FrameModel
from playground.ui.features.inspector.timeline.picture import COMPACT, TALL, TALLEST, TimelinePicture
from playground.ui.features.inspector.traces import Trace
from playground.ui.widgets.figures import size
from playground.ui.widgets.page_parts import empty_words, look_like_rows, set_row_height
from playground.ui.widgets.slices import Slices

EMPTY = "No exchange yet. Run the conversation, and every frame that comes back stands here, with its time."
WIDE = 560  # pixels of the page's width from which on the whole is described in words, too
ROOMY = 330  # pixels of the page's height from which on each lane has a row of its own

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


class TimelinePage(QWidget):
    """``show_trace`` says what to show. ``frames_chosen`` carries numbers, and whether a person chose them here."""

    frames_chosen = Signal(list, bool)
    seen = Signal()  # it has come into view

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._trace: Trace | None = None
        self.picture = TimelinePicture()
        self.table = FrameTable()
        self.detail = FrameDetail()
        self.slices = Slices(self._read, self)
        self.empty = empty_words(EMPTY)
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.picture)
        column.addWidget(self.table, 1)
        split = QSplitter()
        split.setChildrenCollapsible(False)
        split.setHandleWidth(1)
        split.addWidget(left)
        split.addWidget(self.detail)
        split.setSizes([560, 420])
        self._stack = QStackedWidget()
        self._stack.addWidget(self.empty)
        self._stack.addWidget(split)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self._stack)
        self.table.frames_chosen.connect(self._chosen)
        self.picture.moment_asked.connect(self._go_to_moment)
        self.picture.stall_asked.connect(self._go_to_frame)

    @property
    def trace(self) -> Trace | None:
        """What is shown."""
        return self._trace

    def show_trace(self, trace: Trace | None) -> None:
        """Show an exchange, or what is new in the one that is shown."""
        if trace is not self._trace:
            self._trace = trace
            self.slices.stop()
            self.table.frames.show(trace.index if trace is not None else None)
            self.detail.show_frames(None, ())
            self._refresh(fresh=True)
        if trace is not None and trace.index.behind:
            self.slices.poke()
        elif trace is not None and trace.exchange.dropped:
            self._refresh(fresh=False)  # its bytes may have gone since

    def choose(self, numbers: Sequence[int]) -> None:
        """Choose frames, as nobody's hand; those that are not read yet as soon as they are."""
        if numbers and self._trace is not None and numbers[-1] >= self.table.frames.rowCount():
            self._trace.read_all_frames()
            self._refresh(fresh=False)
        self.table.choose(numbers)

    def finish(self) -> None:
        """Take in at once what is known."""
        self.slices.finish()

    def _read(self) -> Iterator[None]:
        trace = self._trace
        if trace is None:
            return
        for _ in trace.read_frames():
            yield
        if trace is self._trace:
            self._refresh(fresh=False)

    def _refresh(self, *, fresh: bool) -> None:
        trace = self._trace
        self._stack.setCurrentIndex(0 if trace is None else 1)
        self.picture.show_timeline(trace.timeline if trace is not None else None, fresh=fresh)
        self.table.show_new_frames()
        self.detail.show_words(self._words())
        self._settle()

    def _words(self) -> str:
        """What there is to say about the whole."""
        trace = self._trace
        if trace is None:
            return ""
        if trace.exchange.dropped:
            gone = size(trace.exchange.dropped)
            return f"The bytes of this exchange ({gone}) were let go, to keep within the memory set for tapes."
        figures = [("frames", f"{len(trace.index):,}"), *self.picture.figures()]
        if trace.index.deviations:
            figures.append(("with deviations: see Lint", f"{len(trace.index.deviations):,}"))
        names, values = max(len(name) for name, _ in figures), max(len(value) for _, value in figures)
        return "\n".join(f"{name:<{names}}  {value:>{values}}" for name, value in figures)

    def _settle(self) -> None:
        """Where the room is short, what there is to say gets some only for a frame that is chosen."""
        gone = self._trace is not None and bool(self._trace.exchange.dropped)
        self.detail.setVisible(self.width() >= WIDE or gone or bool(self.table.chosen))

    def _chosen(self, numbers: list[int], by_hand: bool) -> None:
        trace = self._trace
        index = trace.index if trace is not None else None
        self.detail.show_frames(index, numbers)
        self._settle()
        if index is not None and numbers:
            self.picture.show_chosen(index.at(numbers[0]), index.at(numbers[-1]), reveal=True)
        else:
            self.picture.show_chosen(None)
        self.frames_chosen.emit(numbers, by_hand)

    def _go_to_frame(self, number: int) -> None:
        self.table.selectRow(number)

    def _go_to_moment(self, at: float) -> None:
        """The frame that came nearest to a moment."""
        index = self._trace.index if self._trace is not None else None
        if index is None or not len(index):
            return
        after = min(bisect_left(range(len(index)), at, key=index.at), len(index) - 1)
        before = max(after - 1, 0)
        self.table.selectRow(before if at - index.at(before) < index.at(after) - at else after)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.seen.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        roomy = self.height() >= ROOMY
        self.picture.setFixedHeight(min(max(self.height() // 3, TALL), TALLEST) if roomy else COMPACT)
        self._settle()
