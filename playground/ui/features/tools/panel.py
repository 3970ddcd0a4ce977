"""The tools of an experiment: a list, and below it the editor of the one that is selected.

It gets the definitions and hands back new ones; it holds no truth. Checks run a moment after the last keystroke.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QMenu, QPushButton, QStackedWidget, QWidget

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
from playground.ui.widgets.asking import Asking
from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import show_hidden

if TYPE_CHECKING:
    from playground.ui.features.tools.import_dialog import ImportDialog
    from playground.ui.features.tools.large_window import LargeWindow

CHECK_AFTER_MS = 150
CHECK_S = 0.05  # seconds of checking at a time; the rest of very many tools follows
SHOWN_EVERY_S = 0.5  # what was found so far, while very many tools are checked
SHOWN_A_SECOND = 2_500  # tools; of more, it is shown the less often


class ToolsPanel(QWidget):
    """``set_tools`` shows definitions, ``changed`` tells the new tuple of them.

    ``show_standings`` says what is known of tool servers. ``accept_asked`` gives the numbers of tools to be accepted as
    their server lists them now, ``server_asked`` what is to be done with a server, and its name.
    """

    changed = Signal(object)
    accept_asked = Signal(object)
    server_asked = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tools: tuple[ToolDefinition, ...] = ()
        self.setObjectName("toolsPanel")
        self._shown = -1  # the tool in the editor
        #: What there was, which of it was deleted, and what was left.
        self._deleted: tuple[tuple[ToolDefinition, ...], tuple[int, ...], tuple[ToolDefinition, ...]] | None = None
        self._asking = Asking(self)
        self._checks = Checks(self._asking.ask)
        self._large: LargeWindow | None = None
        self.model = ToolModel(self)
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
        self._check = QTimer(self, singleShot=True, interval=CHECK_AFTER_MS)
        self._check.timeout.connect(self._check_some)
        self._going_on = QTimer(self, singleShot=True)
        self._going_on.timeout.connect(self._check_some)
        self._shown_at = 0.0
        self._asking.answered.connect(self._checks.ask_again)
        self._asking.answered.connect(self._check_some)
        self._arrange()
        self._connect()
        self._refresh()

    @property
    def tools(self) -> tuple[ToolDefinition, ...]:
        """The definitions as shown."""
        return self._tools

    @property
    def selected(self) -> int:
        """The number of the tool in the editor; -1 when there is none."""
        return self._shown

    @property
    def chosen(self) -> list[int]:
        """The tools selected in the list, or the one in the editor."""
        return self.list.chosen or ([self._shown] if self._shown >= 0 else [])

    def set_tools(self, tools: tuple[ToolDefinition, ...]) -> None:
        """Show these definitions. The selection stays in its row; text being typed stays while its value does."""
        if tools == self._tools:
            return
        self._deleted = None
        self._put(tools, None)

    def add_below(self, widget: QWidget) -> None:
        """Put a widget of another feature below the definitions."""
        self._column.addWidget(widget)

    def set_servers_menu(self, menu: QMenu) -> None:
        """What the buttons for servers open."""
        for button in (self.head.servers_button, self.empty.servers_button):
            button.setMenu(menu)
            button.show()

    def show_standings(self, standings: Standings) -> None:
        """What is known of servers, and of how tools stand to theirs, is otherwise than before."""
        self.standings = self.model.standings = standings
        self.model.show_standings()
        self.head.show_summary(self._tools, self.model.sizes, self.standings.held)
        for editor in self._editors():
            editor.show_standings(standings)

    def select(self, number: int) -> None:
        """Select a tool and show it in the editor; a fold or a search that hides it ends."""
        if not 0 <= number < len(self._tools):
            return
        if not self.model.index_of(number).isValid():
            self.head.search.clear()
            self.model.fold(self._tools[number].group, folded=False)
        self.list.choose([number], number)
        self._show(number)

    def check_now(self) -> None:
        """Check all tools at once and show what was found, without waiting for the timer."""
        self._check.stop()
        self._checks.ask_again()
        self._checks.look(self._tools)
        self._show_checks()

    def _check_some(self) -> None:
        """Check tools for ``CHECK_S`` and show the findings; the rest of very many tools follows."""
        done = self._checks.look(self._tools, self._shown, CHECK_S)
        if not done:
            self._going_on.start(0)
        if done or time.monotonic() >= self._shown_at + max(SHOWN_EVERY_S, len(self._tools) / SHOWN_A_SECOND):
            self._show_checks()

    def _show_checks(self) -> None:
        self._shown_at = time.monotonic()
        problems = self._checks.problems(self._tools)
        sizes = self._checks.sizes(self._tools)
        self.model.show_problems(problems, sizes)
        self.head.show_summary(self._tools, sizes, self.standings.held)
        if 0 <= self._shown < len(problems):
            for editor in self._editors():
                editor.show_problems(problems[self._shown])

    # -- commands ----------------------------------------------------------------------------------------------

    def add_tool(self) -> None:
        """A new tool from the template, its name ready to be typed over."""
        self._insert((TEMPLATE,))
        self.editor.name.setFocus(Qt.FocusReason.OtherFocusReason)
        self.editor.name.selectAll()

    def add_sample(self) -> None:
        """A complete example."""
        self._insert((SAMPLE,))

    def duplicate(self) -> None:
        """A copy of each selected tool under a free name, below the last of them; of a server's, one's own."""
        chosen = self.chosen
        if chosen:
            copies = [_copy(self._tools[at]) for at in chosen]
            self._insert(copies, chosen[-1] + 1 if not any(self._tools[at].server for at in chosen) else None)

    def delete(self) -> None:
        """Remove the selected tools; ``undo_delete`` brings them back."""
        self._delete(self.chosen)

    def _delete(self, chosen: list[int]) -> None:
        if not chosen:
            return
        before, gone = self._tools, set(chosen)
        rest = tuple(tool for number, tool in enumerate(before) if number not in gone)
        self._tell(rest, [min(chosen[0], len(rest) - 1)])
        self._deleted = before, tuple(chosen), self._tools
        self._refresh()
        (self.list if self._tools else self.undo_button).setFocus(Qt.FocusReason.OtherFocusReason)

    def undo_delete(self) -> None:
        """Put the tools that were deleted last back to their places."""
        if self._deleted is not None:
            before, chosen, rest = self._deleted
            tools = list(before if self._tools is rest else self._tools)
            for number in chosen if self._tools is not rest else ():
                tools.insert(min(number, len(tools)), before[number])
            self._deleted = None
            self._tell(tuple(tools), list(chosen))
            self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def move_tool(self, steps: int) -> None:
        """Move what is selected up (-1) or down (1): tools past a header into its group, a header with its group."""
        order = grouping.entries(self._tools)
        group = self.list.current_group
        if group is not None:
            self._arrange_tools(grouping.group_stepped(order, group, steps), group=group)
        elif self.chosen:
            self._arrange_tools(grouping.stepped(order, self.chosen, steps))

    def set_group(self, numbers: Iterable[int], group: str) -> None:
        """Put tools under a heading; "" takes them out of theirs."""
        wanted = set(numbers)
        tools = tuple(
            tool.model_copy(update={"group": group}) if number in wanted and tool.group != group else tool
            for number, tool in enumerate(self._tools)
        )
        if tools != self._tools:
            self._tell(*self._gathered(tools, sorted(wanted)))

    def new_group(self) -> None:
        """Put the selected tools under a new heading, its name ready to be typed over."""
        name = free_name("New group", {tool.group for tool in self._tools})
        self.set_group(self.chosen, name)
        index = self.model.index_of(name)
        self.list.setCurrentIndex(index)
        self.list.edit(index)

    def switch(self, numbers: Iterable[int], on: bool) -> None:
        """Switch tools on or off. What nobody has looked at since its server changed it stays off, and is shown."""
        wanted = set(numbers)
        if on and (unseen := {number for number in wanted if self.standings.unseen(self._tools[number])}):
            if unseen == wanted and len(wanted) == 1:
                self.select(min(wanted))
            wanted -= unseen
        tools = tuple(
            tool.model_copy(update={"enabled": on}) if number in wanted and tool.enabled != on else tool
            for number, tool in enumerate(self._tools)
        )
        if tools != self._tools:
            self._tell(tools, None)

    def switch_all(self) -> None:
        """Switch all tools off if all are on, else on; under a search, only those it leaves."""
        shown = [entry for entry in self.model.rows if isinstance(entry, int)]
        numbers = shown if self.head.search.text().strip() else list(range(len(self._tools)))
        can = [number for number in numbers if self._tools[number].enabled or not self._unseen(number)]
        self.switch(can, not all(self._tools[number].enabled for number in can))

    def _unseen(self, number: int) -> bool:
        return self.standings.unseen(self._tools[number])

    def open_large(self) -> LargeWindow:
        """The tool in a window of its own, form and JSON side by side."""
        from playground.ui.features.tools.large_window import LargeWindow

        if self._large is None:
            large = self._large = LargeWindow(self)
            large.editor.edited.connect(self._edited)
            large.editor.sample_asked.connect(self.show_sample)
            self._connect_origin(large.editor)
            large.editor.show_standings(self.standings)
            large.editor.set_groups(self._group_names())
            large.editor.show_tool(self._tools[self._shown], another=True)
            large.finished.connect(self._large_closed)
            large.open()
            self.check_now()
        return self._large

    def import_tools(self) -> ImportDialog:
        """Ask for text to make tools from."""
        from playground.ui.features.tools.import_dialog import ImportDialog

        dialog = ImportDialog([tool.name for tool in self._tools], self)
        dialog.imported.connect(self._insert)
        dialog.open()
        return dialog

    def show_sample(self) -> None:
        """An example of arguments made from the schema."""
        from playground.ui.features.tools.sample_dialog import SampleDialog

        if self._shown >= 0:
            SampleDialog(self._tools[self._shown], self._large or self).open()

    # -- inside ------------------------------------------------------------------------------------------------

    def _arrange(self) -> None:
        self._stack.addWidget(self.empty)
        self._stack.addWidget(self.work)
        in_row((self.undo_text, 1), self.undo_button, of=self.undo_bar, margins=(12, 4, 8, 4))
        self.undo_bar.setProperty("kind", "undo")
        self._column = in_column((self._stack, 1), self.undo_bar, of=self, margins=0, spacing=0)
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
        tools.customContextMenuRequested.connect(lambda at: self.menu.popup(tools.viewport().mapToGlobal(at)))
        tools.selectionModel().currentChanged.connect(self._selected)
        self.model.dropped.connect(self._dropped)
        self.model.renamed.connect(self._rename_group)
        self.model.modelReset.connect(self.work.fit)
        self.editor.edited.connect(self._edited)
        self.editor.large_asked.connect(self.open_large)
        self.editor.sample_asked.connect(self.show_sample)
        self._connect_origin(self.editor)

    def _connect_origin(self, editor: ToolEditor) -> None:
        origin = editor.origin
        origin.copy_asked.connect(self._copy_shown)
        origin.accept_asked.connect(lambda: self.accept_asked.emit([self._shown]))
        origin.leave_asked.connect(lambda: self.switch([self._shown], on=False))
        origin.remove_asked.connect(self._remove_shown)
        origin.server_asked.connect(lambda what: self.server_asked.emit(what, self._tools[self._shown].server))

    def _copy_shown(self) -> None:
        """A tool of one's own made of the one in the editor, ready to be edited, which is switched off."""
        tool = self._tools[self._shown]
        off = tuple(it.model_copy(update={"enabled": False}) if it is tool else it for it in self._tools)
        copy = _copy(tool)
        copy = copy.model_copy(update={"name": free_name(copy.name, {it.name for it in off})})
        self._deleted = None
        self._tell(*self._gathered((*off, copy), [len(off)]))
        self.editor.name.setFocus(Qt.FocusReason.OtherFocusReason)

    def _remove_shown(self) -> None:
        self.list.choose([self._shown], self._shown)
        self.delete()

    def remove_server(self, name: str) -> None:
        """Remove all tools of a server; ``undo_delete`` brings them back."""
        self._delete([number for number, tool in enumerate(self._tools) if tool.server == name])

    def put_tools(self, tools: tuple[ToolDefinition, ...], shown: int | None = None) -> None:
        """Have these tools instead, as one change; those of a group stand together. ``shown`` is selected, if any."""
        self._deleted = None
        arranged, chosen = self._gathered(tools, [] if shown is None else [shown])
        self._tell(arranged, chosen or None)

    def _editors(self) -> list[ToolEditor]:
        return [self.editor, *([self._large.editor] if self._large is not None else [])]

    def _group_names(self) -> tuple[str, ...]:
        return tuple(name for name in grouping.groups(self._tools) if name)

    def _insert(self, tools: Sequence[ToolDefinition], at: int | None = None) -> None:
        at = len(self._tools) if at is None else at
        taken = {tool.name for tool in self._tools}
        fresh: list[ToolDefinition] = []
        for tool in tools:
            name = free_name(tool.name, taken)
            taken.add(name)
            fresh.append(tool if name == tool.name else tool.model_copy(update={"name": name}))
        self._deleted = None
        placed = (*self._tools[:at], *fresh, *self._tools[at:])
        self._tell(*self._gathered(placed, list(range(at, at + len(fresh)))))

    def _toggle(self, number: int) -> None:
        chosen = self.list.chosen
        self.switch(chosen if number in chosen else [number], not self._tools[number].enabled)

    def _toggle_group(self, group: str) -> None:
        self.switch(self.model.group_tools(group), not self.model.group_on(group))

    def _rename_group(self, group: str, name: str) -> None:
        QTimer.singleShot(0, self, partial(self.set_group, self.model.group_tools(group), name))

    def _dropped(self, numbers: list[int], below: grouping.Entry | None) -> None:
        order = grouping.entries(self._tools)
        QTimer.singleShot(0, self, partial(self._arrange_tools, grouping.dropped(order, numbers, below), numbers))

    def _arrange_tools(
        self, order: list[grouping.Entry], chosen: Sequence[int] | None = None, group: str | None = None
    ) -> None:
        chosen = self.chosen if chosen is None else chosen
        tools, stood = grouping.arranged(self._tools, order)
        if tools == self._tools and stood == list(range(len(stood))):
            return
        shown = stood.index(self._shown) if self._shown in stood else 0
        self._tell(tools, sorted(stood.index(number) for number in chosen), shown)
        if group is not None:
            self.list.setCurrentIndex(self.model.index_of(group))

    def _gathered(
        self, tools: tuple[ToolDefinition, ...], chosen: list[int]
    ) -> tuple[tuple[ToolDefinition, ...], list[int]]:
        """The tools with each group together, and where the chosen ones stand then."""
        arranged, stood = grouping.arranged(tools, grouping.entries(tools))
        return arranged, sorted(stood.index(number) for number in chosen)

    def _edited(self, tool: ToolDefinition) -> None:
        if self._shown < 0:
            return
        tools = (*self._tools[: self._shown], tool, *self._tools[self._shown + 1 :])
        if tool.group != self._tools[self._shown].group:
            self._tell(*self._gathered(tools, [self._shown]))
        else:
            self._tell(tools, None)

    def _tell(self, tools: tuple[ToolDefinition, ...], chosen: list[int] | None, shown: int | None = None) -> None:
        self._put(tools, chosen, shown)
        self.changed.emit(tools)

    def _put(self, tools: tuple[ToolDefinition, ...], chosen: list[int] | None, shown: int | None = None) -> None:
        """Show tools; ``chosen`` are selected (None: as before), the first of them, or ``shown``, is edited."""
        before = self._shown
        number = shown if shown is not None else chosen[0] if chosen else before
        self._tools = tools
        kept = self.list.chosen if chosen is None else chosen
        self._shown = min(max(number, 0), len(tools) - 1)
        group = self.list.current_group
        self.model.show_tools(tools)
        for editor in self._editors():
            editor.set_groups(self._group_names())
        if tools:
            hidden = chosen is not None and not self.model.index_of(self._shown).isValid()
            if hidden:
                self.select(self._shown)
            elif chosen is not None or group is None:
                self.list.choose([at for at in kept if at < len(tools)] or [self._shown], self._shown)
            for editor in self._editors():
                editor.show_tool(tools[self._shown], another=chosen is not None and self._shown != before)
        self._refresh()

    def _selected(self, now: QModelIndex, _before: QModelIndex) -> None:
        number = self.model.tool_at(now)
        if number is not None and number != self._shown:
            self._show(number)
        self._refresh()

    def _show(self, number: int) -> None:
        another = number != self._shown
        self._shown = number
        known = self.model.problems
        for editor in self._editors():
            editor.show_tool(self._tools[number], another=another)
            editor.show_problems(known[number] if number < len(known) else [])

    def _search(self, text: str) -> None:
        self.model.search(text)
        if self._shown >= 0 and self.model.index_of(self._shown).isValid():
            self.list.choose([self._shown], self._shown)

    def _large_closed(self, _result: int) -> None:
        self._large = None

    def _refresh(self) -> None:
        self._stack.setCurrentIndex(1 if self._tools else 0)
        self.work.fit()
        self.head.show_summary(self._tools, self.model.sizes, self.standings.held)
        if self._deleted is not None:
            before, chosen, _ = self._deleted
            name = show_hidden(before[chosen[0]].name) or "the tool"
            self.undo_text.setText(f"Deleted {name}" if len(chosen) == 1 else f"Deleted {len(chosen)} tools")
        self.undo_bar.setVisible(self._deleted is not None)
        if self._tools:
            self._check.start()


def _copy(tool: ToolDefinition) -> ToolDefinition:
    if tool.server:
        return own_copy(tool, {tool.name})
    return tool.model_copy(update={"name": f"{tool.name[:58]}_copy"})
