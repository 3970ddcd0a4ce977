"""The report of an evaluation: a summary of its web page, with buttons to save and open that page.

It is made of plain text, never of HTML, so that texts of models and files are not interpreted.
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
from playground.engine.gateways.redaction import write_output
from playground.jsonkit.texts import cut
from playground.ui.features.evaluate.exports import export_answers, exported
from playground.ui.features.evaluate.model import EvaluationModel
from playground.ui.widgets.dialogs import file_name
from playground.ui.widgets.form_parts import push_button
from playground.ui.widgets.layouts import in_column, in_pages, in_row
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.page_parts import empty_words
from playground.ui.widgets.plain_text import show_hidden
from playground.ui.widgets.theme import BODY_PX, body_font, tokens

MAX_FAILED: Final = 50  # listed answers
NOTHING: Final = "No answers yet. Run the evaluation to get a report."
HOW: Final = (
    "In pairs on the same cases; exact McNemar for passing, a bootstrap over cases for figures; all corrected together "
    "(Holm). Rates have a 95 % Wilson interval, adjusted for repeated cases."
)


def _open_file(path: Path) -> bool:
    return QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))


class ReportView(QWidget):
    """Shows the report. ``reported`` carries a message for the user; ``open_file`` opens the page in the browser."""

    reported = Signal(str)

    def __init__(self, evaluation: EvaluationModel, open_file: Callable[[Path], bool] = _open_file) -> None:
        super().__init__()
        self._evaluation, self._open_file = evaluation, open_file
        self._folder: QTemporaryDir | None = None  # of opened pages, deleted with this view
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
        in_column(tools, (self._pages, 1), parent=self, margins=0, spacing=0)
        evaluation.figured.connect(self._show)
        evaluation.planned.connect(self._show)
        self._show()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_pages"):
            self._show()

    def _show(self) -> None:
        results, findings = self._evaluation.results, self._evaluation.findings
        has_answers = results.count > 0
        self.open.setEnabled(has_answers)
        self.save.setEnabled(has_answers)
        self._pages.setCurrentIndex(int(has_answers))
        if has_answers and findings is not None and self.isVisible():
            place = self.text.verticalScrollBar().value()
            document = _written(self._evaluation.resolved.base.title or "Evaluation", results, findings)
            document.setParent(self.text)
            self.text.setDocument(document)
            self.text.verticalScrollBar().setValue(place)

    # Web page

    def _ask(self, what: str, _checked: bool = False) -> None:
        work = self._save_page() if what == "save" else self._open_page()
        spawn(work, name="the report as a web page")

    async def _save_page(self) -> None:
        if words := await export_answers(self._evaluation, "html", self.window()):
            self.reported.emit(words)

    async def _open_page(self) -> None:
        if self._folder is None:
            self._folder = QTemporaryDir()
        name = f"{file_name(self._evaluation.resolved.base.title, 'evaluation')}.html"
        path = Path(self._folder.path()) / name
        try:
            text = await exported(self._evaluation, "html")
            await asyncio.to_thread(lambda: write_output(path, text, self._evaluation.store.secrets))
        except (OSError, AnswersError) as error:
            self.reported.emit(
                f"The page could not be written: {error}. Use “Save as web page…” to choose another place."
            )
            return
        if not self._open_file(path):
            self.reported.emit("No browser could be opened. Use “Save as web page…” to write a file.")


def _written(title: str, results: Results, findings: Findings) -> QTextDocument:
    """Return the report in a document that is not shown yet, so that it is laid out only once."""
    document = QTextDocument()
    document.setDocumentMargin(18)
    _Writer(document).write(title, results, findings)
    return document


class _Writer:
    """Writes the report into a document, in the colours of the current scheme."""

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
        text_format = QTextCharFormat()
        text_format.setFont(font)
        text_format.setForeground(QColor(colour))
        return text_format

    def write(self, title: str, results: Results, findings: Findings) -> None:
        """Write the whole report."""
        resolved, plan = results.resolved, results.resolved.plan
        self._line(title, self._title)
        counts = f"{len(resolved.cases):,} cases × {len(resolved.columns)} variants × {plan.repeats} repeats"
        self._line(f"{counts} · {results.count:,} answers · seed {plan.seed}", self._muted)
        self._heading("Findings")
        for sentence in findings.sentences or ["Answers aren't scored. Add a check to compare pass rates."]:
            self._line(sentence, self._bold)
        self._heading("Details")
        for entry in findings.comparisons:
            self._line(f"•  {entry.words}", self._plain)
        if len(resolved.columns) < 2:
            self._line("Only one variant: nothing to compare.", self._plain)
        elif not findings.comparisons:
            self._line("Variants are compared when the run has ended.", self._plain)
        self._line(HOW, self._muted)
        self._heading("Variants")
        header = ("Variant", "Model", "Passed", "95 % interval", "Failed to answer", "Not judged", "Seconds", "Price")
        self._table(header, [_of_column(entry) for entry in findings.columns])
        if findings.checks:
            self._heading("Checks")
            rows = [
                (entry.title, cut(entry.words, 200), entry.rate.words, str(entry.not_judged))
                for entry in findings.checks
            ]
            self._table(("Check", "Condition", "Passed", "Not judged"), rows)
        self._heading("Answers that failed")
        failed = _failed(results, findings)
        wrong = list(islice(failed, MAX_FAILED))
        if wrong:
            self._table(("Case", "Variant", "Repeats", "Why"), wrong)
        else:
            self._line("None.", self._plain)
        if len(wrong) == MAX_FAILED:
            self._line("The web page lists all of them with their answers.", self._muted)

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
                cell = table.cellAt(row, column).firstCursorPosition()
                cell.insertText(show_hidden(words), self._muted if row == 0 else self._plain)
        self._cursor.movePosition(QTextCursor.MoveOperation.End)


def _of_column(result: ColumnResult) -> tuple[str, ...]:
    return (
        result.column.label,
        result.column.settings.model,
        f"{result.rate.passed:,} of {result.rate.judged:,}",
        result.rate.words,
        str(result.failed),
        str(result.not_judged),
        f"{result.medians['seconds']:.2f}" if "seconds" in result.medians else "",
        result.price,
    )


def _failed(results: Results, findings: Findings) -> Iterator[tuple[str, ...]]:
    """Yield a row for each cell with a failed answer."""
    for case in results.resolved.cases:
        if case.id not in findings.failing:
            continue
        for column in results.resolved.columns:
            cell = results.cell(case, column)
            if not cell.failing:
                continue
            wrong = [
                answer
                for answer, mark in zip(cell.answers, cell.marks, strict=True)
                if answer is not None and (answer.failure or mark is False)
            ]
            why = next((answer.failure for answer in wrong if answer.failure), "")
            why = why or results.failed_checks(case, wrong[0])[0]
            count = f"{len(wrong)} of {len(cell.answers)}"
            yield results.resolved.title(case), column.letter, count, cut(why, 200)
