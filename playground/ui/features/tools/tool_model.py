"""The rows of the list of tools: the tools a search leaves, under the headers of their groups, which fold.

It translates; it holds no truth. What a drag asks for is told (``dropped``), never done here.
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

from playground.domain.tools import ToolDefinition
from playground.engine.tool_servers.tools import mapping_words
from playground.jsonkit.problems import Problem
from playground.ui.features.tools.grouping import NO_GROUP, Entry, entries, matches
from playground.ui.features.tools.standings import Seen, Standings, hint_word, standing_words
from playground.ui.widgets.plain_text import show_hidden, shown_name, tip

TOOLS_MIME = "application/x-gateway-playground-tools"
_Index = QModelIndex | QPersistentModelIndex
_NO_PARENT = QModelIndex()


def worst(problems: Sequence[Problem]) -> str:
    """ "error", "warning" or "" for a tool's problems."""
    severities = {problem.severity for problem in problems}
    return "error" if "error" in severities else ("warning" if severities else "")


class Group(NamedTuple):
    """What the header of a group tells. ``server`` is the one all its tools are of; empty for several, or none."""

    members: tuple[int, ...]
    on: int
    sent: int
    server: str


class ToolModel(QAbstractListModel):
    """The tools, what was found wrong with each, and how large each one is (``sizes``, in tokens, estimated)."""

    dropped = Signal(object, object)  # tools by their index; the entry they are to stand below, or None
    renamed = Signal(str, str)  # a group, its new name

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.tools: tuple[ToolDefinition, ...] = ()
        self.problems: list[list[Problem]] = []
        self.sizes: list[int] = []
        self.folded: set[str] = set()
        self.standings = Standings()
        self._groups: dict[str, Group] = {}
        self._search = ""
        self._rows: list[Entry] = []

    # -- what is shown -----------------------------------------------------------------------------------------

    def show_tools(self, tools: tuple[ToolDefinition, ...]) -> None:
        """Show these; where the rows stay the same ones, selection and scroll place do too."""
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

    def show_standings(self) -> None:
        """Something is known otherwise of servers, or of how tools stand to theirs."""
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
        """Leave only the tools that match; what is folded is open meanwhile."""
        self._search = text.strip()
        self._lay_out()

    def fold(self, group: str, folded: bool) -> None:
        """Fold a group's tools away or bring them back."""
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
        """What stands in the list, from the top."""
        return self._rows

    def tool_at(self, index: _Index) -> int | None:
        """The tool of a row; None for a header and for no row."""
        entry = self.entry_at(index)
        return entry if isinstance(entry, int) else None

    def entry_at(self, index: _Index) -> Entry | None:
        """The tool or the group of a row."""
        return self._rows[index.row()] if index.isValid() and index.row() < len(self._rows) else None

    def index_of(self, entry: Entry) -> QModelIndex:
        """The row of a tool or a group; not valid while it is hidden by a fold or a search."""
        return self.index(self._rows.index(entry)) if entry in self._rows else QModelIndex()

    def group_tools(self, group: str) -> list[int]:
        """The tools of a group."""
        return list(self._groups[group].members) if group in self._groups else []

    def group_server(self, group: str) -> Seen | None:
        """The server that all tools of a group are of; None where they are not of one."""
        name = self._groups[group].server if group in self._groups else ""
        return self.standings.server(name) if name else None

    def group_words(self, group: str) -> str:
        """``3 of 5 on``, and behind it for a server what those that are on take: ``· ≈ 1,200``."""
        found = self._groups.get(group, Group((), 0, 0, ""))
        size = f" · ≈ {found.sent:,}" if found.server and self._sized else ""
        return f"{found.on:,} of {len(found.members):,} on{size}"

    def group_attention(self, group: str) -> str:
        """What of a server's tools wants a look, in a few words; empty for nothing."""
        found = self._groups.get(group)
        return self.standings.attention(found.server) if found is not None and found.server else ""

    def group_on(self, group: str) -> bool:
        """Whether every tool of a group is switched on that can be."""
        found = self._groups.get(group, Group((), 0, 0, ""))
        if found.on == len(found.members):
            return True
        off = [self.tools[number] for number in found.members if not self.tools[number].enabled]
        return bool(found.on) and bool(found.server) and all(map(self.standings.unseen, off))

    def state(self, tool: int) -> str:
        """Whether a tool is sent, in words."""
        definition = self.tools[tool]
        if words := standing_words(self.standings.of(definition), enabled=definition.enabled):
            return words
        if not definition.enabled:
            return "off, not sent"
        if definition.source is not None:
            return f"not sent: {definition.unread}"
        kind = self.severity(tool)
        return {"error": "sent, with an error", "warning": "sent, with a warning"}.get(kind, "sent")

    def severity(self, tool: int) -> str:
        """The mark of a tool: "error", "warning" or ""."""
        return worst(self._of(tool))

    def size_words(self, tool: int) -> str:
        """``≈ 85``, in tokens; empty while it is not known."""
        return f"≈ {self.sizes[tool]:,}" if tool < len(self.sizes) else ""

    def _of(self, tool: int) -> list[Problem]:
        return self.problems[tool] if tool < len(self.problems) else []

    # -- Qt's side ---------------------------------------------------------------------------------------------

    def rowCount(self, parent: _Index = _NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: _Index) -> Qt.ItemFlag:
        flag = Qt.ItemFlag
        entry = self.entry_at(index)
        if entry is None:
            return flag.ItemIsDropEnabled
        both = flag.ItemIsEnabled | flag.ItemIsSelectable
        if isinstance(entry, str):
            return both | flag.ItemIsDropEnabled | flag.ItemIsEditable
        return both | flag.ItemIsUserCheckable | flag.ItemIsDragEnabled

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
            said = [shown_name(tool.name) or "unnamed", "on" if tool.enabled else "off", self.state(entry)]
            said += [f"{shown_name(tool.remote)} on its server"] if tool.remote else []
            said += [word] if (word := hint_word(tool)) else []
            return ", ".join([*said, *([f"{size} tokens"] if size else [])])
        if role == Qt.ItemDataRole.ToolTipRole:
            size = f"{self.size_words(entry)} tokens"
            words = [problem.message for problem in self._of(entry)] or [tool.description or "no description"]
            words[:0] = [*filter(None, (mapping_words(tool), standing_words(self.standings.of(tool))))]
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
        """Tell where the dragged tools are to go. False: the view has nothing to remove itself."""
        held = bytes(data.data(TOOLS_MIME).data()).decode()
        numbers = [int(number) for number in held.split(",") if number]
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
