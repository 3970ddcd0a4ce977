"""The dot beside a gateway's name: what is known of it, by colour and by form."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap

from playground.engine.gateways.reach import Reach
from playground.ui.widgets.theme import Tokens, tokens

SIDE = 16  # pixels of the icon
_DISC = QRectF(4, 4, 8, 8)


def dot(reach: Reach) -> QIcon:
    """Reached: a full green disc. No connection: a red ring with a stroke. Nothing asked: a grey ring.

    Whatever needs a look, such as a key that is missing or refused, is half a disc.
    """
    return _drawn(reach, tokens())


@lru_cache(maxsize=2 * len(Reach))
def _drawn(reach: Reach, t: Tokens) -> QIcon:
    # Once for each scheme: what Qt makes of an icon to paint it stays in its own cache of ten megabytes, also of one
    # that is gone, and this is asked for with every change of a setting.
    pixmap = QPixmap(QSize(SIDE, SIDE) * 2)
    pixmap.setDevicePixelRatio(2)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    named = {Reach.OK: t.ok, Reach.UNREACHED: t.error, Reach.UNKNOWN: t.muted}
    colour = QColor(named.get(reach, t.tool))
    painter.setPen(QPen(colour, 1.4))
    if reach is Reach.OK:
        painter.setBrush(colour)
    painter.drawEllipse(_DISC)
    if reach is Reach.UNREACHED:
        painter.drawLine(QPointF(5.2, 10.8), QPointF(10.8, 5.2))
    elif reach not in named:
        painter.setBrush(colour)
        painter.drawPie(_DISC, 90 * 16, 180 * 16)
    painter.end()
    return QIcon(pixmap)
