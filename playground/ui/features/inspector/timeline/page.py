"""The Timeline tab: the drawing above the list of events, and the selected event beside both."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from PySide6.QtCore import QItemSelection, QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QWidget

from playground.engine.inspect.frames import FrameIndex
from playground.ui.features.inspector.excerpt import SHOWN_AT_MOST
from playground.ui.features.inspector.timeline.frame_model import DATA, DELTA, DEVIATION_ICON, FrameModel
from playground.ui.features.inspector.timeline.picture import COMPACT, TALL, TALLEST, TimelinePicture
from playground.ui.features.inspector.traces import READ_MS, Trace
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.figures import size
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.layouts import in_column, in_pages, in_row, split
from playground.ui.widgets.loop import Throttle
from playground.ui.widgets.mark_label import MarkLabel
from playground.ui.widgets.page_parts import RowsTable, empty_words
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.segments import Segments

ABOUT_TABLE = "Arrow keys select an event. Ctrl+C copies the selected events as received."
EMPTY = "No response yet. Run the conversation to see every event with its time."
SUMMARY_WIDTH = 560  # pixels; a narrower page has no summary in words
LANES_HEIGHT = 330  # pixels; in a lower page the lanes share a row

ROW_HEIGHT = 20
WIDTHS, TIGHT = (52, 74, 66, 92), (42, 62, 56, 74)
NARROW, NARROWEST = 400, 300  # pixels: tight columns below the first, no Δ below the second
LEAST_DATA = 64

RAW = 1  # index in the switch
HEX_ROW = 16  # bytes in a row of hexadecimal digits
PAYLOADS = ("delta", "content_block", "error", "message", "usage")  # members with the new content of an event
PAYLOAD_LINES = 4
MAX_SEARCHED = 20_000  # characters


class FrameDetail(QWidget):
    """The selected event; while none is selected, a summary of the exchange."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._frames: FrameIndex | None = None
        self._numbers: Sequence[int] = ()
        self._words = ""
        self._more = ""
        self.head = ElidedLabel("Selected event", elide=Qt.TextElideMode.ElideRight)
        self.head.setObjectName("frameSummary")
        self.switch = Segments(("Decoded", "Raw"), "Format of the event")
        self.switch.chosen.connect(self._draw)
        self.deviations = styled(MarkLabel(wraps=True), "flag")
        self.deviations.setContentsMargins(12, 0, 12, 4)
        self.deviations.set_mark(*DEVIATION_ICON)
        self.deviations.setObjectName("frameDeviations")
        self.deviations.hide()
        self.text = _FrameText()
        self.text.setAccessibleName("Selected event")
        self.summary = CodeEditor(read_only=True, json=False)
        self.summary.setAccessibleName("Summary of the exchange")
        bar = in_row((self.head, 1), self.switch, margins=(12, 4, 8, 4), spacing=8)
        in_column(bar, self.deviations, (self.summary, 1), (self.text, 1), parent=self, margins=0, spacing=0)
        self.setMinimumWidth(180)

    def show_frames(self, frames: FrameIndex | None, numbers: Sequence[int]) -> None:
        """Show the first of several events, and how many are selected."""
        self._frames, self._numbers = frames, numbers
        self._draw()

    def show_words(self, words: str) -> None:
        """Set the summary, shown while no event is selected."""
        if words != self._words:
            self._words = words
            if not self._numbers:
                self._draw()

    def say_more(self, words: str) -> None:
        """Add a note to the selected event; empty for none."""
        if words != self._more:
            self._more = words
            self._show_head()

    def _draw(self, _index: int = 0) -> None:
        frames, numbers = self._frames, self._numbers
        self.switch.setVisible(bool(numbers))
        self.text.setVisible(bool(numbers))
        self.summary.setVisible(not numbers)
        if frames is None or not numbers:
            self.head.set_text("Summary" if self._words else "")
            self.deviations.hide()
            bar = self.summary.verticalScrollBar()
            place = bar.value()
            self.summary.setPlainText(self._words)
            bar.setValue(place)
            return
        number = numbers[0]
        row = frames.row(number)
        self._show_head()
        notes = [note for _, note in row.deviations]
        self.deviations.setText(show_hidden("\n".join(notes)))
        self.deviations.setToolTip(tip("\n".join(f"{code}: {note}" for code, note in row.deviations)))
        self.deviations.setVisible(bool(notes))
        self.text.setPlainText("")  # another frame begins at its beginning
        self.text.show_text(self._text_of(frames, number))
        self.text.bring_payload()

    def _show_head(self) -> None:
        frames, numbers = self._frames, self._numbers
        if frames is None or not numbers:
            return
        row = frames.row(numbers[0])
        more = [self._more] if self._more else []
        if len(numbers) > 1:
            facts = [*_selection_words(numbers), *more]
        else:
            facts = [f"#{row.number + 1} of {len(frames)}", *more, f"{row.time:.3f} s", row.kind.value, size(row.size)]
        self.head.set_text(" · ".join(facts))

    def _text_of(self, frames: FrameIndex, number: int) -> str:
        if self.switch.index == RAW:
            return raw_text(frames.raw(number))
        text = frames.data(number, SHOWN_AT_MOST) or "(end of the event only)"
        if len(text) <= SHOWN_AT_MOST:
            return text
        return f"{text[:SHOWN_AT_MOST]}\n… more, {size(frames.row(number).size)} in all"


def raw_text(raw: bytes) -> str:
    """Return received bytes as text; bytes that are not UTF-8 as rows of hexadecimal digits."""
    part = raw[:SHOWN_AT_MOST]
    rest = f"\n… {size(len(raw) - len(part))} more" if len(part) < len(raw) else ""
    try:
        return (part.decode("utf-8") or "(no bytes)") + rest
    except UnicodeDecodeError as error:
        if rest and error.start > len(part) - 4:
            return part[: error.start].decode("utf-8") + rest
    rows = (part[start : start + HEX_ROW] for start in range(0, min(len(part), SHOWN_AT_MOST // 4), HEX_ROW))
    return "\n".join(f"{row.hex(' '):<{HEX_ROW * 3}} {_readable(row)}" for row in rows) + rest


def _readable(row: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 else "·" for byte in row)


def _selection_words(numbers: Sequence[int]) -> list[str]:
    joined = numbers[-1] - numbers[0] + 1 == len(numbers)
    return [f"{len(numbers):,} events, {numbers[0] + 1} {'to' if joined else '…'} {numbers[-1] + 1}", "first one shown"]


class _FrameText(CodeEditor):
    """The payload of an event, scrolled past what every chunk repeats if the new content has no room next to it."""

    def __init__(self) -> None:
        super().__init__(read_only=True)

    def bring_payload(self) -> None:
        """Scroll to the new content."""
        text = self.text()[:MAX_SEARCHED]
        place = next((start for key in PAYLOADS if (start := text.find(f'"{key}": ')) >= 0), -1)
        if place < 0:
            return
        bar, block = self.verticalScrollBar(), self.document().begin()
        line = 0
        while block.isValid() and block.position() + block.length() <= place:
            self.blockBoundingRect(block)  # has the block laid out for the present width
            line += block.lineCount()
            block = block.next()
        if line + PAYLOAD_LINES > bar.pageStep():
            bar.setValue(line)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.bring_payload()


class FrameTable(RowsTable):
    """`frames_chosen` carries the selected numbers, ascending, and whether a person selected them here."""

    frames_chosen = Signal(list, bool)

    def __init__(self) -> None:
        self.frames = FrameModel()
        self._by_hand = True
        self._tight = False
        super().__init__(self.frames, "Events", ABOUT_TABLE, ROW_HEIGHT)
        self.frames.setParent(self)
        self.set_widths(WIDTHS)
        self.selectionModel().selectionChanged.connect(self._selection_changed)
        self.copy_asked.connect(self._copy)

    @property
    def chosen(self) -> list[int]:
        """The numbers of the selected events, ascending."""
        numbers: set[int] = set()
        for part in self.selectionModel().selection().toList():
            numbers.update(range(part.top(), part.bottom() + 1))
        return sorted(numbers)

    def choose(self, numbers: Sequence[int]) -> None:
        """Select events from outside; the first one comes into view."""
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
        """Add new events; a table scrolled to its end follows them."""
        bar = self.verticalScrollBar()
        follow = bar.value() >= bar.maximum()
        if self.frames.append_new_frames() and follow and not self.selectionModel().hasSelection():
            self.scrollToBottom()

    def _selection_changed(self, _selected: QItemSelection, _deselected: QItemSelection) -> None:
        self.frames_chosen.emit(self.chosen, self._by_hand)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        room = self.viewport().width()
        if (room < NARROW) != self._tight:
            self._tight = room < NARROW
            self.set_widths(TIGHT if self._tight else WIDTHS)
        self.setColumnHidden(DELTA, room < NARROWEST)
        self.give_rest(DATA, LEAST_DATA)

    def _copy(self) -> None:
        if self.frames.frames is not None:
            raw = b"".join(self.frames.frames.raw(number) for number in self.chosen)
            QGuiApplication.clipboard().setText(raw.decode("utf-8", "replace"))


def _stretches(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first and last of each run of consecutive numbers."""
    out: list[tuple[int, int]] = []
    for number in numbers:
        if out and number <= out[-1][1] + 1:
            out[-1] = (out[-1][0], number)
        else:
            out.append((number, number))
    return out


class TimelinePage(QWidget):
    """`frames_chosen` carries the numbers of events, and whether a person selected them here."""

    frames_chosen = Signal(list, bool)
    seen = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._trace: Trace | None = None
        self.picture = TimelinePicture()
        self.table = FrameTable()
        self.detail = FrameDetail()
        self.throttle = Throttle(self._read, self, READ_MS)
        self.empty = empty_words(EMPTY)
        events = QWidget()
        in_column(self.picture, (self.table, 1), parent=events, margins=0, spacing=0)
        self._stack = in_pages(self.empty, split(events, self.detail, sizes=[560, 420], thin=True))
        in_column(self._stack, parent=self, margins=0)
        self.table.frames_chosen.connect(self._chosen)
        self.picture.moment_asked.connect(self._go_to_moment)
        self.picture.stall_asked.connect(self._go_to_frame)

    @property
    def trace(self) -> Trace | None:
        """The exchange shown."""
        return self._trace

    def show_trace(self, trace: Trace | None) -> None:
        """Show another exchange, or new events of the same one."""
        if trace is not self._trace:
            self._trace = trace
            self.throttle.cancel()
            self.table.frames.show(trace.index if trace is not None else None)
            self.detail.show_frames(None, ())
            self._refresh(fresh=True)
        if trace is not None and trace.index.behind:
            self.throttle.poke()
        elif trace is not None and (trace.exchange.dropped or trace.timeline.served != self.picture.served):
            self._refresh(fresh=False)

    def choose(self, numbers: Sequence[int]) -> None:
        """Select events from outside; unread ones are read first."""
        if numbers and self._trace is not None and numbers[-1] >= self.table.frames.rowCount():
            self._trace.read_frames(most=None)
            self._refresh(fresh=False)
        self.table.choose(numbers)

    def finish(self) -> None:
        """Read all events that have arrived, now."""
        if self._trace is not None and self.throttle.pending:
            self.throttle.cancel()
            self._trace.read_frames(most=None)
            self._refresh(fresh=False)

    def _read(self) -> None:
        trace = self._trace
        if trace is None:
            return
        trace.read_frames()
        if trace.index.behind:
            self.throttle.poke()
        self._refresh(fresh=False)

    def _refresh(self, *, fresh: bool) -> None:
        trace = self._trace
        self._stack.setCurrentIndex(0 if trace is None else 1)
        self.picture.show_timeline(trace.timeline if trace is not None else None, fresh=fresh)
        self.table.show_new_frames()
        self.detail.show_words(self._words())
        self._settle()

    def _words(self) -> str:
        """Return the summary of the exchange."""
        trace = self._trace
        if trace is None:
            return ""
        if trace.exchange.dropped:
            discarded = size(trace.exchange.dropped)
            return f"The data of this exchange ({discarded}) was discarded to save memory."
        figures = [("events", f"{len(trace.index):,}"), *self.picture.figures()]
        if trace.index.deviations:
            figures.append(("spec check problems", f"{len(trace.index.deviations):,}"))
        names, values = max(len(name) for name, _ in figures), max(len(value) for _, value in figures)
        return "\n".join(f"{name:<{names}}  {value:>{values}}" for name, value in figures)

    def _settle(self) -> None:
        """Hide the detail in a narrow page unless an event is selected."""
        is_discarded = self._trace is not None and bool(self._trace.exchange.dropped)
        self.detail.setVisible(self.width() >= SUMMARY_WIDTH or is_discarded or bool(self.table.chosen))

    def _chosen(self, numbers: list[int], by_hand: bool) -> None:
        trace = self._trace
        index = trace.index if trace is not None else None
        self.detail.show_frames(index, numbers)
        self._settle()
        if index is not None and numbers:
            self.picture.show_chosen(index.time_of(numbers[0]), index.time_of(numbers[-1]), reveal=True)
        else:
            self.picture.show_chosen(None)
        self.frames_chosen.emit(numbers, by_hand)

    def _go_to_frame(self, number: int) -> None:
        self.table.selectRow(number)

    def _go_to_moment(self, moment: float) -> None:
        """Select the event nearest to a moment."""
        index = self._trace.index if self._trace is not None else None
        if index is None or not len(index):
            return
        after = min(bisect_left(range(len(index)), moment, key=index.time_of), len(index) - 1)
        before = max(after - 1, 0)
        self.table.selectRow(before if moment - index.time_of(before) < index.time_of(after) - moment else after)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.seen.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        tall = self.height() >= LANES_HEIGHT
        self.picture.setFixedHeight(min(max(self.height() // 3, TALL), TALLEST) if tall else COMPACT)
        self._settle()
