"""The inspector's upper edge: its tabs, and the line on the exchange that is shown.

Where the room is short the line says less, then the tabs stand closer, then the last ones move into a menu. The tab
in front is always seen. What the tabs hold is somebody else's business.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QTabBar, QToolButton, QWidget

from playground.ui.features.inspector.status_line import StatusLine
from playground.ui.widgets.choice_fields import look
from playground.ui.widgets.icon_button import IconButton

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
        self.more = IconButton("more", "More tabs")
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.menu = QMenu(self.more)
        self.more.setMenu(self.menu)
        self.more.hide()
        row = QHBoxLayout(self)
        row.setContentsMargins(EDGE, 0, RIGHT, 0)
        row.setSpacing(0)
        row.addWidget(self.tabs)
        row.addWidget(self.more)
        row.addSpacing(GAP)
        row.addStretch(1)
        row.addWidget(self.status, 1000)
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
