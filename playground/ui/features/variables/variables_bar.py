"""The table of variables above the composer: there while a turn or the message mentions one, folded if wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QPushButton,
    QToolButton,
    QWidget,
)

from playground.domain.variables import as_written
from playground.jsonkit.texts import cut
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.growing_field import GrowingField
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import discard, in_column, in_row
from playground.ui.widgets.plain_text import tip
from playground.ui.widgets.scroll_page import FittingArea
from playground.ui.widgets.theme import code_font

TALLEST = 168  # pixels of the rows; more of them scroll
LEAST = 66  # two rows
HOW = "Write {{name}} in a message: a field for its value appears here."

NAME_WIDTH = 132  # pixels
MOST_LINES = 4


class VariableRow(QWidget):
    """A variable and its value. ``edited`` carries the name and the value typed, ``as_written`` a tuple of the name."""

    edited = Signal(str, str)
    removed = Signal(str)
    as_written = Signal(object)
    escaped = Signal()  # back to the message
    run_asked = Signal()

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self._showing = False
        title = ElidedLabel("Variable", colour="text")
        title.setFont(code_font())
        title.set_text(name)
        title.setFixedWidth(NAME_WIDTH)
        self.field = styled(GrowingField(most=MOST_LINES, compact=True), "field")
        self.field.setAccessibleName(f"Value of {name}")
        self.field.textChanged.connect(self._typed)
        self.field.cancelled.connect(self.escaped)
        self.field.submitted.connect(self.run_asked)
        self.state = text_label("", "small")
        self.written_button = styled(QPushButton("Send as written"), "quiet")
        self.written_button.setToolTip(f"{as_written(name)} is sent with its braces")
        self.written_button.setAccessibleName(f"Send {name} as written")
        self.remove_button = IconButton("close", f"Remove the value of {name}", size=12)
        self.remove_button.setFixedSize(20, 20)
        in_row(
            title,
            (self.field, 1),
            self.state,
            self.written_button,
            self.remove_button,
            parent=self,
            margins=0,
            spacing=8,
        )
        self.written_button.clicked.connect(self._send_as_written)
        self.remove_button.clicked.connect(self._remove)

    def show_value(self, value: str | None, *, used: bool) -> None:
        """The value; None where there is none yet. ``used`` says whether a turn mentions the variable."""
        written = value == as_written(self.name)
        text = "" if value is None or written else value
        if text != self.field.text():
            self._showing = True
            self.field.set_text(text)
            self._showing = False
        hint = "no value yet" if value is None else f"sent as written: {value}" if written else "empty"
        self.field.setPlaceholderText(hint)
        self.state.setText("" if used else "not used")
        self.state.setVisible(not used)
        self.written_button.setVisible(value is None and used)
        self.remove_button.setVisible(value is not None)
        self.field.setAccessibleDescription("" if text else hint)

    def _typed(self) -> None:
        if not self._showing:
            self.edited.emit(self.name, self.field.text())

    def _send_as_written(self) -> None:
        self.as_written.emit((self.name,))
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def _remove(self) -> None:
        self.removed.emit(self.name)
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)


class VariablesBar(QFrame):
    """``show_variables`` says what there is. The signals carry names of variables; values are kept elsewhere."""

    edited = Signal(str, str)
    removed = Signal(str)
    as_written = Signal(object)
    folded = Signal(bool)
    escaped = Signal()
    run_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: dict[str, VariableRow] = {}
        self._used: tuple[str, ...] = ()
        self._missing: tuple[str, ...] = ()
        self._folded = False
        self._summary_text = ""
        self._asked_for = False
        self.setProperty("kind", "card")
        self.setAccessibleName("Variables")
        self.fold_button = styled(QToolButton(toolButtonStyle=Qt.ToolButtonStyle.ToolButtonTextBesideIcon), "quiet")
        self.fold_button.setText("Variables")
        self.fold_button.clicked.connect(self._turn_over)
        self.summary = ElidedLabel("Variables", elide=Qt.TextElideMode.ElideRight)
        self.flag = text_label("", "warning")
        self.written_button = styled(QPushButton("Send as written"), "quiet")
        self.written_button.clicked.connect(lambda: self.as_written.emit(self._missing))
        self.close_button = IconButton("close", "Close the variables", size=12)
        self.close_button.clicked.connect(self._close)
        self.how = styled(QLabel(HOW, wordWrap=True), "muted")
        self.preview = ElidedLabel("The message as sent", elide=Qt.TextElideMode.ElideRight)
        self._arrange()
        self.hide()

    def _arrange(self) -> None:
        head = in_row(self.fold_button, (self.summary, 1), self.flag, self.written_button, self.close_button, spacing=6)
        inner = QWidget()
        self._column = in_column(parent=inner, margins=(0, 0, 4, 0), spacing=4)
        self.table = FittingArea(most=TALLEST, least=LEAST, wide=200)
        self.table.hold(inner)
        in_column(head, self.how, self.table, self.preview, parent=self, margins=(8, 4, 8, 6), spacing=4)

    def open(self) -> None:
        """Show it although nothing mentions a variable, unfolded, ready to type in."""
        self._asked_for = True
        self.set_folded(False)
        self._place()
        if self.rows:
            names = [*self._missing, *self.rows]
            self.go_to(names[0])

    def go_to(self, name: str) -> None:
        """Put the cursor into the field of that variable."""
        if (row := self.rows.get(name)) is not None:
            self.set_folded(False)
            row.field.setFocus(Qt.FocusReason.OtherFocusReason)
            self.table.ensureWidgetVisible(row)

    def set_folded(self, folded: bool) -> None:
        """Show one line only, or the table."""
        self._folded = folded
        self._place()

    def forget_asking(self) -> None:
        """Another experiment: what was opened by hand closes again."""
        self._asked_for = False

    def show_variables(self, used: Sequence[str], values: Mapping[str, str], preview: str) -> None:
        """The names that are ``used``, the ``values`` (of others as well), and the message with them in it."""
        names = [*used, *(name for name in values if name not in used)]
        if names != list(self.rows):
            self._rebuild(names)
        for name, row in self.rows.items():
            row.show_value(values.get(name), used=name in used)
        self._missing = tuple(name for name in used if name not in values)
        self._used = tuple(used)
        values_of = [f"{name} = {_short(values[name], name)}" for name in used if name in values]
        self._summary_text = "  ·  ".join(values_of)
        count = len(self._missing)
        self.flag.setText(f"{count} without a value" if count > 1 else f"{''.join(self._missing)} has no value")
        self.flag.setToolTip(tip(", ".join(self._missing)))
        self.written_button.setAccessibleName(f"Send as written: {', '.join(self._missing)}")
        self.preview.set_text(f"As sent: {' '.join(preview.split())}" if preview else "")
        self.preview.setToolTip(tip(preview))
        self._place()

    def _rebuild(self, names: Sequence[str]) -> None:
        for name in [name for name in self.rows if name not in names]:
            row = self.rows.pop(name)
            discard(self._column, row)
        rows: dict[str, VariableRow] = {}
        for index, name in enumerate(names):
            existing = self.rows.get(name)
            row = existing if existing is not None else self._make(name)
            rows[name] = row
            if self._column.indexOf(row) != index:
                self._column.insertWidget(index, row)
        self.rows = rows

    def _make(self, name: str) -> VariableRow:
        row = VariableRow(name)
        row.edited.connect(self.edited)
        row.removed.connect(self.removed)
        row.as_written.connect(self.as_written)
        row.escaped.connect(self.escaped)
        row.run_asked.connect(self.run_asked)
        row.field.height_changed.connect(self.table.updateGeometry)
        return row

    def _place(self) -> None:
        """Show and hide the parts."""
        folded, missing = self._folded, bool(self._missing)
        used = bool(self._used)
        self.fold_button.setIcon(icon("chevron-right" if folded else "chevron-down", "muted"))
        self.fold_button.setAccessibleName("Show the variables" if folded else "Fold the variables")
        self.summary.set_text(self._summary_text if folded else "")
        self.flag.setVisible(missing)
        self.written_button.setVisible(missing and (folded or len(self._missing) > 1))
        self.close_button.setVisible(not used)
        self.how.setVisible(not folded and not self.rows)
        self.table.setVisible(not folded and bool(self.rows))
        self.preview.setVisible(not folded and bool(self.preview.text))
        self.setVisible(used or self._asked_for)
        self.table.updateGeometry()

    def _turn_over(self) -> None:
        self.set_folded(not self._folded)
        self.folded.emit(self._folded)

    def _close(self) -> None:
        self._asked_for = False
        self._place()
        self.escaped.emit()


def _short(value: str, name: str) -> str:
    """A value in a list of them."""
    if value == as_written(name):
        return "as written"
    line = " ".join(value[:200].split())
    return "empty" if not line else cut(line, 40)
