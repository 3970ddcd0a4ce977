"""Sizes of the docks: those a person chose, as far as the window has room for them.

Qt takes room from docks when a window shrinks and gives all of it to the centre when it grows again, so the chosen
sizes are kept here. If both side docks leave the centre too little room, the one shown first is hidden until there is
room again. Imported before the first paint: nothing heavy may be imported here.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSettings, Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow, QWidget

CENTRE = 392  # pixels of width in which one can read and write: an attached image fits into the composer
KEY = "window/panels"
EDGES = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea


class PanelRoom(QObject):
    """Resizes the docks at the left, right and bottom edge of ``window``; floating and moved ones are left alone.

    ``hidden_dock`` is the side dock that is hidden because there is no room for both.
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
        self.hidden_dock: QDockWidget | None = None
        self._shown_last = right
        self._fitting = self._dragging = False
        self._before: dict[QDockWidget, int] = {}  # sizes when the mouse went down
        self._requested: dict[Qt.Orientation, tuple[int, ...]] = {}  # of Qt; no request is repeated
        for dock in self._sides:
            dock.installEventFilter(self)

    # Chosen sizes

    def choose(self, sizes: dict[QDockWidget, int]) -> None:
        """Keep these sizes, in pixels, as chosen."""
        self._chosen.update(sizes)
        if self._bottom in sizes:
            self._tall = self._window.height()

    def press(self) -> None:
        """Note the sizes when the mouse is pressed on a separator."""
        self._dragging = True
        self._before = self._sizes()

    def release(self) -> None:
        """Keep the sizes that the mouse changed."""
        self._dragging = False
        self.choose({dock: size for dock, size in self._sizes().items() if self._before.get(dock) != size})

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Prefer the side dock that was shown last."""
        if event.type() == QEvent.Type.ShowToParent and not self._fitting and isinstance(watched, QDockWidget):
            self._shown_last = watched
            if watched is self.hidden_dock:
                self.hidden_dock = None
        return False

    def _sizes(self) -> dict[QDockWidget, int]:
        docks = [dock for dock in (*self._sides, self._bottom) if not dock.isHidden()]
        return {dock: dock.height() if dock is self._bottom else dock.width() for dock in docks}

    # Remembered

    def remember(self, settings: QSettings, hidden_dock: QDockWidget | None) -> None:
        """Write the chosen sizes and the dock that is hidden for room to the settings."""
        names = [dock.objectName() for dock in (*self._sides, self._bottom)]
        sizes = [self._chosen.get(dock, 0) for dock in (*self._sides, self._bottom)]
        entries = [f"{name}={size}" for name, size in zip(names, sizes, strict=True)]
        settings.setValue(
            KEY, [*entries, f"tall={self._tall}", f"gone={hidden_dock.objectName() if hidden_dock is not None else ''}"]
        )

    def recall(self, settings: QSettings) -> None:
        """Read the chosen sizes of an earlier session; without any, the sizes Qt restored count as chosen."""
        self._chosen.clear()
        value = settings.value(KEY)
        sizes = dict(str(entry).partition("=")[::2] for entry in (value if isinstance(value, list) else ()))
        self._tall = _pixels(sizes.get("tall", "")) or self._window.height()
        for dock in (*self._sides, self._bottom):
            if size := _pixels(sizes.get(dock.objectName(), "")):
                self._chosen[dock] = size
            if sizes.get("gone") == dock.objectName() and dock is not self._bottom and dock.isHidden():
                self.hidden_dock = dock
                self._shown_last = next(side for side in self._sides if side is not dock)

    # Fitting

    def fit(self) -> None:
        """Give the docks the chosen sizes as far as there is room."""
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
        open_ = [dock for dock in self._sides if not dock.isHidden() or dock is self.hidden_dock]
        crowded = len(open_) > 1 and sum(map(_least, open_)) > room
        no_room_for = next(dock for dock in self._sides if dock is not self._shown_last) if crowded else None
        if no_room_for is not self.hidden_dock:
            if self.hidden_dock is not None:
                self.hidden_dock.show()
            if no_room_for is not None:
                no_room_for.hide()
            self.hidden_dock = no_room_for
        docks = [dock for dock in open_ if dock is not no_room_for]
        chosen = [max(self._chosen.setdefault(dock, dock.width()), _least(dock)) for dock in docks]
        spare = [size - _least(dock) for size, dock in zip(chosen, docks, strict=True)]
        over = min(max(sum(chosen) - room, 0), sum(spare))
        sizes = [size - (over * part // sum(spare) if over else 0) for size, part in zip(chosen, spare, strict=True)]
        self._resize(docks, sizes, Qt.Orientation.Horizontal, self._window.width())

    def _fit_bottom(self) -> None:
        dock, area = self._bottom, Qt.DockWidgetArea.BottomDockWidgetArea
        if dock.isHidden() or dock.isFloating() or self._window.dockWidgetArea(dock) != area:
            return
        chosen = self._chosen.setdefault(dock, dock.height())
        if dock.height() == chosen:
            return
        centre = self._centre
        room = centre.height() + dock.height() - centre.minimumSizeHint().height()
        share = chosen * self._window.height() // max(self._tall, 1)  # the same part of a lower window
        size = max(min(chosen, share, room), dock.minimumSizeHint().height())
        self._resize([dock], [size], Qt.Orientation.Vertical, centre.height() + dock.height())

    def _resize(self, docks: list[QDockWidget], sizes: list[int], way: Qt.Orientation, room: int) -> None:
        across = way is Qt.Orientation.Horizontal
        if [dock.width() if across else dock.height() for dock in docks] == sizes:
            return
        request = room, *sizes
        if docks and self._requested.get(way) != request:
            self._requested[way] = request
            QMainWindow.resizeDocks(self._window, docks, sizes, way)


def _pixels(text: str) -> int:
    """Return a stored size; 0 for text that is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 else 0


def _least(dock: QDockWidget) -> int:
    content = dock.widget()
    return max(content.minimumWidth(), content.minimumSizeHint().width() if not content.minimumWidth() else 0)
