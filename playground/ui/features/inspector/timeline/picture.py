"""The timeline drawn to scale: lanes, marks, stalls and the speed. Wheel and keys zoom, dragging moves, a click asks.

It draws what a ``Timeline`` says and keeps nothing but what part of it is looked at.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFocusEvent,
    QFont,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QPushButton, QSizePolicy, QToolTip, QWidget

from playground.domain.durations import duration_words
from playground.engine.inspect.timeline import Lane, Mark, Rate, Segment, Served, Stall, Timeline
from playground.ui.features.inspector.timeline.scale import TimeScale
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.plain_text import one_line_of, tip
from playground.ui.widgets.theme import body_font, tokens

COMPACT, TALL, TALLEST = 64, 132, 168  # pixels
GUTTER = 12  # left and right of the scale
NAMES = 114  # to the left of lanes that have rows of their own
RATE_WIDTHS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
RATE_STEP = 8  # pixels of a bucket at least
ZOOM = 1.25  # for one notch of the wheel, or one key
SAID = 5  # stalls that are told one by one
NEAR = 4  # pixels within which something is meant
LABELS = 40  # stretches that may get a name
TOLD_FIRST = ("first content", "first reasoning", "first tool call", "finish", "headers", "first byte")
HINT = "The wheel zooms, dragging moves, a double click shows everything."
SHORT = {Lane.WAITING: "wait", Lane.REASONING: "reasoning", Lane.CONTENT: "content", Lane.ARGUMENTS: "arguments"}


class TimelinePicture(QWidget):
    """``moment_asked`` carries the seconds of a click; ``stall_asked`` the frame after a stall that was clicked."""

    moment_asked = Signal(float)
    stall_asked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.scale = TimeScale()
        self._timeline: Timeline | None = None
        self.segments: tuple[Segment, ...] = ()
        self.marks: tuple[Mark, ...] = ()
        self.stalls: tuple[Stall, ...] = ()
        self.served: tuple[Served, ...] = ()
        self.rates: tuple[Rate, ...] = ()
        self._rate_width = 0.0
        self._chosen: tuple[float, float] | None = None
        self._pressed: QPoint | None = None
        self._dragged = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.setMinimumHeight(COMPACT)
        self.setMaximumHeight(TALLEST)
        self.setAccessibleName("Timeline")
        self.whole = styled(QPushButton("Show all", self), "over")
        self.whole.setToolTip(tip("Show the whole exchange (0)"))
        self.whole.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the key 0 does it
        self.whole.hide()
        self.whole.clicked.connect(self._show_all)

    def sizeHint(self) -> QSize:
        return QSize(300, COMPACT)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, COMPACT)

    # What is shown

    def show_timeline(self, timeline: Timeline | None, *, fresh: bool) -> None:
        """Show a timeline as it is now; ``fresh`` says that it is another one."""
        self._timeline = timeline
        if fresh:
            self.scale.fit()
            self._chosen = None
        self.segments = timeline.segments if timeline is not None else ()
        self.marks = timeline.marks if timeline is not None else ()
        self.stalls = timeline.stalls if timeline is not None else ()
        self.served = timeline.served if timeline is not None else ()
        ends = [timeline.end if timeline is not None else 0.0, *(stretch.end for stretch in self.served)]
        self.scale.set_total(max(ends))
        self._rate_width = 0.0
        self.setAccessibleDescription(". ".join(f"{name} {value}" for name, value in self.figures()))
        self._moved()

    def show_chosen(self, first: float | None, last: float = 0.0, *, reveal: bool = False) -> None:
        """Mark the moments of the chosen frames; None takes the mark away."""
        self._chosen = (first, last) if first is not None else None
        if reveal and first is not None:
            self.scale.reveal(first)
        self.update()

    def figures(self) -> list[tuple[str, str]]:
        """What the picture says, as names and values."""
        timeline = self._timeline
        if timeline is None or not timeline.end:
            return []
        out = [(mark.name, f"{mark.at:.3f} s") for mark in self.marks]
        for lane in Lane:
            spent = [segment.end - segment.start for segment in self.segments if segment.lane is lane]
            if spent:
                out.append((f"{lane.value}, in all", f"{sum(spent):.2f} s"))
        out += [
            (f"{stretch.server}{'' if stretch.ok else ' (no good answer)'}", f"{stretch.end - stretch.start:.3f} s")
            for stretch in self.served[:SAID]
        ]
        if timeline.median_gap is not None:
            out.append(("usual gap", duration_words(timeline.median_gap)))
        longest = sorted(self.stalls, key=lambda stall: stall.start - stall.end)[:SAID]
        out += [(f"stall before frame {stall.after + 1}", f"{stall.end - stall.start:.2f} s") for stall in longest]
        if len(self.stalls) > SAID:
            out.append(("shorter stalls", str(len(self.stalls) - SAID)))
        return out

    # Geometry

    @property
    def _tall(self) -> bool:
        return self.height() >= TALL

    def _place(self) -> None:
        left = GUTTER + (NAMES if self._tall else 0)
        self.scale.left = left
        self.scale.width = max(self.width() - left - GUTTER, 10)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._place()
        self.whole.adjustSize()
        self.whole.move(self.width() - GUTTER - self.whole.width(), 2)

    def _lane_rect(self, lane: Lane) -> QRectF:
        """Where a lane's row is: each has its own, or all share one."""
        if not self._tall:
            return QRectF(self.scale.left, 22, self.scale.width, 8)
        return QRectF(self.scale.left, 20 + list(Lane).index(lane) * 15, self.scale.width, 9)

    def _rate_rect(self) -> QRectF:
        top, height = (82.0, max(self.height() - 82.0 - 18, 14)) if self._tall else (3.0, 17.0)
        return QRectF(self.scale.left, top, self.scale.width, height)

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        t = tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        small = QFont(body_font())
        small.setPixelSize(10)
        painter.setFont(small)
        if self._timeline is not None and self._timeline.end:
            painter.save()
            painter.setClipRect(QRectF(self.scale.left - 2, 0, self.scale.width + 4, self.height()))
            self._paint_chosen(painter)
            self._paint_rates(painter)
            self._paint_lanes(painter)
            self._paint_served(painter)
            self._paint_stalls(painter)
            self._paint_marks(painter)
            painter.restore()
            self._paint_names(painter)
            self._paint_axis(painter)
        if self.hasFocus():
            painter.setPen(QColor(t.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1.5, 1.5, -1.5, -1.5), 4, 4)
        painter.end()

    def _paint_chosen(self, painter: QPainter) -> None:
        if self._chosen is None:
            return
        first, last = self.scale.x(self._chosen[0]), self.scale.x(self._chosen[1])
        rect = QRectF(first - 2, 1, max(last - first, 0) + 4, self.height() - 2)
        painter.fillRect(rect, QColor(tokens().accent_background))
        painter.setPen(QColor(tokens().accent))
        painter.drawLine(QPointF(first, 1), QPointF(first, self.height() - 2))

    def _paint_rates(self, painter: QPainter) -> None:
        rates = self._seen_rates()
        rect = self._rate_rect()
        most = max((rate.per_second for rate in rates), default=0.0)
        if not most:
            return
        t = tokens()
        outline = QPolygonF([QPointF(self.scale.x(rates[0].at), rect.bottom())])
        for rate in rates:
            y = rect.bottom() - rate.per_second / most * rect.height()
            outline.append(QPointF(self.scale.x(rate.at), y))
            outline.append(QPointF(self.scale.x(rate.at + self._rate_width), y))
        outline.append(QPointF(self.scale.x(rates[-1].at + self._rate_width), rect.bottom()))
        painter.setPen(QPen(QColor(t.muted), 1))
        painter.setBrush(QColor(t.chip))
        painter.drawPolygon(outline)
        unit = "fragments/s" if self._timeline is not None and self._timeline.estimated else "tok/s"
        says = f"≤ {most:.0f} {unit}"
        wide = painter.fontMetrics().horizontalAdvance(says) + 6
        free = self.scale.x(rates[0].at) - rect.left() < wide < rect.right() - outline.boundingRect().right()
        place = QRectF(rect.right() - wide if free else rect.left(), rect.top(), wide, 12)
        painter.fillRect(place, QColor(t.surface))
        painter.setPen(QColor(t.muted))
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, says)

    def _seen_rates(self) -> tuple[Rate, ...]:
        """The speed in steps wide enough to be seen."""
        a_pixel = (self.scale.end - self.scale.start) / self.scale.width
        width = next((width for width in RATE_WIDTHS if width >= a_pixel * RATE_STEP), RATE_WIDTHS[-1])
        if width != self._rate_width and self._timeline is not None:
            self._rate_width = width
            self.rates = self._timeline.rates(width)
        return self.rates

    def _paint_lanes(self, painter: QPainter) -> None:
        t = tokens()
        painter.setPen(Qt.PenStyle.NoPen)
        if self._tall:
            painter.setBrush(QColor(t.code))
            for lane in Lane:
                painter.drawRoundedRect(self._lane_rect(lane), 3, 3)
        seen = []
        for segment in self.segments:
            x, end = self.scale.x(segment.start), self.scale.x(segment.end)
            if end < self.scale.left - 2 or x > self.scale.left + self.scale.width + 2:
                continue
            row = self._lane_rect(segment.lane)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(lane_colour(segment.lane)))
            painter.drawRoundedRect(QRectF(x, row.top(), max(end - x, 2), row.height()), 3, 3)
            seen.append((end - x, max(x, self.scale.left), segment))
        if not self._tall:
            written: list[tuple[float, float]] = []
            for wide, x, segment in sorted(seen, key=lambda one: -one[0])[:LABELS]:
                self._label(painter, segment, x, wide, written)

    def _paint_served(self, painter: QPainter) -> None:
        """What tool servers did once the answer was there, where the waiting for it stands before."""
        t = tokens()
        row = self._lane_rect(Lane.WAITING)
        for stretch in self.served:
            x, end = self.scale.x(stretch.start), self.scale.x(stretch.end)
            if end < self.scale.left - 2 or x > self.scale.left + self.scale.width + 2:
                continue
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(t.ok if stretch.ok else t.error))
            painter.drawRoundedRect(QRectF(x, row.top(), max(end - x, 2), row.height()), 3, 3)
            words = f"{one_line_of(stretch.server)} {stretch.end - stretch.start:.2f}"
            room = self.scale.left + self.scale.width - x
            painter.setPen(QColor(t.muted))
            says = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, int(max(end - x, room, 0)))
            wide = painter.fontMetrics().horizontalAdvance(says)
            left = min(max(x, self.scale.left), self.scale.left + self.scale.width - wide)
            painter.drawText(QPointF(left, row.bottom() + 11), says)

    def _label(
        self, painter: QPainter, segment: Segment, x: float, room: float, written: list[tuple[float, float]]
    ) -> None:
        """Name and seconds below a stretch, where that is free; ``written`` is what is not."""
        for says in (f"{SHORT[segment.lane]} {segment.end - segment.start:.2f}", SHORT[segment.lane]):
            wide = painter.fontMetrics().horizontalAdvance(says)
            left = min(x, self.scale.left + self.scale.width - wide)
            if wide <= room + 30 and not _overlaps(written, left, left + wide, 6):
                written.append((left, left + wide))
                painter.setPen(QColor(tokens().muted))
                painter.drawText(QPointF(left, 42), says)
                return

    def _paint_stalls(self, painter: QPainter) -> None:
        t = tokens()
        for stall in self.stalls:
            x, end = self.scale.x(stall.start), self.scale.x(stall.end)
            if end < self.scale.left or x > self.scale.left + self.scale.width:
                continue
            top, height = (16.0, 64.0) if self._tall else (19.0, 14.0)
            rect = QRectF(x, top, max(end - x, 2), height)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.fillRect(rect, QColor(t.error_background))
            painter.setBrush(QBrush(QColor(t.error), Qt.BrushStyle.BDiagPattern))
            painter.drawRect(rect)
            says = f"stall {stall.end - stall.start:.2f} s"
            wide = painter.fontMetrics().horizontalAdvance(says)
            if wide + 4 <= (seen := self._seen_part(rect)).width():
                place = QRectF(seen.center().x() - wide / 2 - 3, seen.center().y() - 6.5, wide + 6, 13)
                painter.setBrush(QColor(t.surface))
                painter.drawRoundedRect(place, 3, 3)
                painter.setPen(QColor(t.error))
                painter.drawText(place, Qt.AlignmentFlag.AlignCenter, says)

    def _seen_part(self, rect: QRectF) -> QRectF:
        """As much of it as is in view and beside the button that lies over the picture."""
        covered = self.whole.isVisible() and rect.center().y() - 7 < self.whole.geometry().bottom()
        right = min(self.scale.left + self.scale.width, self.whole.x() - 4 if covered else self.width())
        return rect.intersected(QRectF(self.scale.left, rect.top(), max(right - self.scale.left, 0), rect.height()))

    def _paint_marks(self, painter: QPainter) -> None:
        t = tokens()
        written: list[tuple[float, float]] = []
        for mark in sorted(self.marks, key=_weight):
            x = self.scale.x(mark.at)
            if not self.scale.left - 1 <= x <= self.scale.left + self.scale.width + 1:
                continue
            top, bottom = (14.0, 80.0) if self._tall else (19.0, 33.0)
            painter.setPen(QPen(QColor(t.text), 1, Qt.PenStyle.DotLine if self._tall else Qt.PenStyle.SolidLine))
            painter.drawLine(QPointF(x, top), QPointF(x, bottom))
            if self._tall:
                wide = painter.fontMetrics().horizontalAdvance(mark.name)
                place = min(max(x - wide / 2, self.scale.left), self.scale.left + self.scale.width - wide)
                if not _overlaps(written, place, place + wide, 8):
                    written.append((place, place + wide))
                    painter.setPen(QColor(t.muted))
                    painter.drawText(QPointF(place, 11), mark.name)

    def _paint_names(self, painter: QPainter) -> None:
        if not self._tall:
            return
        painter.setPen(QColor(tokens().muted))
        side = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        for lane in Lane:
            row = self._lane_rect(lane)
            spent = sum(segment.end - segment.start for segment in self.segments if segment.lane is lane)
            says = f"{lane.value} {spent:.2f}" if spent else lane.value
            painter.drawText(QRectF(GUTTER, row.top() - 3, NAMES - 6, row.height() + 6), side, says)
        rect = self._rate_rect()
        painter.drawText(QRectF(GUTTER, rect.top(), NAMES - 6, 12), side, "speed")

    def _paint_axis(self, painter: QPainter) -> None:
        t = tokens()
        y = self.height() - 16.0
        painter.setPen(QColor(t.line))
        painter.drawLine(QPointF(self.scale.left, y), QPointF(self.scale.left + self.scale.width, y))
        for at, says in self.scale.ticks():
            x = self.scale.x(at)
            painter.setPen(QColor(t.muted))
            painter.drawLine(QPointF(x, y), QPointF(x, y + 3))
            wide = painter.fontMetrics().horizontalAdvance(says)
            place = min(max(x - wide / 2, self.scale.left), self.width() - wide - 2.0)
            painter.drawText(QPointF(place, y + 13), says)

    # Zooming and moving

    def wheelEvent(self, event: QWheelEvent) -> None:
        delta = event.angleDelta()
        sideways = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier) or abs(delta.x()) > abs(delta.y())
        notches = (delta.x() or delta.y()) / 120 if sideways else delta.y() / 120
        if sideways:
            self.scale.pan(-notches * (self.scale.end - self.scale.start) / 8)
        else:
            self.scale.zoom(ZOOM**-notches, self.scale.at(event.position().x()))
        event.accept()
        self._moved()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed, self._dragged = event.position().toPoint(), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed is None:
            return
        at = event.position().toPoint()
        moved = at - self._pressed
        if not self._dragged and moved.manhattanLength() < QApplication.startDragDistance():
            return
        self._dragged = True
        self._pressed = at
        self.scale.pan(-moved.x() / self.scale.width * (self.scale.end - self.scale.start))
        self.setCursor(Qt.CursorShape.ClosedHandCursor)
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, None
        self.unsetCursor()
        if pressed is None or self._dragged or self._timeline is None:
            return
        at = self.scale.at(event.position().x())
        stall = next((stall for stall in self.stalls if stall.start < at < stall.end), None)
        if stall is not None:
            self.stall_asked.emit(stall.after)
        else:
            self.moment_asked.emit(at)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._show_all()

    def _show_all(self) -> None:
        self.scale.fit()
        self._moved()

    def _moved(self) -> None:
        """Another part is seen."""
        self.whole.setVisible(self.scale.zoomed)
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        span = self.scale.end - self.scale.start
        middle = self._chosen[0] if self._chosen is not None else self.scale.start + span / 2
        match event.key():
            case Qt.Key.Key_Plus | Qt.Key.Key_Equal | Qt.Key.Key_Up:
                self.scale.zoom(1 / ZOOM, middle)
            case Qt.Key.Key_Minus | Qt.Key.Key_Down:
                self.scale.zoom(ZOOM, middle)
            case Qt.Key.Key_Left:
                self.scale.pan(-span / 8)
            case Qt.Key.Key_Right:
                self.scale.pan(span / 8)
            case Qt.Key.Key_Home | Qt.Key.Key_0:
                self.scale.fit()
            case _:
                super().keyPressEvent(event)
                return
        self._moved()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    # Words at a place

    def words_at(self, x: float) -> str:
        """What is at a pixel: marks, a stall, the stretches of lanes, the speed."""
        if self._timeline is None or not self._timeline.end:
            return ""
        at = self.scale.at(x)
        out = [f"{at:.3f} s"]
        out += [f"{mark.name}: {mark.at:.3f} s" for mark in self.marks if abs(self.scale.x(mark.at) - x) <= NEAR]
        for stall in self.stalls:
            if stall.start <= at <= stall.end:
                gap = duration_words(self._timeline.median_gap or 0)
                lasted = f"{stall.end - stall.start:.2f} s"
                out.append(f"stall: nothing for {lasted}, more than three times the usual gap of {gap}")
        for segment in self.segments:
            if segment.start <= at <= segment.end:
                frames = f", frames {segment.first + 1} to {segment.last + 1}" if segment.first >= 0 else ""
                out.append(f"{segment.lane.value}: {segment.start:.3f} s to {segment.end:.3f} s{frames}")
        unit = "fragments" if self._timeline.estimated else "tokens"
        for rate in self._seen_rates():
            if rate.at <= at < rate.at + self._rate_width:
                out.append(f"{rate.per_second:.0f} {unit} per second")
        out.append(HINT)
        return "\n".join(out)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), tip(self.words_at(event.pos().x())), self)
            return True
        if event.type() == QEvent.Type.PaletteChange:
            self.update()
        return super().event(event)


def _overlaps(taken: list[tuple[float, float]], left: float, right: float, apart: float) -> bool:
    return any(left < end + apart and right > begin - apart for begin, end in taken)


def _weight(mark: Mark) -> int:
    """Which marks get their names first, where there is not room for all."""
    return TOLD_FIRST.index(mark.name) if mark.name in TOLD_FIRST else len(TOLD_FIRST)


def lane_colour(lane: Lane) -> str:
    """The colour that goes with a lane's name."""
    t = tokens()
    return {Lane.REASONING: t.reasoning, Lane.CONTENT: t.accent, Lane.ARGUMENTS: t.tool}.get(lane, t.line)
