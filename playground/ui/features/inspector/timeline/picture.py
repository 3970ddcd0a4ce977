"""The timeline of an exchange, drawn to scale: lanes, milestones, stalls and the speed.

The wheel and keys zoom, dragging moves, a click asks for an event.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from PySide6.QtCore import QLineF, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainterPath,
    QPen,
    QPolygonF,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QPushButton, QSizePolicy, QWidget

from playground.domain.durations import duration_words
from playground.engine.inspect.timeline import Lane, Mark, Rate, Segment, Served, Stall, Timeline
from playground.ui.widgets.diagram import Diagram, DiagramItem, round_step
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.plain_text import one_line_of, tip
from playground.ui.widgets.theme import Tokens, body_font, tokens

# Lengths in pixels
COMPACT, TALL, TALLEST = 64, 132, 168
MARGIN = 12
NAMES = 114  # left of lanes that have rows of their own
FONT_PX = 10
RATE_STEP = 8
TICK_ROOM = 72

RATE_WIDTHS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)  # seconds
LEAST_SPAN = 0.001  # seconds; the most that can be zoomed in
ZOOM = 1.25  # of one notch of the wheel, or one key
MAX_LISTED = 5  # stalls and servers that are listed one by one
MAX_LABELS = 40
NAMED_FIRST = ("first content", "first reasoning", "first tool call", "finish", "headers", "first byte")
LABELS = {Lane.WAITING: "wait", Lane.REASONING: "reasoning", Lane.CONTENT: "content", Lane.ARGUMENTS: "arguments"}
HOW = "Plus and minus zoom, arrow keys move, 0 shows all"


class TimeScale:
    """Map `start` to `end` (seconds) to `width` pixels from `left` on. Unless zoomed, it shows everything."""

    def __init__(self) -> None:
        self.total = 0.0
        self.left = 0.0
        self.width = 1.0
        self._start = 0.0
        self._end: float | None = None  # None: everything is shown

    @property
    def zoomed(self) -> bool:
        """Return whether only a part is shown."""
        return self._end is not None

    @property
    def start(self) -> float:
        """The first moment shown."""
        return self._start if self._end is not None else 0.0

    @property
    def end(self) -> float:
        """The last moment shown."""
        return self._end if self._end is not None else max(self.total, LEAST_SPAN)

    @property
    def span(self) -> float:
        """The seconds shown."""
        return self.end - self.start

    @property
    def right(self) -> float:
        """The position of the last moment shown."""
        return self.left + self.width

    def set_total(self, total: float) -> None:
        """Set the seconds of the whole; a zoomed part stays."""
        self.total = total
        if self._end is not None and self._end > max(total, LEAST_SPAN):
            self.show(self._start, self._end)

    def fit(self) -> None:
        """Show everything."""
        self._start, self._end = 0.0, None

    def show(self, start: float, end: float) -> None:
        """Show a part, moved into the whole."""
        total = max(self.total, LEAST_SPAN)
        span = min(max(end - start, LEAST_SPAN), total)
        if span >= total:
            self.fit()
            return
        self._start = min(max(start, 0.0), total - span)
        self._end = self._start + span

    def zoom(self, factor: float, around: float) -> None:
        """Show `factor` times as much time; the moment `around` stays in place."""
        self.show(around - (around - self.start) * factor, around + (self.end - around) * factor)

    def pan(self, seconds: float) -> None:
        """Move a zoomed part, up to the ends."""
        if self.zoomed:
            self.show(self.start + seconds, self.end + seconds)

    def reveal(self, moment: float) -> None:
        """Move as little as possible to show a moment with some room around it."""
        room = self.span * 0.1
        if moment < self.start:
            self.pan(moment - room - self.start)
        elif moment > self.end:
            self.pan(moment + room - self.end)

    def x(self, moment: float) -> float:
        """Return the position of a moment, in pixels."""
        return self.left + (moment - self.start) / self.span * self.width

    def moment(self, x: float) -> float:
        """Return the moment at a position, inside the whole."""
        seconds = self.start + (x - self.left) / max(self.width, 1.0) * self.span
        return min(max(seconds, 0.0), max(self.total, 0.0))

    def shows(self, start: float, end: float) -> bool:
        """Return whether a stretch is in view, at least in part."""
        return self.x(end) >= self.left - 2 and self.x(start) <= self.right + 2

    def ticks(self) -> Iterator[tuple[float, str]]:
        """Yield round moments in view, and their labels."""
        step = round_step(self.span / max(int(self.width / TICK_ROOM), 1))
        number = int(self.start / step)
        while (moment := number * step) <= self.end:
            if moment >= self.start:
                yield moment, tick_words(moment, step)
            number += 1


def tick_words(moment: float, step: float) -> str:
    """Return a round moment, as exact as the steps require."""
    if step < 0.1 and moment < 1.0:
        return f"{moment * 1000:.1f} ms" if step < 0.001 else f"{moment * 1000:.0f} ms"
    places = 3 if step < 0.01 else 2 if step < 0.1 else 1 if step < 1 else 0
    return f"{moment:.{places}f} s"


class TimelinePicture(Diagram):
    """`moment_asked` carries the seconds of a click; `stall_asked` the event after a stall that was clicked."""

    moment_asked = Signal(float)
    stall_asked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        self.time_scale = TimeScale()
        self._timeline: Timeline | None = None
        self.segments: tuple[Segment, ...] = ()
        self.marks: tuple[Mark, ...] = ()
        self.stalls: tuple[Stall, ...] = ()
        self.served: tuple[Served, ...] = ()
        self._chosen: tuple[float, float] | None = None
        self._pressed: QPoint | None = None
        self._dragged = False
        super().__init__("Timeline", parent)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.setMinimumSize(120, COMPACT)
        self.setMaximumHeight(TALLEST)
        self.all_button = styled(QPushButton("Show all", self), "over")
        self.all_button.setToolTip(tip("Show the whole exchange (0)"))
        self.all_button.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the key 0 does the same
        self.all_button.hide()
        self.all_button.clicked.connect(self._show_all)

    def sizeHint(self) -> QSize:
        return QSize(300, COMPACT)

    # Content

    def show_timeline(self, timeline: Timeline | None, *, fresh: bool) -> None:
        """Show a timeline as it is now; `fresh` for another exchange than before."""
        self._timeline = timeline
        if fresh:
            self.time_scale.fit()
            self._chosen = None
        self.segments = timeline.segments if timeline is not None else ()
        self.marks = timeline.marks if timeline is not None else ()
        self.stalls = timeline.stalls if timeline is not None else ()
        self.served = timeline.served if timeline is not None else ()
        ends = [timeline.end if timeline is not None else 0.0, *(stretch.end for stretch in self.served)]
        self.time_scale.set_total(max(ends))
        self.redraw()

    def show_chosen(self, first: float | None, last: float = 0.0, *, reveal: bool = False) -> None:
        """Mark the moments of the chosen events; None removes the mark."""
        self._chosen = (first, last) if first is not None else None
        if reveal and first is not None:
            self.time_scale.reveal(first)
        self.redraw()

    def figures(self) -> list[tuple[str, str]]:
        """Return milestones, sums and stalls as names and values."""
        timeline = self._timeline
        if timeline is None or not timeline.end:
            return []
        figures = [(mark.name, f"{mark.time:.3f} s") for mark in self.marks]
        for lane in Lane:
            spent = [segment.end - segment.start for segment in self.segments if segment.lane is lane]
            name = "total wait" if lane is Lane.WAITING else f"total {lane.value}"
            figures += [(name, f"{sum(spent):.2f} s")] if spent else []
        for stretch in self.served[:MAX_LISTED]:
            name = stretch.server if stretch.ok else f"{stretch.server} (error or no answer)"
            figures.append((name, f"{stretch.end - stretch.start:.3f} s"))
        if timeline.median_gap is not None:
            figures.append(("usual gap", duration_words(timeline.median_gap)))
        longest = sorted(self.stalls, key=lambda stall: stall.start - stall.end)[:MAX_LISTED]
        figures += [(f"stall before event {stall.after + 1}", f"{stall.end - stall.start:.2f} s") for stall in longest]
        if len(self.stalls) > MAX_LISTED:
            figures.append(("shorter stalls", str(len(self.stalls) - MAX_LISTED)))
        return figures

    def describe(self) -> str:
        scale = self.time_scale
        part = [f"Shows {scale.start:.3f} s to {scale.end:.3f} s"] if self._timeline is not None else []
        return ". ".join([*(f"{name} {value}" for name, value in self.figures()), *part, HOW])

    # Drawing

    @property
    def _tall(self) -> bool:
        return self.height() >= TALL

    def draw(self) -> None:
        width, height, scale, timeline = self.width(), self.height(), self.time_scale, self._timeline
        scale.left = MARGIN + (NAMES if self._tall else 0)
        scale.width = max(width - scale.left - MARGIN, 10)
        self.setSceneRect(0, 0, width, height)
        self.all_button.setVisible(scale.zoomed)
        if timeline is None or not timeline.end:
            return
        t = tokens()
        if self._chosen is not None:
            first, last = scale.x(self._chosen[0]), scale.x(self._chosen[1])
            self._add_rect(QRectF(first - 2, 1, max(last - first, 0) + 4, height - 2), t.accent_background)
            self.scene().addLine(QLineF(first, 1, first, height - 2), QPen(QColor(t.accent)))
        self._draw_rates(t, timeline)
        self._draw_lanes(t)
        self._draw_stalls(t, timeline)
        self._draw_marks(t)
        self._draw_axis(t)
        self._draw_names(t)

    def _add_rect(self, rect: QRectF, colour: str, z: float = 0.0) -> None:
        item = self.scene().addRect(rect, QPen(Qt.PenStyle.NoPen), QColor(colour))
        item.setZValue(z)

    def _add_bar(self, key: str, rect: QRectF, brush: QBrush, words: str) -> DiagramItem:
        outline = QPainterPath()
        outline.addRoundedRect(rect, 3, 3)
        item = DiagramItem(key, outline, lambda: words)
        item.setPen(QPen(Qt.PenStyle.NoPen))
        item.setBrush(brush)
        item.strong = QPen(QColor(tokens().text), 1)
        return self.add(item)

    def _add_label(self, words: str, colour: str, x: float, bottom: float) -> None:
        metrics = QFontMetricsF(body_font(FONT_PX))
        self.add_text(words, colour, QPointF(x, bottom - metrics.ascent()), FONT_PX)

    def _text_width(self, words: str) -> float:
        return QFontMetricsF(body_font(FONT_PX)).horizontalAdvance(words)

    def _lane_rect(self, lane: Lane) -> QRectF:
        """Return the row of a lane; all share one where there is little room."""
        scale = self.time_scale
        if not self._tall:
            return QRectF(scale.left, 22, scale.width, 8)
        return QRectF(scale.left, 20 + list(Lane).index(lane) * 15, scale.width, 9)

    def _rate_rect(self) -> QRectF:
        top, height = (82.0, max(self.height() - 82.0 - 18, 14)) if self._tall else (3.0, 17.0)
        return QRectF(self.time_scale.left, top, self.time_scale.width, height)

    def _clipped(self, start: float, end: float, row: QRectF) -> QRectF:
        """Return the part of a stretch of time in view, at least 2 pixels wide."""
        scale = self.time_scale
        left, right = max(scale.x(start), scale.left), min(scale.x(end), scale.right)
        return QRectF(left, row.top(), max(right - left, 2), row.height())

    def _draw_rates(self, t: Tokens, timeline: Timeline) -> None:
        scale, rect = self.time_scale, self._rate_rect()
        least = scale.span / scale.width * RATE_STEP
        width = next((width for width in RATE_WIDTHS if width >= least), RATE_WIDTHS[-1])
        rates = [rate for rate in timeline.rates(width) if scale.shows(rate.time, rate.time + width)]
        highest = max((rate.per_second for rate in rates), default=0.0)
        if not highest:
            return
        unit = "fragments" if timeline.estimated else "tokens"
        corners = [QPointF(self._clamp(rates[0].time), rect.bottom())]
        for rate in rates:
            left, right = self._clamp(rate.time), self._clamp(rate.time + width)
            y = rect.bottom() - rate.per_second / highest * rect.height()
            corners += [QPointF(left, y), QPointF(right, y)]
            self._add_rate(rate, QRectF(left, rect.top(), right - left, rect.height()), unit)
        corners.append(QPointF(self._clamp(rates[-1].time + width), rect.bottom()))
        self.scene().addPolygon(QPolygonF(corners), QPen(QColor(t.muted), 1), QColor(t.chip))
        words = f"≤ {highest:.0f} {'fragments/s' if timeline.estimated else 'tok/s'}"
        room = self._text_width(words) + 6
        free = self._clamp(rates[0].time) - rect.left() < room < rect.right() - corners[-1].x()
        x = rect.right() - room if free else rect.left()
        self._add_rect(QRectF(x, rect.top(), room, 12), t.surface)
        self._add_label(words, t.muted, x + 3, rect.top() + 10)

    def _add_rate(self, rate: Rate, area: QRectF, unit: str) -> None:
        outline = QPainterPath()
        outline.addRect(area)
        item = DiagramItem(f"rate {rate.time}", outline, partial("{:.3f} s: {:.0f} {} per second".format, *rate, unit))
        item.setPen(QPen(Qt.PenStyle.NoPen))
        item.strong = item.pen()
        item.setZValue(-1)
        self.add(item)

    def _clamp(self, moment: float) -> float:
        scale = self.time_scale
        return min(max(scale.x(moment), scale.left), scale.right)

    def _draw_lanes(self, t: Tokens) -> None:
        scale = self.time_scale
        for lane in Lane if self._tall else ():
            self._add_rect(self._lane_rect(lane), t.code)
        rows, drawn_until = {lane: self._lane_rect(lane) for lane in Lane}, dict[Lane, float]()
        bars: list[tuple[QRectF, Segment]] = []
        for number, segment in enumerate(self.segments):
            if not scale.shows(segment.start, segment.end):
                continue
            rect = self._clipped(segment.start, segment.end, rows[segment.lane])
            if rect.right() <= drawn_until.get(segment.lane, 0.0) + 1.5:
                continue  # too narrow to be seen next to the bar before
            drawn_until[segment.lane] = rect.right()
            events = f", events {segment.first + 1} to {segment.last + 1}" if segment.first >= 0 else ""
            words = f"{segment.lane.value}: {segment.start:.3f} s to {segment.end:.3f} s{events}"
            self._add_bar(f"segment {number}", rect, QBrush(QColor(lane_colour(t, segment.lane))), words)
            bars.append((rect, segment))
        written: list[tuple[float, float]] = []
        if not self._tall:
            for rect, segment in sorted(bars, key=lambda entry: -entry[0].width())[:MAX_LABELS]:
                self._label_segment(t, segment, rect, written)
        for number, stretch in enumerate(self.served):
            self._draw_served(t, number, stretch)

    def _label_segment(self, t: Tokens, segment: Segment, rect: QRectF, written: list[tuple[float, float]]) -> None:
        """Write name and seconds below a stretch if there is room beside the labels in `written`."""
        label = LABELS[segment.lane]
        for words in (f"{label} {segment.end - segment.start:.2f}", label):
            width = self._text_width(words)
            left = min(rect.left(), self.time_scale.right - width)
            if width <= rect.width() + 30 and not _overlaps(written, left, left + width, 6):
                written.append((left, left + width))
                self._add_label(words, t.muted, left, 42)
                return

    def _draw_served(self, t: Tokens, number: int, stretch: Served) -> None:
        """Draw the work of a tool server after the answer."""
        scale = self.time_scale
        if not scale.shows(stretch.start, stretch.end):
            return
        rect = self._clipped(stretch.start, stretch.end, self._lane_rect(Lane.WAITING))
        words = f"{one_line_of(stretch.server)} {stretch.end - stretch.start:.2f}"
        self._add_bar(f"server {number}", rect, QBrush(QColor(t.ok if stretch.ok else t.error)), f"server {words} s")
        room = max(rect.width(), scale.right - rect.left())
        metrics = QFontMetricsF(body_font(FONT_PX))
        words = metrics.elidedText(words, Qt.TextElideMode.ElideRight, room)
        left = min(rect.left(), scale.right - metrics.horizontalAdvance(words))
        self._add_label(words, t.muted, left, rect.bottom() + 11)

    def _draw_stalls(self, t: Tokens, timeline: Timeline) -> None:
        usual, drawn_until = duration_words(timeline.median_gap or 0), 0.0
        top, height = (16.0, 64.0) if self._tall else (19.0, 14.0)
        for number, stall in enumerate(self.stalls):
            if not self.time_scale.shows(stall.start, stall.end):
                continue
            rect = self._clipped(stall.start, stall.end, QRectF(0, top, 0, height))
            if rect.right() <= drawn_until + 1.5:
                continue
            drawn_until = rect.right()
            seconds = f"{stall.end - stall.start:.2f} s"
            words = f"stall: nothing for {seconds}; the usual gap is {usual}"
            self._add_rect(rect, t.error_background, 1)
            brush = QBrush(QColor(t.error), Qt.BrushStyle.BDiagPattern)
            self._add_bar(f"stall {number}", rect, brush, words).setZValue(1)
            width = self._text_width(f"stall {seconds}")
            covered = self.all_button.isVisible() and top < self.all_button.geometry().bottom()
            right = min(rect.right(), self.all_button.x() - 4.0) if covered else rect.right()
            if width + 4 <= right - rect.left():
                middle = QPointF((rect.left() + right) / 2, rect.center().y())
                self._add_rect(QRectF(middle.x() - width / 2 - 3, middle.y() - 6.5, width + 6, 13), t.surface, 1)
                label = self.add_text(
                    f"stall {seconds}", t.error, QPointF(middle.x() - width / 2, middle.y() - 7), FONT_PX
                )
                label.setZValue(1)

    def _draw_marks(self, t: Tokens) -> None:
        scale = self.time_scale
        written: list[tuple[float, float]] = []
        top, bottom = (14.0, 80.0) if self._tall else (19.0, 33.0)
        for mark in sorted(self.marks, key=_label_order):
            if not scale.shows(mark.time, mark.time):
                continue
            x = scale.x(mark.time)
            line = QPainterPath(QPointF(x, top))
            line.lineTo(x, bottom)
            item = self.add(DiagramItem(f"mark {mark.name}", line, partial("{}: {:.3f} s".format, *mark)))
            item.setPen(QPen(QColor(t.text), 1, Qt.PenStyle.DotLine if self._tall else Qt.PenStyle.SolidLine))
            item.setZValue(2)
            width = self._text_width(mark.name)
            left = min(max(x - width / 2, scale.left), scale.right - width)
            if self._tall and not _overlaps(written, left, left + width, 8):
                written.append((left, left + width))
                self._add_label(mark.name, t.muted, left, 11)

    def _draw_names(self, t: Tokens) -> None:
        if not self._tall:
            return
        for lane in Lane:
            spent = sum(segment.end - segment.start for segment in self.segments if segment.lane is lane)
            words = f"{lane.value} {spent:.2f}" if spent else lane.value
            self._add_label(words, t.muted, MARGIN, self._lane_rect(lane).bottom())
        self._add_label("speed", t.muted, MARGIN, self._rate_rect().top() + 10)

    def _draw_axis(self, t: Tokens) -> None:
        scale, y = self.time_scale, self.height() - 16.0
        self.scene().addLine(QLineF(scale.left, y, scale.right, y), QPen(QColor(t.line)))
        for moment, words in scale.ticks():
            x, width = scale.x(moment), self._text_width(words)
            self.scene().addLine(QLineF(x, y, x, y + 3), QPen(QColor(t.muted)))
            self._add_label(words, t.muted, min(max(x - width / 2, scale.left), self.width() - width - 2.0), y + 13)

    # Zooming and moving

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.all_button.adjustSize()
        self.all_button.move(self.width() - MARGIN - self.all_button.width(), 2)
        super().resizeEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        delta, scale = event.angleDelta(), self.time_scale
        sideways = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier) or abs(delta.x()) > abs(delta.y())
        notches = (delta.x() or delta.y()) / 120 if sideways else delta.y() / 120
        if sideways:
            scale.pan(-notches * scale.span / 8)
        else:
            scale.zoom(ZOOM**-notches, scale.moment(event.position().x()))
        event.accept()
        self.redraw()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed, self._dragged = event.position().toPoint(), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed is None:
            super().mouseMoveEvent(event)
            return
        place, scale = event.position().toPoint(), self.time_scale
        moved = place - self._pressed
        if not self._dragged and moved.manhattanLength() < QApplication.startDragDistance():
            return
        self._dragged, self._pressed = True, place
        scale.pan(-moved.x() / scale.width * scale.span)
        self.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
        self.redraw()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, None
        self.viewport().unsetCursor()
        if pressed is None or self._dragged or self._timeline is None:
            return
        item = self.item_at(event.position().toPoint())
        kind, _, number = (item.key if item is not None else "").partition(" ")
        if kind == "stall":
            self.stall_asked.emit(self.stalls[int(number)].after)
        else:
            self.moment_asked.emit(self.time_scale.moment(event.position().x()))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._show_all()

    def _show_all(self) -> None:
        self.time_scale.fit()
        self.redraw()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        scale = self.time_scale
        middle = self._chosen[0] if self._chosen is not None else scale.start + scale.span / 2
        match event.key():
            case Qt.Key.Key_Plus | Qt.Key.Key_Equal | Qt.Key.Key_Up:
                scale.zoom(1 / ZOOM, middle)
            case Qt.Key.Key_Minus | Qt.Key.Key_Down:
                scale.zoom(ZOOM, middle)
            case Qt.Key.Key_Left:
                scale.pan(-scale.span / 8)
            case Qt.Key.Key_Right:
                scale.pan(scale.span / 8)
            case Qt.Key.Key_Home | Qt.Key.Key_0:
                scale.fit()
            case _:
                event.ignore()
                return
        self.redraw()


def _overlaps(written: list[tuple[float, float]], left: float, right: float, room: float) -> bool:
    return any(left < end + room and right > start - room for start, end in written)


def _label_order(mark: Mark) -> int:
    return NAMED_FIRST.index(mark.name) if mark.name in NAMED_FIRST else len(NAMED_FIRST)


def lane_colour(t: Tokens, lane: Lane) -> str:
    """Return the colour of a lane."""
    return {Lane.REASONING: t.reasoning, Lane.CONTENT: t.accent, Lane.ARGUMENTS: t.tool}.get(lane, t.line)
