"""The answer table of one tool: its rows in order, the editor of the one selected, and ready rows for faults.

It gets the rows and hands back new ones; it holds no truth. The first row that fits a call answers it.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QIcon, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QBoxLayout,
    QFrame,
    QHeaderView,
    QLabel,
    QMenu,
    QPushButton,
    QSizePolicy,
    QTableWidget,
    QTableWidgetItem,
    QToolButton,
    QWidget,
)

from playground.domain.debugging import FAULTS, AnswerRow, MatchKind
from playground.engine.questions.kinds import RowFits
from playground.jsonkit.reading import problem_at
from playground.ui.features.debugger.answer_field import AnswerField
from playground.ui.features.debugger.path_field import PathField
from playground.ui.features.debugger.texts import answer_words, match_words, one_line
from playground.ui.widgets.asking import Asking
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.form_parts import look, paragraph, styled, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.icons import icon
from playground.ui.widgets.json_text import pretty
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import tip
from playground.ui.widgets.problem_line import LONG_WORD
from playground.ui.widgets.segments import Segments

ROW_HEIGHT = 26
MOST_ROWS = 7  # shown at once; more of them scroll
NUMBER, MARK, MATCH, ANSWER = range(4)
NAMES = ("Row", "Note", "Arguments", "Answer")
MOST_NOTES = 3
BESIDE = 600  # pixels; in a wider place the editor stands beside the table, else below it

KINDS: Final = (MatchKind.ANY, MatchKind.EQUAL, MatchKind.PATH)
TITLES: Final = ("Any", "Equal to", "JSONPath")
FRAME = 18  # pixels of border and padding above and below the lines


class RowEditor(QFrame):
    """``set_row`` shows a row, ``changed`` tells the one a person made of it."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "field-block")
        self._row = AnswerRow()
        self._latest: str | None = None
        self._showing = False
        self._asking = Asking(self)
        self._asking.answered.connect(self._dress)
        self.kinds = Segments(TITLES, "Which arguments the row is for")
        self.take_button = styled(QPushButton("From the latest call"), "link")
        self.take_button.setToolTip(tip("Put the arguments of the latest call of this tool here"))
        self.pattern = CodeEditor()
        self.pattern.setAccessibleName("Arguments the row is for")
        self.pattern.setPlaceholderText('{"city": "Oslo"}')
        self.pattern.set_wheel_needs_focus()
        self.pattern.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.path = PathField("JSONPath the row is for")
        self.said = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.answer = AnswerField("Answer")
        title = text_label("When the arguments are", "group")
        head = in_row(self.kinds, 1, spacing=6)
        column = in_column(title, head, self.pattern, self.path, self.said, of=self, margins=(10, 8, 10, 10), spacing=4)
        column.addWidget(self.take_button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addSpacing(4)
        column.addWidget(self.answer)
        self.kinds.chosen.connect(self._kind_chosen)
        self.pattern.textChanged.connect(self._pattern_typed)
        self.path.edited.connect(self._path_typed)
        self.take_button.clicked.connect(self.take_latest)
        self.answer.changed.connect(self._answered)

    @property
    def row(self) -> AnswerRow:
        """The row as edited."""
        return self._row

    def set_row(self, row: AnswerRow, latest: str | None = None) -> None:
        """Show a row without telling anyone; ``latest`` are the raw arguments of the latest call, None without one."""
        another = row != self._row
        self._row, self._latest = row, latest
        self._showing = True
        self.kinds.set_index(KINDS.index(row.match))
        if another:  # what was typed for the other kinds of match was another row's
            self.pattern.setPlainText(row.pattern if row.match is MatchKind.EQUAL else "")
            self.path.show_path(row.pattern if row.match is MatchKind.PATH else "", latest)
        self.answer.set_answer(row.answer)
        self._showing = False
        self._dress()

    def take_latest(self) -> None:
        """The row is for calls like the latest one."""
        if self._latest is None:
            return
        text = self._latest.strip() or "{}"
        self._change(match=MatchKind.EQUAL, pattern=text if problem_at(text) else pretty(text))
        self.set_row(self._row, self._latest)

    def _kind_chosen(self, index: int) -> None:
        kind = KINDS[index]
        pattern = {MatchKind.EQUAL: self.pattern.text(), MatchKind.PATH: self.path.line.text()}.get(kind, "")
        self._change(match=kind, pattern=pattern)

    def _pattern_typed(self) -> None:
        if not self._showing:
            self._change(pattern=self.pattern.text())

    def _path_typed(self, text: str) -> None:
        self._change(pattern=text)

    def _answered(self, answer: object) -> None:
        self._change(answer=answer)

    def _change(self, **changes: object) -> None:
        row = self._row.model_copy(update=changes)
        self._row, before = row, self._row
        self._dress()
        if row != before:
            self.changed.emit(row)

    def _dress(self) -> None:
        row = self._row
        equal = row.match is MatchKind.EQUAL
        self.pattern.setVisible(equal)
        self.path.setVisible(row.match is MatchKind.PATH)
        if row.match is MatchKind.PATH:
            self.path.show_path(row.pattern, self._latest)
        lines = min(max(self.pattern.document().blockCount(), 2), 8)
        self.pattern.setFixedHeight(lines * self.pattern.fontMetrics().lineSpacing() + FRAME)
        words, bad = self._equal_words() if equal else ("", False)
        self.said.setText(words)
        self.said.setVisible(bool(words))
        look(self.said, "flag-error" if bad else "small")
        look(self.pattern, "true" if bad else "false", "bad")
        found = self._asking.ask(RowFits(row, self._latest), alone=True)
        fits = found is not None and bool(found.fits)
        self.take_button.setVisible(
            self._latest is not None and row.match is not MatchKind.PATH and not (equal and fits)
        )

    def _equal_words(self) -> tuple[str, bool]:
        """What is said below the pattern, and whether that is an error."""
        row = self._row
        if not row.pattern.strip():
            return "Type the arguments as JSON; the row fits no call until then.", False
        found = self._asking.ask(RowFits(row, self._latest), alone=True)
        if found is None:
            return "Checking…", False
        if found.costly:
            return f"Too costly to check against the latest call: {found.costly}.", False
        if found.problem:
            broken = problem_at(row.pattern)
            where = f"line {broken.line}, column {broken.column}: {broken.message}" if broken else found.problem
            return f"Not JSON: {where}. The row fits no call.", True
        if self._latest is None:
            return "", False
        return "Equals the latest call." if found.fits else "Not the latest call.", False


class AnswerTable(QWidget):
    """``set_rows`` shows rows, ``changed`` tells the new tuple of them."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[AnswerRow, ...] = ()
        self._latest: str | None = None
        self._showing = False
        self.add_button = QPushButton("Add row")
        self.fault_button = styled(QToolButton(), "button")
        self.fault_button.setText("Add fault")
        self.fault_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.fault_button.setToolTip(tip("A ready row for trying out how a model takes a tool that fails"))
        menu = QMenu(self.fault_button)
        for number, (name, _) in enumerate(FAULTS):
            menu.addAction(name).triggered.connect(partial(self._add_fault, number))
        self.fault_button.setMenu(menu)
        self.duplicate_button = IconButton("copy", "Duplicate the row (Ctrl+D)", quiet=False)
        self.up_button = IconButton("up", "Move the row up (Alt+Up)", quiet=False)
        self.down_button = IconButton("down", "Move the row down (Alt+Down)", quiet=False)
        self.delete_button = IconButton("delete", "Delete the row (Delete in the table)", quiet=False)
        self._asking = Asking(self)
        self._asking.answered.connect(self._fill)
        self.table = _Table()
        self.said = paragraph("", "small")
        self.said.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.editor = RowEditor()
        self._arrange()
        self._connect()
        self._show(-1)

    @property
    def rows(self) -> tuple[AnswerRow, ...]:
        """The rows as edited."""
        return self._rows

    @property
    def selected(self) -> int:
        """The row in the editor; -1 for none."""
        return self.table.currentRow()

    @property
    def fitting(self) -> int:
        """The row that answers the latest call; -1 for none."""
        if self._latest is None:
            return -1
        for at, row in enumerate(self._rows):
            found = self._asking.ask(RowFits(row, self._latest))
            if found is None or found.costly:
                return -1  # what comes after it is not reached for certain
            if found.fits:
                return at
        return -1

    def set_rows(self, rows: tuple[AnswerRow, ...], latest: str | None = None) -> None:
        """Show rows without telling anyone; ``latest`` are the raw arguments of the latest call of this tool."""
        if rows == self._rows and latest == self._latest:
            return
        self._rows, self._latest = rows, latest
        self._show(self.selected if self.selected >= 0 else self.fitting)

    def select(self, at: int) -> None:
        """Put a row into the editor."""
        self._show(at)

    # Commands

    def add_row(self) -> None:
        """A new row for the latest call's arguments, or for any; it comes before the first row for any."""
        if self._latest is not None and self.fitting < 0:
            self._insert(AnswerRow(match=MatchKind.EQUAL, pattern=self._latest.strip() or "{}"))
        else:
            self._insert(AnswerRow(match=MatchKind.EQUAL if self._rows else MatchKind.ANY))
        row = self.editor.row
        first = row.match is MatchKind.EQUAL and not row.pattern
        (self.editor.pattern if first else self.editor.answer.text).setFocus(Qt.FocusReason.OtherFocusReason)

    def duplicate(self) -> None:
        """A copy of the selected row below it."""
        if self.selected >= 0:
            at = self.selected
            self._tell((*self._rows[: at + 1], self._rows[at], *self._rows[at + 1 :]), at + 1)

    def delete(self) -> None:
        """Remove the selected row."""
        at = self.selected
        if at >= 0:
            self._tell((*self._rows[:at], *self._rows[at + 1 :]), min(at, len(self._rows) - 2))

    def move_row(self, steps: int) -> None:
        """Move the selected row up (-1) or down (1)."""
        at, to = self.selected, self.selected + steps
        if at >= 0 and 0 <= to < len(self._rows):
            rows = list(self._rows)
            rows.insert(to, rows.pop(at))
            self._tell(tuple(rows), to)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        beside = event.size().width() >= BESIDE
        direction = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        self._halves.setDirection(direction)

    # Inside

    def _arrange(self) -> None:
        bar = in_row(self.add_button, self.fault_button, 1, spacing=4)
        for button in (self.duplicate_button, self.up_button, self.down_button, self.delete_button):
            button.setFixedSize(24, 24)
            bar.addWidget(button)
        left = QWidget()
        in_column(bar, self.table, self.said, 1, of=left, margins=0, spacing=6)
        self._halves = QBoxLayout(QBoxLayout.Direction.TopToBottom, self)
        self._halves.setContentsMargins(0, 0, 0, 0)
        self._halves.setSpacing(12)
        self._halves.addWidget(left, 1)
        self._halves.addWidget(self.editor, 1)

    def _connect(self) -> None:
        self.add_button.clicked.connect(self.add_row)
        self.duplicate_button.clicked.connect(self.duplicate)
        self.delete_button.clicked.connect(self.delete)
        self.up_button.clicked.connect(partial(self.move_row, -1))
        self.down_button.clicked.connect(partial(self.move_row, 1))
        self.table.delete_asked.connect(self.delete)
        self.table.duplicate_asked.connect(self.duplicate)
        self.table.move_asked.connect(self.move_row)
        self.table.itemSelectionChanged.connect(self._selected)
        self.editor.changed.connect(self._edited)

    def _add_fault(self, number: int, _checked: bool = False) -> None:
        self._insert(FAULTS[number][1])

    def _insert(self, row: AnswerRow) -> None:
        """Above the first row for any arguments: below it nothing is reached."""
        last = len(self._rows)
        at = next((n for n, kept in enumerate(self._rows) if kept.match is MatchKind.ANY), last)
        self._tell((*self._rows[:at], row, *self._rows[at:]), at)

    def _edited(self, row: AnswerRow) -> None:
        at = self.selected
        if at >= 0:
            self._rows = (*self._rows[:at], row, *self._rows[at + 1 :])
            self._fill()
            self.changed.emit(self._rows)

    def _tell(self, rows: tuple[AnswerRow, ...], selected: int) -> None:
        self._rows = rows
        self._show(selected)
        self.changed.emit(rows)

    def _selected(self) -> None:
        if not self._showing:
            self._show(self.selected)

    def _show(self, selected: int) -> None:
        selected = min(max(selected, 0), len(self._rows) - 1)
        self._fill()
        self._showing = True
        self.table.setCurrentCell(selected, MATCH if selected >= 0 else -1)
        self._showing = False
        self.editor.setVisible(selected >= 0)
        if selected >= 0:
            self.editor.set_row(self._rows[selected], self._latest)
        self.duplicate_button.setEnabled(selected >= 0)
        self.delete_button.setEnabled(selected >= 0)
        self.up_button.setEnabled(selected > 0)
        self.down_button.setEnabled(0 <= selected < len(self._rows) - 1)

    def _fill(self) -> None:
        self._showing = True
        fits = self.fitting
        covered = next((at for at, row in enumerate(self._rows) if row.match is MatchKind.ANY), len(self._rows))
        self.table.setRowCount(len(self._rows))
        notes: list[str] = []
        for at, row in enumerate(self._rows):
            found = self._asking.ask(RowFits(row, self._latest))
            problem = found.problem if found is not None else ""
            note, mark, colour = "", "", ""
            if at == fits:
                note, mark, colour = "answers the latest call", "check", "ok"
            elif found is None:
                note = "checking…"
            elif found.costly:
                note, mark, colour = f"too costly to check: {found.costly}", "warning", "muted"
            elif problem:
                note, mark, colour = f"cannot be used: {one_line(problem)}", "error", "error"
            elif at > covered:
                note, mark, colour = f"is never reached: row {covered + 1} is for any arguments", "warning", "muted"
            notes.append(note)
            self._cell(at, NUMBER, str(at + 1))
            self._cell(at, MARK, "", note).setIcon(icon(mark, colour) if mark else QIcon())
            self._cell(at, MATCH, match_words(row), note)
            self._cell(at, ANSWER, answer_words(row.answer))
        self._showing = False
        self.table.setVisible(bool(self._rows))
        self.table.fit()
        self._say(fits, notes)

    def _cell(self, at: int, column: int, words: str, note: str = "") -> QTableWidgetItem:
        item = self.table.item(at, column)
        if item is None:
            item = QTableWidgetItem()
            self.table.setItem(at, column, item)
        item.setText(words)
        item.setToolTip(tip("\n".join(part for part in (words, note) if part)))
        said = f"{NAMES[column]}: {words or note or 'nothing to say'}"
        item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{said} ({note})" if note and words else said)
        return item

    def _say(self, fits: int, notes: list[str]) -> None:
        if self._latest is None:
            words = "" if self._rows else "No rows yet. A call that no row fits waits for you."
        else:
            call = one_line(self._latest, 90) or "no arguments"
            verdict = f"Row {fits + 1} fits it." if fits >= 0 else "No row fits, so it waits for you."
            words = f"Latest call: {call}. {verdict}"
        odd = [f"Row {at} {note}." for at, note in enumerate(notes, 1) if note and at != fits + 1]
        more = [f"And {len(odd) - MOST_NOTES} more rows are of no use."] if len(odd) > MOST_NOTES else []
        said = "\n".join(part for part in (words, *odd[:MOST_NOTES], *more) if part)
        self.said.setText(LONG_WORD.sub("\\1\u200b", said))
        self.said.setVisible(bool(said))


class _Table(QTableWidget):
    """One row is selected as a whole. Keys as in the list of tools."""

    delete_asked = Signal()
    duplicate_asked = Signal()
    move_asked = Signal(int)

    def __init__(self) -> None:
        super().__init__(0, len(NAMES))
        self.setAccessibleName("Answer table")
        self.setHorizontalHeaderLabels(["", "", "Arguments", "Answer"])
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        numbers, titles = self.verticalHeader(), self.horizontalHeader()
        numbers.setDefaultSectionSize(ROW_HEIGHT)
        numbers.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        numbers.hide()
        titles.setMinimumSectionSize(20)
        titles.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        for column, width in ((NUMBER, 28), (MARK, 24)):
            titles.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
            titles.resizeSection(column, width)
        titles.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        titles.setHighlightSections(False)

    def fit(self) -> None:
        """As high as the rows, up to a few."""
        rows = min(max(self.rowCount(), 1), MOST_ROWS)
        self.setFixedHeight(self.horizontalHeader().sizeHint().height() + rows * ROW_HEIGHT + 4)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, keys = event.key(), event.modifiers()
        if key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and not keys:
            self.delete_asked.emit()
        elif key == Qt.Key.Key_D and keys == Qt.KeyboardModifier.ControlModifier:
            self.duplicate_asked.emit()
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down) and keys & Qt.KeyboardModifier.AltModifier:
            self.move_asked.emit(-1 if key == Qt.Key.Key_Up else 1)
        else:
            super().keyPressEvent(event)
