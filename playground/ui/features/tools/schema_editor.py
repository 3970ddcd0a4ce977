"""Editor of a JSON Schema: a row for each field, one of them open. The text is the only model.

It receives the text of a schema and emits the text after an edit (``edited``); keywords that it does not support stay
untouched in the text. While the text is not valid JSON, it is disabled and says why.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from playground.jsonkit import schema_edit
from playground.jsonkit.edit import move, remove_member
from playground.jsonkit.problems import JsonTextError, Problem
from playground.jsonkit.reading import READ_AT_MOST, read_typed
from playground.jsonkit.schema_fields import Field, field_at, fields_of, walk
from playground.jsonkit.values import Path
from playground.ui.features.tools.field_block import Edit, FieldBlock
from playground.ui.features.tools.field_row import FieldRow
from playground.ui.widgets.aside import Aside
from playground.ui.widgets.form_parts import look, paragraph, styled, text_label
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.parts_row import PartsRow

ALL_OPEN = 12  # number of fields up to which all are initially unfolded
EMPTY = '{\n  "type": "object",\n  "properties": {}\n}'
NEW = "new_parameter"
PAGE = 50  # rows of a page
AT_ONCE = 50_000  # characters that are parsed or edited in the main thread
READING = "Reading the schema…"


class SchemaEditor(QWidget):
    """Editor of a schema. ``edited`` carries the new text, ``json_asked`` the path of a place to show in the JSON."""

    edited = Signal(str)
    json_asked = Signal(object)
    undo_asked = Signal()
    revealed = Signal(object)  # a widget that should be scrolled into view

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text: str | None = None
        self._stale = False  # the rows belong to the previous tool
        self._read_only = False  # no field can be edited
        self._aside = Aside(self)
        self._root: Field | None = None
        self._is_small = True  # the schema is small: all fields are initially unfolded
        self._open: Path | None = None
        self._folds: dict[Path, bool] = {}
        self._problems: list[Problem] = []
        self.rows: list[FieldRow] = []
        self._listed: list[tuple[Field, int]] = []  # fields with a row on any page
        self._first = 0  # index of the first field on the current page
        self.block: FieldBlock | None = None
        self.note = paragraph("", "flag")
        self.note.hide()
        self.empty = paragraph("No parameters: the model calls this tool without arguments.", "small")
        self.add_button = styled(QPushButton("Add parameter"), "quiet")
        self.add_button.setIcon(icon("plus", "muted"))
        self.definitions = text_label("Definitions", "group")
        bar = in_row(self.add_button, 1)
        self._upper = QVBoxLayout()
        self._upper.setSpacing(0)
        self._lower = QVBoxLayout()
        self._lower.setSpacing(0)
        column = in_column(self.note, self.empty, self._upper, parent=self, margins=0, spacing=2)
        self.pages = PartsRow(self, "parameters")
        column.addLayout(bar)
        column.addWidget(self.definitions)
        column.addLayout(self._lower)
        column.addWidget(self.pages)
        column.addStretch(1)
        self.pages.asked.connect(self._show_page)
        self.add_button.clicked.connect(partial(self.add_parameter, ()))
        self.show_text("")

    # -- showing -----------------------------------------------------------------------------------------------

    def show_text(self, text: str, then: Callable[[], None] | None = None) -> None:
        """Show the schema of a text, then call ``then``. Invalid JSON keeps the last valid schema, read-only."""
        if text == self._text:
            return
        self._text = text
        self.empty.setVisible(not text.strip())
        self._aside.do(
            partial(_parse, text), partial(self._show_parsed, then or _do_nothing), large=len(text) > AT_ONCE
        )
        if self._aside.busy:
            self.wait()

    def fix(self, read_only: bool) -> None:
        """Make the form read-only or editable; fields of a read-only form still open."""
        if read_only != self._read_only:
            self._read_only = read_only
            self.add_button.setVisible(not read_only)
            self.open_field(None)

    def wait(self) -> None:
        """Disable the form until the text has been loaded and parsed."""
        self._show_note(READING, "small")
        self.empty.hide()
        if self._stale:
            self._root = None
            self._lay_out()
        self._set_disabled(True)

    def _show_parsed(self, then: Callable[[], None], parsed: _ParsedSchema) -> None:
        text, error = self._text or "", parsed.error
        if error is None:
            self._root, self._is_small = parsed.root, parsed.is_small
            self._show_note(
                "The parameters must be a JSON Schema object, in braces." if text.strip() and not parsed.root else ""
            )
            self._lay_out()
        elif len(text) > READ_AT_MOST:
            self._show_note(f"The schema is {error.message}.")
        else:
            self._show_note(f"Not valid JSON yet (line {error.line}, column {error.column}): the form waits for it.")
            if self._stale:
                self._root = None
                self._lay_out()
        self._stale = False
        self._set_disabled(error is not None or (bool(text.strip()) and self._root is None))
        then()

    def reset(self) -> None:
        """Forget which fields are open and folded, before another tool is shown."""
        self._open = None
        self._folds = {}
        self._first = 0
        self._stale = True

    def show_problems(self, problems: list[Problem]) -> None:
        """Show problems at their fields; only paths that begin with "parameters" count."""
        self._problems = [problem for problem in problems if problem.path[:1] == ("parameters",)]
        rows_by_path = {row.field.path: row for row in self.rows}
        problems_by_path: dict[Path, list[Problem]] = {path: [] for path in rows_by_path}
        listed = {field.path for field, _ in self._listed} if self._problems else set()
        for problem in self._problems:
            path = problem.path[1:]
            while path and path not in listed:
                path = path[:-1]
            if path in problems_by_path:
                problems_by_path[path].append(problem)
        for path, row in rows_by_path.items():
            row.show_problems(problems_by_path[path])

    def go_to(self, path: Path) -> bool:
        """Open the field at a path, or the nearest field around it; return False if there is none."""
        if self._root is None:
            return False
        field = field_at(self._root, path)
        path = field.path if field is not None else ()
        self.open_field(None)
        for length in range(len(path)):
            self._folds[path[:length]] = False
        self._open = path
        self._lay_out()
        row = self.row_at(path)
        if row is None:
            return False
        row.setFocus(Qt.FocusReason.OtherFocusReason)
        self.revealed.emit(self.block or row)
        return True

    def row_at(self, path: Path) -> FieldRow | None:
        """Return the row of a field, or None if it is not on the page."""
        return next((row for row in self.rows if row.field.path == path), None)

    def _show_note(self, words: str, kind: str = "flag") -> None:
        self.note.setText(words)
        look(self.note, kind)
        self.note.setVisible(bool(words))

    def _set_disabled(self, disabled: bool) -> None:
        for widget in (*self.rows, self.block, self.add_button):
            if widget is not None:
                widget.setEnabled(not disabled and not (self._read_only and widget is self.block))

    def _visible(self) -> list[tuple[Field, int]]:
        root = self._root
        if root is None:
            return []
        out: list[tuple[Field, int]] = [(root, 0)]
        waiting: list[tuple[Field, int]] = [(child, 0) for child in reversed(root.children)]
        while waiting:
            field, depth = waiting.pop()
            out.append((field, depth))
            if not self._is_folded(field):
                waiting += [(child, depth + 1) for child in reversed(field.children)]
        return out

    def _is_folded(self, field: Field) -> bool:
        return self._folds.get(field.path, field.role == "definition" or not self._is_small)

    def _show_page(self, where: str) -> None:
        """Show another page of rows."""
        last = (len(self._listed) - 1) // PAGE * PAGE
        self.open_field(None)
        self._first = {"first": 0, "before": self._first - PAGE, "after": self._first + PAGE}.get(where, last)
        self._lay_out()

    def _lay_out(self) -> None:
        self._listed = self._visible()
        count = len(self._listed)
        open_index = self._first
        if self._open is not None:
            open_index = next(
                (index for index, (field, _) in enumerate(self._listed) if field.path == self._open), open_index
            )
        if not self._first <= open_index < self._first + PAGE:
            self._first = open_index // PAGE * PAGE
        self._first = max(min(self._first, (count - 1) // PAGE * PAGE), 0)
        visible = self._listed[self._first : self._first + PAGE]
        self.pages.say(self._first, self._first + PAGE, count)
        old = {row.field.path: row for row in self.rows}
        reused = [old.pop(field.path, None) for field, _ in visible]
        spare, rows = list(old.values()), list[FieldRow]()
        for (field, depth), same in zip(visible, reused, strict=True):
            row = same or (spare.pop(0) if spare else self._new_row(field, depth))
            folded = bool(field.path) and self._is_folded(field)
            row.show_field(field, depth, is_folded=folded, is_open=field.path == self._open)
            rows.append(row)
        for unused in spare:
            unused.hide()
            unused.deleteLater()
        order = [row.field.path for row in rows] != [row.field.path for row in self.rows] or bool(old)
        self.rows = rows
        moved = self._show_block()
        if order or moved:
            self._place()
        self.definitions.setVisible(any(row.field.role == "definition" and row.level == 0 for row in rows))
        self.show_problems(self._problems)

    def _new_row(self, field: Field, depth: int) -> FieldRow:
        row = FieldRow(field, depth, self)
        row.opened.connect(self._toggle_row)
        row.folded.connect(self._fold)
        row.stepped.connect(self._step)
        row.move_asked.connect(self._move_row)
        row.delete_asked.connect(self._delete_row)
        row.undo_asked.connect(self.undo_asked)
        return row

    def _show_block(self) -> bool:
        """Show the editor below the open row, and return whether it was added or removed."""
        row = self.row_at(self._open) if self._open is not None else None
        if row is None:
            self._open = None
            if self.block is None:
                return False
            self.block.hide()
            self.block.deleteLater()
            self.block = None
            return True
        if self.block is not None:
            self.block.show_field(row.field)
            return False
        block = self.block = FieldBlock(row.field, row.level, self)
        block.setEnabled(not self._read_only)
        block.edit_asked.connect(self._apply)
        block.target_asked.connect(self.go_to)
        block.json_asked.connect(self.json_asked)
        block.add_asked.connect(self.add_parameter)
        block.move_asked.connect(self._move)
        block.delete_asked.connect(self._delete)
        return True

    def _place(self) -> None:
        for layout in (self._upper, self._lower):
            while layout.count():
                layout.takeAt(0)
        layout = self._upper
        before: QWidget = self.note
        for row in self.rows:
            if row.field.role == "definition" and row.level == 0:
                layout = self._lower
            layout.addWidget(row)
            row.show()
            QWidget.setTabOrder(before, row)
            before = row
            if self.block is not None and row.field.path == self._open:
                layout.addWidget(self.block)
                self.block.show()
        QWidget.setTabOrder(before, self.add_button)

    # -- commands ----------------------------------------------------------------------------------------------

    def add_parameter(self, object_path: Path) -> None:
        """Add a parameter to an object and select its name for editing."""
        if self._read_only:
            return
        text = self._text or ""
        if not text.strip():
            self._set_text(EMPTY, _do_nothing)
        owner = field_at(self._root, object_path) if self._root is not None else None
        names = [child.name for child in owner.children if child.role == "property"] if owner is not None else []
        name = schema_edit.free_name(names, NEW)
        self._folds[object_path] = False
        self.open_field(None)
        path = (*object_path, "properties", name)
        self._apply(partial(_add_to_text, object_path, name), path, partial(self._name, path))

    def _name(self, path: Path) -> None:
        if self.block is not None and self._open == path:
            self.block.focus_name()
            self.revealed.emit(self.block)

    def open_field(self, path: Path | None) -> None:
        """Open a field for editing, or close the open field."""
        if path != self._open:
            if self.block is not None:
                self.block.hide()
                self.block.deleteLater()
                self.block = None
                self._place()
            self._open = path
            self._lay_out()

    def _toggle_row(self, row: FieldRow) -> None:
        self.open_field(None if row.field.path == self._open else row.field.path)
        if self.block is not None:
            self.revealed.emit(self.block)

    def _fold(self, row: FieldRow) -> None:
        self._folds[row.field.path] = not self._is_folded(row.field)
        self._lay_out()

    def _step(self, row: FieldRow, steps: int) -> None:
        index = self.rows.index(row) + steps
        if not 0 <= index < len(self.rows) and 0 <= self._first + index < len(self._listed):
            self._show_page("after" if steps > 0 else "before")
            index = 0 if steps > 0 else len(self.rows) - 1
        if 0 <= index < len(self.rows):
            self.rows[index].setFocus(Qt.FocusReason.TabFocusReason)
            self.revealed.emit(self.rows[index])

    def _move_row(self, row: FieldRow, steps: int) -> None:
        self._move_field(row.field, steps)

    def _move(self, steps: int) -> None:
        field = field_at(self._root, self._open) if self._root is not None and self._open is not None else None
        if field is not None:
            self._move_field(field, steps)

    def _move_field(self, field: Field, steps: int) -> None:
        siblings = [listed for listed, _ in self._listed if listed.role == field.role]
        siblings = [sibling for sibling in siblings if sibling.path[:-1] == field.path[:-1]]
        index = next((n for n, sibling in enumerate(siblings) if sibling.path == field.path), -1) + steps
        if field.role == "root" or not 0 <= index < len(siblings):
            return
        last = field.path[-1]
        path = (*field.path[:-1], index) if isinstance(last, int) else field.path
        has_focus = self.row_at(field.path)
        self._apply(partial(_move_in_text, field.path, index), path if self._open == field.path else None)
        row = self.row_at(path)
        if row is not None and has_focus is not None and self.focusWidget() is None:
            row.setFocus(Qt.FocusReason.OtherFocusReason)

    def _delete_row(self, row: FieldRow) -> None:
        self._delete_field(row.field)

    def _delete(self) -> None:
        field = field_at(self._root, self._open) if self._root is not None and self._open is not None else None
        if field is not None:
            self._delete_field(field)

    def _delete_field(self, field: Field) -> None:
        if field.role == "root":
            return
        if self._read_only:
            return
        index = next((n for n, row in enumerate(self.rows) if row.field.path == field.path), 0)
        if self._open == field.path:
            self.open_field(None)
        self._apply(partial(_remove_from_text, field.path, field.role), None)
        if self.rows:
            self.rows[min(index, len(self.rows) - 1)].setFocus(Qt.FocusReason.OtherFocusReason)

    def _apply(self, edit: Edit, path: Path | None, then: Callable[[], None] | None = None) -> None:
        """Make an edit, then call ``then``; ``path`` is the new path of the open field, None if it is unchanged.

        The edit is dropped if the text changes in the meantime.
        """
        if self._read_only:
            return
        text = self._text or ""
        callback = partial(self._finish_edit, path, then or _do_nothing)
        self._aside.do(partial(_apply_edit, edit, text), callback, large=len(text) > AT_ONCE)
        if self._aside.busy:
            self.wait()

    def _finish_edit(self, path: Path | None, then: Callable[[], None], new: str | ValueError) -> None:
        if isinstance(new, ValueError):
            self._set_disabled(False)
            self._show_note(str(new))
            self._lay_out()
            return
        if path is not None and path != self._open:
            self._follow(path)
        self._set_text(new, then)

    def _follow(self, path: Path) -> None:
        """Set the new path of the open field; the fields inside it keep their folds."""
        old = self._open
        if old is not None and self.block is not None and self._text is not None and len(old) == len(path):
            length = len(old)
            self._folds = {(path + key[length:] if key[:length] == old else key): on for key, on in self._folds.items()}
        elif self.block is not None:
            self.open_field(None)
        self._open = path

    def _set_text(self, new: str, then: Callable[[], None]) -> None:
        if new != self._text:
            self.show_text(new, then)
            self.edited.emit(new)
        else:
            self._set_disabled(False)
            self._show_note("")


class _ParsedSchema(NamedTuple):
    """Result of parsing a text: its root field, None if it is not a schema, or its syntax error."""

    root: Field | None = None
    is_small: bool = True
    error: JsonTextError | None = None


def _parse(text: str) -> _ParsedSchema:
    if not text.strip():
        return _ParsedSchema()
    try:
        value = read_typed(text)
    except JsonTextError as error:
        return _ParsedSchema(error=error.with_traceback(None))
    if not isinstance(value, dict):
        return _ParsedSchema()
    root = fields_of(value)
    return _ParsedSchema(root, sum(1 for _ in islice(walk(root), ALL_OPEN + 1)) <= ALL_OPEN)


def _apply_edit(edit: Edit, text: str) -> str | ValueError:
    try:
        return edit(text)
    except ValueError as error:
        return error.with_traceback(None)


def _do_nothing() -> None:
    return


def _add_to_text(object_path: Path, name: str, text: str) -> str:
    return schema_edit.add_property(text, object_path, name)


def _move_in_text(path: Path, index: int, text: str) -> str:
    return move(text, path, index)


def _remove_from_text(path: Path, role: str, text: str) -> str:
    return schema_edit.remove_property(text, path) if role == "property" else remove_member(text, path)
