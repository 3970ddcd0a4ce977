"""Rows of the form: variables, headers, secrets in arguments, folders."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from playground.engine.tool_servers.secret_values import ENVIRONMENT
from playground.ui.features.tool_servers.draft import Row
from playground.ui.widgets.dialogs import file_dialog
from playground.ui.widgets.form_parts import quiet_button, say, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import discard, in_column, in_row

STORED: Final = "Stored — type to replace it"


class ValueRow(QWidget):
    """A name and a value, which may be a secret. A stored secret is not shown; typing replaces it.

    A ``fixed`` name cannot be edited: it comes from the arguments.
    """

    changed = Signal()
    removed = Signal(object)

    def __init__(self, row: Row, kind: str, what: str, *, fixed: bool = False) -> None:
        super().__init__()
        self._kind, self._kept, self._locked, self._fixed = kind, row.kept, row.locked, fixed
        self._kept_name = row.name if row.kept else ""
        self.name = QLineEdit(row.name, placeholderText="Name")
        self.name.setAccessibleName(f"Name of the {what}")
        self.name.setReadOnly(fixed)
        self.value = QLineEdit(row.value)
        self.value.setAccessibleName(f"Value of the {what}")
        self.lock = IconButton("key", f"Keep the value of this {what} in the keyring")
        self.lock.setCheckable(True)
        self.lock.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.lock.setVisible(not fixed)
        self.remove = quiet_button("", f"Remove this {what}", "delete")
        self.remove.setVisible(not fixed)
        in_row((self.name, 2), (self.value, 3), self.lock, self.remove, of=self, margins=0, spacing=6)
        self.name.textChanged.connect(self._edited)
        self.value.textChanged.connect(self._edited)
        self.lock.clicked.connect(self._lock)
        self.remove.clicked.connect(lambda: self.removed.emit(self))
        self._look()

    def row(self) -> Row:
        """Return the row as typed."""
        is_kept = self._kept and not self.value.text() and self.name.text() == self._kept_name
        return Row(self.name.text(), self.value.text(), is_kept, self._locked)

    def _lock(self) -> None:
        self._locked = self.lock.isChecked()
        self._edited()

    def _edited(self) -> None:
        self._look()
        self.changed.emit()

    def _look(self) -> None:
        row = self.row()
        secret = self._fixed or row.secret(self._kind)
        self.value.setEchoMode(QLineEdit.EchoMode.Password if secret else QLineEdit.EchoMode.Normal)
        self.value.setPlaceholderText(STORED if row.kept else "Value, for the keyring" if secret else "Value")
        self.lock.setChecked(secret)
        self.lock.setEnabled(not secret or row.locked)
        self.lock.say(
            "A secret: kept in the keyring, never in a file"
            if secret
            else "Keep this value in the keyring, as a secret"
        )


class ValueRows(QWidget):
    """Rows with a button to add one."""

    changed = Signal()

    def __init__(self, kind: str, what: str, hint: str, *, fixed: bool = False) -> None:
        super().__init__()
        self._kind, self._what, self._fixed = kind, what, fixed
        self.edits: list[ValueRow] = []
        self.add = quiet_button(f"Add {what}", f"Add a {what}", "plus")
        self.add.setVisible(not fixed)
        self.hint = text_label("", "small", wrap=True)
        self._hint = hint
        self._rows = QVBoxLayout()
        self._rows.setSpacing(6)
        in_column(self._rows, in_row(self.add, 1), self.hint, of=self, margins=0, spacing=6)
        self.add.clicked.connect(self._add_one)

    def rows(self) -> tuple[Row, ...]:
        """Return the rows as typed, without empty ones."""
        return tuple(row for row in (edit.row() for edit in self.edits) if row.name or row.value)

    def set_rows(self, rows: tuple[Row, ...]) -> None:
        """Show rows."""
        for edit in list(self.edits):
            self._drop(edit)
        for row in rows:
            self._append(row)
        self._look()

    def _append(self, row: Row) -> ValueRow:
        edit = ValueRow(row, self._kind, self._what, fixed=self._fixed)
        edit.changed.connect(self._edited)
        edit.removed.connect(self._remove)
        before: QWidget | None = self.edits[-1].remove if self.edits else None
        self.edits.append(edit)
        self._rows.addWidget(edit)
        edit.show()  # now: a hidden widget cannot have the focus
        if before is not None:
            QWidget.setTabOrder(before, edit.name)
        for first, second in ((edit.name, edit.value), (edit.value, edit.lock), (edit.lock, edit.remove)):
            QWidget.setTabOrder(first, second)
        QWidget.setTabOrder(edit.remove, self.add)
        return edit

    def _add_one(self) -> None:
        self._append(Row()).name.setFocus()
        self._look()

    def _remove(self, edit: ValueRow) -> None:
        self._drop(edit)
        self.add.setFocus()
        self._edited()

    def _drop(self, edit: ValueRow) -> None:
        self.edits.remove(edit)
        discard(self._rows, edit)

    def _edited(self) -> None:
        self._look()
        self.changed.emit()

    def _look(self) -> None:
        secret = any(self._fixed or edit.row().secret(self._kind) for edit in self.edits)
        say(self.hint, self._hint if secret or self._fixed else "")


def variables() -> ValueRows:
    """Return the rows of environment variables."""
    hint = "Values with a key icon are secrets: they are kept in the keyring, never in a file."
    return ValueRows(ENVIRONMENT, "variable", hint)


class FolderRow(QWidget):
    """A path of a folder with a button to choose it."""

    changed = Signal()
    removed = Signal(object)

    def __init__(self, path: str, says: str, *, removable: bool = False, hint: str = "") -> None:
        super().__init__()
        self._says = says
        self.path = QLineEdit(path, placeholderText=hint)
        self.path.setAccessibleName(says)
        self.browse = quiet_button("Choose…", f"Choose: {says}")
        self.remove = quiet_button("", f"Remove: {says}", "delete")
        self.remove.setVisible(removable)
        in_row((self.path, 1), self.browse, self.remove, of=self, margins=0, spacing=6)
        self.path.textChanged.connect(self.changed)
        self.browse.clicked.connect(self._choose)
        self.remove.clicked.connect(lambda: self.removed.emit(self))

    def _choose(self) -> None:
        dialog = file_dialog(self, self._says, self.path.text())
        dialog.setFileMode(dialog.FileMode.Directory)
        dialog.setOption(dialog.Option.ShowDirsOnly)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.path.setText)
        dialog.open()


class FolderRows(QWidget):
    """The root folders of a server."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.edits: list[FolderRow] = []
        self.add = quiet_button("Add folder", "Add a root folder", "plus")
        self._rows = QVBoxLayout()
        self._rows.setSpacing(6)
        words = "Sent to the server as roots. This does not restrict access."
        self.hint = text_label(words, "small", wrap=True)
        in_column(self._rows, in_row(self.add, 1), self.hint, of=self, margins=0, spacing=6)
        self.add.clicked.connect(self._add_one)

    def folders(self) -> tuple[str, ...]:
        """Return the paths without empty ones."""
        return tuple(edit.path.text() for edit in self.edits if edit.path.text().strip())

    def set_folders(self, folders: tuple[str, ...]) -> None:
        """Show folders."""
        for edit in list(self.edits):
            self._drop(edit)
        for folder in folders:
            self._append(folder)

    def _append(self, folder: str) -> FolderRow:
        edit = FolderRow(folder, "Root folder", removable=True)
        edit.changed.connect(self.changed)
        edit.removed.connect(self._remove)
        self.edits.append(edit)
        self._rows.addWidget(edit)
        edit.show()
        return edit

    def _add_one(self) -> None:
        self._append("").path.setFocus()

    def _remove(self, edit: FolderRow) -> None:
        self._drop(edit)
        self.add.setFocus()
        self.changed.emit()

    def _drop(self, edit: FolderRow) -> None:
        self.edits.remove(edit)
        discard(self._rows, edit)
