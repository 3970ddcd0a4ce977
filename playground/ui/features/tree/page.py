"""The map of an experiment's turns: branches below one another, a line about the turn pointed at, and a legend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from functools import partial

from PySide6.QtCore import QEvent, QLineF, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QKeyEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QGraphicsItem, QGraphicsPathItem, QMenu, QPushButton, QSizePolicy, QStackedWidget, QWidget

from playground.domain.roles import Role
from playground.domain.transcript import Transcript, Turn
from playground.engine.session.changes import Change, PathChanged, RunStateChanged, TurnChanged
from playground.engine.session.session import Session
from playground.jsonkit.texts import cut, quantity
from playground.ui.features.tree.layout import Branch, TreeLayout, newest_part
from playground.ui.widgets.diagram import Diagram, DiagramItem
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.page_parts import empty_words
from playground.ui.widgets.plain_text import short_name, show_prose
from playground.ui.widgets.role_words import ROLE_WORDS
from playground.ui.widgets.session_page import SessionPage
from playground.ui.widgets.theme import Tokens, tokens

EMPTY = "No messages yet. Every message of the experiment appears here, on every branch. Click one to go to it."
LEGEND = (Role.SYSTEM, "system"), (Role.USER, "user"), (Role.ASSISTANT, "assistant"), (Role.TOOL, "tool")
ENDINGS = "× failed   – incomplete"
LEGEND_MEANING = (
    "A diamond is a system message, a circle a user's, a square the assistant's, a triangle a tool's. "
    "A cross marks a failed message, a bar one that was stopped, cut off or interrupted."
)
HOW = "Arrow keys select the next message, Enter opens it, Delete deletes its branch."
MAX_TURNS = 1_000  # drawn at first
MAX_TEXT = 160  # characters of a turn

# Lengths in pixels
LEGEND_BESIDE = 760  # a narrower page shows either the legend or the line about a turn
DX, DY = 30, 24  # from one turn to the next, and from one line to the next
EDGE = 20
RADIUS = 7.0
RECEIVING = "receiving"
_STEPS = {Qt.Key.Key_Left: "left", Qt.Key.Key_Right: "right", Qt.Key.Key_Up: "up", Qt.Key.Key_Down: "down"}


def outline_of(role: Role, r: float = RADIUS) -> QPainterPath:
    """Return the outline of a role's mark around the origin: diamond, circle, rounded square or triangle."""
    path = QPainterPath()
    if role is Role.USER:
        path.addEllipse(QPointF(0, 0), r, r)
    elif role is Role.ASSISTANT:
        path.addRoundedRect(QRectF(0.5 - r, 0.5 - r, 2 * r - 1, 2 * r - 1), 3, 3)
    else:
        triangle = [QPointF(-r - 0.5, r - 0.5), QPointF(0, -r - 1), QPointF(r + 0.5, r - 0.5)]
        diamond = [QPointF(0, -r - 1), QPointF(r + 1, 0), QPointF(0, r + 1), QPointF(-r - 1, 0)]
        path.addPolygon(QPolygonF(triangle if role is Role.TOOL else diamond))
        path.closeSubpath()
    return path


def ending_words(turn: Turn, receiving: Collection[str]) -> str:
    """Return how a turn ended if not well, or that it is being received; else nothing."""
    if turn.id in receiving:
        return RECEIVING
    if turn.outcome is None:
        return ""
    return turn.outcome.ending.words or ("part unread" if turn.outcome.holes else "")


def describe_turn(transcript: Transcript, turn: Turn, receiving: Collection[str]) -> str:
    """Return the facts of a turn and its first words, in a line."""
    alternatives = transcript.siblings(turn.id)
    words = [ROLE_WORDS[turn.role], f"message {len(transcript.lineage(turn.id)):,}"]
    if len(alternatives) > 1:
        words.append(f"version {alternatives.index(turn.id) + 1} of {len(alternatives)}")
    words.append(ending_words(turn, receiving))
    beginning = first_words(turn)
    return " · ".join(word for word in words if word) + (f" — {beginning}" if beginning else "")


def first_words(turn: Turn) -> str:
    """Return the beginning of a turn, safe to show."""
    results = " ".join(result.text[:MAX_TEXT] for result in turn.results)
    calls = ", ".join(f"{short_name(call.name)}({call.arguments[:40]})" for call in turn.calls[:3])
    text = next((text for text in (turn.text, results, calls, turn.reasoning) if text.strip()), "")
    return show_prose(cut(" ".join(text[: 2 * MAX_TEXT].split()), MAX_TEXT))


def summarize_tree(transcript: Transcript) -> str:
    """Return the tree in a line: turns, branches, and turns that did not end well."""
    turns = transcript.turns.values()
    branches = sum(not transcript.children(turn.id) for turn in turns)
    endings = Counter(word for turn in turns if (word := ending_words(turn, ())))
    words = [quantity(len(turns), "message"), quantity(branches, "branch", "branches")]
    return " · ".join([*words, *(f"{count:,} {word}" for word, count in sorted(endings.items()))])


class TreeView(Diagram):
    """The keys of `chosen`, `delete_asked` and `menu_asked` are ids of turns."""

    delete_asked = Signal(str)
    menu_asked = Signal(str, QPoint)

    def __init__(self, parent: QWidget | None = None) -> None:
        self._transcript = Transcript()
        self._layout = TreeLayout(self._transcript)
        self._receiving: Collection[str] = ()
        self._drawn: object = None
        super().__init__("Branches", parent)

    # Content

    def show_tree(self, transcript: Transcript, part: Transcript, receiving: Collection[str]) -> None:
        """Draw `part` of a transcript. A view at the right end stays there; a new end of the path comes into view."""
        moved = part.head != self._layout.transcript.head
        self._transcript, self._receiving = transcript, receiving
        drawn = part.head, [(t.id, t.parent, t.role, ending_words(t, receiving)) for t in part.turns.values()]
        if drawn == self._drawn:
            self._update_description()
            return
        self._drawn, self._layout = drawn, TreeLayout(part)
        across = self.horizontalScrollBar()
        follow = across.value() >= across.maximum()
        self.redraw()
        if follow:
            across.setValue(across.maximum())
        if moved and not self.hasFocus() and (item := self.items_by_key.get(part.head or "")) is not None:
            self.reveal(item)

    @property
    def current(self) -> str:
        """The id of the selected turn, else of the end of the path; empty without turns."""
        return self.selected or (self._layout.transcript.head or "")

    @property
    def focused(self) -> str:
        """The id of the turn under the pointer, else of the selected one while the view has the focus; else empty."""
        return self.pointed or (self.selected if self.hasFocus() else "")

    def words(self) -> str:
        """Describe the focused turn, else the tree."""
        return self._describe_turn(self.focused) or summarize_tree(self._transcript)

    def describe(self) -> str:
        return f"{summarize_tree(self._transcript)}\n{HOW}"

    def _describe_turn(self, turn_id: str) -> str:
        turn = self._transcript.turns.get(turn_id)
        return describe_turn(self._transcript, turn, self._receiving) if turn is not None else ""

    # Drawing

    def _point(self, turn_id: str) -> QPointF:
        line, depth = self._layout.place(turn_id)
        return QPointF(self._x(depth), self._y(line))

    def _x(self, depth: int) -> float:
        return EDGE + (depth + (self._layout.roots > 1)) * DX

    def _y(self, line: int) -> float:
        return EDGE - 4 + line * DY

    def draw(self) -> None:
        t, layout = tokens(), self._layout
        self.setSceneRect(0, 0, self._x(layout.depth) - DX + EDGE, self._y(len(layout.lanes)) - DY + EDGE)
        for branch in layout.branches:
            self._add_line(t, branch)
        for depth, lines in layout.forks.items():
            for line, last in lines.items():
                x = self._x(depth)
                self.scene().addLine(QLineF(x, self._y(line), x, self._y(last)), QPen(QColor(t.line), 2))
        path = [turn.id for turn in layout.transcript.path]
        self._add_path(t, path)
        on_path = frozenset(path)
        for branch in layout.branches:
            for turn_id in branch.turns:
                self._add_turn(t, layout.transcript.turns[turn_id], full=turn_id in on_path)

    def _add_line(self, t: Tokens, branch: Branch) -> None:
        first = branch.start - (1 if branch.above >= 0 or self._layout.roots > 1 else 0)
        y = self._y(branch.lane)
        self.scene().addLine(QLineF(self._x(first), y, self._x(branch.end), y), QPen(QColor(t.line), 2))

    def _add_path(self, t: Tokens, path: list[str]) -> None:
        """Add the branch shown in the conversation, above the other lines."""
        if not path:
            return
        points = [self._point(turn_id) for turn_id in path]
        before = QPointF(self._x(-1), self._y(0)) if self._layout.roots > 1 else points[0]
        outline = QPainterPath(before)
        for point in points:
            outline.lineTo(outline.currentPosition().x(), point.y())
            outline.lineTo(point)
        pen = QPen(QColor(t.accent), 3, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
        self.scene().addPath(outline, pen)

    def _add_turn(self, t: Tokens, turn: Turn, *, full: bool) -> None:
        item = DiagramItem(turn.id, outline_of(turn.role), partial(self._describe_turn, turn.id))
        item.setPos(self._point(turn.id))
        ending, colour = ending_words(turn, self._receiving), QColor(t.role(turn.role.value))
        item.setPen(QPen(colour, 1.6, Qt.PenStyle.DotLine if ending == RECEIVING else Qt.PenStyle.SolidLine))
        item.setBrush(colour if full and ending != RECEIVING else QColor(t.surface))
        item.strong = QPen(QColor(t.text), 2.5)
        if ending and ending != RECEIVING:
            _add_badge(item, t, failed=ending == "failed")
        self.add(item)

    # Events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        current, key = self.current, Qt.Key(event.key())
        layout = self._layout
        if not current:
            super().keyPressEvent(event)
        elif key in _STEPS:
            self.select(layout.step(current, _STEPS[key]))
        elif key == Qt.Key.Key_Home:
            path = layout.transcript.path
            self.select(path[0].id if path else layout.branches[0].turns[0])
        elif key == Qt.Key.Key_End:
            self.select(layout.transcript.head or current)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit(current)
        elif key == Qt.Key.Key_Delete:
            self.delete_asked.emit(current)
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        item = self.items_by_key.get(self.current) if by_key else self.item_at(event.pos())
        if item is not None:
            self.select(item.key)
            place = self.rect_of(item.key).center().toPoint() if by_key else event.pos()
            self.menu_asked.emit(item.key, self.viewport().mapToGlobal(place))

    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.selection_changed.emit()
        return handled


def _add_badge(parent: QGraphicsItem, t: Tokens, *, failed: bool) -> None:
    """Add a small cross for a failed turn, or a bar for an incomplete one."""
    circle, sign = QPainterPath(), QPainterPath(QPointF(4.2 if failed else 3.7, -7.8 if failed else -6))
    circle.addEllipse(QPointF(6, -6), 5, 5)
    sign.lineTo(7.8 if failed else 8.3, -4.2 if failed else -6)
    if failed:
        sign.moveTo(4.2, -4.2)
        sign.lineTo(7.8, -7.8)
    badge = QGraphicsPathItem(circle, parent)
    badge.setBrush(QColor(t.error if failed else t.tool))
    badge.setPen(QPen(QColor(t.surface), 1))
    QGraphicsPathItem(sign, badge).setPen(QPen(QColor(t.surface), 1.5))


class Legend(QWidget):
    """The meaning of the marks, in a line."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(LEGEND_MEANING)

    def sizeHint(self) -> QSize:
        words = [*(word for _, word in LEGEND), ENDINGS]
        return QSize(sum(self.fontMetrics().horizontalAdvance(word) + 32 for word in words), 22)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, 22)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, t = QPainter(self), tokens()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        baseline = (self.height() + self.fontMetrics().ascent() - self.fontMetrics().descent()) / 2
        x = 12.0
        for role, word in LEGEND:
            painter.fillPath(outline_of(role, 5).translated(x, self.height() / 2), QColor(t.role(role.value)))
            painter.setPen(QColor(t.muted))
            painter.drawText(QPointF(x + 12, baseline), word)
            x += self.fontMetrics().horizontalAdvance(word) + 32
        painter.drawText(QPointF(x, baseline), ENDINGS)
        painter.end()


class TreePage(SessionPage):
    """`turn_asked` and `delete_asked` carry the id of a turn."""

    FOLLOWED = (PathChanged, TurnChanged, RunStateChanged)
    turn_asked = Signal(str)
    delete_asked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._most = MAX_TURNS
        self.view = TreeView()
        self.summary = ElidedLabel("Branches", elide=Qt.TextElideMode.ElideRight)
        self.legend = Legend()
        self.all_button = styled(QPushButton("Show all"), "link")
        self.all_button.hide()
        self.empty = empty_words(EMPTY)
        self._stack = QStackedWidget()
        for widget in (QWidget(), self.empty, self.view):  # blank until the session is read
            self._stack.addWidget(widget)
        bar = in_row((self.summary, 1), self.all_button, self.legend, margins=(12, 3, 12, 3), spacing=12)
        in_column(bar, (self._stack, 1), parent=self, margins=0, spacing=0)
        self.all_button.clicked.connect(self.show_all)
        self.view.selection_changed.connect(self._show_words)
        self.view.pointed_changed.connect(self._show_words)
        self.view.chosen.connect(self.turn_asked)
        self.view.delete_asked.connect(self.delete_asked)
        self.view.menu_asked.connect(self._open_menu)

    def show_all(self) -> None:
        """Draw all turns of this experiment, however many."""
        self._most = 0
        self._read()

    def _begin(self, session: Session) -> None:
        self._most = MAX_TURNS

    def _changed(self, change: Change) -> None:
        self._outdated()

    def _read(self) -> None:
        session = self._session
        if session is None:
            return
        self._stale = False
        transcript = session.transcript
        part = newest_part(transcript, self._most) if self._most else transcript
        self.view.show_tree(transcript, part, frozenset(session.growing))
        self._stack.setCurrentWidget(self.view if transcript.turns else self.empty)
        self.all_button.setVisible(part is not transcript)
        self._show_words()

    def _show_words(self) -> None:
        """Describe the focused turn, else the tree; in a narrow page the legend gives way to a turn."""
        drawn = self._stack.currentWidget() is self.view
        focused, wide = bool(self.view.focused), self.width() >= LEGEND_BESIDE
        words = self.view.words() if drawn else ""
        if drawn and not focused and self.all_button.isVisibleTo(self):
            words = f"Newest {len(self.view.items_by_key):,} of {words}"
        self.summary.set_text(words)
        self.legend.setVisible(drawn and (wide or not focused))
        self.summary.setVisible(wide or not self.legend.isVisibleTo(self))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_words()

    def _open_menu(self, turn_id: str, place: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Go to message").triggered.connect(partial(self.turn_asked.emit, turn_id))
        menu.addSeparator()
        menu.addAction("Delete branch").triggered.connect(partial(self.delete_asked.emit, turn_id))
        menu.popup(place)
