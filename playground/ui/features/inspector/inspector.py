"""The inspector: tabs that show one exchange, a line that says which, and pages about the whole experiment.

It holds no truth; an ``ExchangeView`` is given, and given again while it grows. Only the tab in front is drawn, and
not more often than a few times a second.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QMenu,
    QSizePolicy,
    QStackedWidget,
    QTabBar,
    QToolButton,
    QWidget,
)

from playground.ui.features.inspector.next_request import Preview
from playground.ui.features.inspector.status_line import StatusLine
from playground.ui.features.inspector.view import ExchangeView
from playground.ui.features.inspector.views import InspectorView, RequestView, ResponseView
from playground.ui.features.inspector.wire_views import DiffView, HeadersView, LintView, TimelineView
from playground.ui.widgets.form_parts import look, thin_line
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import Gap, in_column, in_row
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

LITTLE = "little"  # what the style sheet calls tabs that stand closer
EDGE, RIGHT, GAP = 12, 8, 8
PATH = 90  # pixels: with less, the line leaves the path out


class TabRow(QWidget):
    """``tabs`` are to be used like any other; ``status`` is hidden by pages that are not about one exchange."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._wide: dict[bool, list[int]] = {}  # by whether they stand closer; empty until measured
        self.tabs = _Tabs()
        self.tabs.setAccessibleName("Inspector")
        self.status = StatusLine()
        self.status.setObjectName("exchangeStatus")
        self.more = IconButton("more", "More tabs")
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.menu = QMenu(self.more)
        self.more.setMenu(self.menu)
        self.more.hide()
        in_row(self.tabs, self.more, Gap(GAP), 1, (self.status, 1000), of=self, margins=(EDGE, 0, RIGHT, 0), spacing=0)
        self.menu.aboutToShow.connect(self._fill)
        self.tabs.currentChanged.connect(self._changed)
        self.status.changed.connect(self.fit)

    def minimumSizeHint(self) -> QSize:
        """Any width will do: there is the menu."""
        return QSize(160, super().minimumSizeHint().height())

    def add_tab(self, title: str) -> int:
        """One more tab. Returns its number."""
        number = self.tabs.addTab(title)
        self._wide.clear()
        self.fit()
        return number

    def fit(self) -> None:
        """Find out what there is room for."""
        tabs, count = self.tabs, self.tabs.count()
        room = self.width() - EDGE - RIGHT - GAP
        wide = self._measured(closer=False)
        least, figures = (self.status.least(figures=False), self.status.least()) if self._about_one else (0, 0)
        if sum(wide) + figures <= room:
            closer, left = False, room - sum(wide)
            seen = set(range(count))
        else:
            closer = True
            wide = self._measured(closer=True)
            seen = self._seen(wide, room - least)
            left = room - sum(wide[number] for number in seen) - (self._button if len(seen) < count else 0)
        look(tabs, LITTLE if closer else "", "room")
        for number in range(count):
            if tabs.isTabVisible(number) != (number in seen):
                tabs.setTabVisible(number, number in seen)
        tabs.updateGeometry()
        self.more.setVisible(len(seen) < count)
        self.status.show_as_much(path=left >= figures + PATH, figures=left >= figures)

    def _measured(self, *, closer: bool) -> list[int]:
        """How wide each tab is."""
        if closer not in self._wide:
            look(self.tabs, LITTLE if closer else "", "room")
            self._wide[closer] = [self.tabs.tabSizeHint(number).width() for number in range(self.tabs.count())]
        return self._wide[closer]

    @property
    def _about_one(self) -> bool:
        return not self.status.isHidden()

    @property
    def _button(self) -> int:
        return self.more.sizeHint().width()

    def _seen(self, wide: list[int], room: int) -> set[int]:
        """The tabs that are seen: the first ones, and the one in front."""
        if sum(wide) <= room:
            return set(range(len(wide)))
        current = max(self.tabs.currentIndex(), 0)
        room -= self._button + (wide[current] if wide else 0)
        seen = {current}
        for number, one in enumerate(wide):
            if number != current:
                room -= one
                if room < 0:
                    break
                seen.add(number)
        return seen

    def _changed(self, _number: int) -> None:
        self.fit()

    def _fill(self) -> None:
        self.menu.clear()
        for number in range(self.tabs.count()):
            if not self.tabs.isTabVisible(number):
                self.menu.addAction(self.tabs.tabText(number)).triggered.connect(partial(self._choose, number))

    def _choose(self, number: int) -> None:
        self.tabs.setTabVisible(number, True)
        self.tabs.setCurrentIndex(number)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.StyleChange, QEvent.Type.FontChange):
            self._wide.clear()
            self.fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()


class _Tabs(QTabBar):
    """Tabs that are never scrolled: as wide as those that are seen."""

    def __init__(self) -> None:
        super().__init__()
        self.setDrawBase(False)
        self.setExpanding(False)
        self.setUsesScrollButtons(False)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)

    def sizeHint(self) -> QSize:
        """As wide as the tabs that are seen."""
        seen = [self.tabSizeHint(number).width() for number in range(self.count()) if self.isTabVisible(number)]
        return QSize(sum(seen), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """The same: whoever shows it sees to the room."""
        return self.sizeHint()

    def tabSizeHint(self, index: int) -> QSize:
        """The room that a tab takes, seen or not."""
        return super().tabSizeHint(index)


class Inspector(QWidget):
    """``set_exchange`` and ``set_preview`` give what to show; both are cheap and may be called often."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._exchange: ExchangeView | None = None
        self._preview: Preview | None = None
        self.setObjectName("inspector")
        self.setProperty("kind", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.row = TabRow(self)
        self.tabs, self.status = self.row.tabs, self.row.status
        self._stack = QStackedWidget(self)
        self.views: list[InspectorView] = [kind(self._stack) for kind in VIEWS]
        self._seen: list[tuple[object, object]] = [(NOT_SEEN, None)] * len(self.views)
        self._stack.setMinimumHeight(LEAST)
        for view in self.views:
            self.row.add_tab(view.title)
            self._stack.addWidget(view.widget)
        in_column(self.row, thin_line(), (self._stack, 1), of=self, margins=0, spacing=0)
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
