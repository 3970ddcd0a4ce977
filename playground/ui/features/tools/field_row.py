"""Read-only row of a schema field: name, type, whether it is required, description.

Rows are painted, not built from widgets, so that a schema with hundreds of fields opens at once. A row changes nothing;
its signals carry the requests of the user.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from playground.jsonkit.problems import Problem
from playground.jsonkit.schema_fields import Field, slot
from playground.ui.features.tools.tool_model import worst
from playground.ui.widgets.icons import icon
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.text_chip import spelled
from playground.ui.widgets.theme import SMALL_PX, body_font, code_font, tokens

INDENT = 14
TALL, LOW = 42, 26
_MIDDLE = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
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

    def _chevron(self) -> QRect:
        return QRect(4 + self.level * INDENT, 6, 14, 14)

    def paintEvent(self, event: QPaintEvent) -> None:
        t = tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        body = QRectF(self.rect())
        if self._is_open or self._hover:
            painter.setBrush(QColor(t.accent_background if self._is_open else t.chip))
            painter.drawRoundedRect(body, 5, 5)
        if self.hasFocus():
            painter.setPen(QColor(t.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(body.adjusted(0.5, 0.5, -0.5, -0.5), 5, 5)
        painter.setPen(QColor(t.line))
        for level in range(self.level):
            x = 4 + level * INDENT + 7
            painter.drawLine(x, 0, x, self.height())
        if self.folds:
            name = "chevron-right" if self._is_folded else "chevron-down"
            icon(name, t.muted).paint(painter, self._chevron())
        text_left, text_right = self._chevron().right() + 5, self.width() - 8
        self._paint_first(painter, QRect(text_left, 4, text_right - text_left, 18))
        if self.words:
            self._paint_second(painter, QRect(text_left, 21, text_right - text_left, 17))
        painter.end()

    def _paint_first(self, painter: QPainter, line: QRect) -> None:
        t = tokens()
        small = body_font(SMALL_PX)
        painter.setFont(small)
        words = kind_words(self.field)
        available = max(line.width() // 2, line.width() - self._name_width() - 8)
        words = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, available)
        width = painter.fontMetrics().horizontalAdvance(words)
        painter.setPen(QColor(t.muted))
        painter.drawText(line, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, words)
        painter.setFont(self._name_font())
        painter.setPen(QColor(t.text if self.field.name else t.muted))
        name = QRect(line.left(), line.top(), line.width() - width - 8, line.height())
        text = painter.fontMetrics().elidedText(title(self.field), Qt.TextElideMode.ElideRight, name.width())
        painter.drawText(name, _MIDDLE, text)

    def _paint_second(self, painter: QPainter, line: QRect) -> None:
        t = tokens()
        colour = {"error": t.error, "warning": t.tool}.get(self.severity, t.muted)
        if self.severity:
            mark = QRect(line.left(), line.top() + 2, 13, 13)
            icon("error" if self.severity == "error" else "warning", colour).paint(painter, mark)
            line = line.adjusted(18, 0, 0, 0)
        painter.setFont(body_font(SMALL_PX))
        painter.setPen(QColor(colour))
        text = painter.fontMetrics().elidedText(self.words, Qt.TextElideMode.ElideRight, line.width())
        painter.drawText(line, _MIDDLE, text)

    def _name_font(self) -> QFont:
        return code_font() if self.field.name else body_font(SMALL_PX)

    def _name_width(self) -> int:
        return QFontMetrics(self._name_font()).horizontalAdvance(title(self.field))

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
        if self.folds and event.position().x() <= self._chevron().right() + 3:
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
