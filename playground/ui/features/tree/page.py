"""The Tree tab: the map of the experiment, a line about what is pointed at, and the key to the marks."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QMenu, QStackedWidget, QWidget

from playground.domain.transcript import Transcript
from playground.engine.session.changes import Change, PathChanged, RunStateChanged, TurnChanged
from playground.ui.features.tree.layout import TreeLayout
from playground.ui.features.tree.shapes import Key, R, draw_mark, shape
from playground.ui.features.tree.words import about, mark_of, summary
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.page_parts import empty_words
from playground.ui.widgets.picture import Picture
from playground.ui.widgets.session_page import SessionPage
from playground.ui.widgets.theme import Tokens, tokens

EMPTY = "No turns yet. Every turn of the experiment stands here, on every branch; a click goes to it."
BESIDE = 760  # pixels; a narrower page shows the key or the line, not both

DX, DY = 30, 24  # pixels from one turn to the next, and from one line to the next
EDGE = 20
HOW = "Arrow keys go from turn to turn, Enter shows one, Delete takes a branch away."
REACH = 12  # pixels around a mark that belong to it
_WAYS = {Qt.Key.Key_Left: "left", Qt.Key.Key_Right: "right", Qt.Key.Key_Up: "up", Qt.Key.Key_Down: "down"}


class TreeView(Picture[str]):
    """``chosen`` carries the turn to go to, ``menu_asked`` one and where; ``looked`` says that ``words`` are others."""

    chosen = Signal(str)
    delete_asked = Signal(str)
    menu_asked = Signal(str, QPoint)
    looked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", DX, DY, parent)
        self._layout = TreeLayout(Transcript())
        self._path: frozenset[str] = frozenset()
        self._growing: Collection[str] = ()
        self._current = ""
        self.painted = 0  # marks drawn by the last paint event
        self.setAccessibleName("Tree of the turns")

    # Content

    def show_tree(self, layout: TreeLayout, growing: Collection[str]) -> None:
        """Show this tree; the turn that was current stays so, and what was at the right end stays in view."""
        across = self.horizontalScrollBar()
        at_end = across.value() >= across.maximum()
        moved = layout.transcript.head != self._layout.transcript.head
        self._layout = layout
        self._growing = growing
        self._path = frozenset(turn.id for turn in layout.transcript.path)
        if self._current not in layout:
            self._current = ""
        self._hover = self._hover if self._hover in layout else ""
        self._fit()
        if at_end:
            across.setValue(across.maximum())
        head = layout.transcript.head
        if moved and head is not None and head in layout and not self.hasFocus():
            self.reveal(head)
        self._describe()
        self.viewport().update()

    def set_growing(self, growing: Collection[str]) -> None:
        """Other turns are being received now."""
        self._growing = growing
        self.viewport().update()

    @property
    def current(self) -> str:
        """The turn the keys stand at: the one chosen last, else the end of the branch; empty without turns."""
        return self._current or (self._layout.transcript.head or "")

    @property
    def pointed(self) -> str:
        """The turn under the pointer, else the one the keys stand at while they are heard here; else empty."""
        return self._hover or (self._current if self.hasFocus() else "")

    def words(self) -> str:
        """About the turn that is pointed at, else the tree."""
        shown = self.pointed
        turn = self._layout.transcript.turns.get(shown)
        if turn is not None and shown in self._layout:
            return about(self._layout, turn, self._growing)
        return summary(self._layout.transcript, len(self._layout.branches))

    # Places

    def point(self, turn_id: str) -> QPointF:
        """Where the middle of a turn's mark is, in the viewport. Raises KeyError."""
        lane, depth = self._layout.place(turn_id)
        return QPointF(self._x(depth), self._y(lane)) - self._origin()

    def _x(self, depth: int) -> float:
        return EDGE + (depth + (self._layout.roots > 1)) * DX

    def _y(self, lane: int) -> float:
        return EDGE - 4 + lane * DY

    def _at(self, point: QPoint) -> str:
        where = QPointF(point) + self._origin()
        depth = round((where.x() - self._x(0)) / DX)
        lane = round((where.y() - self._y(0)) / DY)
        if depth < 0 or not 0 <= lane < len(self._layout.lanes):
            return ""
        away = abs(where.x() - self._x(depth)), abs(where.y() - self._y(lane))
        return self._layout.at(lane, depth) if max(away) <= REACH else ""

    def _fit(self) -> None:
        lanes, depth = len(self._layout.lanes), self._layout.depth
        self._set_ranges(self._x(depth) - DX + EDGE, self._y(lanes) - DY + EDGE)

    def reveal(self, turn_id: str) -> None:
        """Scroll until a turn is in view."""
        at, room = self.point(turn_id), self.viewport().size()
        across, down = self.horizontalScrollBar(), self.verticalScrollBar()
        if not EDGE <= at.x() <= room.width() - EDGE:
            across.setValue(round(across.value() + at.x() - room.width() * 0.6))
        if not EDGE / 2 <= at.y() <= room.height() - EDGE / 2:
            down.setValue(round(down.value() + at.y() - room.height() / 2))

    # Choosing

    def look_at(self, turn_id: str) -> None:
        """Make a turn the current one, in view."""
        if turn_id in self._layout:
            self._current = turn_id
            self._hover = ""
            self.reveal(turn_id)
            self._describe()
            self.viewport().update()

    def _describe(self) -> None:
        turn = self._layout.transcript.turns.get(self.current)
        words = about(self._layout, turn, self._growing) if turn is not None and turn.id in self._layout else "No turns"
        self.setAccessibleDescription(f"{words}\n{HOW}")
        self.looked.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, current = Qt.Key(event.key()), self.current
        if current not in self._layout or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            super().keyPressEvent(event)
        elif key in _WAYS:
            self.look_at(self._layout.step(current, _WAYS[key]))
        elif key == Qt.Key.Key_Home:
            self.look_at(self._layout.transcript.path[0].id if self._path else self._layout.branches[0].turns[0])
        elif key == Qt.Key.Key_End:
            self.look_at(self._layout.transcript.head or current)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit(current)
        elif key == Qt.Key.Key_Delete:
            self.delete_asked.emit(current)
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        at = self._at(event.position().toPoint())
        if at and event.button() == Qt.MouseButton.LeftButton:
            self.look_at(at)
            self.chosen.emit(at)

    def _set_hover(self, at: str) -> None:
        if at != self._hover:
            super()._set_hover(at)
            self.looked.emit()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        keys = event.reason() == QContextMenuEvent.Reason.Keyboard
        at = self.current if keys else self._at(event.pos())
        if at in self._layout:
            place = self.viewport().mapToGlobal(self.point(at).toPoint()) if keys else event.globalPos()
            self.look_at(at)
            self.menu_asked.emit(at, place)

    def _words(self, at: str) -> str:
        turn = self._layout.transcript.turns.get(at)
        return about(self._layout, turn, self._growing) if turn is not None else ""

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.viewport().update()
            self.looked.emit()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        t = tokens()
        painter.fillRect(event.rect(), QColor(t.surface))
        origin, room = self._origin(), self.viewport().size()
        painter.translate(-origin)
        left = max(int((origin.x() - self._x(0)) // DX), -1)
        right = int((origin.x() + room.width() - self._x(0)) // DX) + 1
        top = max(int((origin.y() - self._y(0)) // DY), 0)
        bottom = min(int((origin.y() + room.height() - self._y(0)) // DY) + 1, len(self._layout.lanes) - 1)
        seen = [b for lane in range(top, bottom + 1) for b in self._layout.within(lane, left - 1, right)]
        painter.setPen(QPen(QColor(t.line), 2))
        self._paint_forks(painter, left - 1, right, top, bottom)
        for branch in seen:
            first = branch.start - (1 if branch.above >= 0 or self._layout.roots > 1 else 0)
            y = self._y(branch.lane)
            ends = max(first, left - 1), min(branch.end, right)
            painter.drawLine(QPointF(self._x(ends[0]), y), QPointF(self._x(ends[1]), y))
        self._paint_path(painter, t, left, right)
        self.painted = 0
        for branch in seen:
            for depth in range(max(branch.start, left), min(branch.end, right) + 1):
                self._paint_turn(painter, t, branch.turns[depth - branch.start], depth, branch.lane)
        painter.end()

    def _paint_forks(self, painter: QPainter, left: int, right: int, top: int, bottom: int) -> None:
        """Where branches leave, a line down to the last of them."""
        for depth in range(left, right + 1):
            for lane, last in self._layout.forks.get(depth, {}).items():
                ends = max(lane, top - 1), min(last, bottom + 1)
                if ends[0] < ends[1]:
                    x = self._x(depth)
                    painter.drawLine(QPointF(x, self._y(ends[0])), QPointF(x, self._y(ends[1])))

    def _paint_path(self, painter: QPainter, t: Tokens, left: int, right: int) -> None:
        """The branch that is looked at, over the others."""
        painter.setPen(QPen(QColor(t.accent), 3, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        path = self._layout.transcript.path
        first = max(left - 1, 0)
        before: QPointF | None = None
        if first == 0 and path and self._layout.roots > 1:
            before = QPointF(self._x(-1), self._y(0))
        for turn in path[first : right + 2]:
            if turn.id not in self._layout:
                return
            lane, depth = self._layout.place(turn.id)
            here = QPointF(self._x(depth), self._y(lane))
            if before is not None:
                corner = QPointF(before.x(), here.y())
                painter.drawLine(before, corner)
                painter.drawLine(corner, here)
            before = here

    def _paint_turn(self, painter: QPainter, t: Tokens, turn_id: str, depth: int, lane: int) -> None:
        turn = self._layout.transcript.turns[turn_id]
        x, y = self._x(depth), self._y(lane)
        focused = self.hasFocus() and turn_id == self.current
        if focused or turn_id == self._hover:
            painter.setPen(QPen(QColor(t.accent), 1.5) if focused else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(t.accent_background))
            painter.drawEllipse(QPointF(x, y), R + 5, R + 5)
        elif turn_id not in self._path:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(t.surface))
            painter.drawPath(shape(turn.role, x, y, R + 2))
        draw_mark(painter, t, turn.role, x, y, full=turn_id in self._path, sign=mark_of(turn, self._growing))
        self.painted += 1


class TreePage(SessionPage):
    """The signals carry the id of a turn."""

    FOLLOWED = (PathChanged, TurnChanged, RunStateChanged)
    turn_asked = Signal(str)
    delete_asked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.view = TreeView()
        self.key = Key()
        self.said = ElidedLabel("Tree", elide=Qt.TextElideMode.ElideRight)
        self.empty = empty_words(EMPTY)
        self._stack = QStackedWidget()
        for widget in (QWidget(), self.empty, self.view):  # blank until it is known which
            self._stack.addWidget(widget)
        bar = in_row((self.said, 1), self.key, margins=(12, 3, 12, 3), spacing=12)
        in_column(bar, (self._stack, 1), of=self, margins=0, spacing=0)
        self.view.looked.connect(self._say)
        self.view.chosen.connect(self.turn_asked)
        self.view.delete_asked.connect(self.delete_asked)
        self.view.menu_asked.connect(self._menu)

    def _changed(self, change: Change) -> None:
        if not isinstance(change, RunStateChanged):
            self._outdated()
        elif self._session is not None:
            self.view.set_growing(frozenset(self._session.growing))

    def _read(self) -> None:
        session = self._session
        if session is None:
            return
        self._stale = False
        layout = TreeLayout(session.transcript)
        self.view.show_tree(layout, frozenset(session.growing))
        self._stack.setCurrentWidget(self.view if len(layout) else self.empty)
        self._say()

    def _say(self) -> None:
        """Say what there is to say of a turn or the tree; where the key has no room beside it, the turn comes first."""
        shown = self._stack.currentWidget() is self.view
        self.said.set_text(self.view.words() if shown else "")
        both = self.width() >= BESIDE
        self.key.setVisible(shown and (both or not self.view.pointed))
        self.said.setVisible(both or not self.key.isVisibleTo(self))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._say()

    def _menu(self, turn_id: str, place: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Go to the turn").triggered.connect(partial(self.turn_asked.emit, turn_id))
        menu.addSeparator()
        menu.addAction("Delete this branch").triggered.connect(partial(self.delete_asked.emit, turn_id))
        menu.popup(place)
