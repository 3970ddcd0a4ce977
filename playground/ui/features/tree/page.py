"""The Tree tab: the map of the experiment, a line about what is pointed at, and the key to the marks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QStackedWidget, QVBoxLayout, QWidget

from playground.engine.session.changes import Change, PathChanged, RunStateChanged, TurnChanged
from playground.ui.features.tree.layout import TreeLayout
from playground.ui.features.tree.map_view import TreeView
from playground.ui.features.tree.shapes import Key
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.page_parts import empty_words
from playground.ui.widgets.session_page import SessionPage

EMPTY = "No turns yet. Every turn of the experiment stands here, on every branch; a click goes to it."
BESIDE = 760  # pixels; a narrower page shows the key or the line, not both


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
        bar = QHBoxLayout()
        bar.setContentsMargins(12, 3, 12, 3)
        bar.setSpacing(12)
        bar.addWidget(self.said, 1)
        bar.addWidget(self.key)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(self._stack, 1)
        self.view.looked.connect(self._say)
        self.view.chosen.connect(self.turn_asked)
        self.view.delete_asked.connect(self.delete_asked)
        self.view.menu_asked.connect(self._menu)

    def _changed(self, change: Change) -> None:
        if not isinstance(change, RunStateChanged):
            self._outdated()
        elif self._session is not None:
            self.view.set_growing(frozenset(self._session.growing))

    def _read(self) -> Iterator[None]:
        session = self._session
        if session is None:
            return
        self._stale = False
        layout = TreeLayout(session.transcript)
        yield from layout.work()
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
