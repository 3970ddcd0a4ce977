"""Rows of the form: folders."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QWidget

from playground.ui.widgets.dialogs import file_dialog
from playground.ui.widgets.form_parts import quiet_button
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.row_list import ListRow, RowList


class FolderRow(ListRow[str]):
    """A path of a folder with a button to choose it."""

    def __init__(self, path: str, says: str, *, removable: bool = False, hint: str = "") -> None:
        super().__init__("folder")
        self._says = says
        self.path = QLineEdit(path, placeholderText=hint)
        self.path.setAccessibleName(says)
        self.browse = quiet_button("Choose…", f"Choose: {says}")
        self.remove.setVisible(removable)
        in_row((self.path, 1), self.browse, self.remove, parent=self, margins=0, spacing=6)
        self.path.textChanged.connect(self.changed)
        self.browse.clicked.connect(self._choose)

    def row(self) -> str:
        """Return the path as typed; empty for spaces alone."""
        return self.path.text() if self.path.text().strip() else ""

    def tab_order(self) -> tuple[QWidget, ...]:
        """Return the fields in tab order."""
        return self.path, self.browse, self.remove

    def _choose(self) -> None:
        dialog = file_dialog(self, self._says, self.path.text())
        dialog.setFileMode(dialog.FileMode.Directory)
        dialog.setOption(dialog.Option.ShowDirsOnly)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.path.setText)
        dialog.open()


class FolderRows(RowList[str, FolderRow]):
    """The root folders of a server."""

    def __init__(self) -> None:
        super().__init__(
            "folder", lambda path: FolderRow(path, "Root folder", removable=True), str, about="Add a root folder"
        )

    def hint_words(self) -> str:
        """Return what the folders are for."""
        return "Sent to the server as roots. This does not restrict access."
