"""Extra headers: a row each; what looks like a secret is typed behind dots and said to go to the keyring."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from playground.ui.features.gateways.draft import HeaderRow
from playground.ui.widgets.form_parts import quiet_button, say, text_label


class HeaderRowEdit(QWidget):
    """One header. A kept secret shows that it is there; typing replaces it."""

    changed = Signal()
    removed = Signal(object)

    def __init__(self, row: HeaderRow) -> None:
        super().__init__()
        self._kept = row.kept
        self._kept_name = row.name if row.kept else ""
        self.name = QLineEdit(row.name)
        self.name.setPlaceholderText("Name")
        self.name.setAccessibleName("Header name")
        self.value = QLineEdit(row.value)
        self.value.setAccessibleName("Header value")
        self.remove = quiet_button("", "Remove this header", "delete")
        self.note = text_label("Looks like a secret: kept in the keyring, never in a file.", "small", wrap=True)
        line = QHBoxLayout()
        line.setSpacing(8)
        line.addWidget(self.name, 2)
        line.addWidget(self.value, 3)
        line.addWidget(self.remove)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(line)
        layout.addWidget(self.note)
        self.name.textChanged.connect(self._edited)
        self.value.textChanged.connect(self._edited)
        self.remove.clicked.connect(self._removed)
        self._look()

    def row(self) -> HeaderRow:
        """The header as typed."""
        kept = self._kept and not self.value.text() and self.name.text() == self._kept_name
        return HeaderRow(self.name.text(), self.value.text(), kept)

    def _edited(self) -> None:
        self._look()
        self.changed.emit()

    def _removed(self) -> None:
        self.removed.emit(self)

    def _look(self) -> None:
        row = self.row()
        self.value.setEchoMode(QLineEdit.EchoMode.Password if row.secret else QLineEdit.EchoMode.Normal)
        self.value.setPlaceholderText("Stored — type to replace it" if row.kept else "Value")
        self.note.setVisible(row.secret)


class HeaderRows(QWidget):
    """All extra headers and a button for one more."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.edits: list[HeaderRowEdit] = []
        self.hint = text_label("Sent with every request, last, and so before ours.", "small", wrap=True)
        self.add = quiet_button("Add header", "Add an extra header", "plus")
        self._rows = QVBoxLayout()
        self._rows.setSpacing(8)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addLayout(self._rows)
        line = QHBoxLayout()
        line.addWidget(self.add)
        line.addStretch(1)
        layout.addLayout(line)
        layout.addWidget(self.hint)
        self.add.clicked.connect(self._add_one)
        say(self.hint, "Sent with every request; one of ours with the same name is replaced.")

    def rows(self) -> tuple[HeaderRow, ...]:
        """The headers as typed; rows left wholly empty do not count."""
        return tuple(row for row in (edit.row() for edit in self.edits) if row.name or row.value)

    def set_rows(self, rows: tuple[HeaderRow, ...]) -> None:
        """Show these headers."""
        for edit in list(self.edits):
            self._drop(edit)
        for row in rows:
            self._append(row)

    def _append(self, row: HeaderRow) -> HeaderRowEdit:
        edit = HeaderRowEdit(row)
        edit.changed.connect(self.changed)
        edit.removed.connect(self._remove)
        self.edits.append(edit)
        self._rows.addWidget(edit)
        edit.show()  # now, not once the layout gets to it: what is not shown keeps no focus
        before = self.edits[-2].remove if len(self.edits) > 1 else None
        if before is not None:
            QWidget.setTabOrder(before, edit.name)
        QWidget.setTabOrder(edit.name, edit.value)
        QWidget.setTabOrder(edit.value, edit.remove)
        QWidget.setTabOrder(edit.remove, self.add)
        return edit

    def add_named(self, name: str) -> QWidget:
        """A header of that name, the one that is there or a new one, ready for its value; returns the field."""
        there = next((edit for edit in self.edits if edit.name.text().strip().lower() == name.lower()), None)
        edit = there or self._append(HeaderRow(name))
        edit.value.setFocus()
        if there is None:
            self.changed.emit()
        return edit.value

    def _add_one(self) -> None:
        self._append(HeaderRow()).name.setFocus()

    def _remove(self, edit: HeaderRowEdit) -> None:
        self._drop(edit)
        self.add.setFocus()
        self.changed.emit()

    def _drop(self, edit: HeaderRowEdit) -> None:
        self.edits.remove(edit)
        self._rows.removeWidget(edit)
        edit.hide()
        edit.deleteLater()
