"""Icons drawn from SVG files in the palette's colour, sharp at any scale."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QIconEngine, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from playground.engine.io.files import resource_root
from playground.ui.widgets.theme import tokens


def icon(name: str, colour: str | None = None) -> QIcon:
    """Return the icon of a name, a file in ``resources/icons``.

    ``colour`` is the name of a token, such as ``muted``, which follows the scheme, or a fixed ``#rrggbb``.
    """
    return QIcon(_SvgEngine(name, colour))


@lru_cache(maxsize=256)
def _source(name: str) -> str:
    return (resource_root() / "icons" / f"{name}.svg").read_text(encoding="utf-8")


class _SvgEngine(QIconEngine):
    """Icon engine that replaces ``currentColor`` in the SVG each time it paints."""

    def __init__(self, name: str, colour: str | None) -> None:
        super().__init__()
        self._name = name
        self._colour = colour

    def clone(self) -> QIconEngine:
        return _SvgEngine(self._name, self._colour)

    def paint(self, painter: QPainter, rect: object, mode: QIcon.Mode, state: QIcon.State) -> None:
        muted = mode == QIcon.Mode.Disabled
        name = self._colour or "text"
        colour = tokens().muted if muted else name if name.startswith("#") else getattr(tokens(), name)
        renderer = QSvgRenderer(QByteArray(_source(self._name).replace("currentColor", colour).encode()))
        renderer.render(painter, QRectF(rect))  # type: ignore[call-overload]  # the stub types rect as object

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        if size.isEmpty():  # a button may have no space for its icon
            return QPixmap()
        pixmap = QPixmap(size)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self.paint(painter, pixmap.rect(), mode, state)
        painter.end()
        return pixmap
