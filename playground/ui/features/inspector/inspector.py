"""The inspector: tabs that show one exchange, a line that says which, and pages about the whole experiment.

It holds no truth; an ``ExchangeView`` is given, and given again while it grows. Only the tab in front is drawn, and
not more often than a few times a second.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QStackedWidget, QVBoxLayout, QWidget

from playground.ui.features.inspector.next_request import Preview
from playground.ui.features.inspector.tab_row import TabRow
from playground.ui.features.inspector.view import ExchangeView
from playground.ui.features.inspector.views import HeadersView, InspectorView, RequestView, ResponseView
from playground.ui.features.inspector.wire_views import DiffView, LintView, TimelineView
from playground.ui.widgets.loop import Throttle

V = TypeVar("V", bound=InspectorView)

#: A new view is a class and an entry here.
VIEWS: tuple[type[InspectorView], ...] = (
    RequestView,
    ResponseView,
    TimelineView,
    HeadersView,
    DiffView,
    LintView,
)
DRAW_EVERY_MS = 200
LEAST = 40  # pixels of a page: the conversation above needs its room first
NOT_SEEN = object()


class Inspector(QWidget):
    """``set_exchange`` and ``set_preview`` give what to show; both are cheap and may be called often."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._exchange: ExchangeView | None = None
        self._preview: Preview | None = None
        self.views: list[InspectorView] = [kind() for kind in VIEWS]
        self._seen: list[tuple[object, object]] = [(NOT_SEEN, None)] * len(self.views)
        self.setProperty("kind", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.row = TabRow()
        self.tabs, self.status = self.row.tabs, self.row.status
        self._stack = QStackedWidget()
        self._stack.setMinimumHeight(LEAST)
        for view in self.views:
            self.row.add_tab(view.title)
            self._stack.addWidget(view.widget)
        line = QFrame()
        line.setProperty("kind", "line")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.row)
        column.addWidget(line)
        column.addWidget(self._stack, 1)
        self._pages: dict[int, Callable[[], QWidget]] = {}  # those that have not been looked at yet, by tab
        self._throttle = Throttle(self._draw_if_seen, self, DRAW_EVERY_MS)
        self.tabs.currentChanged.connect(self._tab_changed)

    def set_exchange(self, exchange: ExchangeView | None) -> None:
        """Show this exchange, or none. Call it again with a new value whenever more has come."""
        self._exchange = exchange
        self.status.show_exchange(exchange)
        self._throttle.poke()

    def set_preview(self, preview: Preview) -> None:
        """The request that a run would send now."""
        self._preview = preview
        self._throttle.poke()

    def add_page(self, title: str, make: Callable[[], QWidget]) -> None:
        """A tab that is not about one exchange; its page is made when it is first looked at."""
        self._stack.addWidget(QWidget())
        self._pages[self.row.add_tab(title)] = make

    def view(self, kind: type[V]) -> V:
        """The tab of that kind."""
        return next(view for view in self.views if isinstance(view, kind))

    def show_tab(self, title: str) -> None:
        """Bring a tab to the front."""
        for number in range(self.tabs.count()):
            if self.tabs.tabText(number) == title:
                self.tabs.setCurrentIndex(number)

    def draw_now(self) -> None:
        """Bring the tab in front up to date at once."""
        number = self.tabs.currentIndex()
        if number >= len(self.views):
            return  # a page sees to itself
        view = self.views[number]
        exchange, preview = self._seen[number]
        self._seen[number] = (self._exchange, self._preview)
        if self._preview is not None and preview is not self._preview:
            view.show_preview(self._preview)
        if self._exchange is not exchange:
            view.show(self._exchange)

    def _draw_if_seen(self) -> None:
        if self.isVisible():
            self.draw_now()

    def _tab_changed(self, number: int) -> None:
        make, blank = self._pages.pop(number, None), self._stack.widget(number)
        if make is not None and blank is not None:
            self._stack.insertWidget(number, make())
            self._stack.removeWidget(blank)
            blank.deleteLater()
        self.status.setVisible(number < len(self.views))
        self.row.fit()
        self._stack.setCurrentIndex(number)
        self.draw_now()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.draw_now()
