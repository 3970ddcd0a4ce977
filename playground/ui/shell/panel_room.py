"""Which sizes the panels have: those a person chose, as far as the window has room, and again once it has.

Qt takes room from panels when a window shrinks and gives all of it to the centre when it grows again. So what was
chosen is kept here. Where both panels at the sides would leave the centre too little to write in, the one that was not
asked for last gives way whole, and comes back by itself. On the way to the first paint: nothing heavy may be imported.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSettings, Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow, QWidget

CENTRE = 392  # pixels of width in which one can read and write: an attached image fits into the composer
KEY = "window/panels"
EDGES = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea


class PanelRoom(QObject):
    """Looks after the docks at the left, at the right and at the bottom of ``window``, while they are there.

    Whoever floats them or puts them elsewhere arranges them alone. ``gone`` is the one that gave way whole.
    """

    def __init__(
        self, window: QMainWindow, centre: QWidget, left: QDockWidget, right: QDockWidget, bottom: QDockWidget
    ) -> None:
        super().__init__(window)
        self._window = window
        self._centre = centre
        self._sides = left, right
        self._bottom = bottom
        self._chosen: dict[QDockWidget, int] = {}  # pixels
        self._tall = 0  # pixels: the window's height when the bottom's was chosen
        self.gone: QDockWidget | None = None
        self._asked = right  # shown last
        self._fitting = self._dragging = False
        self._before: dict[QDockWidget, int] = {}  # sizes when the mouse went down
        self._tried: dict[Qt.Orientation, tuple[int, ...]] = {}  # what was asked of Qt: it is not asked twice
        for dock in self._sides:
            dock.installEventFilter(self)

    # What a person chooses

    def choose(self, sizes: dict[QDockWidget, int]) -> None:
        """Take these sizes, in pixels, for what is wanted."""
        self._chosen.update(sizes)
        if self._bottom in sizes:
            self._tall = self._window.height()

    def press(self) -> None:
        """The mouse takes hold of something between the regions."""
        self._dragging = True
        self._before = self._sizes()

    def release(self) -> None:
        """It lets go; what has another size than before was meant to."""
        self._dragging = False
        self.choose({dock: size for dock, size in self._sizes().items() if self._before.get(dock) != size})

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A panel that somebody shows stays; another one gives way to it."""
        if event.type() == QEvent.Type.ShowToParent and not self._fitting and isinstance(watched, QDockWidget):
            self._asked = watched
            if watched is self.gone:
                self.gone = None
        return False

    def _sizes(self) -> dict[QDockWidget, int]:
        docks = [dock for dock in (*self._sides, self._bottom) if not dock.isHidden()]
        return {dock: dock.height() if dock is self._bottom else dock.width() for dock in docks}

    # Remembered

    def remember(self, settings: QSettings, gone: QDockWidget | None) -> None:
        """Write what was chosen to the settings, and which dock gave way."""
        names = [dock.objectName() for dock in (*self._sides, self._bottom)]
        sizes = [self._chosen.get(dock, 0) for dock in (*self._sides, self._bottom)]
        kept = [f"{name}={size}" for name, size in zip(names, sizes, strict=True)]
        settings.setValue(KEY, [*kept, f"tall={self._tall}", f"gone={gone.objectName() if gone is not None else ''}"])

    def recall(self, settings: QSettings) -> None:
        """What was chosen in an earlier session; where nothing was kept, what Qt restored counts as chosen."""
        self._chosen.clear()
        found = settings.value(KEY)
        kept = dict(str(entry).partition("=")[::2] for entry in (found if isinstance(found, list) else ()))
        self._tall = _pixels(kept.get("tall", "")) or self._window.height()
        for dock in (*self._sides, self._bottom):
            if size := _pixels(kept.get(dock.objectName(), "")):
                self._chosen[dock] = size
            if kept.get("gone") == dock.objectName() and dock is not self._bottom and dock.isHidden():
                self.gone = dock
                self._asked = next(other for other in self._sides if other is not dock)

    # Fitting

    def fit(self) -> None:
        """Give the panels what was chosen, or what there is."""
        if self._fitting or self._dragging or not self._window.isVisible():
            return
        self._fitting = True
        try:
            self._fit_sides()
            self._fit_bottom()
        finally:
            self._fitting = False

    def _fit_sides(self) -> None:
        if any(dock.isFloating() for dock in self._sides):
            return
        if tuple(self._window.dockWidgetArea(dock) for dock in self._sides) != EDGES:
            return
        room = self._window.width() - CENTRE
        open_ = [dock for dock in self._sides if not dock.isHidden() or dock is self.gone]
        crowded = len(open_) > 1 and sum(map(_least, open_)) > room
        gone = next(dock for dock in self._sides if dock is not self._asked) if crowded else None
        if gone is not self.gone:
            if self.gone is not None:
                self.gone.show()
            if gone is not None:
                gone.hide()
            self.gone = gone
        shown = [dock for dock in open_ if dock is not gone]
        wanted = [max(self._chosen.setdefault(dock, dock.width()), _least(dock)) for dock in shown]
        spare = [size - _least(dock) for size, dock in zip(wanted, shown, strict=True)]
        over = min(max(sum(wanted) - room, 0), sum(spare))
        sizes = [size - (over * part // sum(spare) if over else 0) for size, part in zip(wanted, spare, strict=True)]
        self._resize(shown, sizes, Qt.Orientation.Horizontal, self._window.width())

    def _fit_bottom(self) -> None:
        dock, area = self._bottom, Qt.DockWidgetArea.BottomDockWidgetArea
        if dock.isHidden() or dock.isFloating() or self._window.dockWidgetArea(dock) != area:
            return
        wanted = self._chosen.setdefault(dock, dock.height())
        if dock.height() == wanted:
            return
        centre = self._centre
        room = centre.height() + dock.height() - centre.minimumSizeHint().height()
        share = (
            wanted * self._window.height() // max(self._tall, 1)
        )  # of a lower window it has as much as of a high one
        size = max(min(wanted, share, room), dock.minimumSizeHint().height())
        self._resize([dock], [size], Qt.Orientation.Vertical, centre.height() + dock.height())

    def _resize(self, docks: list[QDockWidget], sizes: list[int], way: Qt.Orientation, room: int) -> None:
        across = way is Qt.Orientation.Horizontal
        if [dock.width() if across else dock.height() for dock in docks] == sizes:
            return
        asked = room, *sizes
        if docks and self._tried.get(way) != asked:
            self._tried[way] = asked
            QMainWindow.resizeDocks(self._window, docks, sizes, way)


def _pixels(text: str) -> int:
    """A size that was kept; 0 where it is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 else 0


def _least(dock: QDockWidget) -> int:
    content = dock.widget()
    return max(content.minimumWidth(), content.minimumSizeHint().width() if not content.minimumWidth() else 0)
