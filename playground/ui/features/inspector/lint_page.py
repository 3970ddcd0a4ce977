"""The Lint tab's page: where an answer deviates from the specification, the frame that shows it, a report."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from playground.engine.inspect.lint import Finding, Review, report
from playground.ui.features.inspector.traces import READ_MS, Trace
from playground.ui.widgets.aside import Aside
from playground.ui.widgets.copy_button import CopyButton
from playground.ui.widgets.form_parts import text_label
from playground.ui.widgets.layouts import in_column, in_pages, in_row
from playground.ui.widgets.loop import Throttle
from playground.ui.widgets.page_parts import empty_words, look_like_rows
from playground.ui.widgets.plain_text import show_hidden, tip

MOST = 200  # findings that are listed; the report has all
EMPTY = (
    "No exchange yet. Run the conversation, and what its answer does differently from the specification stands here."
)
NONE = "Nothing to report: the answer is as the specification describes it, and as it was asked for."
NONE_ERROR = "Nothing to report: the error is as the specification describes it."
NONE_SEEN = "Nothing to report of what was seen. {unseen}"
SO_FAR = "Nothing to report so far. When the answer has ended it is compared with its request."
HEAD = "head"  # in the place of a frame: status and headers show it
TITLES = ("Frame", "What it does", "What is expected", "Section")
WIDTHS = (56, 300, 300, 64)
LARGE = 200_000  # bytes of an answer that is reviewed in a thread
EXPECTED = 0.54  # of the room for texts; it names fields, which do not break


class LintPage(QWidget):
    """``show_trace`` says what to look at; ``frame_asked`` carries the number of a frame."""

    frame_asked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._trace: Trace | None = None
        self._review: Review | None = None
        self._seen: tuple[int, bool] | None = None  # findings, whether it was judged
        self.found: tuple[Finding, ...] = ()  # what is shown
        self.throttle = Throttle(self._read, self, READ_MS)
        self._reviewing = Aside(self)
        self.count = text_label("", "small")
        self.count.setWordWrap(True)  # what was not seen is a sentence, and the window may be narrow
        self.copy_button = CopyButton("Copy report", "quiet")
        self.copy_button.setToolTip(tip("A report for those who run the gateway, as Markdown"))
        self.table = _Table()
        self.empty = empty_words(EMPTY)
        self._stack = in_pages(self.empty, self.table)
        bar = in_row((self.count, 1), self.copy_button, margins=(12, 4, 12, 4))
        column = in_column(bar, of=self, margins=0, spacing=0)
        self._stack.setContentsMargins(6, 0, 6, 0)
        column.addWidget(self._stack, 1)
        self.copy_button.clicked.connect(self.copy_report)
        self.table.cellActivated.connect(self._go_to)
        self.table.cellClicked.connect(self._go_to)
        self._show()

    def show_trace(self, trace: Trace | None) -> None:
        """Look at an exchange, or at what is new in it."""
        if trace is not self._trace:
            self._trace, self._seen = trace, None
            self._review = Review(trace.index) if trace is not None else None
            self.throttle.cancel()
            self._reviewing.call_off()
            self._show()
        if trace is not None:
            self.throttle.poke()

    @property
    def busy(self) -> bool:
        """Return whether frames or findings are still to be read."""
        return self.throttle.pending or self._reviewing.busy

    def copy_report(self) -> None:
        """Put the report on the clipboard."""
        if self._trace is not None and self._review is not None:
            self.copy_button.copy(report(self._trace.index, self.found, self._review.unseen))

    def _read(self) -> None:
        trace, review = self._trace, self._review
        if trace is None or review is None or self._reviewing.busy:
            return
        trace.read_frames()
        if trace.index.behind:
            self.throttle.poke()
        large = trace.index.closed and not review.judged and len(trace.exchange.body) > LARGE
        self._reviewing.do(review.read_findings, self._reviewed, large=large)

    def _reviewed(self, _result: None) -> None:
        review = self._review
        if review is None:
            return
        state = len(review.findings), review.judged
        if state != self._seen:
            self._seen = state
            self._show()

    def _show(self) -> None:
        self.found = self._review.findings if self._review is not None else ()
        self.copy_button.setVisible(self._trace is not None)
        self._stack.setCurrentIndex(1 if self.found else 0)
        self.empty.setText(self._nothing())
        count = len(self.found)
        more = f", of which {MOST} are listed" if count > MOST else ""
        words = f"{count} deviation{'s' * (count != 1)} from the specification{more}" if count else ""
        unseen = self._review.unseen if self._review is not None and count else ""
        self.count.setText(f"{words}. {unseen}" if unseen else words)
        self.table.show_findings(self.found[:MOST])

    def _nothing(self) -> str:
        """What stands in the place of findings."""
        trace, review = self._trace, self._review
        if trace is None or review is None:
            return EMPTY
        if not review.judged:
            return SO_FAR if self._seen is not None else ""
        if review.unseen:
            return review.unseen if not review.seen else NONE_SEEN.format(unseen=review.unseen)
        return NONE_ERROR if (trace.exchange.status or 0) >= 300 else NONE

    def _go_to(self, row: int, _column: int) -> None:
        frame = self.found[row].frame if row < len(self.found) else None
        if frame is not None:
            self.frame_asked.emit(frame)


class _Table(QTableWidget):
    """A row for each finding; Enter or a click goes to its frame."""

    def __init__(self) -> None:
        super().__init__(0, len(TITLES))
        self.setProperty("kind", "texts")
        self.setAccessibleName("Deviations")
        self.setAccessibleDescription("Enter goes to the frame that shows it.")
        self.setHorizontalHeaderLabels(TITLES)
        self.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        look_like_rows(self)
        self.setWordWrap(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self._found: tuple[Finding, ...] = ()
        self._filled = 0  # rows that have their texts

    def show_findings(self, found: tuple[Finding, ...]) -> None:
        """Show these; rows that say so already stay."""
        if found[: self._filled] != self._found[: self._filled]:
            self._filled = 0
        self._found, self._filled = found, min(self._filled, len(found))
        self.setRowCount(len(found))
        self._write_rows()

    def _write_rows(self) -> None:
        """Write the new rows, each as high as its texts."""
        for row in range(self._filled, len(self._found)):
            self._write(row, self._found[row])
        self._filled = len(self._found)
        self.resizeRowsToContents()

    def _write(self, row: int, finding: Finding) -> None:
        note = finding.note[:1].upper() + finding.note[1:]
        section = finding.section or "none"
        frame = HEAD if finding.frame is None else str(finding.frame + 1)
        for column, text in enumerate((frame, note, finding.rule, section)):
            item = QTableWidgetItem(show_hidden(text))
            item.setTextAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
            item.setToolTip(tip(f"{finding.code}: {text}" if column == 1 else text))
            self.setItem(row, column, item)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        room = max(self.viewport().width() - WIDTHS[0] - WIDTHS[3], 240)
        expected = round(room * EXPECTED)
        for column, width in enumerate((WIDTHS[0], room - expected, expected, WIDTHS[3])):
            self.setColumnWidth(column, width)
        self.resizeRowsToContents()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentRow() >= 0:
            self.cellActivated.emit(self.currentRow(), 0)
        else:
            super().keyPressEvent(event)
