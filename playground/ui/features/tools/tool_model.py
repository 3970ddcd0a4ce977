"""Model of the list of tools: tools that match a search, below the headers of their groups, which fold.

The model does not own the tools. A drop emits ``dropped``; the receiver moves the tools.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import (
    QAbstractListModel,
    QByteArray,
    QMimeData,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from playground.domain.debugging import Debugging
from playground.domain.tools import ToolDefinition
from playground.engine.tool_servers.tools import mapping_words
from playground.jsonkit.problems import Problem
from playground.ui.features.debugger.result_rules import rule_summary_of
from playground.ui.features.tools.grouping import NO_GROUP, Entry, entries, matches
from playground.ui.features.tools.standings import Seen, Standings, hint_word, standing_words
from playground.ui.widgets.plain_text import show_hidden, shown_name, tip

TOOLS_MIME = "application/x-gateway-playground-tools"
_Index = QModelIndex | QPersistentModelIndex
_NO_PARENT = QModelIndex()


def worst(problems: Sequence[Problem]) -> str:
    """Return the worst severity of problems: "error", "warning" or ""."""
    severities = {problem.severity for problem in problems}
    return "error" if "error" in severities else ("warning" if severities else "")


class Group(NamedTuple):
    """Data of a group's header. ``server`` is the server of all its tools; empty for several servers or none."""

    members: tuple[int, ...]
    on: int
    sent: int
    server: str


class ToolModel(QAbstractListModel):
    """Model of tools, the problems of each, and the estimated ``sizes`` in tokens."""

    dropped = Signal(object, object)  # numbers of tools; the entry above the drop, or None
    renamed = Signal(str, str)  # group, new name

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.tools: tuple[ToolDefinition, ...] = ()
        self.problems: list[list[Problem]] = []
        self.sizes: list[int] = []
        self.folded: set[str] = set()
        self.standings = Standings()
        self.debugging = Debugging()
        self._groups: dict[str, Group] = {}
        self._search = ""
        self._rows: list[Entry] = []

    # -- content -----------------------------------------------------------------------------------------------

    def show_tools(self, tools: tuple[ToolDefinition, ...]) -> None:
        """Show tools; unchanged rows keep the selection and the scroll position."""
        if len(tools) != len(self.tools):
            self.problems, self.sizes = [], []
        self.tools = tools
        self._groups = self._grouped()
        self._lay_out()

    def show_problems(self, problems: list[list[Problem]], sizes: list[int]) -> None:
        """Show marks and sizes."""
        self.problems, self.sizes = problems, sizes
        self._groups = self._grouped()
        self._repaint()

    def show_debugging(self, debugging: Debugging) -> None:
        """Show how calls are answered."""
        self.debugging = debugging
        self._repaint()

    def show_standings(self) -> None:
        """Repaint the rows after a change of servers or of the trust of tools."""
        self._repaint()

    def _grouped(self) -> dict[str, Group]:
        members: dict[str, list[int]] = {}
        for number, tool in enumerate(self.tools):
            members.setdefault(tool.group, []).append(number)
        return {name: self._group(tuple(numbers)) for name, numbers in members.items()}

    def _group(self, numbers: tuple[int, ...]) -> Group:
        tools = [self.tools[number] for number in numbers]
        servers = {tool.server for tool in tools}
        sent = sum(self.sizes[number] for number in numbers if self.tools[number].sendable) if self._sized else 0
        return Group(numbers, sum(tool.enabled for tool in tools), sent, servers.pop() if len(servers) == 1 else "")

    @property
    def _sized(self) -> bool:
        return len(self.sizes) == len(self.tools)

    def search(self, text: str) -> None:
        """Show only the tools that match; a search ignores folds."""
        self._search = text.strip()
        self._lay_out()

    def fold(self, group: str, folded: bool) -> None:
        """Fold or unfold a group."""
        (self.folded.add if folded else self.folded.discard)(group)
        self._lay_out()

    def _lay_out(self) -> None:
        rows: list[Entry] = []
        group = NO_GROUP
        for entry in entries(self.tools):
            if isinstance(entry, str):
                group = entry
                if not self._search or any(t.group == group and matches(t, self._search) for t in self.tools):
                    rows.append(entry)
            elif self._search:
                if matches(self.tools[entry], self._search):
                    rows.append(entry)
            elif group not in self.folded:
                rows.append(entry)
        if rows == self._rows:
            self._repaint()
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def _repaint(self) -> None:
        if self._rows:
            self.dataChanged.emit(self.index(0), self.index(len(self._rows) - 1))

    # -- rows and tools ----------------------------------------------------------------------------------------

    @property
    def rows(self) -> list[Entry]:
        """Entries of the list from top to bottom."""
        return self._rows

    def tool_at(self, index: _Index) -> int | None:
        """Return the number of the tool in a row; None for a header or an invalid index."""
        entry = self.entry_at(index)
        return entry if isinstance(entry, int) else None

    def entry_at(self, index: _Index) -> Entry | None:
        """Return the number of the tool, or the group, in a row."""
        return self._rows[index.row()] if index.isValid() and index.row() < len(self._rows) else None

    def index_of(self, entry: Entry) -> QModelIndex:
        """Return the index of a tool or a group; invalid while a fold or a search hides it."""
        return self.index(self._rows.index(entry)) if entry in self._rows else QModelIndex()

    def group_tools(self, group: str) -> list[int]:
        """Return the numbers of the tools of a group."""
        return list(self._groups[group].members) if group in self._groups else []

    def group_server(self, group: str) -> Seen | None:
        """Return the server of all tools of a group; None if they have no common server."""
        name = self._groups[group].server if group in self._groups else ""
        return self.standings.server(name) if name else None

    def group_words(self, group: str) -> str:
        """Return ``3 of 5 on``, followed by the size of the enabled tools for a server: ``· ≈ 1,200``."""
        header = self._groups.get(group, Group((), 0, 0, ""))
        size = f" · ≈ {header.sent:,}" if header.server and self._sized else ""
        return f"{header.on:,} of {len(header.members):,} on{size}"

    def group_attention(self, group: str) -> str:
        """Return the numbers of a server's tools to review, in words; empty for none."""
        header = self._groups.get(group)
        return self.standings.attention(header.server) if header is not None and header.server else ""

    def group_on(self, group: str) -> bool:
        """Return whether all tools of a group that can be switched on are on."""
        header = self._groups.get(group, Group((), 0, 0, ""))
        if header.on == len(header.members):
            return True
        off = [self.tools[number] for number in header.members if not self.tools[number].enabled]
        return bool(header.on) and bool(header.server) and all(map(self.standings.unseen, off))

    def state(self, tool: int) -> str:
        """Return whether a tool is sent, in words."""
        definition = self.tools[tool]
        if words := standing_words(self.standings.trust(definition), enabled=definition.enabled):
            return words
        if not definition.enabled:
            return "off, not sent"
        if definition.source is not None:
            return f"not sent: {definition.unread}"
        kind = self.severity(tool)
        return {"error": "sent, with an error", "warning": "sent, with a warning"}.get(kind, "sent")

    def severity(self, tool: int) -> str:
        """Return the mark of a tool: "error", "warning" or ""."""
        return worst(self._problems_of(tool))

    def size_words(self, tool: int) -> str:
        """Return the size in tokens, such as ``≈ 85``; empty until it has been estimated."""
        return f"≈ {self.sizes[tool]:,}" if tool < len(self.sizes) else ""

    def _problems_of(self, tool: int) -> list[Problem]:
        return self.problems[tool] if tool < len(self.problems) else []

    # -- Qt's side ---------------------------------------------------------------------------------------------

    def rowCount(self, parent: _Index = _NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: _Index) -> Qt.ItemFlag:
        flag = Qt.ItemFlag
        entry = self.entry_at(index)
        if entry is None:
            return flag.ItemIsDropEnabled
        selectable = flag.ItemIsEnabled | flag.ItemIsSelectable
        if isinstance(entry, str):
            return selectable | flag.ItemIsDropEnabled | flag.ItemIsEditable
        return selectable | flag.ItemIsUserCheckable | flag.ItemIsDragEnabled

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        entry = self.entry_at(index)
        if entry is None:
            return None
        if isinstance(entry, str):
            return self._header(entry, role)
        tool = self.tools[entry]
        if role == Qt.ItemDataRole.DisplayRole:
            return shown_name(tool.name) or "unnamed"
        if role == Qt.ItemDataRole.CheckStateRole:
            return Qt.CheckState.Checked if tool.enabled else Qt.CheckState.Unchecked
        if role == Qt.ItemDataRole.AccessibleTextRole:
            size = self.size_words(entry)
            parts = [shown_name(tool.name) or "unnamed", "on" if tool.enabled else "off", self.state(entry)]
            parts += [f"{shown_name(tool.remote)} on its server"] if tool.remote else []
            parts += [word] if (word := hint_word(tool)) else []
            parts += [f"when called: {rule_summary_of(self.debugging, tool.name).policy}"]
            return ", ".join([*parts, *([f"{size} tokens"] if size else [])])
        if role == Qt.ItemDataRole.ToolTipRole:
            size = f"{self.size_words(entry)} tokens"
            words = [problem.message for problem in self._problems_of(entry)] or [tool.description or "no description"]
            words[:0] = [*filter(None, (mapping_words(tool), standing_words(self.standings.trust(tool))))]
            words += [f"When called: {rule_summary_of(self.debugging, tool.name).rule}"]
            return tip("\n".join([shown_name(tool.name), *words, *([size] if entry < len(self.sizes) else [])]))
        return None

    def _header(self, group: str, role: int) -> object:
        name = show_hidden(group) or "No group"
        if role == Qt.ItemDataRole.DisplayRole:
            return name
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(f"{name}: {self._header_words(group)}")
        if role == Qt.ItemDataRole.EditRole:
            return group
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"group {name}, {'folded' if group in self.folded else 'open'}, {self._header_words(group)}"
        return None

    def _header_words(self, group: str) -> str:
        server = self.group_server(group)
        if server is None:
            return self.group_words(group)
        more = [f"server {shown_name(server.name)}: {server.words}", self.group_attention(group), server.problem]
        tokens = " tokens" if self._sized else ""
        return ", ".join([f"{self.group_words(group)}{tokens}", *filter(None, more)])

    def setData(self, index: _Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        entry = self.entry_at(index)
        if role != Qt.ItemDataRole.EditRole or not isinstance(entry, str):
            return False
        name = str(value).strip()
        if name != entry:
            self.renamed.emit(entry, name)
        return True

    def supportedDropActions(self) -> Qt.DropAction:
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:
        return [TOOLS_MIME]

    def mimeData(self, indexes: Sequence[_Index]) -> QMimeData:
        numbers = sorted(tool for tool in map(self.tool_at, indexes) if tool is not None)
        data = QMimeData()
        data.setData(TOOLS_MIME, QByteArray(",".join(map(str, numbers)).encode()))
        return data

    def dropMimeData(self, data: QMimeData, action: Qt.DropAction, row: int, _column: int, parent: _Index) -> bool:
        """Emit the target of dragged tools. Return False, so that the view removes nothing."""
        payload = bytes(data.data(TOOLS_MIME).data()).decode()
        numbers = [int(number) for number in payload.split(",") if number]
        if action != Qt.DropAction.MoveAction or not numbers:
            return False
        if parent.isValid():
            below = self.entry_at(parent)
        elif row < 0:
            below = self._rows[-1] if self._rows else None
        else:
            below = self._rows[row - 1] if row > 0 else None
        self.dropped.emit(numbers, below)
        return False
