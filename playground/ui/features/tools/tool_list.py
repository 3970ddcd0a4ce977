"""View and delegate of the list of tools: a switch, a name and a size in each row; headers that fold."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyleOptionViewItem, QWidget

from playground.ui.features.debugger.result_rules import rule_summary_of
from playground.ui.features.tools.standings import hint_word, standing_words
from playground.ui.features.tools.tool_model import ToolModel
from playground.ui.widgets.plain_text import shown_name
from playground.ui.widgets.row_delegate import (
    HEADING,
    MARGIN,
    TWO_LINES,
    Control,
    Row,
    RowDelegate,
    Words,
    control_rect,
)

MANY = 1_000  # rows; longer lists have uniform heights, because a size hint for each row is slow
_Index = QModelIndex | QPersistentModelIndex


class ToolDelegate(RowDelegate):
    """Shows a tool as a switch and two lines, and a group as a line with a switch for its tools."""

    toggled = Signal(int)
    group_toggled = Signal(str)
    fold_asked = Signal(str)

    def row(self, index: _Index) -> Row | None:
        model = index.model()
        entry = model.entry_at(index) if isinstance(model, ToolModel) else None
        if not isinstance(model, ToolModel) or entry is None:
            return None
        return _header_row(model, entry) if isinstance(entry, str) else _tool_row(model, entry)

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        model = index.model()
        header = isinstance(model, ToolModel) and len(model.rows) <= MANY and model.tool_at(index) is None
        return QSize(160, HEADING if header else TWO_LINES)

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


def _header_row(model: ToolModel, group: str) -> Row:
    attention, server = model.group_attention(group), model.group_server(group)
    return Row(
        Words(group or "No group", "text"),
        side=Words(attention or model.group_words(group), "tool" if attention else "muted"),
        dot=server.state if server is not None else None,
        control=Control("switch", model.group_on(group)),
        heading=True,
        chevron="right" if group in model.folded else "down",
    )


def _tool_row(model: ToolModel, number: int) -> Row:
    tool, severity = model.tools[number], model.severity(number)
    description, colour = tool.description.strip(), "muted"
    rule = rule_summary_of(model.debugging, tool.name)
    marks = [Words(rule.policy, "accent" if rule.is_own else "muted")]
    line = description.splitlines()[0] if description else "no description"
    if tool.enabled and tool.source is not None:
        line, colour = f"not sent: {tool.unread}", "error"
    if tool.server:
        line = f"{shown_name(tool.remote)} there · {line}" if tool.remote else line
        review = standing_words(model.standings.trust(tool), enabled=tool.enabled)
        line, colour = review or line, "tool" if review else "muted"
        hint = hint_word(tool)
        marks = [] if review else marks + [Words(hint, "error" if hint == "destructive" else "ok")] * bool(hint)
    icons = {"": (), "error": (("error", "error"),)}
    return Row(
        Words(shown_name(tool.name) or "unnamed", "text" if tool.enabled else "muted"),
        Words(line, colour),
        Words(model.size_words(number)),
        marks=tuple(marks),
        control=Control("switch", tool.enabled),
        icons=icons.get(severity, (("warning", "tool"),)),
        code=True,
    )


def switch_rect(row: QRect) -> QRect:
    """Return the rectangle of a tool's switch."""
    return control_rect(row, "switch")


def group_switch_rect(row: QRect) -> QRect:
    """Return the rectangle of a group's switch."""
    return control_rect(row, "switch", in_heading=True)


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
        return headers * HEADING + (len(self._tools.rows) - headers) * TWO_LINES

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
