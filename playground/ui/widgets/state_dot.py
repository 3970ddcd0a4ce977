"""The dot beside the name of something that runs or does not: how it is, by colour and by form.

Ready: a full green disc. Starting, or waiting for a person: half a disc. Failed: a red ring with a stroke. Not there:
a grey ring with a stroke. Anything else, such as stopped: a grey ring.
"""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap

from playground.ui.widgets.theme import Tokens, tokens

SIDE = 16  # pixels of the icon, 8 of them the disc's


def paint_dot(painter: QPainter, state: str, left: float, top: float) -> None:
    """Paint it into a square of ``SIDE`` pixels whose corner is there."""
    t = tokens()
    colours = {"ready": t.ok, "failed": t.error, "starting": t.tool, "unconfirmed": t.tool}
    colour = QColor(colours.get(state, t.muted))
    disc = QRectF(left + 4, top + 4, 8, 8)
    painter.setPen(QPen(colour, 1.4))
    painter.setBrush(colour if state == "ready" else Qt.BrushStyle.NoBrush)
    painter.drawEllipse(disc)
    if state in ("failed", "absent"):
        painter.drawLine(QPointF(left + 5.2, top + 10.8), QPointF(left + 10.8, top + 5.2))
    elif state in ("starting", "unconfirmed"):
        painter.setBrush(colour)
        painter.drawPie(disc, 90 * 16, 180 * 16)


def state_dot(state: str) -> QIcon:
    """It as an icon, in the colours of the scheme as it is now."""
    return _drawn(state, tokens())


@lru_cache(maxsize=16)
def _drawn(state: str, _scheme: Tokens) -> QIcon:
    # Once for each scheme: what Qt makes of an icon to paint it stays in its own cache, also of one that is gone.
    pixmap = QPixmap(QSize(SIDE, SIDE) * 2)
    pixmap.setDevicePixelRatio(2)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    paint_dot(painter, state, 0, 0)
    painter.end()
    return QIcon(pixmap)
