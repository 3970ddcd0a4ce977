"""View and delegate of the list of tools: a switch, a name and a size in each row; headers that fold."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QKeyEvent, QKeySequence, QMouseEvent, QPainter
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from playground.ui.features.debugger.responses import response_of
from playground.ui.features.tools.standings import hint_word, standing_words
from playground.ui.features.tools.tool_model import ToolModel
from playground.ui.widgets.icons import icon
from playground.ui.widgets.plain_text import show_hidden, shown_name
from playground.ui.widgets.state_dot import SIDE, paint_dot
from playground.ui.widgets.theme import SMALL_PX, body_font, code_font, tokens

ROW_HEIGHT = 44
HEADER_HEIGHT = 28
MANY = 1_000  # rows; longer lists have uniform heights, because a size hint for each row is slow
SWITCH = QSize(26, 14)
MARGIN = 12
_Index = QModelIndex | QPersistentModelIndex
_MIDDLE = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class ToolDelegate(QStyledItemDelegate):
    """Delegate that paints a tool as a switch and two lines, and a group as a line with a switch for its tools."""

    toggled = Signal(int)
    group_toggled = Signal(str)
    fold_asked = Signal(str)

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        model = index.model()
        header = isinstance(model, ToolModel) and len(model.rows) <= MANY and model.tool_at(index) is None
        return QSize(160, HEADER_HEIGHT if header else ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        model = index.model()
        if not isinstance(model, ToolModel):
            return
        t = tokens()
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
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5))
        entry = model.entry_at(index)
        if isinstance(entry, str):
            _paint_header(painter, rect, model, entry)
        elif entry is not None:
            _paint_tool(painter, rect, model, entry)
        painter.restore()

    def editorEvent(self, event: QEvent, model: object, option: QStyleOptionViewItem, index: _Index) -> bool:
        source = index.model()
        if not isinstance(source, ToolModel):
            return False
        entry = source.entry_at(index)
        rect: QRect = option.rect
        if isinstance(event, QMouseEvent):
            if event.type() != QEvent.Type.MouseButtonRelease or event.button() != Qt.MouseButton.LeftButton:
                return False
            place = switch_rect(rect) if isinstance(entry, int) else group_switch_rect(rect)
            if place.adjusted(-8, -12, 8, 12).contains(event.position().toPoint()):
                self._toggle(entry)
                return True
            if isinstance(entry, str) and event.position().x() < rect.left() + MARGIN + 20:
                self.fold_asked.emit(entry)
                return True
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Space:
            self._toggle(entry)
            return True
        return False

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: _Index) -> QWidget:
        editor = super().createEditor(parent, option, index)
        editor.setAccessibleName("Name of the group")
        return editor

    def _toggle(self, entry: int | str | None) -> None:
        if isinstance(entry, int):
            self.toggled.emit(entry)
        elif entry is not None:
            self.group_toggled.emit(entry)


def _paint_header(painter: QPainter, rect: QRect, model: ToolModel, group: str) -> None:
    t = tokens()
    folded = group in model.folded
    chevron = QRect(rect.left() + MARGIN - 2, rect.top() + (rect.height() - 14) // 2, 14, 14)
    icon("chevron-right" if folded else "chevron-down", t.muted).paint(painter, chevron)
    place = group_switch_rect(rect)
    _paint_switch(painter, place, model.group_on(group))
    font = body_font(SMALL_PX)
    painter.setFont(font)
    painter.setPen(QColor(t.muted))
    words = model.group_words(group)
    if attention := model.group_attention(group):
        painter.setPen(QColor(t.tool))
        words = attention
    width = painter.fontMetrics().horizontalAdvance(words)
    counted = QRect(place.left() - 10 - width, rect.top(), width, rect.height())
    painter.drawText(counted, _RIGHT, words)
    font.setWeight(QFont.Weight.DemiBold)
    painter.setFont(font)
    painter.setPen(QColor(t.text))
    text_left = chevron.right() + 8
    if (server := model.group_server(group)) is not None:
        paint_dot(painter, server.state, text_left - 6, rect.top() + (rect.height() - SIDE) / 2)
        painter.setPen(QColor(t.text))
        text_left += SIDE - 2
    line = QRect(text_left, rect.top(), counted.left() - 10 - text_left, rect.height())
    name = show_hidden(group) or "No group"
    painter.drawText(line, _MIDDLE, painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, line.width()))


def _paint_tool(painter: QPainter, rect: QRect, model: ToolModel, number: int) -> None:
    t = tokens()
    tool = model.tools[number]
    _paint_switch(painter, switch_rect(rect), tool.enabled)
    text_left = rect.left() + MARGIN + SWITCH.width() + 12
    text_right = rect.right() - MARGIN
    severity = model.severity(number)
    if severity:
        mark = QRect(text_right - 15, rect.top() + 22, 14, 14)
        name = "error" if severity == "error" else "warning"
        icon(name, t.error if severity == "error" else t.tool).paint(painter, mark)
    elide = Qt.TextElideMode.ElideRight
    painter.setFont(body_font(SMALL_PX))
    painter.setPen(QColor(t.muted))
    size = model.size_words(number)
    width = painter.fontMetrics().horizontalAdvance(size)
    painter.drawText(QRect(text_right - width, rect.top() + 5, width, 18), _RIGHT, size)
    unreadable = tool.enabled and tool.source is not None
    detail = tool.description.strip().splitlines()[0] if tool.description.strip() else "no description"
    if unreadable:
        detail = f"not sent: {tool.unread}"
    response = response_of(model.debugging, tool.name)
    marks = [(response.policy, t.accent if response.is_own else t.muted)]
    if tool.server and tool.remote:
        detail = f"{shown_name(tool.remote)} there · {detail}"
    colour = t.error if unreadable else t.muted
    if tool.server and (review := standing_words(model.standings.trust(tool), enabled=tool.enabled)):
        detail, colour, marks = review, t.tool, []
    elif word := hint_word(tool):
        marks.append((word, t.error if word == "destructive" else t.ok))
    end = text_right - (24 if severity else 0)
    for words, mark_colour in marks:
        painter.setPen(QColor(mark_colour))
        painter.drawText(QRect(text_left, rect.top() + 22, end - text_left, 18), _RIGHT, words)
        end -= painter.fontMetrics().horizontalAdvance(words) + 8
    painter.setPen(QColor(colour))
    line = QRect(text_left, rect.top() + 22, end - text_left, 18)
    painter.drawText(line, _MIDDLE, painter.fontMetrics().elidedText(show_hidden(detail), elide, line.width()))
    line = QRect(text_left, rect.top() + 5, text_right - text_left - (width + 8 if size else 0), 18)
    painter.setFont(code_font())
    painter.setPen(QColor(t.text if tool.enabled else t.muted))
    name = shown_name(tool.name) or "unnamed"
    painter.drawText(line, _MIDDLE, painter.fontMetrics().elidedText(name, elide, line.width()))


def switch_rect(row: QRect) -> QRect:
    """Return the rectangle of a tool's switch."""
    return QRect(
        row.left() + MARGIN, row.top() + (row.height() - SWITCH.height()) // 2, SWITCH.width(), SWITCH.height()
    )


def group_switch_rect(row: QRect) -> QRect:
    """Return the rectangle of a group's switch."""
    top = row.top() + (row.height() - SWITCH.height()) // 2
    return QRect(row.right() - MARGIN - SWITCH.width(), top, SWITCH.width(), SWITCH.height())


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
    """List view. Delete removes, Ctrl+Z restores, Ctrl+Shift+Up and Down move, Left and Right fold and unfold."""

    delete_asked = Signal()
    undo_asked = Signal()
    move_asked = Signal(int)
    duplicate_asked = Signal()

    def __init__(self, model: ToolModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tools = model
        self.setModel(model)
        model.modelAboutToBeReset.connect(lambda: self.setUniformItemSizes(False))
        model.modelReset.connect(lambda: self.setUniformItemSizes(len(model.rows) > MANY))
        self.delegate = ToolDelegate(self)
        self.setItemDelegate(self.delegate)
        self.delegate.fold_asked.connect(self._toggle_fold)
        self.setAccessibleName("Tools")
        self.setAccessibleDescription(
            "Space switches a tool or a group on or off, Delete removes, Ctrl+Shift+Up and Down move, "
            "Ctrl+D duplicates. On a group, Left and Right fold and unfold it and F2 renames it."
        )
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed | QAbstractItemView.EditTrigger.DoubleClicked)
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setDropIndicatorShown(True)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setMouseTracking(True)

    @property
    def chosen(self) -> list[int]:
        """Numbers of the selected tools in order; a selected header counts as its tools."""
        numbers: set[int] = set()
        for index in self.selectionModel().selectedIndexes():
            entry = self._tools.entry_at(index)
            if isinstance(entry, int):
                numbers.add(entry)
            elif entry is not None:
                numbers.update(self._tools.group_tools(entry))
        return sorted(numbers)

    @property
    def current_group(self) -> str | None:
        """Group whose header has the focus, or None."""
        entry = self._tools.entry_at(self.currentIndex())
        return entry if isinstance(entry, str) else None

    def choose(self, tools: Sequence[int], current: int) -> None:
        """Select tools and make one of them current."""
        model, selection = self._tools, self.selectionModel()
        flag = selection.SelectionFlag
        index = model.index_of(current)
        if not index.isValid():
            return
        if index != self.currentIndex() or set(self.chosen) != set(tools):
            selection.setCurrentIndex(index, flag.ClearAndSelect)
            for number in tools:
                if (row_index := model.index_of(number)).isValid():
                    selection.select(row_index, flag.Select)
        self.scrollTo(index)

    def content_height(self) -> int:
        """Return the height of all rows."""
        headers = sum(isinstance(entry, str) for entry in self._tools.rows) if len(self._tools.rows) <= MANY else 0
        return headers * HEADER_HEIGHT + (len(self._tools.rows) - headers) * ROW_HEIGHT

    def _toggle_fold(self, group: str) -> None:
        self._fold(group, group not in self._tools.folded)

    def _fold(self, group: str, folded: bool) -> None:
        self._tools.fold(group, folded)
        self.setCurrentIndex(self._tools.index_of(group))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        ctrl_shift = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        group = self.current_group
        key = event.key()
        if self.state() == QAbstractItemView.State.EditingState:
            super().keyPressEvent(event)  # keys that the name field ignores, such as Enter at the end
        elif key == Qt.Key.Key_Delete:
            self.delete_asked.emit()
        elif event.matches(QKeySequence.StandardKey.Undo):
            self.undo_asked.emit()
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down) and event.modifiers() & ctrl_shift == ctrl_shift:
            self.move_asked.emit(-1 if key == Qt.Key.Key_Up else 1)
        elif key == Qt.Key.Key_D and event.modifiers() == Qt.KeyboardModifier.ControlModifier:
            self.duplicate_asked.emit()
        elif group is not None and key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._fold(group, key == Qt.Key.Key_Left)
        elif group is not None and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._toggle_fold(group)
        else:
            super().keyPressEvent(event)
