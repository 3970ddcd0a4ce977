"""The rows of the list of tools: the tools a search leaves, under the headers of their groups, which fold.

It translates; it holds no truth. What a drag asks for is told (``dropped``), never done here.
"""

from __future__ import annotations

from collections.abc import Sequence

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
from playground.jsonkit.problems import Problem
from playground.ui.features.tools.grouping import NO_GROUP, Entry, entries, matches
from playground.ui.widgets.plain_text import short_name, show_hidden, shown_name, tip

TOOLS_MIME = "application/x-gateway-playground-tools"
_Index = QModelIndex | QPersistentModelIndex
_NO_PARENT = QModelIndex()


def worst(problems: Sequence[Problem]) -> str:
    """ "error", "warning" or "" for a tool's problems."""
    severities = {problem.severity for problem in problems}
    return "error" if "error" in severities else ("warning" if severities else "")


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
        self._search = ""
        self._rows: list[Entry] = []

    # -- what is shown -----------------------------------------------------------------------------------------

    def show_tools(self, tools: tuple[ToolDefinition, ...]) -> None:
        """Show these; where the rows stay the same ones, selection and scroll place do too."""
        if len(tools) != len(self.tools):
            self.problems, self.sizes = [], []
        self.tools = tools
        self._lay_out()

    def show_problems(self, problems: list[list[Problem]], sizes: list[int]) -> None:
        """Show marks and sizes."""
        self.problems, self.sizes = problems, sizes
        self._repaint()

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
        return [number for number, tool in enumerate(self.tools) if tool.group == group]

    def group_words(self, group: str) -> str:
        """``3 of 5 on``."""
        members = self.group_tools(group)
        return f"{sum(self.tools[number].enabled for number in members)} of {len(members)} on"

    def group_on(self, group: str) -> bool:
        """Whether every tool of a group is switched on."""
        return all(self.tools[number].enabled for number in self.group_tools(group))

    def state(self, tool: int) -> str:
        """Whether a tool is sent, in words."""
        definition = self.tools[tool]
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
            said = [short_name(tool.name) or "unnamed", "on" if tool.enabled else "off", self.state(entry)]
            return ", ".join([*said, *([f"{size} tokens"] if size else [])])
        if role == Qt.ItemDataRole.ToolTipRole:
            size = f"{self.size_words(entry)} tokens"
            words = [problem.message for problem in self._of(entry)] or [tool.description or "no description"]
            return tip("\n".join([shown_name(tool.name), *words, *([size] if entry < len(self.sizes) else [])]))
        return None

    def _header(self, group: str, role: int) -> object:
        name = show_hidden(group) or "No group"
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return name if role == Qt.ItemDataRole.DisplayRole else tip(f"{name}: {self.group_words(group)}")
        if role == Qt.ItemDataRole.EditRole:
            return group
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"group {name}, {'folded' if group in self.folded else 'open'}, {self.group_words(group)}"
        return None

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
