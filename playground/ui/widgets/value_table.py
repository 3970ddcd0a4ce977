"""A table of names and values: headers, variables, secrets. Secret values are masked, invalid rows flagged.

Several lines pasted into a name become rows. Return goes on to the next field, and to a new row after the last one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, TypeVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QLineEdit, QWidget

from playground.ui.widgets.form_parts import look, say, styled, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.name_value import MOST_PASTED, NameValue, read_lines, row_problems
from playground.ui.widgets.row_list import ListRow, RowList

STORED: Final = "Stored — type to replace it"
LOOKED_AT: Final = 4000  # characters of the clipboard that tell a name with its value
_KEYPAD: Final = Qt.KeyboardModifier.KeypadModifier
N = TypeVar("N", bound=NameValue)


class _Cell(QLineEdit):
    """A field of the table. Return is ``finished``; ``lines_pasted`` carries a text that makes rows."""

    finished = Signal()
    lines_pasted = Signal(str)

    def __init__(self, text: str, placeholder: str) -> None:
        super().__init__(text, placeholderText=placeholder)
        self.takes_lines = False
        self.setMinimumWidth(40)
        self.setCursorPosition(0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Paste) and self._lines():
            self.lines_pasted.emit(self._lines())
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers() & ~_KEYPAD:
            self.finished.emit()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = self.createStandardContextMenu()
        if lines := self._lines():
            menu.addAction("Paste as rows").triggered.connect(lambda: self.lines_pasted.emit(lines))
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())

    def _lines(self) -> str:
        """Return the text of the clipboard if it makes rows: several lines, or a name with its value."""
        text = QGuiApplication.clipboard().text().strip() if self.takes_lines and not self.isReadOnly() else ""
        has_value = not self.text() and any(value for _, value in read_lines(text[:LOOKED_AT]))
        return text if "\n" in text or has_value else ""


class ValueRow(ListRow[N]):
    """A name and a value, which may be a secret. A stored secret is not shown; typing replaces it.

    ``lockable`` rows have a button that moves the value to the keyring. A ``fixed`` name cannot be edited.
    """

    def __init__(self, row: N, *, lockable: bool, fixed: bool) -> None:
        super().__init__(row.noun)
        self._row, self._keyring = row, lockable or fixed
        self.name = styled(_Cell(row.name, "Name"), "field")
        self.name.setAccessibleName(f"{row.noun.capitalize()} name")
        self.name.setReadOnly(fixed)
        self.name.takes_lines = not fixed
        self.value = styled(_Cell(row.value, "Value"), "field")
        self.value.setAccessibleName(f"{row.noun.capitalize()} value")
        self.lock = IconButton("key", f"Store the value of this {row.noun} in the keyring")
        self.lock.setCheckable(True)
        self.lock.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.flag = text_label("", "flag-error", wrap=True)
        line = in_row((self.name, 2), (self.value, 3), self.lock, self.remove, spacing=6)
        in_column(line, self.flag, parent=self, margins=0, spacing=2)
        self.lock.setVisible(lockable and not fixed)  # now that it has a parent; before, it would open a window
        self.remove.setVisible(not fixed)
        self.name.textChanged.connect(self._edited)
        self.value.textChanged.connect(self._edited)
        self.name.finished.connect(self.value.setFocus)
        self.lock.clicked.connect(self._lock)
        self.show_problem("")
        self._describe()

    def row(self) -> N:
        """Return the row as typed."""
        name, value = self.name.text(), self.value.text()
        return replace(self._row, name=name, value=value, stored=self._is_stored(name, value))

    def tab_order(self) -> tuple[QWidget, ...]:
        """Return the fields in tab order."""
        return self.name, self.value, self.lock, self.remove

    def show_problem(self, problem: str) -> None:
        """Show why this row cannot be saved or sent; empty if it can."""
        say(self.flag, problem)
        self.name.setAccessibleDescription(problem)
        look(self.name, "true" if problem else "false", "bad")

    def _is_stored(self, name: str, value: str) -> bool:
        return self._row.stored and not value and name == self._row.name

    def _lock(self) -> None:
        self._row = replace(self._row, locked=self.lock.isChecked())
        self._edited()

    def _edited(self) -> None:
        self._describe()
        self.changed.emit()

    def _describe(self) -> None:
        row = self.row()
        secret = row.secret
        self.value.setEchoMode(QLineEdit.EchoMode.Password if secret else QLineEdit.EchoMode.Normal)
        keyring = secret and self._keyring
        self.value.setPlaceholderText(STORED if row.stored else "Value, for the keyring" if keyring else "Value")
        self.lock.setChecked(secret)
        self.lock.setEnabled(not secret or row.locked)
        self.lock.say(
            "A secret: stored in the keyring, never in a file"
            if secret
            else "Store this value in the keyring, as a secret"
        )


class ValueTable(RowList[N, ValueRow[N]]):
    """Rows of names and values. ``kind`` is the subclass of ``NameValue`` that knows secrets and problems.

    ``hint`` is always shown, ``secret_hint`` while there is a secret. Rows of a ``fixed`` table cannot be added or
    removed.
    """

    def __init__(
        self, kind: type[N], *, hint: str = "", secret_hint: str = "", lockable: bool = True, fixed: bool = False
    ) -> None:
        self._kind, self._hint, self._secret_hint = kind, hint, secret_hint
        self._pasted = ""
        make: Callable[[N], ValueRow[N]] = lambda row: ValueRow(row, lockable=lockable, fixed=fixed)  # noqa: E731
        super().__init__(kind.noun, make, kind)
        self.add.setVisible(not fixed)

    def append(self, row: N) -> ValueRow[N]:
        """Add the fields of a row at the end."""
        edit = super().append(row)
        edit.value.finished.connect(lambda: self._go_on(edit))
        edit.name.lines_pasted.connect(lambda text: self.paste_lines(text, edit))
        return edit

    def add_named(self, name: str) -> QWidget:
        """Focus the value of the row with that name, added if missing; return the value's field."""
        while (match := self._row_named(name)) is None and self._remaining:
            self._show_more()
        edit = match or self.append(self._kind(name))
        edit.value.setFocus()
        if match is None:
            self.edited()
        return edit.value

    def _row_named(self, name: str) -> ValueRow[N] | None:
        return next((edit for edit in self.edits if edit.name.text().strip().lower() == name.lower()), None)

    def paste_lines(self, text: str, place: ValueRow[N] | None = None) -> None:
        """Add the names and values of a text; the first ones replace an empty row."""
        pairs = read_lines(text)
        self._pasted = (
            f"The first {MOST_PASTED:,} of {len(pairs):,} lines were pasted." if len(pairs) > MOST_PASTED else ""
        )
        if place is not None and place in self.edits and not place.row():
            self._drop(place)
        edits = [self.append(self._kind(name, value)) for name, value in pairs[:MOST_PASTED]]
        if edits:
            edits[-1].value.setFocus()
        self.edited()
        self._pasted = ""

    def describe(self) -> None:
        """Flag the invalid rows and update the texts beside them."""
        rows = [edit.row() for edit in self.edits]
        for edit, problem in zip(self.edits, row_problems(rows), strict=True):
            edit.show_problem(problem)
        super().describe()

    def hint_words(self) -> str:
        """Return the sentences below the rows."""
        secret = any(edit.row().secret for edit in self.edits)
        return " ".join(filter(None, (self._pasted, self._hint, self._secret_hint if secret else "")))

    def _go_on(self, edit: ValueRow[N]) -> None:
        """Go to the row below, a new one after the last."""
        following = self.edits[self.edits.index(edit) + 1 :]
        if following:
            following[0].name.setFocus()
        elif edit.row() and self.add.isVisible():
            self.add_row()
