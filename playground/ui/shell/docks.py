"""Docks around the centre, and which of them each page shows. Imported before the first paint.

In a narrow window the side docks are closed, and open over the conversation. In a low window the inspector starts
closed. Positions and widths are Qt's own state; what a small window closes is not saved.
"""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QByteArray, QEvent, QObject, QRect, QSettings, Qt, QTimer
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QDockWidget, QFrame, QMainWindow, QVBoxLayout, QWidget

from playground.ui.shell.centre import CONVERSATION, PAGES
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.layouts import in_column

COMPACT = 1100  # pixels of width below which the side docks open over the conversation
LOW = 700  # pixels of height below which the inspector starts closed
LEFT, RIGHT = 240, 340  # pixels of width of the side docks
LEAST_LEFT = 196  # pixels of width of the list of experiments
INSPECTOR_SHARE = 0.4  # of the height between tool bar and status bar
GAP = 48  # pixels of the conversation that stay visible beside a dock over it
STATE_VERSION = 1
_FEATURES = QDockWidget.DockWidgetFeature


class Region(QFrame):
    """Hold the content of one place, which is filled after the first paint."""

    def __init__(self, kind: str = "") -> None:
        super().__init__()
        if kind:
            self.setProperty("kind", kind)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)

    def fill(self, content: QWidget) -> None:
        """Set the content."""
        self._column.addWidget(content)
        self.end = QWidget(self)  # a hidden stop of the Tab key, by which what follows is put in order
        self.end.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.end.hide()


def stacked(*widgets: QWidget, inside: QWidget) -> QFrame:
    """Stack widgets vertically in a frame that is a child of ``inside``; the last one takes the rest of the room."""
    frame = styled(QFrame(inside), "surface")
    column = in_column(parent=frame, margins=0, spacing=0)
    for widget in widgets:
        column.addWidget(widget, 1 if widget is widgets[-1] else 0)
    return frame


class Dock(QDockWidget):
    """A panel at an edge of the window. It has a title bar, Qt's own, while it floats or lies over the centre."""

    def __init__(self, title: str, content: QWidget, window: QMainWindow) -> None:
        super().__init__(title, window)
        self.setObjectName(f"dock-{title.lower().replace(' ', '-')}")
        self.setWidget(content)
        self._no_title = QWidget(self)
        self._window = window
        self.is_over = False
        self.home = Qt.DockWidgetArea.LeftDockWidgetArea
        self.topLevelChanged.connect(self._show_title)
        self._show_title()

    def _show_title(self) -> None:
        self.setTitleBarWidget(None if self.is_over or self.isFloating() else self._no_title)  # type: ignore[arg-type]
        self._no_title.setVisible(False)

    def set_over(self, over: bool) -> None:
        """Take the dock out of the window's layout, to be shown over the centre; or only end that."""
        if over is self.is_over:
            return
        if over:
            self._window.removeDockWidget(self)
        else:
            self.hide()
        self.is_over = over
        self.setFeatures(
            _FEATURES.DockWidgetClosable
            if over
            else _FEATURES.DockWidgetClosable | _FEATURES.DockWidgetMovable | _FEATURES.DockWidgetFloatable
        )
        self._show_title()

    def place_over(self, area: QRect, width: int) -> None:
        """Lay the dock at its edge of ``area``, in coordinates of the window."""
        place = QRect(area)
        place.setWidth(min(max(width, self.minimumSizeHint().width()), area.width() - GAP))
        if self.home is Qt.DockWidgetArea.RightDockWidgetArea:
            place.moveRight(area.right())
        self.setGeometry(place)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        app = QApplication.instance()
        if self.is_over and app is not None:
            self.raise_()
            app.installEventFilter(self)

    def hideEvent(self, event: QHideEvent) -> None:
        app = QApplication.instance()
        if app is not None:
            app.removeEventFilter(self)
        super().hideEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.is_over and event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Close a dock over the centre when a person clicks outside it."""
        if event.type() == QEvent.Type.MouseButtonPress and isinstance(watched, QWidget) and self.is_over:
            centre = self._window.centralWidget()
            if centre is not None and (watched is centre or centre.isAncestorOf(watched)):
                self.close()
        return super().eventFilter(watched, event)


class PageLayout(NamedTuple):
    """Which docks a page shows, and the inspector's share of the height."""

    left: bool = False
    right: bool = False
    bottom: bool = False
    share: float = INSPECTOR_SHARE

    @classmethod
    def parse(cls, text: str) -> PageLayout | None:
        """Read a saved layout; None for text that is none."""
        displayed, _, share = text.partition(" ")
        try:
            number = float(share)
        except ValueError:
            return None
        if len(displayed) != 3 or not 0 < number < 1:
            return None
        left, right, bottom = (flag == "1" for flag in displayed)
        return cls(left, right, bottom, number)

    def __str__(self) -> str:
        return f"{self.left:d}{self.right:d}{self.bottom:d} {self.share:.3f}"


class Docks(QObject):
    """Arrange the docks of a window: by its size, by the page shown, and as they were saved."""

    def __init__(self, window: QMainWindow, centre: QWidget, left: Dock, right: Dock, bottom: Dock) -> None:
        super().__init__(window)
        self._window = window
        self._centre = centre
        self._left, self._right, self._bottom = left, right, bottom
        self._sides = left, right
        right.home = Qt.DockWidgetArea.RightDockWidgetArea
        bottom.home = Qt.DockWidgetArea.BottomDockWidgetArea
        self._page = CONVERSATION
        self._pages = {page: PageLayout() for page in PAGES}
        self._roomy_state: QByteArray | None = None  # while the window is compact
        for dock in self._sides:
            dock.topLevelChanged.connect(self._side_moved)
            dock.visibilityChanged.connect(self._place_over)
        bottom.topLevelChanged.connect(self._keep_composer_free)
        bottom.visibilityChanged.connect(self._fit_height)  # Qt would give a dock that started closed its least height
        self.reset()

    @property
    def compact(self) -> bool:
        """Return whether the side docks open over the conversation."""
        return self._roomy_state is not None

    @property
    def _area(self) -> QRect:
        """The place between tool bar and status bar."""
        bar = self._window.menuWidget()
        top = bar.geometry().bottom() + 1 if bar is not None else 0
        bottom = self._window.statusBar().geometry().top()
        return QRect(0, top, self._window.width(), max(bottom - top, 0))

    def reset(self) -> None:
        """Show every dock of the page in its usual place."""
        for dock in (*self._sides, self._bottom):
            if dock.is_over:
                dock.hide()
                continue
            dock.setFloating(False)
            self._window.addDockWidget(dock.home, dock)
        if not self.compact:
            self._window.resizeDocks([*self._sides], [LEFT, RIGHT], Qt.Orientation.Horizontal)
        self._pages[self._page] = PageLayout(left=True, right=True, bottom=True)
        self._apply()

    # Pages

    def show_page(self, page: str) -> None:
        """Show the docks of another page, as they were when it was left; ``note`` comes first."""
        self._page = page
        self._apply()

    def note(self) -> None:
        """Note what the page shows now."""
        self._note_shown()
        self.note_height()

    def _note_shown(self) -> None:
        layout = self._pages[self._page]
        if not self.compact:
            layout = layout._replace(left=not self._left.isHidden(), right=not self._right.isHidden())
        self._pages[self._page] = layout._replace(bottom=not self._bottom.isHidden())

    def note_height(self) -> None:
        """Note the inspector's share of the height, which a person may have changed."""
        height = self._area.height() if not self._centre.isHidden() else 0  # hidden: the inspector is maximised
        if self._is_docked(self._bottom) and not self._bottom.isHidden() and self._window.isVisible() and height:
            share = min(max(self._bottom.height() / height, 0.05), 0.95)
            self._pages[self._page] = self._pages[self._page]._replace(share=share)

    def maximise_inspector(self, maximised: bool) -> None:
        """Give the inspector the place of the centre, or its earlier height."""
        if self._bottom.isFloating() and not self._centre.isHidden():
            self._bottom.showMaximized() if maximised else self._bottom.showNormal()
            return
        if maximised:
            self.note_height()
        self._centre.setHidden(maximised)
        if not maximised:
            self._fit_height()

    def _apply(self) -> None:
        layout = self._pages[self._page]
        for dock, displayed in zip((*self._sides, self._bottom), layout[:3], strict=True):
            if dock.is_over:
                dock.hide()
            elif not dock.isFloating():
                dock.setVisible(displayed)
        self._fit_height()

    def _is_docked(self, dock: Dock) -> bool:
        return not dock.isFloating() and self._window.dockWidgetArea(dock) is dock.home

    def _fit_height(self, _visible: bool = True) -> None:
        height = round(self._area.height() * self._pages[self._page].share)
        if height > 0 and self._is_docked(self._bottom) and not self._bottom.isHidden():
            self._window.resizeDocks([self._bottom], [height], Qt.Orientation.Vertical)

    # The window's size

    def begin(self) -> None:
        """Arrange the docks for the first paint."""
        if self._window.height() < LOW:
            self._pages = {page: layout._replace(bottom=False) for page, layout in self._pages.items()}
            if not self._bottom.isFloating():
                self._bottom.hide()
        self.fit()

    def fit(self) -> None:
        """Follow the size of the window."""
        if not self._window.isVisible():
            return
        if (self._window.width() < COMPACT) is not self.compact:
            self._leave_compact() if self.compact else self._enter_compact()
        self._fit_height()
        self._place_over()

    def _enter_compact(self) -> None:
        self._note_shown()
        self._roomy_state = self._window.saveState(STATE_VERSION)
        for dock in self._sides:
            if not dock.isFloating():
                dock.set_over(True)

    def _leave_compact(self) -> None:
        state, self._roomy_state = self._roomy_state, None
        self._pages[self._page] = self._pages[self._page]._replace(bottom=not self._bottom.isHidden())
        for dock in self._sides:
            dock.set_over(False)
        if state is not None:
            self._window.restoreState(state, STATE_VERSION)
        self._apply()

    def _place_over(self) -> None:
        for dock, width in zip(self._sides, (LEFT, RIGHT), strict=True):
            if dock.is_over and not dock.isHidden():
                dock.place_over(self._area, width)

    # Floating

    def float(self, dock: Dock, floating: bool) -> None:
        """Make a dock a window of its own, or put it back; it is shown then."""
        if dock.is_over:
            dock.set_over(False)
            self._window.addDockWidget(dock.home, dock)
        dock.setFloating(floating)
        dock.show()

    def _side_moved(self, floating: bool) -> None:
        if self.compact and not floating:
            QTimer.singleShot(0, self, self._lay_sides_over)  # Qt has not finished docking it

    def _lay_sides_over(self) -> None:
        if self.compact:
            for dock in self._sides:
                if not dock.isFloating():
                    dock.set_over(True)

    def _keep_composer_free(self, floating: bool) -> None:
        """Move the floating inspector to the top of the centre: where it was docked, it would hide the composer."""
        if floating and self._window.isVisible():
            top = self._centre.mapToGlobal(self._centre.rect().topLeft())
            self._bottom.move(self._bottom.x(), top.y())

    # Saved

    def restore(self, settings: QSettings) -> None:
        """Read the layout of the last session."""
        state = settings.value("window/state")
        if isinstance(state, QByteArray) and self._window.restoreState(state, STATE_VERSION):
            self._note_shown()
        for page in PAGES:
            layout = PageLayout.parse(str(settings.value(_key(page), "")))
            if layout is not None:
                self._pages[page] = layout
        self._apply()

    def save(self, settings: QSettings) -> None:
        """Write the layout, but not what a small window has closed."""
        self.note()
        state = self._roomy_state if self._roomy_state is not None else self._window.saveState(STATE_VERSION)
        settings.setValue("window/state", state)
        for page, layout in self._pages.items():
            saved = PageLayout.parse(str(settings.value(_key(page), ""))) or _usual(page)
            low = self._window.height() < LOW
            settings.setValue(_key(page), str(layout._replace(bottom=saved.bottom) if low else layout))


def _key(page: str) -> str:
    return f"window/page-{page.lower()}"


def _usual(page: str) -> PageLayout:
    displayed = page == CONVERSATION
    return PageLayout(left=displayed, right=displayed, bottom=displayed)
