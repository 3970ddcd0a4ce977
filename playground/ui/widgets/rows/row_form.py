"""Base of forms: rows in a column, the focus, and the row of the focused field in view."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QScrollArea, QWidget

from playground.jsonkit.values import JSON
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.rows.row import FieldRow

LABEL_WIDTH: Final = 112  # pixels; longer names wrap
ROW_GAP, WIDE_GAP = 12, 8


class RowForm(QWidget):
    """The rows of a form by the names of their fields.

    With a ``label_width`` in pixels the names are beside the controls, for a dialog; otherwise they are above them.
    """

    def __init__(self, parent: QWidget | None = None, *, label_width: int = 0) -> None:
        super().__init__(parent)
        self.setProperty("kind", "form")
        self.rows: dict[str, FieldRow] = {}
        self._label_width = label_width
        self.column = in_column(parent=self, margins=0, spacing=WIDE_GAP if label_width else ROW_GAP)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._show_focused)

    def prepare(self, row: FieldRow) -> FieldRow:
        """Lay out a new row and follow its edits."""
        row.edited.connect(self._take)
        row.problem_changed.connect(self._emit_changed)
        if self._label_width:
            row.spread(self._label_width)
        return row

    def focus(self, name: str = "") -> None:
        """Put the cursor into a field, or into the first one."""
        row = self.rows.get(name) or next((row for row in self.rows.values() if not row.isHidden()), None)
        if row is not None:
            row.main_field().setFocus(Qt.FocusReason.OtherFocusReason)

    def line(self, name: str) -> QLineEdit:
        """Return the field of a row for one line of text."""
        field = self.rows[name].main_field()
        if not isinstance(field, QLineEdit):
            raise TypeError(f"{name} is not a line of text")
        return field

    def _take(self, name: str, typed: JSON) -> None:
        """Take an edit of a field."""
        raise NotImplementedError

    def _emit_changed(self, *_: object) -> None:
        """Report an edit that changed no value."""
        raise NotImplementedError

    def _show_focused(self, _before: QWidget | None, focused: QWidget | None) -> None:
        """Scroll the row of the field that got the focus into view."""
        if focused is not None and self.isAncestorOf(focused):
            parent: QObject | None = self.parent()
            while parent is not None and not isinstance(parent, QScrollArea):
                parent = parent.parent()
            if parent is not None:
                for row in self.rows.values():
                    if row.isAncestorOf(focused):
                        parent.ensureWidgetVisible(row)  # with its problem
                parent.ensureWidgetVisible(focused)
