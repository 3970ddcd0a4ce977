"""The tools of an experiment: a list, and below it the editor of the one that is selected.

It gets the definitions and hands back new ones; it holds no truth. Checks run a moment after the last keystroke.
"""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from playground.domain.tools import ToolDefinition, check_definitions
from playground.ui.icon_button import IconButton
from playground.ui.plain_text import show_hidden
from playground.ui.tools.samples import SAMPLE, TEMPLATE, free_name
from playground.ui.tools.tool_editor import ToolEditor
from playground.ui.tools.tool_list import ToolList, ToolModel

CHECK_AFTER_MS = 150


class ToolsPanel(QWidget):
    """``set_tools`` shows definitions, ``changed`` tells the new tuple of them."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tools: tuple[ToolDefinition, ...] = ()
        self._deleted: tuple[int, ToolDefinition] | None = None
        self.model = ToolModel(self)
        self.list = ToolList(self.model)
        self.editor = ToolEditor()
        self.new_button = QPushButton("New tool")
        self.sample_button = IconButton("sparkle", f"Add a sample: {SAMPLE.name}", quiet=False)
        self.duplicate_button = IconButton("copy", "Duplicate the tool", quiet=False)
        self.up_button = IconButton("up", "Move the tool up (Ctrl+Shift+Up)", quiet=False)
        self.down_button = IconButton("down", "Move the tool down (Ctrl+Shift+Down)", quiet=False)
        self.delete_button = IconButton("delete", "Delete the tool (Delete)", quiet=False)
        self.first_button = QPushButton("Add one")
        self.first_button.setProperty("kind", "primary")
        self.first_sample_button = QPushButton("Add a sample")
        self.undo_text = QLabel()
        self.undo_text.setTextFormat(Qt.TextFormat.PlainText)
        self.undo_button = QPushButton("Undo")
        self.undo_button.setProperty("kind", "quiet")
        self.undo_bar = QFrame()
        self._stack = QStackedWidget()
        self._check = QTimer(self)
        self._check.setSingleShot(True)
        self._check.setInterval(CHECK_AFTER_MS)
        self._check.timeout.connect(self.check_now)
        self._arrange()
        self._connect()
        self._refresh()

    @property
    def tools(self) -> tuple[ToolDefinition, ...]:
        """The definitions as shown."""
        return self._tools

    @property
    def tool_count(self) -> int:
        """How many tools go into a request: switched on and readable."""
        return sum(tool.sendable for tool in self._tools)

    @property
    def selected(self) -> int:
        """The row of the selected tool; -1 when there is none."""
        return self.list.currentIndex().row()

    def set_tools(self, tools: tuple[ToolDefinition, ...]) -> None:
        """Show these definitions. The selection stays in its row; text being typed stays while its value does."""
        if tools == self._tools:
            return
        self._deleted = None
        self._put(tools, self.selected)

    def select(self, row: int) -> None:
        """Select a tool and show it in the editor."""
        self.list.setCurrentIndex(self.model.index(row))

    def check_now(self) -> None:
        """Check all tools at once and show what was found, without waiting for the timer."""
        self._check.stop()
        problems = check_definitions(self._tools)
        self.model.show_problems(problems)
        if 0 <= self.selected < len(problems):
            self.editor.show_problems(problems[self.selected])

    # -- commands ----------------------------------------------------------------------------------------------

    def add(self) -> None:
        """A new tool from the template, its name ready to be typed over."""
        self._insert(TEMPLATE)
        self.editor.name.setFocus(Qt.FocusReason.OtherFocusReason)
        self.editor.name.selectAll()

    def add_sample(self) -> None:
        """A complete example."""
        self._insert(SAMPLE)

    def duplicate(self) -> None:
        """A copy of the selected tool under a free name, below it."""
        if self.selected >= 0:
            tool = self._tools[self.selected]
            self._insert(tool.model_copy(update={"name": f"{tool.name[:58]}_copy"}), self.selected + 1)

    def delete(self) -> None:
        """Remove the selected tool; ``undo_delete`` brings it back."""
        row = self.selected
        if row < 0:
            return
        self._deleted = (row, self._tools[row])
        self._tell((*self._tools[:row], *self._tools[row + 1 :]), min(row, len(self._tools) - 2))
        if self._tools:
            self.list.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.undo_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def undo_delete(self) -> None:
        """Put the tool that was deleted last back to its place."""
        if self._deleted is not None:
            row, tool = self._deleted
            self._deleted = None
            self._tell((*self._tools[:row], tool, *self._tools[row:]), row)
            self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def move_tool(self, steps: int) -> None:
        """Move the selected tool up (-1) or down (1)."""
        row, to = self.selected, self.selected + steps
        if row >= 0 and 0 <= to < len(self._tools):
            tools = list(self._tools)
            tools.insert(to, tools.pop(row))
            self._tell(tuple(tools), to)

    # -- inside ------------------------------------------------------------------------------------------------

    def _arrange(self) -> None:
        bar = QHBoxLayout()
        bar.setContentsMargins(12, 8, 12, 8)
        bar.setSpacing(4)
        bar.addWidget(self.new_button)
        bar.addStretch(1)
        for button in (self.sample_button, self.duplicate_button, self.up_button, self.down_button, self.delete_button):
            button.setFixedSize(24, 24)
            bar.addWidget(button)
        work = QWidget()
        column = QVBoxLayout(work)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(self.list)
        column.addWidget(_line())
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.editor.setProperty("kind", "surface")
        self.editor.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        scroll.setWidget(self.editor)
        column.addWidget(scroll, 1)
        self._stack.addWidget(self._empty_page())
        self._stack.addWidget(work)
        undo = QHBoxLayout(self.undo_bar)
        undo.setContentsMargins(12, 4, 8, 4)
        undo.addWidget(self.undo_text, 1)
        undo.addWidget(self.undo_button)
        self.undo_bar.setProperty("kind", "undo")
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(self._stack, 1)
        outer.addWidget(self.undo_bar)
        self.setProperty("kind", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumWidth(260)

    def _empty_page(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(16, 24, 16, 16)
        column.setSpacing(8)
        heading = QLabel("No tools yet")
        heading.setProperty("kind", "heading")
        says = QLabel(
            "Tools are functions the model may call. You describe them here; when the model calls one, "
            "you see its arguments, answer for it, and let the model go on."
        )
        says.setWordWrap(True)
        says.setProperty("kind", "muted")
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.first_button)
        buttons.addWidget(self.first_sample_button)
        buttons.addStretch(1)
        column.addWidget(heading)
        column.addWidget(says)
        column.addSpacing(4)
        column.addLayout(buttons)
        column.addStretch(1)
        return page

    def _connect(self) -> None:
        self.new_button.clicked.connect(self.add)
        self.first_button.clicked.connect(self.add)
        self.sample_button.clicked.connect(self.add_sample)
        self.first_sample_button.clicked.connect(self.add_sample)
        self.duplicate_button.clicked.connect(self.duplicate)
        self.delete_button.clicked.connect(self.delete)
        self.up_button.clicked.connect(self._move_up)
        self.down_button.clicked.connect(self._move_down)
        self.undo_button.clicked.connect(self.undo_delete)
        self.list.delete_asked.connect(self.delete)
        self.list.undo_asked.connect(self.undo_delete)
        self.list.move_asked.connect(self.move_tool)
        self.list.delegate.toggled.connect(self._toggle)
        self.list.selectionModel().currentChanged.connect(self._selected)
        self.editor.edited.connect(self._edited)

    def _move_up(self) -> None:
        self.move_tool(-1)

    def _move_down(self) -> None:
        self.move_tool(1)

    def _insert(self, tool: ToolDefinition, row: int | None = None) -> None:
        row = len(self._tools) if row is None else row
        tool = tool.model_copy(update={"name": free_name(tool.name, {other.name for other in self._tools})})
        self._deleted = None
        self._tell((*self._tools[:row], tool, *self._tools[row:]), row)

    def _toggle(self, row: int) -> None:
        tool = self._tools[row]
        self._replace(row, tool.model_copy(update={"enabled": not tool.enabled}))

    def _edited(self, tool: ToolDefinition) -> None:
        if self.selected >= 0:
            self._replace(self.selected, tool)

    def _replace(self, row: int, tool: ToolDefinition) -> None:
        self._tell((*self._tools[:row], tool, *self._tools[row + 1 :]), self.selected)

    def _tell(self, tools: tuple[ToolDefinition, ...], row: int) -> None:
        self._put(tools, row)
        self.changed.emit(tools)

    def _put(self, tools: tuple[ToolDefinition, ...], row: int) -> None:
        self._tools = tools
        self.model.show_tools(tools)
        if tools:
            self.select(min(max(row, 0), len(tools) - 1))
            self.editor.show_tool(tools[self.selected])
        self._refresh()

    def _selected(self, _now: QModelIndex, _before: QModelIndex) -> None:
        if 0 <= self.selected < len(self._tools):
            self.editor.show_tool(self._tools[self.selected])
            known = self.model.problems
            self.editor.show_problems(known[self.selected] if self.selected < len(known) else [])
            self._refresh()

    def _refresh(self) -> None:
        self._stack.setCurrentIndex(1 if self._tools else 0)
        self.list.fit()
        self.up_button.setEnabled(self.selected > 0)
        self.down_button.setEnabled(0 <= self.selected < len(self._tools) - 1)
        if self._deleted is not None:
            self.undo_text.setText(f"Deleted {show_hidden(self._deleted[1].name) or 'the tool'}")
        self.undo_bar.setVisible(self._deleted is not None)
        if self._tools:
            self._check.start()


def _line() -> QFrame:
    line = QFrame()
    line.setProperty("kind", "line")
    return line
