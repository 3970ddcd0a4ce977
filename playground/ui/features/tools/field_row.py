"""Read-only row of a schema field: name, type, whether it is required, description.

Rows are painted, not built from widgets, so that a schema with hundreds of fields opens at once. A row changes nothing;
its signals carry the requests of the user.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QKeySequence, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QStyle, QWidget

from playground.jsonkit.problems import Problem
from playground.jsonkit.schema_fields import Field, slot
from playground.ui.features.tools.tool_model import worst
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.row_delegate import GAP, ICON, MARGIN, Row, Words, paint_row
from playground.ui.widgets.text_chip import spelled
from playground.ui.widgets.theme import SMALL_PX, body_font, tokens

INDENT = 14
TALL, LOW = 42, 26
_ROLES = {
    "root": "all parameters",
    "item": "each item",
    "prefix": "item",
    "additional": "any other name",
    "branch": "option",
}


def title(field: Field) -> str:
    """Return the name of a field in the form."""
    number = field.path[-1] if field.path else ""
    if field.name:
        return show_hidden(field.name)
    if field.role in ("prefix", "branch") and isinstance(number, int):
        return f"{_ROLES[field.role]} {number + 1}"
    return _ROLES.get(field.role, "unnamed")


def kind_words(field: Field) -> str:
    """Return the type of a field in words, such as ``string · required``."""
    words = [show_hidden(field.summary)]
    if field.role == "pattern":
        words.insert(0, "names like this")
    if field.required:
        words.append("required")
    return " · ".join(word for word in words if word)


class FieldRow(QWidget):
    """Row of a field. ``opened`` requests its editor, ``folded`` hides or shows its children."""

    opened = Signal(object)
    folded = Signal(object)
    stepped = Signal(object, int)  # move the focus to the row above (-1) or below (1)
    move_asked = Signal(object, int)
    delete_asked = Signal(object)
    undo_asked = Signal()

    def __init__(self, field: Field, depth: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.field = field
        self.level = depth
        self.problems: list[Problem] = []
        self._is_folded = False
        self._is_open = False
        self._hover = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleDescription(
            "Enter edits, Left and Right fold and unfold, Ctrl+Shift+Up and Down move, Delete removes."
        )
        self.show_field(field, depth, is_folded=False, is_open=False)

    def show_field(self, field: Field, depth: int, *, is_folded: bool, is_open: bool) -> None:
        """Show a field in this row."""
        self.field, self.level = field, depth
        self._is_folded, self._is_open = is_folded, is_open
        self._update_texts()
        self.updateGeometry()
        self.update()

    def show_problems(self, problems: list[Problem]) -> None:
        """Show problems of the field."""
        if problems != self.problems:
            self.problems = problems
            self._update_texts()
            self.updateGeometry()
            self.update()

    @property
    def words(self) -> str:
        """Text of the second line: a problem, the description, or the allowed values."""
        if self.problems:
            return show_hidden(self.problems[0].message)
        if self.field.problem:
            return show_hidden(self.field.problem)
        if self.field.description.strip():
            return show_hidden(self.field.description.strip().splitlines()[0])
        choices = slot(self.field, "enum")
        if choices is not None and isinstance(choices.value, list):
            return ", ".join(spelled(item) for item in choices.value[:20])
        return ""

    @property
    def severity(self) -> str:
        """Worst severity of the problems: "error", "warning" or ""."""
        return worst(self.problems) or ("error" if self.field.problem else "")

    def _update_texts(self) -> None:
        parts = [title(self.field), kind_words(self.field), self.words]
        if self.severity:
            parts.insert(2, self.severity)
        if self.folds:
            parts.append("folded" if self._is_folded else "unfolded")
        self.setAccessibleName(", ".join(word for word in parts if word))
        long = [title(self.field), kind_words(self.field), *[p.message for p in self.problems], self.field.description]
        self.setToolTip(tip("\n".join(word for word in long if word)))

    # -- painting ----------------------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        return QSize(120, TALL if self.words else LOW)

    def minimumSizeHint(self) -> QSize:
        return QSize(60, self.sizeHint().height())

    @property
    def folds(self) -> bool:
        """True if the row has children to fold; those of the root are always visible."""
        return bool(self.field.children) and self.field.role != "root"

    @property
    def _indent(self) -> int:
        """Space at the left of the chevron, or of the texts without one, in pixels."""
        return self.level * INDENT + (0 if self.folds else ICON + GAP - 3)

    @property
    def _row(self) -> Row:
        severity = self.severity
        colour = {"error": "error", "warning": "tool"}.get(severity, "muted")
        return Row(
            Words(title(self.field), "text" if self.field.name else "muted"),
            Words(self.words, colour),
            Words(kind_words(self.field)),
            icons=(("error" if severity == "error" else "warning", colour),) if severity else (),
            code=bool(self.field.name),
            chevron=("right" if self._is_folded else "down") if self.folds else "",
            indent=self._indent,
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        state = QStyle.StateFlag.State_Enabled
        if self._is_open:
            state |= QStyle.StateFlag.State_Selected
        elif self._hover:
            state |= QStyle.StateFlag.State_MouseOver
        if self.hasFocus():
            state |= QStyle.StateFlag.State_HasFocus
        painter = QPainter(self)
        paint_row(painter, self.rect(), self._row, state, body_font(SMALL_PX))
        painter.setPen(QColor(tokens().line))
        for level in range(self.level):
            x = MARGIN + level * INDENT + ICON // 2 - 2
            painter.drawLine(x, 0, x, self.height())
        painter.end()

    # -- events ------------------------------------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Enter, QEvent.Type.Leave):
            self._hover = event.type() == QEvent.Type.Enter
            self.update()
        elif event.type() == QEvent.Type.PaletteChange:
            self.update()
        return super().event(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() != Qt.MouseButton.LeftButton or not self.rect().contains(event.position().toPoint()):
            return
        if self.folds and event.position().x() <= MARGIN + self._indent + ICON + 3:
            self.folded.emit(self)
        else:
            self.opened.emit(self)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, modifiers = event.key(), event.modifiers()
        ctrl_shift = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        vertical = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(key), 0)
        if vertical and modifiers & ctrl_shift == ctrl_shift:
            self.move_asked.emit(self, vertical)
        elif vertical:
            self.stepped.emit(self, vertical)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.opened.emit(self)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right) and self.folds:
            if self._is_folded == (key == Qt.Key.Key_Right):
                self.folded.emit(self)
        elif key == Qt.Key.Key_Delete:
            self.delete_asked.emit(self)
        elif event.matches(QKeySequence.StandardKey.Undo):
            self.undo_asked.emit()
        else:
            super().keyPressEvent(event)
