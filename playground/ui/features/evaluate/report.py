"""The report of an evaluation: what its web page says, in short, with the ways to the page itself.

It is put together of plain texts, never of HTML: what a model or a file says stays words.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from PySide6.QtCore import QEvent, QTemporaryDir, QUrl, Signal
from PySide6.QtGui import (
    QColor,
    QDesktopServices,
    QFont,
    QShowEvent,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFrameFormat,
    QTextLength,
    QTextTableFormat,
)
from PySide6.QtWidgets import QFrame, QTextEdit, QWidget

from playground.engine.evaluation.answers import AnswersError
from playground.engine.evaluation.results import ColumnResult, Findings, Results
from playground.engine.gateways.redacted_output import write_output
from playground.jsonkit.texts import cut
from playground.ui.features.evaluate.exports import export_answers, exported
from playground.ui.features.evaluate.look import Look
from playground.ui.widgets.dialogs import file_name
from playground.ui.widgets.form_parts import push_button
from playground.ui.widgets.layouts import in_column, in_pages, in_row
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.page_parts import empty_words
from playground.ui.widgets.plain_text import show_hidden
from playground.ui.widgets.theme import BODY_PX, body_font, tokens

MOST: Final = 50  # answers that are listed as failing
NOTHING: Final = "No answers yet: the report is written as they come. Run the evaluation to ask for them."
HOW: Final = (
    "In pairs on the same cases; exact McNemar for passing, a bootstrap over cases for figures; all corrected together "
    "(Holm). Rates have a 95 % Wilson interval, repeats of a case counted as alike as they are."
)


def _open_file(path: Path) -> bool:
    return QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))


class ReportView(QWidget):
    """``said`` tells what became of a page. ``open_file`` has the desktop open it."""

    said = Signal(str)

    def __init__(self, look: Look, open_file: Callable[[Path], bool] = _open_file) -> None:
        super().__init__()
        self._look, self._open_file = look, open_file
        self._folder: QTemporaryDir | None = None  # of pages that were opened; gone with this view
        self.save = push_button("Save as web page…")
        self.save.clicked.connect(partial(self._ask, "save"))
        self.open = push_button("Open in browser")
        self.open.clicked.connect(partial(self._ask, "open"))
        self.text = QTextEdit(readOnly=True)
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setAccessibleName("Report")
        self.empty = empty_words(NOTHING)
        self._pages = in_pages(self.empty, self.text)
        self.setFocusProxy(self.text)
        tools = in_row(1, self.open, self.save, margins=(18, 8, 18, 8), spacing=8)
        in_column(tools, (self._pages, 1), of=self, margins=0, spacing=0)
        look.figured.connect(self._show)
        look.planned.connect(self._show)
        self._show()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_pages"):
            self._show()

    def _show(self) -> None:
        results, findings = self._look.results, self._look.findings
        there = results.count > 0
        self.open.setEnabled(there)
        self.save.setEnabled(there)
        self._pages.setCurrentIndex(int(there))
        if there and findings is not None and self.isVisible():
            place = self.text.verticalScrollBar().value()
            document = _written(self._look.resolved.base.title or "Evaluation", results, findings)
            document.setParent(self.text)
            self.text.setDocument(document)
            self.text.verticalScrollBar().setValue(place)

    # The page itself

    def _ask(self, what: str, _checked: bool = False) -> None:
        work = self._save_page() if what == "save" else self._open_page()
        spawn(work, name="the report as a web page")

    async def _save_page(self) -> None:
        if words := await export_answers(self._look, "html", self.window()):
            self.said.emit(words)

    async def _open_page(self) -> None:
        if self._folder is None:
            self._folder = QTemporaryDir()
        name = f"{file_name(self._look.resolved.base.title, 'evaluation')}.html"
        path = Path(self._folder.path()) / name
        try:
            text = await exported(self._look, "html")
            await asyncio.to_thread(lambda: write_output(path, text, self._look.store.secrets))
        except (OSError, AnswersError) as error:
            self.said.emit(f"The page could not be made: {error}. “Save as web page…” writes it elsewhere.")
            return
        if not self._open_file(path):
            self.said.emit("There is no browser that opens it here. “Save as web page…” writes it to a file.")


def _written(title: str, results: Results, findings: Findings) -> QTextDocument:
    """The report, not yet shown: what is laid out as it is written takes fifty times as long."""
    document = QTextDocument()
    document.setDocumentMargin(18)
    _Writer(document).write(title, results, findings)
    return document


class _Writer:
    """Puts the report into a text, in the colours in force."""

    def __init__(self, text: QTextDocument) -> None:
        self._cursor = QTextCursor(text)
        t = tokens()
        self._plain, self._muted = self._format(t.text), self._format(t.muted)
        self._bold = self._format(t.text, bold=True)
        self._title = self._format(t.text, bold=True, size=BODY_PX + 5)

    @staticmethod
    def _format(colour: str, *, bold: bool = False, size: int = BODY_PX) -> QTextCharFormat:
        font = QFont(body_font(size))
        font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
        made = QTextCharFormat()
        made.setFont(font)
        made.setForeground(QColor(colour))
        return made

    def write(self, title: str, results: Results, findings: Findings) -> None:
        """All of it."""
        resolved, plan = results.resolved, results.resolved.plan
        self._line(title, self._title)
        counts = f"{len(resolved.cases):,} cases × {len(resolved.columns)} variants × {plan.repeats} repeats"
        self._line(f"{counts} · {results.count:,} answers · seed {plan.seed}", self._muted)
        self._heading("What can be told")
        for one in findings.comparisons:
            self._line(f"•  {one.words}", self._bold if one.sure else self._plain)
        if len(resolved.columns) < 2:
            self._line("There is one variant: nothing is compared.", self._plain)
        elif not findings.comparisons:
            self._line("Variants are compared as soon as the run rests.", self._plain)
        self._line(HOW, self._muted)
        self._heading("Variants")
        header = ("Variant", "Model", "Passed", "95 % interval", "Failed to answer", "Not judged", "Seconds", "Price")
        self._table(header, [_of_column(one) for one in findings.columns])
        if findings.checks:
            self._heading("Checks")
            rows = [(one.title, cut(one.words, 200), one.rate.words, str(one.not_judged)) for one in findings.checks]
            self._table(("Check", "Asks for", "Passed", "Not judged"), rows)
        self._heading("Answers that failed")
        failed = _failed(results, findings)
        wrong = list(islice(failed, MOST))
        if wrong:
            self._table(("Case", "Variant", "Repeats", "Why"), wrong)
        else:
            self._line("None.", self._plain)
        if len(wrong) == MOST:
            self._line("The web page lists all of them, with what was answered.", self._muted)

    def _line(self, words: str, how: QTextCharFormat) -> None:
        self._cursor.insertText(show_hidden(words), how)
        self._cursor.insertBlock()

    def _heading(self, words: str) -> None:
        block = QTextBlockFormat()
        block.setTopMargin(16)
        block.setBottomMargin(4)
        self._cursor.setBlockFormat(block)
        self._cursor.insertText(words, self._bold)
        self._cursor.insertBlock(QTextBlockFormat())

    def _table(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        shape = QTextTableFormat()
        shape.setBorderCollapse(True)
        shape.setBorder(1)
        shape.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
        shape.setBorderBrush(QColor(tokens().line))
        shape.setCellPadding(5)
        shape.setHeaderRowCount(1)
        shape.setBottomMargin(12)
        shape.setWidth(QTextLength(QTextLength.Type.PercentageLength, 98))
        table = self._cursor.insertTable(len(rows) + 1, len(header), shape)
        for row, cells in enumerate((header, *rows)):
            for column, words in enumerate(cells):
                at = table.cellAt(row, column).firstCursorPosition()
                at.insertText(show_hidden(words), self._muted if row == 0 else self._plain)
        self._cursor.movePosition(QTextCursor.MoveOperation.End)


def _of_column(one: ColumnResult) -> tuple[str, ...]:
    return (
        one.column.title,
        one.column.settings.model,
        f"{one.rate.passed:,} of {one.rate.judged:,}",
        one.rate.words,
        str(one.failed),
        str(one.not_judged),
        f"{one.medians['seconds']:.2f}" if "seconds" in one.medians else "",
        one.price,
    )


def _failed(results: Results, findings: Findings) -> Iterator[tuple[str, ...]]:
    """A row for each cell that has an answer which failed."""
    for case in results.resolved.cases:
        if case.id not in findings.failing:
            continue
        for column in results.resolved.columns:
            cell = results.cell(case, column)
            if not cell.failing:
                continue
            wrong = [
                one
                for one, mark in zip(cell.answers, cell.marks, strict=True)
                if one is not None and (one.failure or mark is False)
            ]
            why = next((one.failure for one in wrong if one.failure), "") or next(
                f"{check.title}: {verdict.reason}"
                for check, verdict in results.verdicts(case, wrong[0])
                if verdict is not None and verdict.passed is False
            )
            count = f"{len(wrong)} of {len(cell.answers)}"
            yield results.resolved.title(case), column.letter, count, cut(why, 200)
