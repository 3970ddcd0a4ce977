"""Arguments of a call as a tree that grows while they arrive, with each problem at its value.

The rows are painted, so that the cost of a fragment depends on its length only.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Property, QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from playground.engine.questions.kinds import ArgumentsFit
from playground.engine.questions.partial_judge import Judge
from playground.jsonkit.problems import Problem
from playground.jsonkit.texts import cut
from playground.jsonkit.tree import Node, PartialJson
from playground.jsonkit.values import JSONObject
from playground.ui.features.conversation.text_check import TextCheck
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.theme import code_font, tokens

ROW = 18  # pixels
STEP = 14  # pixels of indentation a level
DEEPEST = 12  # levels that are indented; deeper ones share the last indentation
MOST_READ = 60_000  # characters that are read; only the raw text has the rest
MOST_ROWS = 300  # rows that are painted; the raw text has all values
LONGEST = 300  # characters of a name that are shown
_COLOURS = {"string": "ok", "number": "accent", "true": "system", "false": "system", "null": "system"}


class ArgumentTree(QWidget):
    """Show the values of streamed arguments; `problems` are the problems so far.

    `picked` carries the offsets of the value of the row that was clicked.
    """

    height_changed = Signal()
    picked = Signal(int, int)  # first and last offset of the value in the raw text

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._schema: JSONObject | None = None
        self._reader = PartialJson()
        self._judge = Judge(None)
        self._check = TextCheck(ArgumentsFit, self)
        self._check.checked.connect(self._refresh)
        self._fragments: Sequence[str] = ()
        self._fed = 0  # fragments that were read
        self._ending = False  # all fragments are received
        self._truncated = False
        self._paths_shown: set[tuple[str | int, ...]] = set()
        self._counted = 0
        self.problems: list[Problem] = []
        self._by_path: dict[tuple[str | int, ...], list[Problem]] = {}
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Arguments as a tree")
        self.setFont(code_font())

    @property
    def reader(self) -> PartialJson:
        """The reader of the arguments so far."""
        return self._reader

    def begin(self, schema: JSONObject | None) -> None:
        """Start with the first fragment, for arguments of this schema."""
        self._schema = schema
        self._reader, self._judge = PartialJson(), Judge(schema)
        self._fragments, self._fed = (), 0
        self._ending = self._truncated = False
        self._paths_shown, self._counted = set(), 0
        self._refresh()

    def read_fragments(self, fragments: Sequence[str]) -> None:
        """Read the fragments that are new."""
        if len(fragments) != self._fed:
            self._fragments = fragments
            self._read_on()

    def finish(self, *, truncated: bool) -> None:
        """End the arguments; `truncated` says that the answer reached its token limit."""
        if self._ending and truncated is self._truncated:
            return
        self._ending, self._truncated = True, truncated
        self._read_on()

    def show_whole(self, arguments: str, schema: JSONObject | None, *, truncated: bool) -> None:
        """Show arguments that were received whole, unless their fragments were read already."""
        same = schema == self._schema and "".join(self._fragments) == arguments
        if not same or (self._ending and self._truncated is not truncated):
            self.begin(schema)
            self.read_fragments([arguments])
        if not self._ending:
            self.finish(truncated=truncated)

    def _read_on(self) -> None:
        while self._fed < len(self._fragments) and not self._full:
            self._reader.read_fragment(self._fragments[self._fed][: MOST_READ - self._reader.length])
            self._fed += 1
        if self._ending and not self._full:
            self._reader.finish()
        self._refresh()

    @property
    def _full(self) -> bool:
        """Return whether the limit of characters that are read is reached."""
        return self._reader.length >= MOST_READ

    def _validated(self) -> list[Problem] | None:
        return self._check.problems("".join(self._fragments), self._schema)

    def _refresh(self) -> None:
        self.problems = [] if self._full else self._judge.problems(self._reader, self._truncated, self._validated)
        self._by_path = {}
        paths = self._paths()
        for problem in self.problems:
            self._by_path.setdefault(_nearest(problem.path, paths), []).append(problem)
        height = self._wanted_height()
        if height != self.height() or self.minimumHeight() != height:
            self.setFixedHeight(height)
            self.height_changed.emit()
        self.update()

    def _paths(self) -> set[tuple[str | int, ...]]:
        """Return the paths of the rows, each computed once."""
        rows = self._rows() if self.problems else []
        self._paths_shown |= {node.path for node in rows[self._counted :]}
        self._counted = max(self._counted, len(rows))
        return self._paths_shown

    def _rows(self) -> list[Node]:
        return self._reader.nodes[:MOST_ROWS]

    def _wanted_height(self) -> int:
        rows = len(self._rows()) + (len(self._reader.nodes) > MOST_ROWS) + (not self._reader.nodes)
        return rows * ROW + 4

    def sizeHint(self) -> QSize:
        return QSize(200, self._wanted_height())

    # Text of a row

    def words(self, node: Node) -> tuple[str, str, str]:
        """Return the name, the value, and the problems of a row."""
        key = node.key if isinstance(node.key, str) else ""
        name = f"[{node.key}]" if isinstance(node.key, int) else cut(key, LONGEST)
        container = node.kind in ("object", "array")
        if container:
            value = ("{ }" if node.kind == "object" else "[ ]") if node.complete and not node.children else node.preview
        else:
            value = f'"{node.preview}"' if node.kind == "string" and node.complete else node.preview
            value = f'"{value}' if node.kind == "string" and not node.complete else value
        if not node.complete:
            value += "" if self._reader.ended else " …"
        wrong = [problem.message for problem in self._by_path.get(node.path, [])]
        return show_hidden(name), show_hidden(value), " · ".join(dict.fromkeys(wrong))

    @property
    def text(self) -> str:
        """All rows as plain text, for screen readers."""
        out = []
        for node in self._rows():
            name, value, wrong = self.words(node)
            line = "  " * len(node.path) + (f"{name}: {value}" if name else value)
            out.append(f"{line}  × {wrong}" if wrong else line)
        return "\n".join(out)

    plain_text = Property(str, lambda tree: tree.text)  # readable through Qt's own interface, too

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        t = tokens()
        painter = QPainter(self)
        painter.setFont(self.font())
        nodes = self._reader.nodes
        if not nodes:
            painter.setPen(QColor(t.muted))
            empty = "No arguments" if self._reader.ended else "Receiving…"
            painter.drawText(QRectF(0, 0, self.width(), ROW), Qt.AlignmentFlag.AlignVCenter, empty)
        first, last = max(event.rect().top() // ROW, 0), event.rect().bottom() // ROW
        for row in range(first, min(last + 1, len(nodes), MOST_ROWS)):
            self._paint_row(painter, nodes[row], row * ROW)
        if len(nodes) > MOST_ROWS and last >= MOST_ROWS:
            painter.setPen(QColor(t.muted))
            rest = QRectF(0, MOST_ROWS * ROW, self.width(), ROW)
            many = "many" if self._full else f"{len(nodes) - MOST_ROWS:,}"
            painter.drawText(rest, Qt.AlignmentFlag.AlignVCenter, f"and {many} more values")
        painter.end()

    def _paint_row(self, painter: QPainter, node: Node, y: int) -> None:
        t = tokens()
        x = float(min(len(node.path), DEEPEST) * STEP)
        name, value, wrong = self.words(node)
        painter.setPen(QColor(t.line))
        for level in range(1, min(len(node.path), DEEPEST) + 1):
            painter.drawLine(QPointF(level * STEP - 8, y), QPointF(level * STEP - 8, y + ROW))
        value_colour = t.error if wrong else getattr(t, _COLOURS.get(node.kind, "muted"))
        pieces = [(f"{name}: ", t.text)] if name else []
        pieces.append((value, value_colour))
        if wrong:
            pieces.append((f"   × {wrong}", t.error))
        for text, colour in pieces:
            metrics, room = painter.fontMetrics(), self.width() - x
            if room < metrics.averageCharWidth():
                break
            elided = metrics.elidedText(text, Qt.TextElideMode.ElideRight, int(room))
            painter.setPen(QColor(colour))
            painter.drawText(QRectF(x, y, room, ROW), Qt.AlignmentFlag.AlignVCenter, elided)
            x += metrics.horizontalAdvance(elided)

    # Mouse

    def _node_at(self, y: float) -> Node | None:
        row = int(y) // ROW
        return self._rows()[row] if 0 <= row < len(self._rows()) else None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        node = self._node_at(event.position().y())
        if node is None or event.button() != Qt.MouseButton.LeftButton:
            super().mousePressEvent(event)
            return
        self.picked.emit(node.start, node.end if node.complete else self._reader.length)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            node = self._node_at(event.pos().y())
            if node is not None:
                name, value, wrong = self.words(node)
                words = f"{name}: {value}" if name else value
                QToolTip.showText(event.globalPos(), tip(f"{words}\n× {wrong}" if wrong else words), self)
            return True
        return super().event(event)


def _nearest(path: tuple[str | int, ...], paths: set[tuple[str | int, ...]]) -> tuple[str | int, ...]:
    """Return the longest beginning of a path that has a row."""
    path = path[:MOST_ROWS]
    while path and path not in paths:
        path = path[:-1]
    return path
