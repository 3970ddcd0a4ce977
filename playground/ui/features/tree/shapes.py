"""The marks of the tree: a shape for each role, a sign for how a turn ended; and the key that says what they mean."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from playground.domain.roles import Role
from playground.ui.widgets.theme import Tokens, tokens

R = 7.0  # pixels from the middle of a mark to its edge
_KEY = ((Role.SYSTEM, "system"), (Role.USER, "user"), (Role.ASSISTANT, "assistant"), (Role.TOOL, "tool"))
_SIGNS = (("failed", "failed"), ("interrupted", "not whole"))


def shape(role: Role, x: float, y: float, r: float = R) -> QPainterPath:
    """The outline of a role's mark around a point: diamond, circle, square with round corners, or triangle."""
    path = QPainterPath()
    if role is Role.USER:
        path.addEllipse(QPointF(x, y), r, r)
    elif role is Role.TOOL:
        points = (QPointF(x - r - 0.5, y + r - 0.5), QPointF(x, y - r - 1), QPointF(x + r + 0.5, y + r - 0.5))
        path.addPolygon(QPolygonF(points))
        path.closeSubpath()
    elif role is Role.ASSISTANT:
        path.addRoundedRect(QRectF(x - r + 0.5, y - r + 0.5, 2 * r - 1, 2 * r - 1), 3, 3)
    else:
        path.addPolygon(
            QPolygonF((QPointF(x, y - r - 1), QPointF(x + r + 1, y), QPointF(x, y + r + 1), QPointF(x - r - 1, y)))
        )
        path.closeSubpath()
    return path


def draw_mark(
    painter: QPainter, t: Tokens, role: Role, x: float, y: float, *, full: bool = True, sign: str = ""
) -> None:
    """A turn's mark around a point: ``full`` on the branch that is looked at. ``sign`` is a word of ``mark_of``."""
    colour = QColor(t.role(role.value))
    painter.setPen(QPen(colour, 1.6, Qt.PenStyle.DotLine if sign == "being received" else Qt.PenStyle.SolidLine))
    painter.setBrush(colour if full and sign != "being received" else QColor(t.surface))
    painter.drawPath(shape(role, x, y))
    if not sign or sign == "being received":
        return
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(t.surface))
    painter.drawEllipse(QPointF(x + 6, y - 6), 5.6, 5.6)
    painter.setBrush(QColor(t.error if sign == "failed" else t.tool))
    painter.drawEllipse(QPointF(x + 6, y - 6), 4.6, 4.6)
    painter.setPen(QPen(QColor(t.surface), 1.5))
    if sign == "failed":
        painter.drawLine(QPointF(x + 4.2, y - 7.8), QPointF(x + 7.8, y - 4.2))
        painter.drawLine(QPointF(x + 4.2, y - 4.2), QPointF(x + 7.8, y - 7.8))
    else:
        painter.drawLine(QPointF(x + 3.7, y - 6), QPointF(x + 8.3, y - 6))


class Key(QWidget):
    """What the marks mean, in a line; as much of it as there is room for."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(
            "Marks: a diamond is a system turn, a circle a user's, a square the assistant's, a triangle a tool's. "
            "A small cross says failed, a small bar stopped, cut off, interrupted or unread in part."
        )

    def _entries(self) -> list[tuple[Role, str, str]]:
        roles = [(role, word, "") for role, word in _KEY]
        return roles + [(Role.ASSISTANT, word, sign) for sign, word in _SIGNS]

    def sizeHint(self) -> QSize:
        words = sum(self.fontMetrics().horizontalAdvance(word) for _, word, _ in self._entries())
        return QSize(words + 38 * len(self._entries()), 22)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, 22)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        t = tokens()
        x = 12.0
        for role, word, sign in self._entries():
            wide = self.fontMetrics().horizontalAdvance(word)
            if x + 14 + wide > self.width():
                break
            draw_mark(painter, t, role, x, self.height() / 2 + 1, sign=sign, full=not sign)
            painter.setPen(QColor(t.muted))
            painter.drawText(
                QRectF(x + 14, 0, wide + 2, self.height()),
                Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft,
                word,
            )
            x += 38 + wide
        painter.end()
