"""One lane of a fork as a column: its answer, its calls, its text, and what can be done with it.

The parts are put into the rows of a common grid, so that what belongs together stands side by side in all lanes.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor, QTextOption
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QTextEdit,
    QWidget,
)

from playground.domain.debugging import Answer
from playground.ui.features.debugger.lane_report import LaneReport, differences
from playground.ui.features.debugger.rule_words import answer_words
from playground.ui.widgets.exact_field import units
from playground.ui.widgets.form_parts import look, styled, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.theme import code_font, tokens

COLUMN = 282  # least width, pixels
ROWS = 6
SIDE = 14  # pixels between the frame and what stands in it
LONGEST = 400_000  # characters of an outcome that are shown
MOST_CALLS = 12


class LaneColumn(QObject):
    """``place`` puts it into a column of a grid. ``show_asked`` and ``stop_asked`` are its buttons'."""

    show_asked = Signal()
    stop_asked = Signal()

    def __init__(self, number: int, answer: Answer, parent: QWidget) -> None:
        super().__init__(parent)
        name = f"Lane {number}"
        self.frame = styled(QFrame(), "card")
        self.frame.setMinimumWidth(COLUMN)
        self.title = text_label(name, "heading")
        self.state = text_label("", "chip")
        self.state.setAccessibleName(f"State of {name.lower()}")
        self.answer = _text(code=True)
        self.answer.setText(answer_words(answer, 160))
        self.answer.setToolTip(tip(answer.text[:4000]))
        self.figures = _text(kind="small")
        self.calls = _text(code=True)
        self.outcome = OutcomeText(f"Outcome of {name.lower()}")
        self.why = _text(kind="small")
        self.show_button = QPushButton("Show this branch")
        self.show_button.setAccessibleName(f"Show the branch of {name.lower()}")
        self.stop_button = QPushButton("Stop")
        self.stop_button.setAccessibleName(f"Stop {name.lower()}")
        for button in (self.show_button, self.stop_button):
            button.setAutoDefault(False)
        self.show_button.clicked.connect(self.show_asked)
        self.stop_button.clicked.connect(self.stop_asked)

    def place(self, grid: QGridLayout, at: int) -> None:
        """Put the parts into a column of the grid, its frame behind them."""
        head = in_row(self.title, 1, self.state)
        buttons = in_row(self.show_button, self.stop_button, 1, spacing=6)
        grid.addWidget(self.frame, 0, at, ROWS, 1)
        cells = (
            _cell(head, self.figures, top=10),
            _cell(_caption("Answer given"), self.answer),
            _cell(_caption("Calls"), self.calls),
            _cell(_caption("Outcome"), self.outcome),
            _cell(self.why),
            _cell(buttons, bottom=12),
        )
        for row, cell in enumerate(cells):
            grid.addWidget(cell, row, at)
            cell.raise_()
        grid.setColumnStretch(at, 1)

    def show_report(self, report: LaneReport, base: LaneReport | None) -> None:
        """Show how it stands; ``base`` is the lane it is compared with, None for none."""
        self.state.setText(report.state)
        look(self.state, f"chip-{report.look}" if report.look else "chip")
        self.state.updateGeometry()
        self.figures.setText(report.figures)
        known = {call.asks for call in base.calls} if base is not None else None
        lines = [
            f"{'≠ ' if known is not None and call.asks not in known else ''}{call.words}"
            for call in report.calls[:MOST_CALLS]
        ]
        more = len(report.calls) - MOST_CALLS
        self.calls.setText("\n".join([*lines, *([f"and {more} more"] if more > 0 else [])]) or "none")
        compared = base is not None and not report.running and not base.running
        self.outcome.show_text(report.text, base.text if base is not None and compared else None)
        self.why.setText(show_hidden(report.why))
        look(self.why, "error" if report.look == "error" else "small")
        self.stop_button.setVisible(report.running)
        self.show_button.setEnabled(bool(report.root) and not report.shown)
        self.show_button.setText("Shown in the conversation" if report.shown else "Show this branch")


class OutcomeText(QPlainTextEdit):
    """The text of an outcome, read only. What differs from another text is underlined on a ground of its own."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._shown: tuple[str, str | None] = ("", None)
        self.setProperty("kind", "outcome")
        self.setAccessibleName(name)
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setTabChangesFocus(True)
        self.setPlaceholderText("no text yet")
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(0)
        self.setMinimumHeight(90)

    def show_text(self, text: str, base: str | None) -> None:
        """Show a text, what is not in ``base`` marked. Text that only grew is appended, and the view stays put."""
        if (text, base) == self._shown:
            return
        before, self._shown = self._shown[0], (text, base)
        shown = _readable(text)
        if before and text.startswith(before) and len(text) <= LONGEST:
            if text != before:
                cursor = QTextCursor(self.document())
                cursor.movePosition(QTextCursor.MoveOperation.End)
                cursor.insertText(shown[len(_readable(before)) :])
        else:
            self.setPlainText(shown)
        self._mark()

    def _mark(self) -> None:
        text, base = self._shown
        marks: list[QTextEdit.ExtraSelection] = []
        if base is not None:
            shown = _readable(text)
            form = QTextCharFormat()
            form.setBackground(QColor(tokens().accent_background))
            form.setFontUnderline(True)
            for begin, end in differences(shown, _readable(base)):
                mark = QTextEdit.ExtraSelection()
                cursor = QTextCursor(self.document())
                cursor.setPosition(units(shown[:begin]))
                cursor.setPosition(units(shown[:end]), QTextCursor.MoveMode.KeepAnchor)
                mark.cursor = cursor
                mark.format = form
                marks.append(mark)
        self.setExtraSelections(marks)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._mark()


def _readable(text: str) -> str:
    """As it can be shown: hidden characters as marks, one kind of line end, cut where it is very long."""
    return show_hidden(text[:LONGEST]).replace("\r\n", "\n").replace("\r", "\n")


def _caption(text: str) -> QLabel:
    return text_label(text, "group")


def _text(kind: str = "", *, code: bool = False) -> QLabel:
    label = QLabel(
        textFormat=Qt.TextFormat.PlainText,
        wordWrap=True,
        textInteractionFlags=Qt.TextInteractionFlag.TextSelectableByMouse,
    )
    label.setProperty("kind", kind)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    label.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
    if code:
        label.setFont(code_font())
    return label


def _cell(*parts: QWidget | QHBoxLayout, top: int = 0, bottom: int = 8) -> QWidget:
    cell = QWidget()
    column = in_column(of=cell, margins=(SIDE, top, SIDE, bottom), spacing=2)
    for part in parts:
        if isinstance(part, QWidget):
            column.addWidget(part, 1 if isinstance(part, OutcomeText) else 0)
        else:
            column.addLayout(part)
    if not any(isinstance(part, OutcomeText) for part in parts):
        column.addStretch(1)
    return cell
