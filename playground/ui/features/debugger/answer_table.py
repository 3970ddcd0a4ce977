"""The mock table of one tool: rows in order, the editor of the selected one, and ready rows that fail.

The first row that matches a call answers it.
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
from playground.ui.features.debugger.fields import FRAME, AnswerField, PathField
from playground.ui.features.debugger.texts import answer_words, match_words, one_line
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.form_parts import look, paragraph, styled, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.icons import icon
from playground.ui.widgets.json_text import pretty
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import tip
from playground.ui.widgets.problem_line import LONG_WORD
from playground.ui.widgets.segments import Segments
from playground.ui.widgets.widget_questions import WidgetQuestions

ROW_HEIGHT = 26
MAX_ROWS = 7  # in view; more of them scroll
NUMBER, MARK, MATCH, ANSWER = range(4)
NAMES = ("Row", "Note", "Arguments", "Answer")
MAX_NOTES = 3
EDITOR_BESIDE = 600  # pixels; in a narrower table the editor is below the rows

KINDS: Final = (MatchKind.ANY, MatchKind.EQUAL, MatchKind.PATH)
TITLES: Final = ("Any", "Equal to", "JSONPath")


class RowEditor(QFrame):
    """A row: which arguments it is for, and its answer. `changed` carries the edited row."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "field-block")
        self._row = AnswerRow()
        self._latest: str | None = None
        self._showing = False
        self._questions = WidgetQuestions(self)
        self._questions.answered.connect(self._update)
        self.kinds = Segments(TITLES, "Arguments of the row")
        self.take_button = styled(QPushButton("From latest call"), "link")
        self.take_button.setToolTip(tip("Use the arguments of the latest call of this tool"))
        self.pattern = CodeEditor()
        self.pattern.setAccessibleName("Arguments")
        self.pattern.setPlaceholderText('{"city": "Oslo"}')
        self.pattern.set_wheel_needs_focus()
        self.pattern.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.path = PathField("JSONPath")
        self.message = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.answer = AnswerField("Answer")
        title = text_label("When the arguments are", "group")
        head = in_row(self.kinds, 1, spacing=6)
        column = in_column(
            title, head, self.pattern, self.path, self.message, parent=self, margins=(10, 8, 10, 10), spacing=4
        )
        column.addWidget(self.take_button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addSpacing(4)
        column.addWidget(self.answer)
        self.kinds.chosen.connect(self._choose_kind)
        self.pattern.textChanged.connect(self._edit_pattern)
        self.path.edited.connect(self._edit_path)
        self.take_button.clicked.connect(self.take_latest)
        self.answer.changed.connect(self._edit_answer)

    @property
    def row(self) -> AnswerRow:
        """The row as edited."""
        return self._row

    def set_row(self, row: AnswerRow, latest: str | None = None) -> None:
        """Show a row without a signal; `latest` are the raw arguments of the latest call."""
        is_other = row != self._row
        self._row, self._latest = row, latest
        self._showing = True
        self.kinds.set_index(KINDS.index(row.match))
        if is_other:  # the hidden fields keep what was typed for this row only
            self.pattern.setPlainText(row.pattern if row.match is MatchKind.EQUAL else "")
            self.path.show_path(row.pattern if row.match is MatchKind.PATH else "", latest)
        self.answer.set_answer(row.answer)
        self._showing = False
        self._update()

    def take_latest(self) -> None:
        """Match calls equal to the latest one."""
        if self._latest is None:
            return
        text = self._latest.strip() or "{}"
        self._change(match=MatchKind.EQUAL, pattern=text if problem_at(text) else pretty(text))
        self.set_row(self._row, self._latest)

    def _choose_kind(self, index: int) -> None:
        kind = KINDS[index]
        pattern = {MatchKind.EQUAL: self.pattern.text(), MatchKind.PATH: self.path.line.text()}.get(kind, "")
        self._change(match=kind, pattern=pattern)

    def _edit_pattern(self) -> None:
        if not self._showing:
            self._change(pattern=self.pattern.text())

    def _edit_path(self, text: str) -> None:
        self._change(pattern=text)

    def _edit_answer(self, answer: object) -> None:
        self._change(answer=answer)

    def _change(self, **changes: object) -> None:
        before, self._row = self._row, self._row.model_copy(update=changes)
        self._update()
        if self._row != before:
            self.changed.emit(self._row)

    def _update(self) -> None:
        row = self._row
        equal = row.match is MatchKind.EQUAL
        self.pattern.setVisible(equal)
        self.path.setVisible(row.match is MatchKind.PATH)
        if row.match is MatchKind.PATH:
            self.path.show_path(row.pattern, self._latest)
        lines = min(max(self.pattern.document().blockCount(), 2), 8)
        self.pattern.setFixedHeight(lines * self.pattern.fontMetrics().lineSpacing() + FRAME)
        words, invalid = self._equal_words() if equal else ("", False)
        self.message.setText(words)
        self.message.setVisible(bool(words))
        look(self.message, "flag-error" if invalid else "small")
        look(self.pattern, "true" if invalid else "false", "bad")
        fit = self._questions.ask(RowFits(row, self._latest), alone=True)
        matches = fit is not None and bool(fit.fits)
        self.take_button.setVisible(
            self._latest is not None and row.match is not MatchKind.PATH and not (equal and matches)
        )

    def _equal_words(self) -> tuple[str, bool]:
        """Return the words below the pattern, and whether they are an error."""
        row = self._row
        if not row.pattern.strip():
            return "Enter arguments as JSON.", False
        fit = self._questions.ask(RowFits(row, self._latest), alone=True)
        if fit is None:
            return "Checking…", False
        if fit.costly:
            return f"Too costly to check against the latest call: {fit.costly}.", False
        if fit.problem:
            broken = problem_at(row.pattern)
            where = f"line {broken.line}, column {broken.column}: {broken.message}" if broken else fit.problem
            return f"Not JSON: {where}. The row fits no call.", True
        if self._latest is None:
            return "", False
        return "Equals the latest call." if fit.fits else "Not the latest call.", False


class AnswerTable(QWidget):
    """The rows of a tool. `changed` carries the new rows."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[AnswerRow, ...] = ()
        self._latest: str | None = None
        self._showing = False
        self.add_button = QPushButton("Add row")
        self.failure_button = styled(QToolButton(), "button")
        self.failure_button.setText("Add failure")
        self.failure_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.failure_button.setToolTip(tip("Test how the model handles a failing tool"))
        menu = QMenu(self.failure_button)
        for number, (name, _) in enumerate(FAULTS):
            menu.addAction(name).triggered.connect(partial(self._add_failure, number))
        self.failure_button.setMenu(menu)
        self.duplicate_button = IconButton("copy", "Duplicate row (Ctrl+D)", quiet=False)
        self.up_button = IconButton("up", "Move row up (Alt+Up)", quiet=False)
        self.down_button = IconButton("down", "Move row down (Alt+Down)", quiet=False)
        self.delete_button = IconButton("delete", "Delete row (Delete)", quiet=False)
        self._questions = WidgetQuestions(self)
        self._questions.answered.connect(self._fill)
        self.table = _Table()
        self.message = paragraph("", "small")
        self.message.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
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
        """The index of the selected row; -1 for none."""
        return self.table.currentRow()

    @property
    def matching(self) -> int:
        """The index of the row that answers the latest call; -1 for none or unknown."""
        if self._latest is None:
            return -1
        for index, row in enumerate(self._rows):
            fit = self._questions.ask(RowFits(row, self._latest))
            if fit is None or fit.costly:
                return -1
            if fit.fits:
                return index
        return -1

    def set_rows(self, rows: tuple[AnswerRow, ...], latest: str | None = None) -> None:
        """Show rows without a signal; `latest` are the raw arguments of the latest call of this tool."""
        if rows == self._rows and latest == self._latest:
            return
        self._rows, self._latest = rows, latest
        self._show(self.selected if self.selected >= 0 else self.matching)

    def select(self, index: int) -> None:
        """Show a row in the editor."""
        self._show(index)

    def add_row(self) -> None:
        """Add a row for the arguments of the latest call, or for any, before the first row for any."""
        if self._latest is not None and self.matching < 0:
            self._insert(AnswerRow(match=MatchKind.EQUAL, pattern=self._latest.strip() or "{}"))
        else:
            self._insert(AnswerRow(match=MatchKind.EQUAL if self._rows else MatchKind.ANY))
        row = self.editor.row
        is_empty = row.match is MatchKind.EQUAL and not row.pattern
        (self.editor.pattern if is_empty else self.editor.answer.text).setFocus(Qt.FocusReason.OtherFocusReason)

    def duplicate(self) -> None:
        """Copy the selected row below it."""
        index = self.selected
        if index >= 0:
            self._set((*self._rows[: index + 1], self._rows[index], *self._rows[index + 1 :]), index + 1)

    def delete(self) -> None:
        """Remove the selected row."""
        index = self.selected
        if index >= 0:
            self._set((*self._rows[:index], *self._rows[index + 1 :]), min(index, len(self._rows) - 2))

    def move_row(self, steps: int) -> None:
        """Move the selected row up (-1) or down (1)."""
        start, end = self.selected, self.selected + steps
        if start >= 0 and 0 <= end < len(self._rows):
            rows = list(self._rows)
            rows.insert(end, rows.pop(start))
            self._set(tuple(rows), end)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_wide = event.size().width() >= EDITOR_BESIDE
        direction = QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom
        self._halves.setDirection(direction)

    def _arrange(self) -> None:
        bar = in_row(self.add_button, self.failure_button, 1, spacing=4)
        for button in (self.duplicate_button, self.up_button, self.down_button, self.delete_button):
            button.setFixedSize(24, 24)
            bar.addWidget(button)
        list_half = QWidget()
        in_column(bar, self.table, self.message, 1, parent=list_half, margins=0, spacing=6)
        self._halves = QBoxLayout(QBoxLayout.Direction.TopToBottom, self)
        self._halves.setContentsMargins(0, 0, 0, 0)
        self._halves.setSpacing(12)
        self._halves.addWidget(list_half, 1)
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
        self.table.itemSelectionChanged.connect(self._show_selected)
        self.editor.changed.connect(self._edited)

    def _add_failure(self, number: int, _checked: bool = False) -> None:
        self._insert(FAULTS[number][1])

    def _insert(self, row: AnswerRow) -> None:
        """Insert a row above the first one for any arguments, which hides all rows below it."""
        rows = self._rows
        index = next((n for n, entry in enumerate(rows) if entry.match is MatchKind.ANY), len(rows))
        self._set((*rows[:index], row, *rows[index:]), index)

    def _edited(self, row: AnswerRow) -> None:
        index = self.selected
        if index >= 0:
            self._rows = (*self._rows[:index], row, *self._rows[index + 1 :])
            self._fill()
            self.changed.emit(self._rows)

    def _set(self, rows: tuple[AnswerRow, ...], selected: int) -> None:
        self._rows = rows
        self._show(selected)
        self.changed.emit(rows)

    def _show_selected(self) -> None:
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
        matching = self.matching
        catch_all = next((n for n, row in enumerate(self._rows) if row.match is MatchKind.ANY), len(self._rows))
        self.table.setRowCount(len(self._rows))
        notes: list[str] = []
        for index, row in enumerate(self._rows):
            fit = self._questions.ask(RowFits(row, self._latest))
            note, mark, colour = "", "", ""
            if index == matching:
                note, mark, colour = "answers the latest call", "check", "ok"
            elif fit is None:
                note = "checking…"
            elif fit.costly:
                note, mark, colour = f"too costly to check: {fit.costly}", "warning", "muted"
            elif fit.problem:
                note, mark, colour = f"cannot be used: {one_line(fit.problem)}", "error", "error"
            elif index > catch_all:
                note, mark, colour = f"never matches: row {catch_all + 1} is for any arguments", "warning", "muted"
            notes.append(note)
            self._cell(index, NUMBER, str(index + 1))
            self._cell(index, MARK, "", note).setIcon(icon(mark, colour) if mark else QIcon())
            self._cell(index, MATCH, match_words(row), note)
            self._cell(index, ANSWER, answer_words(row.answer))
        self._showing = False
        self.table.setVisible(bool(self._rows))
        self.table.fit()
        self._show_notes(matching, notes)

    def _cell(self, row: int, column: int, words: str, note: str = "") -> QTableWidgetItem:
        item = self.table.item(row, column)
        if item is None:
            item = QTableWidgetItem()
            self.table.setItem(row, column, item)
        item.setText(words)
        item.setToolTip(tip("\n".join(part for part in (words, note) if part)))
        spoken = f"{NAMES[column]}: {words or note or 'none'}"
        item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{spoken} ({note})" if note and words else spoken)
        return item

    def _show_notes(self, matching: int, notes: list[str]) -> None:
        if self._latest is None:
            words = "" if self._rows else "No rows yet. Calls without a matching row need your result."
        else:
            call = one_line(self._latest, 90) or "no arguments"
            verdict = f"Row {matching + 1} matches." if matching >= 0 else "No row matches; it needs your result."
            words = f"Latest call: {call}. {verdict}"
        odd = [f"Row {number} {note}." for number, note in enumerate(notes, 1) if note and number != matching + 1]
        more = [f"And {len(odd) - MAX_NOTES} more rows never match."] if len(odd) > MAX_NOTES else []
        text = "\n".join(part for part in (words, *odd[:MAX_NOTES], *more) if part)
        self.message.setText(LONG_WORD.sub("\\1\u200b", text))
        self.message.setVisible(bool(text))


class _Table(QTableWidget):
    """Rows that are selected as a whole; Delete, Ctrl+D and Alt+Up or Down edit them."""

    delete_asked = Signal()
    duplicate_asked = Signal()
    move_asked = Signal(int)

    def __init__(self) -> None:
        super().__init__(0, len(NAMES))
        self.setAccessibleName("Mock table")
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
        """Set the height to the rows, up to a few."""
        rows = min(max(self.rowCount(), 1), MAX_ROWS)
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
