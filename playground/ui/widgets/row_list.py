"""A list of form rows of one kind: added with a button, removed, and shown a page at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, Generic, TypeVar

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QToolButton, QVBoxLayout, QWidget

from playground.ui.widgets.form_parts import quiet_button, say, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import discard, in_column, in_row

MOST: Final = 25  # rows shown at first, and added by each press of "Show more"
D = TypeVar("D")
R = TypeVar("R", bound="ListRow[Any]")


class ListRow(QWidget, Generic[D]):
    """The fields of one row. A subclass adds ``remove`` to its layout and emits ``changed``."""

    changed = Signal()
    removed = Signal(object)

    def __init__(self, noun: str) -> None:
        super().__init__()
        self.remove: QToolButton = IconButton("delete", f"Remove this {noun}")
        self.remove.clicked.connect(lambda: self.removed.emit(self))

    def row(self) -> D:
        """Return the row as typed; a false value is an empty row."""
        raise NotImplementedError

    def tab_order(self) -> tuple[QWidget, ...]:
        """Return the fields in tab order."""
        raise NotImplementedError

    @property
    def start(self) -> QWidget:
        """The field that gets the focus in a new row."""
        return self.tab_order()[0]


class RowList(QWidget, Generic[D, R]):
    """Rows with a button to add one. ``changed`` is emitted for each edit by the user.

    ``make`` creates the fields of a row, ``blank`` the content of a new row.
    """

    changed = Signal()

    def __init__(
        self, noun: str, make: Callable[[D], R], blank: Callable[[], D], *, spacing: int = 6, about: str = ""
    ) -> None:
        super().__init__()
        self.edits: list[R] = []
        self._make, self._blank = make, blank
        self._remaining: tuple[D, ...] = ()  # not shown yet
        self.add = quiet_button(f"Add {noun}", about or f"Add a {noun}", "plus")
        self.more = quiet_button("", f"Show more {noun}s")
        self.hint = text_label("", "small", wrap=True)
        self._column = QVBoxLayout()
        self._column.setSpacing(spacing)
        in_column(self._column, in_row(self.add, self.more, 1), self.hint, parent=self, margins=0, spacing=spacing)
        self.add.clicked.connect(self.add_row)
        self.more.clicked.connect(self._show_more)
        self.describe()

    def rows(self) -> tuple[D, ...]:
        """Return the rows as typed, without empty ones."""
        return (*(row for row in (edit.row() for edit in self.edits) if row), *self._remaining)

    def set_rows(self, rows: Iterable[D]) -> None:
        """Show these rows."""
        for edit in list(self.edits):
            self._drop(edit)
        self._remaining = tuple(rows)
        self._show_more()

    def add_row(self) -> R:
        """Add an empty row, ready to be typed in."""
        edit = self.append(self._blank())
        edit.start.setFocus()
        self.describe()
        return edit

    def append(self, row: D) -> R:
        """Add the fields of a row at the end."""
        edit = self._make(row)
        edit.changed.connect(self.edited)
        edit.removed.connect(self._remove)
        before = self.edits[-1].tab_order()[-1] if self.edits else None
        self.edits.append(edit)
        self._column.addWidget(edit)
        edit.show()  # a widget that is not visible yet gets no focus
        for widget in (*edit.tab_order(), self.add):
            if before is not None:
                QWidget.setTabOrder(before, widget)
            before = widget
        return edit

    def edited(self) -> None:
        """Update the texts after an edit by the user, and announce it."""
        self.describe()
        self.changed.emit()

    def describe(self) -> None:
        """Update the texts beside the rows."""
        remaining = len(self._remaining)
        self.more.setVisible(bool(remaining))
        self.more.setText(f"Show {min(MOST, remaining):,} more of {remaining:,}")
        say(self.hint, self.hint_words())

    def hint_words(self) -> str:
        """Return the sentence below the rows; empty for none."""
        return ""

    def _show_more(self) -> None:
        rows, self._remaining = self._remaining[:MOST], self._remaining[MOST:]
        for row in rows:
            self.append(row)
        self.describe()

    def _remove(self, edit: R) -> None:
        place = self.edits.index(edit)
        self._drop(edit)
        following = self.edits[place : place + 1]
        (following[0].start if following else self.add).setFocus()
        self.edited()

    def _drop(self, edit: R) -> None:
        self.edits.remove(edit)
        discard(self._column, edit)
