"""The spec check of a response: its deviations from the specification, the events that show them, a report."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QTableWidget, QTableWidgetItem, QWidget

from playground.engine.inspect.lint import Finding, Review, report
from playground.jsonkit.texts import quantity
from playground.ui.features.inspector.traces import READ_MS, Trace
from playground.ui.widgets.aside import Aside
from playground.ui.widgets.copy_button import CopyButton
from playground.ui.widgets.form_parts import paragraph
from playground.ui.widgets.layouts import in_column, in_pages
from playground.ui.widgets.loop import Throttle
from playground.ui.widgets.page_parts import empty_words, look_like_rows
from playground.ui.widgets.plain_text import show_hidden, tip

MAX_LISTED = 200  # findings; the report has all
NO_PROBLEMS = "No problems found"
PENDING = "No problems so far. The check ends with the response."
HEADERS = "headers"  # instead of an event
TITLES = ("Event", "Problem", "Expected", "Section")
WIDTHS = (64, 300, 300, 64)
LARGE = 200_000  # bytes of a response that is checked on another thread
EXPECTED_SHARE = 0.54  # of the room for texts: field names do not wrap


class SpecCheck(QWidget):
    """``event_asked`` carries the number of an event; ``changed``: events were read.

    ``copy_button`` is placed by the owner.
    """

    event_asked = Signal(int)
    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._trace: Trace | None = None
        self._review: Review | None = None
        self._shown: tuple[int, bool] | None = None  # number of findings, whether the check is complete
        self.throttle = Throttle(self._read, self, READ_MS)
        self._reviewing = Aside(self)
        self.note = paragraph("", "small")
        self.copy_button = CopyButton("Copy report", "quiet")
        self.copy_button.setToolTip(tip("A report for the operator of the gateway, as Markdown"))
        self.table = _Table()
        self.empty = empty_words("")
        self._pages = in_pages(self.empty, self.table)
        self._pages.setContentsMargins(6, 0, 6, 0)
        self.note.setContentsMargins(12, 0, 12, 4)
        self.note.hide()
        in_column(self.note, (self._pages, 1), parent=self, margins=0, spacing=0)
        self.copy_button.clicked.connect(self._copy_report)
        self.table.cellActivated.connect(self._go_to_event)
        self.table.cellClicked.connect(self._go_to_event)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings so far."""
        return self._review.findings if self._review is not None else ()

    @property
    def summary(self) -> str:
        """The result in a few words; empty while nothing is known."""
        count = len(self.findings)
        if count:
            return f"Spec check: {quantity(count, 'problem')}"
        complete = self._review is not None and self._review.judged
        return NO_PROBLEMS if complete and self._review is not None and self._review.seen else ""

    def show_trace(self, trace: Trace | None) -> None:
        """Check another response, or what is new in the same one."""
        if trace is not self._trace:
            self._trace, self._shown = trace, None
            self._review = Review(trace.index) if trace is not None else None
            self.throttle.cancel()
            self._reviewing.call_off()
            self._show()
        if trace is not None:
            self.throttle.poke()

    def _copy_report(self) -> None:
        if self._trace is not None and self._review is not None:
            self.copy_button.copy(report(self._trace.index, self.findings, self._review.unseen))

    def _read(self) -> None:
        trace, review = self._trace, self._review
        if trace is None or review is None or self._reviewing.busy:
            return
        trace.read_frames()
        if trace.index.behind:
            self.throttle.poke()
        large = trace.index.closed and not review.judged and trace.exchange.size > LARGE
        self._reviewing.do(review.read_findings, self._reviewed, large=large)

    def _reviewed(self, _result: None) -> None:
        review = self._review
        if review is not None and (len(review.findings), review.judged) != self._shown:
            self._shown = len(review.findings), review.judged
            self._show()
        else:
            self.changed.emit()

    def _show(self) -> None:
        count = len(self.findings)
        self._pages.setCurrentIndex(1 if count else 0)
        self.empty.setText(self._empty_words())
        notes = [f"The first {MAX_LISTED} are listed."] if count > MAX_LISTED else []
        if count and self._review is not None and self._review.unseen:
            notes.append(self._review.unseen)
        self.note.setText(" ".join(notes))
        self.note.setVisible(bool(notes))
        self.table.show_findings(self.findings[:MAX_LISTED])
        self.changed.emit()

    def _empty_words(self) -> str:
        """Return the sentence to show without findings."""
        review = self._review
        if review is None or not review.judged:
            return PENDING if self._shown is not None else ""
        if review.unseen:
            return f"{NO_PROBLEMS} in what was received. {review.unseen}" if review.seen else review.unseen
        return f"{NO_PROBLEMS}."

    def _go_to_event(self, row: int, _column: int) -> None:
        event = self.findings[row].frame if row < len(self.findings) else None
        if event is not None:
            self.event_asked.emit(event)


class _Table(QTableWidget):
    """A row for each finding; Enter or a click goes to its event."""

    def __init__(self) -> None:
        super().__init__(0, len(TITLES))
        self._findings: tuple[Finding, ...] = ()
        self.setProperty("kind", "texts")
        self.setAccessibleName("Problems")
        self.setAccessibleDescription("Enter shows the event.")
        self.setHorizontalHeaderLabels(TITLES)
        self.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        look_like_rows(self)
        self.setWordWrap(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)

    def show_findings(self, findings: tuple[Finding, ...]) -> None:
        """Show these; rows that are the same stay."""
        same = len(self._findings) if findings[: len(self._findings)] == self._findings else 0
        self._findings = findings
        self.setRowCount(len(findings))
        for row in range(same, len(findings)):
            self._fill_row(row, findings[row])
        self.resizeRowsToContents()

    def _fill_row(self, row: int, finding: Finding) -> None:
        problem = finding.note[:1].upper() + finding.note[1:]
        event = HEADERS if finding.frame is None else str(finding.frame + 1)
        for column, text in enumerate((event, problem, finding.rule, finding.section or "none")):
            item = QTableWidgetItem(show_hidden(text))
            item.setTextAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
            item.setToolTip(tip(f"{finding.code}: {text}" if column == 1 else text))
            self.setItem(row, column, item)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        room = max(self.viewport().width() - WIDTHS[0] - WIDTHS[3], 240)
        expected = round(room * EXPECTED_SHARE)
        for column, width in enumerate((WIDTHS[0], room - expected, expected, WIDTHS[3])):
            self.setColumnWidth(column, width)
        self.resizeRowsToContents()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentRow() >= 0:
            self.cellActivated.emit(self.currentRow(), 0)
        else:
            super().keyPressEvent(event)
