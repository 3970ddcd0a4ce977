"""The list of tools: on or off, name, first words of the description, and a mark where something is wrong."""

from __future__ import annotations

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QKeyEvent, QKeySequence, QMouseEvent, QPainter
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from playground.domain.tools import Problem, ToolDefinition
from playground.ui.icons import icon
from playground.ui.plain_text import show_hidden, tip
from playground.ui.theme import SMALL_PX, body_font, code_font, tokens

ROW_HEIGHT = 44
ROWS_SHOWN = 5
SWITCH = QSize(26, 14)
MARGIN = 12
_Index = QModelIndex | QPersistentModelIndex
_NO_PARENT = QModelIndex()


def worst(problems: list[Problem]) -> str:
    """ "error", "warning" or "" for a tool's problems."""
    severities = {problem.severity for problem in problems}
    return "error" if "error" in severities else ("warning" if severities else "")


class ToolModel(QAbstractListModel):
    """The tools and what was found wrong with each."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tools: tuple[ToolDefinition, ...] = ()
        self.problems: list[list[Problem]] = []

    def show_tools(self, tools: tuple[ToolDefinition, ...]) -> None:
        """Show these; rows that stay in their place keep the selection."""
        if len(tools) == len(self.tools):
            self.tools = tools
            if tools:
                self.dataChanged.emit(self.index(0), self.index(len(tools) - 1))
        else:
            self.beginResetModel()
            self.tools = tools
            self.problems = []
            self.endResetModel()

    def show_problems(self, problems: list[list[Problem]]) -> None:
        """Show the marks."""
        self.problems = problems
        if self.tools:
            self.dataChanged.emit(self.index(0), self.index(len(self.tools) - 1))

    def rowCount(self, parent: _Index = _NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self.tools)

    def flags(self, index: _Index) -> Qt.ItemFlag:
        return super().flags(index) | Qt.ItemFlag.ItemIsUserCheckable

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        tool = self.tools[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return show_hidden(tool.name) or "unnamed"
        if role == Qt.ItemDataRole.CheckStateRole:
            return Qt.CheckState.Checked if tool.enabled else Qt.CheckState.Unchecked
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{tool.name or 'unnamed'}, {'on' if tool.enabled else 'off'}, {self.state(index.row())}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip("\n".join(problem.message for problem in self._of(index.row())) or tool.description)
        return None

    def state(self, row: int) -> str:
        """Whether a tool is sent, in words."""
        tool = self.tools[row]
        if not tool.enabled:
            return "off, not sent"
        if tool.source is not None:
            return "not sent: not valid JSON"
        kind = worst(self._of(row))
        return {"error": "sent, with an error", "warning": "sent, with a warning"}.get(kind, "sent")

    def severity(self, row: int) -> str:
        """The mark of a row: "error", "warning" or ""."""
        return worst(self._of(row))

    def _of(self, row: int) -> list[Problem]:
        return self.problems[row] if row < len(self.problems) else []


class ToolDelegate(QStyledItemDelegate):
    """Paints a row: a switch, the name in code font, and below it the description or why it is not sent."""

    toggled = Signal(int)

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        return QSize(160, ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        t = tokens()
        model = index.model()
        if not isinstance(model, ToolModel):
            return
        tool = model.tools[index.row()]
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, QColor(t.accent_background))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, QColor(t.chip))
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QColor(t.accent))
            painter.drawRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5))
        _paint_switch(painter, switch_rect(rect), tool.enabled)
        left = rect.left() + MARGIN + SWITCH.width() + 12
        right = rect.right() - MARGIN
        severity = model.severity(index.row())
        if severity:
            mark = QRect(right - 16, rect.top() + (ROW_HEIGHT - 16) // 2, 16, 16)
            name = "error" if severity == "error" else "warning"
            icon(name, t.error if severity == "error" else t.tool).paint(painter, mark)
            right -= 24
        unreadable = tool.enabled and tool.source is not None
        detail = tool.description.strip().splitlines()[0] if tool.description.strip() else "no description"
        if unreadable:
            detail = "not sent: not valid JSON yet"
        line = QRect(left, rect.top() + 5, right - left, 18)
        painter.setFont(code_font())
        painter.setPen(QColor(t.text if tool.enabled else t.muted))
        metrics = painter.fontMetrics()
        elide = Qt.TextElideMode.ElideRight
        middle = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(line, middle, metrics.elidedText(show_hidden(tool.name) or "unnamed", elide, line.width()))
        font = body_font()
        font.setPixelSize(SMALL_PX)
        painter.setFont(font)
        painter.setPen(QColor(t.error if unreadable else t.muted))
        line.translate(0, 17)
        painter.drawText(line, middle, painter.fontMetrics().elidedText(show_hidden(detail), elide, line.width()))
        painter.restore()

    def editorEvent(self, event: QEvent, model: object, option: QStyleOptionViewItem, index: _Index) -> bool:
        if isinstance(event, QMouseEvent):
            if event.type() == QEvent.Type.MouseButtonRelease and event.button() == Qt.MouseButton.LeftButton:
                rect: QRect = option.rect
                if switch_rect(rect).adjusted(-8, -12, 8, 12).contains(event.position().toPoint()):
                    self.toggled.emit(index.row())
                    return True
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Space:
            self.toggled.emit(index.row())
            return True
        return False


def switch_rect(row: QRect) -> QRect:
    """Where the switch of a row stands."""
    return QRect(row.left() + MARGIN, row.top() + (ROW_HEIGHT - SWITCH.height()) // 2, SWITCH.width(), SWITCH.height())


def _paint_switch(painter: QPainter, rect: QRect, on: bool) -> None:
    t = tokens()
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(t.accent if on else t.muted))
    radius = rect.height() / 2
    painter.drawRoundedRect(QRectF(rect), radius, radius)
    painter.setBrush(QColor(t.on_accent if on else t.raised))
    x = rect.right() - rect.height() + 3 if on else rect.left() + 2
    painter.drawEllipse(QRectF(x, rect.top() + 2, rect.height() - 4, rect.height() - 4))


class ToolList(QListView):
    """The view. Delete removes, Ctrl+Z brings back, Ctrl+Shift+Up and Down move."""

    delete_asked = Signal()
    undo_asked = Signal()
    move_asked = Signal(int)

    def __init__(self, model: ToolModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setModel(model)
        self.delegate = ToolDelegate(self)
        self.setItemDelegate(self.delegate)
        self.setAccessibleName("Tools")
        self.setAccessibleDescription(
            "Space switches a tool on or off, Delete removes it, Ctrl+Shift+Up and Down move it."
        )
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)

    def fit(self) -> None:
        """As tall as the tools, up to a few rows."""
        rows = min(max(self.model().rowCount(), 1), ROWS_SHOWN)
        self.setFixedHeight(rows * ROW_HEIGHT + (ROW_HEIGHT // 2 if self.model().rowCount() > ROWS_SHOWN else 0))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        if event.key() == Qt.Key.Key_Delete:
            self.delete_asked.emit()
        elif event.matches(QKeySequence.StandardKey.Undo):
            self.undo_asked.emit()
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down) and event.modifiers() & both == both:
            self.move_asked.emit(-1 if event.key() == Qt.Key.Key_Up else 1)
        else:
            super().keyPressEvent(event)
