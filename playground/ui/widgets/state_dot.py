"""A dot beside a name that shows a state by its colour and its form.

Ready: a full green disc. Starting, or waiting for a person: half a disc. Failed: a red ring with a stroke. Not there:
a grey ring with a stroke. Anything else, such as stopped: a grey ring.
"""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap

from playground.ui.widgets.theme import Tokens, tokens

SIDE = 16  # pixels of the icon, 8 of them the disc's


def paint_dot(painter: QPainter, state: str, x: float, y: float) -> None:
    """Paint the dot of a state into a square of ``SIDE`` pixels with its top left corner at ``x``, ``y``."""
    t = tokens()
    colours = {"ready": t.ok, "failed": t.error, "starting": t.tool, "unconfirmed": t.tool}
    colour = QColor(colours.get(state, t.muted))
    disc = QRectF(x + 4, y + 4, 8, 8)
    painter.setPen(QPen(colour, 1.4))
    painter.setBrush(colour if state == "ready" else Qt.BrushStyle.NoBrush)
    painter.drawEllipse(disc)
    if state in ("failed", "absent"):
        painter.drawLine(QPointF(x + 5.2, y + 10.8), QPointF(x + 10.8, y + 5.2))
    elif state in ("starting", "unconfirmed"):
        painter.setBrush(colour)
        painter.drawPie(disc, 90 * 16, 180 * 16)


def state_dot(state: str) -> QIcon:
    """Return the dot of a state as an icon, in the colours of the current scheme."""
    return _draw_icon(state, tokens())


@lru_cache(maxsize=16)
def _draw_icon(state: str, _scheme: Tokens) -> QIcon:
    # Cached for each scheme: Qt keeps the pixmaps of an icon in its own cache even after the icon is deleted.
    pixmap = QPixmap(QSize(SIDE, SIDE) * 2)
    pixmap.setDevicePixelRatio(2)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    paint_dot(painter, state, 0, 0)
    painter.end()
    return QIcon(pixmap)
