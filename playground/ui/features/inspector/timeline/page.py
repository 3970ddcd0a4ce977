"""The Timeline tab's page: the picture above the list of frames, and beside both the chosen frame.

A hidden page does no work.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from PySide6.QtCore import QItemSelection, QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QTableView,
    QWidget,
)

from playground.engine.inspect.frames import FrameIndex
from playground.ui.features.inspector.excerpt import SHOWN_AT_MOST
from playground.ui.features.inspector.timeline.frame_model import DATA, DELTA, ODD, TITLES, FrameModel
from playground.ui.features.inspector.timeline.picture import COMPACT, TALL, TALLEST, TimelinePicture
from playground.ui.features.inspector.traces import READ_MS, Trace
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.figures import size
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.layouts import in_column, in_pages, in_row, split
from playground.ui.widgets.loop import Throttle
from playground.ui.widgets.mark_label import MarkLabel
from playground.ui.widgets.page_parts import empty_words, look_like_rows, set_row_height
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.segments import Segments

EMPTY = "No exchange yet. Run the conversation, and every frame that comes back stands here, with its time."
WIDE = 560  # pixels of the page's width from which on the whole is described in words, too
ROOMY = 330  # pixels of the page's height from which on each lane has a row of its own

ROW_HEIGHT = 20
WIDTHS, TIGHT = (52, 74, 66, 92), (42, 62, 56, 74)
NARROW, NARROWEST = 400, 300  # pixels: below the first the columns are tight, below the second Δ is left out
LEAST_DATA = 64

RAW = 1  # the half of the switch with a frame's own bytes
HEX_ROW = 16  # bytes in a row of those that are no text
PAYLOADS = ("delta", "content_block", "error", "message", "usage")  # members in which a frame carries what is new
PAYLOAD_LINES = 4
SEARCHED = 20_000  # characters


class FrameDetail(QWidget):
    """``show_frames`` says which; ``show_words`` fills the room while none is chosen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._frames: FrameIndex | None = None
        self._numbers: Sequence[int] = ()
        self._words = ""
        self._more = ""
        self.says = _Says()
        self.says.setObjectName("frameSummary")
        self.switch = Segments(("Decoded", "Raw"), "How the frame is shown")
        self.switch.chosen.connect(self._draw)
        self.odd = styled(MarkLabel(wraps=True), "flag")
        self.odd.setContentsMargins(12, 0, 12, 4)
        self.odd.set_mark(*ODD)
        self.odd.setObjectName("frameDeviations")
        self.odd.hide()
        self.text = _FrameText()
        self.text.setAccessibleName("The chosen frame")
        self.about = CodeEditor(read_only=True, json=False)
        self.about.setAccessibleName("The whole exchange in figures")
        bar = in_row((self.says, 1), self.switch, margins=(12, 4, 8, 4), spacing=8)
        in_column(bar, self.odd, (self.about, 1), (self.text, 1), of=self, margins=0, spacing=0)
        self.setMinimumWidth(180)

    def show_frames(self, frames: FrameIndex | None, numbers: Sequence[int]) -> None:
        """Show the first of these frames, and say how many there are."""
        self._frames, self._numbers = frames, numbers
        self._draw()

    def show_words(self, words: str) -> None:
        """What to say while no frame is chosen."""
        if words != self._words:
            self._words = words
            if not self._numbers:
                self._draw()

    def say_more(self, words: str) -> None:
        """What else is to be said about the chosen frame; empty for nothing."""
        if words != self._more:
            self._more = words
            self._head()

    def _draw(self, _index: int = 0) -> None:
        frames, numbers = self._frames, self._numbers
        self.switch.setVisible(bool(numbers))
        self.text.setVisible(bool(numbers))
        self.about.setVisible(not numbers)
        if frames is None or not numbers:
            self.says.set_text("The whole exchange" if self._words else "")
            self.odd.hide()
            bar = self.about.verticalScrollBar()
            place = bar.value()
            self.about.setPlainText(self._words)
            bar.setValue(place)
            return
        number = numbers[0]
        row = frames.row(number)
        self._head()
        notes = [note for _, note in row.deviations]
        self.odd.setText(show_hidden("\n".join(notes)))
        self.odd.setToolTip(tip("\n".join(f"{code}: {note}" for code, note in row.deviations)))
        self.odd.setVisible(bool(notes))
        self.text.setPlainText("")  # another frame begins at its beginning
        self.text.show_text(self._text_of(frames, number))
        self.text.bring_payload()

    def _head(self) -> None:
        frames, numbers = self._frames, self._numbers
        if frames is None or not numbers:
            return
        row = frames.row(numbers[0])
        more = [self._more] if self._more else []
        if len(numbers) > 1:
            self.says.set_parts(f"#{numbers[0] + 1}…{numbers[-1] + 1}", [*_several(numbers), *more])
        else:
            said = [f"#{row.number + 1} of {len(frames)}", *more]
            said += [f"{row.at:.3f} s", row.kind.value, size(row.size)]
            self.says.set_parts(f"#{row.number + 1}", said)

    def _text_of(self, frames: FrameIndex, number: int) -> str:
        if self.switch.index == RAW:
            return raw_text(frames.raw(number))
        text = frames.data(number, SHOWN_AT_MOST) or "(nothing but its end)"
        if len(text) <= SHOWN_AT_MOST:
            return text
        return f"{text[:SHOWN_AT_MOST]}\n… and more: the frame has {size(frames.row(number).size)}"


def raw_text(raw: bytes) -> str:
    """Bytes as received, as text; those that are no UTF-8 in rows of hexadecimal digits."""
    part = raw[:SHOWN_AT_MOST]
    rest = f"\n… {size(len(raw) - len(part))} more" if len(part) < len(raw) else ""
    try:
        return (part.decode("utf-8") or "(no bytes)") + rest
    except UnicodeDecodeError as error:
        if rest and error.start > len(part) - 4:  # only the cut is to blame
            return part[: error.start].decode("utf-8") + rest
    rows = (part[at : at + HEX_ROW] for at in range(0, min(len(part), SHOWN_AT_MOST // 4), HEX_ROW))
    return "\n".join(f"{row.hex(' '):<{HEX_ROW * 3}} {_readable(row)}" for row in rows) + rest


def _readable(row: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 else "·" for byte in row)


def _several(numbers: Sequence[int]) -> list[str]:
    together = numbers[-1] - numbers[0] + 1 == len(numbers)
    where = f"{numbers[0] + 1} to {numbers[-1] + 1}" if together else f"{numbers[0] + 1} … {numbers[-1] + 1}"
    return [f"{len(numbers):,} frames, {where}", "shown is the first"]


class _FrameText(CodeEditor):
    """The payload of a frame. What every chunk repeats is scrolled past, if there is no room for what is new, too."""

    def __init__(self) -> None:
        super().__init__(read_only=True)

    def bring_payload(self) -> None:
        """Bring what is new into view."""
        text = self.text()[:SEARCHED]
        place = next((at for key in PAYLOADS if (at := text.find(f'"{key}": ')) >= 0), -1)
        if place < 0:
            return
        bar, block = self.verticalScrollBar(), self.document().begin()
        line = 0
        while block.isValid() and block.position() + block.length() <= place:
            self.blockBoundingRect(block)  # lays it out for the width there is now
            line += block.lineCount()
            block = block.next()
        if line + PAYLOAD_LINES > bar.pageStep():
            bar.setValue(line)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.bring_payload()


class _Says(ElidedLabel):
    """Facts side by side: as many from the left as there is room for, or what is least to be said."""

    def __init__(self) -> None:
        super().__init__("The chosen frame", elide=Qt.TextElideMode.ElideRight)
        self._least = ""
        self._parts: list[str] = []

    def set_parts(self, least: str, parts: list[str]) -> None:
        """Say these."""
        self._least, self._parts = least, parts
        self.set_text(" · ".join(parts))

    def fitting(self) -> str:
        if self.text == " · ".join(self._parts):
            for count in range(len(self._parts), 0, -1):
                words = show_hidden(" · ".join(self._parts[:count]))
                if self.fontMetrics().horizontalAdvance(words) <= self.width():
                    return words
            return self.fontMetrics().elidedText(self._least, Qt.TextElideMode.ElideRight, self.width())
        return super().fitting()


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
        self.throttle = Throttle(self._read, self, READ_MS)
        self.empty = empty_words(EMPTY)
        left = QWidget()
        in_column(self.picture, (self.table, 1), of=left, margins=0, spacing=0)
        self._stack = in_pages(self.empty, split(left, self.detail, sizes=[560, 420], thin=True))
        in_column(self._stack, of=self, margins=0)
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
            self.throttle.cancel()
            self.table.frames.show(trace.index if trace is not None else None)
            self.detail.show_frames(None, ())
            self._refresh(fresh=True)
        if trace is not None and trace.index.behind:
            self.throttle.poke()
        elif trace is not None and (trace.exchange.dropped or trace.timeline.served != self.picture.served):
            self._refresh(fresh=False)  # its bytes may have gone since, or a server was asked

    def choose(self, numbers: Sequence[int]) -> None:
        """Choose frames, as nobody's hand; those that are not read yet as soon as they are."""
        if numbers and self._trace is not None and numbers[-1] >= self.table.frames.rowCount():
            self._trace.read_frames(most=None)
            self._refresh(fresh=False)
        self.table.choose(numbers)

    def finish(self) -> None:
        """Read all frames that have arrived, now."""
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
