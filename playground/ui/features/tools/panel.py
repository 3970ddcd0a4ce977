"""Panel of an experiment's tools: a list, and below it the editor of the selected tool.

The panel receives definitions and emits new ones; the session owns them. Checks run shortly after the last keystroke.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QMenu, QPushButton, QStackedWidget, QWidget

from playground.domain.debugging import Debugging
from playground.domain.tools import ToolDefinition
from playground.engine.tool_servers.tools import own_copy
from playground.ui.features.tools import grouping
from playground.ui.features.tools.checks import Checks
from playground.ui.features.tools.panel_parts import EmptyPage, PanelHead, WorkArea
from playground.ui.features.tools.samples import SAMPLE, TEMPLATE, free_name
from playground.ui.features.tools.standings import Standings
from playground.ui.features.tools.tool_editor import ToolEditor
from playground.ui.features.tools.tool_list import ToolList
from playground.ui.features.tools.tool_menu import ToolMenu
from playground.ui.features.tools.tool_model import ToolModel
from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import show_hidden
from playground.ui.widgets.widget_questions import WidgetQuestions

if TYPE_CHECKING:
    from playground.ui.features.tools.import_dialog import ImportToolsDialog
    from playground.ui.features.tools.large_window import LargeWindow

CHECK_AFTER_MS = 150
CHECK_S = 0.05  # longest time to check in one go
SHOW_INTERVAL_S = 0.5  # shortest interval between two updates of the list while many tools are checked
SHOW_RATE = 2_500  # tools per second of the interval: long lists are updated less often


class ResultRules(QObject):
    """The results of tool calls, in the list and in the editors; the signals are those of the editors' rows."""

    changed = Signal(object)
    rules_asked = Signal(str)

    def __init__(self, model: ToolModel) -> None:
        super().__init__(model)
        self._model = model
        self._editors: list[ToolEditor] = []

    def show_debugging(self, debugging: Debugging) -> None:
        """Show rules in the list and in the editors."""
        self._model.show_debugging(debugging)
        for editor in self._editors:
            editor.result_rule.show_debugging(debugging)

    def add_editor(self, editor: ToolEditor) -> None:
        """Show the rules in an editor until it is destroyed."""
        self._editors.append(editor)
        editor.destroyed.connect(lambda: self._editors.remove(editor))
        editor.result_rule.show_debugging(self._model.debugging)
        editor.result_rule.changed.connect(self.changed)
        editor.result_rule.rules_asked.connect(self.rules_asked)


class ToolsPanel(QWidget):
    """Panel of tools: ``set_tools`` shows definitions, ``changed`` carries the edited tuple.

    ``result_rules`` shows how calls are answered, ``show_standings`` updates the states of tool servers.
    ``accept_asked`` carries the numbers of tools whose current definition on the server is to be accepted,
    ``server_asked`` an action on a server, and its name.
    """

    changed = Signal(object)
    accept_asked = Signal(object)
    server_asked = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tools: tuple[ToolDefinition, ...] = ()
        self.setObjectName("toolsPanel")
        self._current = -1  # the tool in the editor
        #: Tools before the last deletion, the deleted numbers, and the remaining tools.
        self._deleted: tuple[tuple[ToolDefinition, ...], tuple[int, ...], tuple[ToolDefinition, ...]] | None = None
        self._questions = WidgetQuestions(self)
        self._checks = Checks(self._questions.ask)
        self._large: LargeWindow | None = None
        self.model = ToolModel(self)
        self.result_rules = ResultRules(self.model)
        self.list = ToolList(self.model)
        self.editor = ToolEditor()
        self.head = PanelHead()
        self._stack = QStackedWidget(self)
        self.empty = EmptyPage(self._stack)
        self.work = WorkArea(self.head, self.list, self.editor, self._stack)
        self.menu = ToolMenu(self, self)
        self.head.more_button.setMenu(self.menu)
        self.standings = Standings()
        self.undo_text = text_label()
        self.undo_button = styled(QPushButton("Undo"), "quiet")
        self.undo_bar = QFrame()
        self._check_timer = QTimer(self, singleShot=True, interval=CHECK_AFTER_MS)
        self._check_timer.timeout.connect(self._check_some)
        self._resume_timer = QTimer(self, singleShot=True)
        self._resume_timer.timeout.connect(self._check_some)
        self._last_shown = 0.0
        self._questions.answered.connect(self._checks.retry_pending)
        self._questions.answered.connect(self._check_some)
        self._arrange()
        self._connect()
        self._refresh()

    @property
    def tools(self) -> tuple[ToolDefinition, ...]:
        """Definitions in the list."""
        return self._tools

    @property
    def selected(self) -> int:
        """Number of the tool in the editor; -1 if there is none."""
        return self._current

    @property
    def chosen(self) -> list[int]:
        """Numbers of the tools selected in the list, or of the tool in the editor."""
        return self.list.chosen or ([self._current] if self._current >= 0 else [])

    def set_tools(self, tools: tuple[ToolDefinition, ...]) -> None:
        """Show definitions; the selection stays in its row, and text being typed stays while its value is unchanged."""
        if tools == self._tools:
            return
        self._deleted = None
        self._show_tools(tools, None)

    def add_below(self, widget: QWidget) -> None:
        """Add a widget of another feature below the definitions."""
        self._column.addWidget(widget)

    def set_servers_menu(self, menu: QMenu) -> None:
        """Set the menu that the buttons for servers open."""
        for button in (self.head.servers_button, self.empty.servers_button):
            button.setMenu(menu)
            button.show()

    def show_standings(self, standings: Standings) -> None:
        """Update the states of servers and the trust of their tools."""
        self.standings = self.model.standings = standings
        self.model.show_standings()
        self.head.show_summary(self._tools, self.model.sizes, self.standings.blocked)
        for editor in self._editors():
            editor.show_standings(standings)

    def select(self, number: int) -> None:
        """Select a tool and show it in the editor; clear the search or unfold its group if it is hidden."""
        if not 0 <= number < len(self._tools):
            return
        if not self.model.index_of(number).isValid():
            self.head.search.clear()
            self.model.fold(self._tools[number].group, folded=False)
        self.list.choose([number], number)
        self._show(number)

    def check_now(self) -> None:
        """Check all tools and show the results without waiting for the timer."""
        self._check_timer.stop()
        self._checks.retry_pending()
        self._checks.check(self._tools)
        self._show_checks()

    def _check_some(self) -> None:
        """Check tools for ``CHECK_S`` and show the results; continue soon if tools remain."""
        done = self._checks.check(self._tools, self._current, CHECK_S)
        if not done:
            self._resume_timer.start(0)
        if done or time.monotonic() >= self._last_shown + max(SHOW_INTERVAL_S, len(self._tools) / SHOW_RATE):
            self._show_checks()

    def _show_checks(self) -> None:
        self._last_shown = time.monotonic()
        problems = self._checks.problems(self._tools)
        sizes = self._checks.sizes(self._tools)
        self.model.show_problems(problems, sizes)
        self.head.show_summary(self._tools, sizes, self.standings.blocked)
        if 0 <= self._current < len(problems):
            for editor in self._editors():
                editor.show_problems(problems[self._current])

    # -- commands ----------------------------------------------------------------------------------------------

    def add_tool(self) -> None:
        """Insert a tool from the template and select its name for editing."""
        self._insert((TEMPLATE,))
        self.editor.name.setFocus(Qt.FocusReason.OtherFocusReason)
        self.editor.name.selectAll()

    def add_sample(self) -> None:
        """Insert a complete example."""
        self._insert((SAMPLE,))

    def duplicate(self) -> None:
        """Insert copies of the selected tools below the last of them; a copy of a server's tool is the user's own."""
        chosen = self.chosen
        if chosen:
            copies = [_copy(self._tools[number]) for number in chosen]
            self._insert(copies, chosen[-1] + 1 if not any(self._tools[number].server for number in chosen) else None)

    def delete(self) -> None:
        """Remove the selected tools; ``undo_delete`` restores them."""
        self._delete(self.chosen)

    def _delete(self, chosen: list[int]) -> None:
        if not chosen:
            return
        before, deleted = self._tools, set(chosen)
        remaining = tuple(tool for number, tool in enumerate(before) if number not in deleted)
        self._apply(remaining, [min(chosen[0], len(remaining) - 1)])
        self._deleted = before, tuple(chosen), self._tools
        self._refresh()
        (self.list if self._tools else self.undo_button).setFocus(Qt.FocusReason.OtherFocusReason)

    def undo_delete(self) -> None:
        """Restore the tools that were deleted last to their places."""
        if self._deleted is not None:
            before, chosen, remaining = self._deleted
            tools = list(before if self._tools is remaining else self._tools)
            for number in chosen if self._tools is not remaining else ():
                tools.insert(min(number, len(tools)), before[number])
            self._deleted = None
            self._apply(tuple(tools), list(chosen))
            self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def move_tool(self, steps: int) -> None:
        """Move the selection up (-1) or down (1): tools past a header into its group, a header with its group."""
        order = grouping.entries(self._tools)
        group = self.list.current_group
        if group is not None:
            self._arrange_tools(grouping.move_group(order, group, steps), group=group)
        elif self.chosen:
            self._arrange_tools(grouping.move_tools(order, self.chosen, steps))

    def set_group(self, numbers: Iterable[int], group: str) -> None:
        """Move tools to a group; "" removes them from theirs."""
        targets = set(numbers)
        tools = tuple(
            tool.model_copy(update={"group": group}) if number in targets and tool.group != group else tool
            for number, tool in enumerate(self._tools)
        )
        if tools != self._tools:
            self._apply(*self._regroup(tools, sorted(targets)))

    def new_group(self) -> None:
        """Move the selected tools to a new group and open its name for editing."""
        name = free_name("New group", {tool.group for tool in self._tools})
        self.set_group(self.chosen, name)
        index = self.model.index_of(name)
        self.list.setCurrentIndex(index)
        self.list.edit(index)

    def switch(self, numbers: Iterable[int], on: bool) -> None:
        """Switch tools on or off; tools that are not accepted stay off, and a single one is selected."""
        targets = set(numbers)
        if on and (unseen := {number for number in targets if self.standings.unseen(self._tools[number])}):
            if unseen == targets and len(targets) == 1:
                self.select(min(targets))
            targets -= unseen
        tools = tuple(
            tool.model_copy(update={"enabled": on}) if number in targets and tool.enabled != on else tool
            for number, tool in enumerate(self._tools)
        )
        if tools != self._tools:
            self._apply(tools, None)

    def switch_all(self) -> None:
        """Switch all tools off if all are on, else on; during a search, only those that match."""
        visible = [entry for entry in self.model.rows if isinstance(entry, int)]
        numbers = visible if self.head.search.text().strip() else list(range(len(self._tools)))
        switchable = [number for number in numbers if self._tools[number].enabled or not self._needs_review(number)]
        self.switch(switchable, not all(self._tools[number].enabled for number in switchable))

    def _needs_review(self, number: int) -> bool:
        return self.standings.unseen(self._tools[number])

    def open_large(self) -> LargeWindow:
        """Open the tool in a separate window, form and JSON side by side."""
        from playground.ui.features.tools.large_window import LargeWindow

        if self._large is None:
            large = self._large = LargeWindow(self)
            large.editor.edited.connect(self._edited)
            large.editor.sample_asked.connect(self.show_sample)
            self._connect_origin(large.editor)
            self.result_rules.add_editor(large.editor)
            large.editor.show_standings(self.standings)
            large.editor.set_groups(self._group_names())
            large.editor.show_tool(self._tools[self._current], another=True)
            large.finished.connect(self._large_closed)
            large.open()
            self.check_now()
        return self._large

    def import_tools(self) -> ImportToolsDialog:
        """Open the import dialog."""
        from playground.ui.features.tools.import_dialog import ImportToolsDialog

        dialog = ImportToolsDialog([tool.name for tool in self._tools], self)
        dialog.imported.connect(self._insert)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
        return dialog

    def show_sample(self) -> None:
        """Fill in arguments of the tool, beginning with a sample, to copy them."""
        from playground.ui.widgets.arguments_dialog import ArgumentsDialog

        if self._current >= 0:
            tool = self._tools[self._current]
            dialog = ArgumentsDialog(tool.name, tool.parameters, self._large or self, copies=True)
            dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            dialog.open()

    # -- inside ------------------------------------------------------------------------------------------------

    def _arrange(self) -> None:
        self._stack.addWidget(self.empty)
        self._stack.addWidget(self.work)
        in_row((self.undo_text, 1), self.undo_button, parent=self.undo_bar, margins=(12, 4, 8, 4))
        self.undo_bar.setProperty("kind", "undo")
        self._column = in_column((self._stack, 1), self.undo_bar, parent=self, margins=0, spacing=0)
        self.setProperty("kind", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumWidth(260)

    def _connect(self) -> None:
        head, empty, tools = self.head, self.empty, self.list
        for button in (head.new_button, empty.add_button):
            button.clicked.connect(self.add_tool)
        for button in (head.import_button, empty.import_button):
            button.clicked.connect(self.import_tools)
        empty.sample_button.clicked.connect(self.add_sample)
        head.duplicate_button.clicked.connect(self.duplicate)
        head.delete_button.clicked.connect(self.delete)
        head.search.textChanged.connect(self._search)
        head.all_button.clicked.connect(self.switch_all)
        self.undo_button.clicked.connect(self.undo_delete)
        tools.delete_asked.connect(self.delete)
        tools.undo_asked.connect(self.undo_delete)
        tools.move_asked.connect(self.move_tool)
        tools.duplicate_asked.connect(self.duplicate)
        tools.delegate.toggled.connect(self._toggle)
        tools.delegate.group_toggled.connect(self._toggle_group)
        tools.customContextMenuRequested.connect(
            lambda position: self.menu.popup(tools.viewport().mapToGlobal(position))
        )
        tools.selectionModel().currentChanged.connect(self._selected)
        self.model.dropped.connect(self._dropped)
        self.model.renamed.connect(self._rename_group)
        self.model.modelReset.connect(self.work.fit)
        self.editor.edited.connect(self._edited)
        self.editor.large_asked.connect(self.open_large)
        self.editor.sample_asked.connect(self.show_sample)
        self._connect_origin(self.editor)
        self.result_rules.add_editor(self.editor)

    def _connect_origin(self, editor: ToolEditor) -> None:
        origin = editor.origin
        origin.copy_asked.connect(self._copy_current)
        origin.accept_asked.connect(lambda: self.accept_asked.emit([self._current]))
        origin.leave_asked.connect(lambda: self.switch([self._current], on=False))
        origin.remove_asked.connect(self._remove_current)
        origin.server_asked.connect(lambda what: self.server_asked.emit(what, self._tools[self._current].server))

    def _copy_current(self) -> None:
        """Copy the server's tool in the editor to an own tool, open it for editing, and switch the original off."""
        tool = self._tools[self._current]
        off = tuple(it.model_copy(update={"enabled": False}) if it is tool else it for it in self._tools)
        copy = _copy(tool)
        copy = copy.model_copy(update={"name": free_name(copy.name, {it.name for it in off})})
        self._deleted = None
        self._apply(*self._regroup((*off, copy), [len(off)]))
        self.editor.name.setFocus(Qt.FocusReason.OtherFocusReason)

    def _remove_current(self) -> None:
        self.list.choose([self._current], self._current)
        self.delete()

    def remove_server(self, name: str) -> None:
        """Remove all tools of a server; ``undo_delete`` restores them."""
        self._delete([number for number, tool in enumerate(self._tools) if tool.server == name])

    def put_tools(self, tools: tuple[ToolDefinition, ...], current: int | None = None) -> None:
        """Replace the tools in one change, with the tools of a group together; select ``current``, if any."""
        self._deleted = None
        arranged, chosen = self._regroup(tools, [] if current is None else [current])
        self._apply(arranged, chosen or None)

    def _editors(self) -> list[ToolEditor]:
        return [self.editor, *([self._large.editor] if self._large is not None else [])]

    def _group_names(self) -> tuple[str, ...]:
        return tuple(name for name in grouping.groups(self._tools) if name)

    def _insert(self, tools: Sequence[ToolDefinition], index: int | None = None) -> None:
        index = len(self._tools) if index is None else index
        names = {tool.name for tool in self._tools}
        inserted: list[ToolDefinition] = []
        for tool in tools:
            name = free_name(tool.name, names)
            names.add(name)
            inserted.append(tool if name == tool.name else tool.model_copy(update={"name": name}))
        self._deleted = None
        placed = (*self._tools[:index], *inserted, *self._tools[index:])
        self._apply(*self._regroup(placed, list(range(index, index + len(inserted)))))

    def _toggle(self, number: int) -> None:
        chosen = self.list.chosen
        self.switch(chosen if number in chosen else [number], not self._tools[number].enabled)

    def _toggle_group(self, group: str) -> None:
        self.switch(self.model.group_tools(group), not self.model.group_on(group))

    def _rename_group(self, group: str, name: str) -> None:
        QTimer.singleShot(0, self, partial(self.set_group, self.model.group_tools(group), name))

    def _dropped(self, numbers: list[int], below: grouping.Entry | None) -> None:
        order = grouping.entries(self._tools)
        QTimer.singleShot(0, self, partial(self._arrange_tools, grouping.drop_tools(order, numbers, below), numbers))

    def _arrange_tools(
        self, order: list[grouping.Entry], chosen: Sequence[int] | None = None, group: str | None = None
    ) -> None:
        chosen = self.chosen if chosen is None else chosen
        tools, old_numbers = grouping.arrange(self._tools, order)
        if tools == self._tools and old_numbers == list(range(len(old_numbers))):
            return
        current = old_numbers.index(self._current) if self._current in old_numbers else 0
        self._apply(tools, sorted(old_numbers.index(number) for number in chosen), current)
        if group is not None:
            self.list.setCurrentIndex(self.model.index_of(group))

    def _regroup(
        self, tools: tuple[ToolDefinition, ...], chosen: list[int]
    ) -> tuple[tuple[ToolDefinition, ...], list[int]]:
        """Return the tools with each group together, and the new numbers of the chosen tools."""
        arranged, old_numbers = grouping.arrange(tools, grouping.entries(tools))
        return arranged, sorted(old_numbers.index(number) for number in chosen)

    def _edited(self, tool: ToolDefinition) -> None:
        if self._current < 0:
            return
        tools = (*self._tools[: self._current], tool, *self._tools[self._current + 1 :])
        if tool.group != self._tools[self._current].group:
            self._apply(*self._regroup(tools, [self._current]))
        else:
            self._apply(tools, None)

    def _apply(self, tools: tuple[ToolDefinition, ...], chosen: list[int] | None, current: int | None = None) -> None:
        self._show_tools(tools, chosen, current)
        self.changed.emit(tools)

    def _show_tools(
        self, tools: tuple[ToolDefinition, ...], chosen: list[int] | None, current: int | None = None
    ) -> None:
        """Show tools, select ``chosen`` (None: keep the selection) and edit ``current`` or the first of them."""
        before = self._current
        number = current if current is not None else chosen[0] if chosen else before
        self._tools = tools
        selection = self.list.chosen if chosen is None else chosen
        self._current = min(max(number, 0), len(tools) - 1)
        group = self.list.current_group
        self.model.show_tools(tools)
        for editor in self._editors():
            editor.set_groups(self._group_names())
        if tools:
            hidden = chosen is not None and not self.model.index_of(self._current).isValid()
            if hidden:
                self.select(self._current)
            elif chosen is not None or group is None:
                self.list.choose([index for index in selection if index < len(tools)] or [self._current], self._current)
            for editor in self._editors():
                editor.show_tool(tools[self._current], another=chosen is not None and self._current != before)
        self._refresh()

    def _selected(self, current: QModelIndex, _before: QModelIndex) -> None:
        number = self.model.tool_at(current)
        if number is not None and number != self._current:
            self._show(number)
        self._refresh()

    def _show(self, number: int) -> None:
        another = number != self._current
        self._current = number
        problems = self.model.problems
        for editor in self._editors():
            editor.show_tool(self._tools[number], another=another)
            editor.show_problems(problems[number] if number < len(problems) else [])

    def _search(self, text: str) -> None:
        self.model.search(text)
        if self._current >= 0 and self.model.index_of(self._current).isValid():
            self.list.choose([self._current], self._current)

    def _large_closed(self, _result: int) -> None:
        self._large = None

    def _refresh(self) -> None:
        self._stack.setCurrentIndex(1 if self._tools else 0)
        self.work.fit()
        self.head.show_summary(self._tools, self.model.sizes, self.standings.blocked)
        if self._deleted is not None:
            before, chosen, _ = self._deleted
            name = show_hidden(before[chosen[0]].name) or "the tool"
            self.undo_text.setText(f"Deleted {name}" if len(chosen) == 1 else f"Deleted {len(chosen)} tools")
        self.undo_bar.setVisible(self._deleted is not None)
        if self._tools:
            self._check_timer.start()


def _copy(tool: ToolDefinition) -> ToolDefinition:
    if tool.server:
        return own_copy(tool, {tool.name})
    return tool.model_copy(update={"name": f"{tool.name[:58]}_copy"})
