"""Extra headers of an experiment, a row each. What looks like a secret is refused."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QPushButton, QVBoxLayout, QWidget

from playground.engine.gateways.secrets import extra_header_problem, looks_secret, secret_in
from playground.jsonkit.values import JSON
from playground.ui.widgets.form_parts import look, paragraph, styled
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import discard, in_column, in_row
from playground.ui.widgets.plain_text import show_hidden
from playground.ui.widgets.theme import code_font


class HeaderRow(QWidget):
    """Name and value of one header, and the reason if it is not sent."""

    edited = Signal()
    removed = Signal(object)

    def __init__(self, name: str, value: str) -> None:
        super().__init__()
        self.name = QLineEdit(name, placeholderText="X-Name")
        self.name.setAccessibleName("Header name")
        self.value = QLineEdit(value, placeholderText="value")
        self.value.setAccessibleName("Header value")
        self.remove = IconButton("close", "Remove this header", size=12)
        self.remove.setFixedSize(20, 20)
        self.flag = paragraph("", "flag-error")
        self.flag.hide()
        for field in (self.name, self.value):
            field.setFont(code_font())
            field.setProperty("kind", "field")
            field.setMinimumWidth(40)
            field.textEdited.connect(self.edited)
        line = in_row((self.name, 2), (self.value, 3), self.remove, spacing=4)
        in_column(line, self.flag, of=self, margins=0, spacing=0)
        self.remove.clicked.connect(self._remove)

    @property
    def pair(self) -> tuple[str, str]:
        """Name and value without the spaces around them."""
        return self.name.text().strip(), self.value.text().strip()

    def show_problem(self, problem: str) -> None:
        """Show why this row is not sent; empty if it is."""
        self.flag.setText(show_hidden(problem))
        self.flag.setVisible(bool(problem))
        look(self.name, "true" if problem else "false", "bad")

    def _remove(self) -> None:
        self.removed.emit(self)


class ExtraHeaders(QWidget):
    """``changed`` gives the headers that can be sent.

    ``unsent_changed`` gives the others, a list of name and value each, to be stored with the experiment; without
    possible secrets and without values that have no name yet.
    """

    changed = Signal(object)
    unsent_changed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[HeaderRow] = []
        self._sent: dict[str, str] = {}
        self._unsent: list[list[str]] = []
        self.add_button = styled(QPushButton("Add header"), "quiet")
        self._list = QVBoxLayout()
        self._list.setSpacing(6)
        line = in_row(self.add_button, 1)
        in_column(self._list, line, of=self, margins=0, spacing=6)
        self.add_button.clicked.connect(self.add_header)

    def show_headers(self, headers: dict[str, str], *, unsent: JSON = None, fresh: bool) -> None:
        """Show headers and the stored ``unsent`` ones. Rows being typed stay unless ``fresh``: another experiment's."""
        if not fresh and headers == self._sent:
            return
        for row in list(self.rows):
            self._drop(row)
        for name, value in headers.items():
            self._append(name, value)
        self._unsent = _pairs(unsent)
        for name, value in self._unsent:
            self._append(name, value)
        self._sent = dict(headers)
        self._judge()

    def add_header(self) -> None:
        """An empty row, ready to be typed in."""
        self._append("", "").name.setFocus(Qt.FocusReason.OtherFocusReason)

    def _append(self, name: str, value: str) -> HeaderRow:
        row = HeaderRow(name, value)
        row.edited.connect(self._edited)
        row.removed.connect(self._removed)
        self.rows.append(row)
        self._list.addWidget(row)
        return row

    def _removed(self, row: HeaderRow) -> None:
        self._drop(row)
        self.add_button.setFocus(Qt.FocusReason.OtherFocusReason)
        self._edited()

    def _drop(self, row: HeaderRow) -> None:
        self.rows.remove(row)
        discard(self._list, row)

    def _edited(self) -> None:
        sent, unsent = self._judge()
        if sent != self._sent:
            self._sent = sent
            self.changed.emit(dict(sent))
        if unsent != self._unsent:
            self._unsent = unsent
            self.unsent_changed.emit(unsent)

    def _judge(self) -> tuple[dict[str, str], list[list[str]]]:
        """Show why rows are not sent. Return the headers to send, and the others that may be stored."""
        sent: dict[str, str] = {}
        unsent: list[list[str]] = []
        names: set[str] = set()
        for row in self.rows:
            name, value = row.pair
            problem = extra_header_problem(name, value) if name or value else ""
            if not problem and name.lower() in names:
                problem = f"“{name}” is set twice; the first one is sent."
            row.show_problem(problem)
            if name and not problem:
                sent[name] = value
                names.add(name.lower())
            elif name and not looks_secret(name, value) and not secret_in([value]):
                unsent.append([name, value])
        return sent, unsent


def _pairs(unsent: JSON) -> list[list[str]]:
    """Return the stored rows, as read from a file."""
    rows = unsent if isinstance(unsent, list) else []
    return [
        [str(part) for part in row]
        for row in rows
        if isinstance(row, list) and len(row) == 2 and all(isinstance(part, str) for part in row)
    ]
