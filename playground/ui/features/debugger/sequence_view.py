"""The Sequence tab: the loop as a picture. Time runs to the right; app, model and tools each have a line.

It is painted from spans of time (``playground.engine.inspect.calls``), only where it is seen, and holds no truth.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from statistics import median

from PySide6.QtCore import QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QPushButton, QWidget

from playground.engine.inspect.calls import Span, read_sequence
from playground.engine.session.changes import PathChanged, RunState, RunStateChanged, SettingsChanged, TurnChanged
from playground.engine.session.session import Session
from playground.engine.tool_servers.tape import ServerTape
from playground.ui.features.debugger.call_words import seconds_words
from playground.ui.features.debugger.sequence_words import about, clock_words, numbers, summary, title, told
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import in_column, in_pages, in_row
from playground.ui.widgets.page_parts import empty_words
from playground.ui.widgets.picture import Picture
from playground.ui.widgets.plain_text import one_line_of, tip
from playground.ui.widgets.session_page import SessionPage
from playground.ui.widgets.theme import Tokens, tokens

GUTTER, EDGE = 62, 16  # pixels: names of the lines; room at both ends of time
AXIS, BAR, ROW = 18, 16, 20
APP, MODEL, TOOLS = AXIS + 8, AXIS + 22, AXIS + 50  # the app's line; the tops of the model's bar and the first call's
BELOW = 12  # pixels from the last call to the line of the servers
TICKS = 90  # least pixels between two times on the axis
LEAST_HIT = 6.0
ZOOMS = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0, 16.0)
STEP_PX = 150.0  # a usual step, at zoom 1
BREAK_PX = 64.0
LEAST_PX = 4.0  # anything that takes any time at all
IDLE_LIMIT, BUSY_LIMIT = 1.0, 4.0  # usual steps until a stretch is broken: while answers are waited for, and otherwise
NOT_THE_GATEWAY = ("result", "server")
SHORTEST_STEP = 0.001  # seconds
MOST_REQUESTS = 300  # the newest ones; more is no picture any more
EMPTY = "No run yet. Requests, calls and their answers stand here as they follow one another in time."


@dataclass(frozen=True, slots=True)
class Break:
    """A stretch that is not drawn to scale: from and to in seconds and in pixels."""

    start: float
    end: float
    left: float
    right: float


class Scale:
    """The scale for ``spans`` (sorted by their start) at a ``zoom``, at least ``room`` pixels wide where that helps."""

    def __init__(self, spans: Sequence[Span], zoom: float = 1.0, room: float = 0.0) -> None:
        self.breaks: list[Break] = []
        self._times = sorted({moment for span in spans for moment in (span.start, span.end)})
        step = usual_step(spans)
        busy = _busy(spans, self._times)
        pieces = list(zip(self._times, self._times[1:], busy, strict=False))
        broken = [end - start > step * (BUSY_LIMIT if is_busy else IDLE_LIMIT) for start, end, is_busy in pieces]
        whole = sum(end - start for (start, end, _), cut in zip(pieces, broken, strict=True) if not cut)
        left_over = room - BREAK_PX * sum(broken)
        self.per_second = max(STEP_PX / step, left_over / whole if whole > 0 else 0.0) * zoom
        self._xs = [0.0] if self._times else []
        for (start, end, _), cut in zip(pieces, broken, strict=True):
            x = self._xs[-1]
            width = BREAK_PX if cut else max((end - start) * self.per_second, LEAST_PX)
            if cut:
                self.breaks.append(Break(start, end, x, x + width))
            self._xs.append(x + width)

    @property
    def width(self) -> float:
        """Pixels from the first moment to the last."""
        return self._xs[-1] if self._xs else 0.0

    def x(self, moment: float) -> float:
        """Where a moment is."""
        times, xs = self._times, self._xs
        at = bisect_right(times, moment) - 1
        if at < 0 or not xs:
            return 0.0
        if at >= len(xs) - 1:
            return xs[-1]
        share = (moment - times[at]) / (times[at + 1] - times[at])
        return xs[at] + share * (xs[at + 1] - xs[at])

    def ticks(self, least: float) -> tuple[float, list[tuple[float, float]]]:
        """Round moments that are at least so many pixels apart, none of them in a break.

        The step between them in seconds, and each in seconds and pixels.
        """
        if not self._times or self.per_second <= 0:
            return 1.0, []
        step = _round_up(least / self.per_second)
        out: list[tuple[float, float]] = []
        edges = [self._times[0], *(moment for cut in self.breaks for moment in (cut.start, cut.end)), self._times[-1]]
        for start, end in zip(edges[::2], edges[1::2], strict=True):
            first = int(start / step) + (start % step > 0)
            for number in range(first, int(end / step) + 1):
                x = self.x(number * step)
                if not out or x - out[-1][1] >= least:
                    out.append((number * step, x))
        return step, out


def usual_step(spans: Sequence[Span]) -> float:
    """How long the gateway usually takes for one request, in seconds: the median."""
    turns: dict[str, tuple[float, float]] = {}
    for span in spans:
        if span.kind not in NOT_THE_GATEWAY:
            start, end = turns.get(span.turn_id, (span.start, span.end))
            turns[span.turn_id] = (min(start, span.start), max(end, span.end))
    return max(median([end - start for start, end in turns.values()]), SHORTEST_STEP) if turns else 1.0


def _busy(spans: Sequence[Span], times: Sequence[float]) -> list[bool]:
    """For each stretch between two moments, whether the gateway is at work in it."""
    change = dict.fromkeys(times, 0)
    for span in spans:
        if span.kind not in NOT_THE_GATEWAY:
            change[span.start] += 1
            change[span.end] -= 1
    out: list[bool] = []
    depth = 0
    for moment in times:
        depth += change[moment]
        out.append(depth > 0)
    return out[:-1]


def _round_up(value: float) -> float:
    """The next number of the form 1, 2 or 5 times a power of ten."""
    power = 1e-6
    while power * 10 <= value:
        power *= 10
    return next((power * factor for factor in (1, 2, 5, 10) if power * factor >= value), value)


class SequenceView(Picture[int]):
    """``set_spans`` shows others. ``chosen`` carries the span that was clicked, or chosen with Enter."""

    chosen = Signal(object)
    zoomed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(-1, 40, ROW, parent)
        self._spans: list[Span] = []
        self._rects: list[QRectF] = []
        self._servers = 0.0  # the line of the servers; 0 where no server was asked
        self._reach: list[float] = []  # how far to the right anything up to here goes
        self._numbers: dict[str, int] = {}
        self._scale = Scale(())
        self._zoom = 1.0
        self._current = -1
        self.setAccessibleName("Sequence of requests, calls and answers")

    # Content

    @property
    def spans(self) -> Sequence[Span]:
        """What is shown."""
        return self._spans

    @property
    def current(self) -> Span | None:
        """The span chosen last."""
        return self._spans[self._current] if 0 <= self._current < len(self._spans) else None

    @property
    def scale(self) -> Scale:
        """How seconds become pixels now."""
        return self._scale

    def rect_of(self, at: int) -> QRectF:
        """Where a span is, in the viewport."""
        return self._rects[at].translated(-self._origin())

    def set_spans(self, spans: Sequence[Span]) -> None:
        """Show these, sorted by their start. At the right end, it stays there."""
        if list(spans) == self._spans:
            return
        bar, current = self.horizontalScrollBar(), self.current
        at_end = bar.value() >= bar.maximum()
        self._spans = list(spans)
        self._numbers = numbers(self._spans)
        place = (current.kind, current.turn_id, current.call_id) if current is not None else None
        keys = [(span.kind, span.turn_id, span.call_id) for span in self._spans]
        self._current = keys.index(place) if place in keys else -1
        self._hover = -1
        self._describe()
        self._lay_out()
        if at_end:
            bar.setValue(bar.maximum())

    # Zoom

    @property
    def zoom(self) -> float:
        """1.0 is the one at which a usual step is easily seen."""
        return self._zoom

    def set_zoom(self, zoom: float, around: float | None = None) -> None:
        """Another zoom; what is at ``around`` (pixels in the viewport; the middle without one) stays there."""
        zoom = min(max(zoom, ZOOMS[0]), ZOOMS[-1])
        if zoom == self._zoom:
            return
        x = around if around is not None else (GUTTER + self.viewport().width()) / 2
        bar = self.horizontalScrollBar()
        inside = bar.value() + x - GUTTER - EDGE
        share = inside / self._scale.width if self._scale.width else 0.0
        self._zoom = zoom
        self._lay_out()
        bar.setValue(round(share * self._scale.width - x + GUTTER + EDGE))
        self.zoomed.emit()

    def step_zoom(self, step: int, around: float | None = None) -> None:
        """The next larger (+1) or smaller (-1) zoom; 0 goes back to the usual one."""
        at = min(range(len(ZOOMS)), key=lambda n: abs(ZOOMS[n] - self._zoom))
        self.set_zoom(ZOOMS[min(max(at + step, 0), len(ZOOMS) - 1)] if step else 1.0, around)

    # Layout

    def _lay_out(self) -> None:
        room = self.viewport().width() - GUTTER - 2 * EDGE
        self._scale = Scale(self._spans, self._zoom, room)
        self._rects = [self._place(span) for span in self._spans]
        self._reach = list(accumulate((rect.right() for rect in self._rects), max))
        rows = max((span.row for span in self._spans), default=0) + 1
        asked = any(span.kind == "server" for span in self._spans)
        self._servers = float(TOOLS + rows * ROW + BELOW) if asked else 0.0
        wide = self._scale.width + GUTTER + 2 * EDGE
        high = TOOLS + rows * ROW + 4 + (BELOW + 8 if asked else 0)
        self._set_ranges(wide, high)
        self.viewport().update()

    def _place(self, span: Span) -> QRectF:
        left, right = self._scale.x(span.start), self._scale.x(span.end)
        top = TOOLS + span.row * ROW if span.kind in ("call", *NOT_THE_GATEWAY) else MODEL
        return QRectF(GUTTER + EDGE + left, top, max(right - left, 2.0), BAR)

    def _at(self, point: QPoint) -> int:
        """The span under a point of the viewport, the narrowest of several; -1 for none."""
        if point.x() < GUTTER:
            return -1
        where = QPointF(point) + self._origin()
        found, width = -1, float("inf")
        for at in self._within(where.x() - LEAST_HIT, where.x() + LEAST_HIT):
            rect = self._rects[at]
            more = max(LEAST_HIT - rect.width(), 0) / 2
            if rect.adjusted(-more, -2, more, 2).contains(where) and rect.width() < width:
                found, width = at, rect.width()
        return found

    def _within(self, left: float, right: float) -> range:
        """The spans that may be seen between two x of the whole picture."""
        first = bisect_left(self._reach, left)
        last = first
        while last < len(self._rects) and self._rects[last].left() <= right:
            last += 1
        return range(first, last)

    # Choosing

    def choose(self, at: int) -> None:
        """Make a span the current one and bring it into view."""
        if not 0 <= at < len(self._spans):
            return
        self._current = at
        rect, across, down = self.rect_of(at), self.horizontalScrollBar(), self.verticalScrollBar()
        if rect.left() < GUTTER + EDGE or rect.right() > self.viewport().width() - EDGE:
            across.setValue(round(across.value() + rect.left() - GUTTER - self.viewport().width() / 4))
        if rect.bottom() > self.viewport().height() or rect.top() < 0:
            down.setValue(round(down.value() + rect.bottom() - self.viewport().height() + 8))
        self._describe()
        self.viewport().update()

    def text(self) -> str:
        """The picture in words."""
        return f"{summary(self._spans)}\n{told(self._spans)}"

    def _describe(self) -> None:
        current = self.current
        words = self._words(self._current) if current else summary(self._spans)
        self.setAccessibleDescription(f"{words}\nArrow keys go from one to the next; Enter goes to the turn.")

    # Events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_Right | Qt.Key.Key_Down:
                self.choose(min(self._current + 1, len(self._spans) - 1))
            case Qt.Key.Key_Left | Qt.Key.Key_Up:
                self.choose(max(self._current - 1, 0))
            case Qt.Key.Key_Home:
                self.choose(0)
            case Qt.Key.Key_End:
                self.choose(len(self._spans) - 1)
            case Qt.Key.Key_Plus | Qt.Key.Key_Equal:
                self.step_zoom(1)
            case Qt.Key.Key_Minus:
                self.step_zoom(-1)
            case Qt.Key.Key_0:
                self.step_zoom(0)
            case Qt.Key.Key_Return | Qt.Key.Key_Enter if self.current is not None:
                self.chosen.emit(self.current)
            case _:
                super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.step_zoom(1 if event.angleDelta().y() > 0 else -1, event.position().x())
            event.accept()
        else:
            super().wheelEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        at = self._at(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and at >= 0:
            self._current = at
            self._describe()
            self.viewport().update()
            self.chosen.emit(self._spans[at])

    def _words(self, at: int) -> str:
        return about(self._spans[at], self._numbers.get(self._spans[at].turn_id, 0)) if at >= 0 else ""

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        t = tokens()
        painter.fillRect(event.rect(), QColor(t.surface))
        if self._spans:
            origin = self._origin()
            painter.translate(-origin)
            left, right = origin.x(), origin.x() + self.viewport().width()
            self._paint_ground(painter, t, left, right)
            seen = self._within(left - 200, right)
            for at in seen:
                self._paint_arrows(painter, t, at)
            for at in seen:
                self._paint_bar(painter, t, at)
            painter.translate(origin)
            self._paint_names(painter, t, origin)
        painter.end()

    def _paint_ground(self, painter: QPainter, t: Tokens, left: float, right: float) -> None:
        """The lines, the axis, and the breaks."""
        bottom = max(TOOLS + ROW, self.viewport().height() + self.verticalScrollBar().value())
        painter.setPen(QPen(QColor(t.line), 1))
        for y in (APP, MODEL + BAR / 2):
            painter.drawLine(QPointF(left, y), QPointF(right, y))
        rows = max(span.row for span in self._spans) + 1
        for row in range(rows):
            y = TOOLS + row * ROW + BAR / 2
            painter.drawLine(QPointF(left, y), QPointF(right, y))
        if self._servers:
            painter.drawLine(QPointF(left, self._servers), QPointF(right, self._servers))
        font = painter.font()
        font.setPixelSize(11)
        painter.setFont(font)
        step, ticks = self._scale.ticks(TICKS)
        for moment, far in ticks:
            x = far + GUTTER + EDGE
            if left - TICKS < x < right + TICKS:
                painter.setPen(QColor(t.line))
                painter.drawLine(QPointF(x, AXIS - 4), QPointF(x, AXIS))
                painter.setPen(QColor(t.muted))
                rect = QRectF(x - TICKS / 2, 0, TICKS, AXIS - 4)
                painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, clock_words(moment, step))
        for cut in self._scale.breaks:
            x = GUTTER + EDGE + (cut.left + cut.right) / 2
            if left - 80 < x < right + 80:
                self._paint_break(painter, t, x, bottom, cut.end - cut.start)

    def _paint_break(self, painter: QPainter, t: Tokens, x: float, bottom: float, seconds: float) -> None:
        """Two jagged lines with the ground missing between them, and the time that is left out."""
        painter.fillRect(QRectF(x - 5, AXIS, 10, bottom), QColor(t.surface))
        painter.setPen(QPen(QColor(t.muted), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for side in (-5, 5):
            ys = range(AXIS, round(bottom) + 8, 8)
            zigzag = [QPointF(x + side + (2 if number % 2 else -2), y) for number, y in enumerate(ys)]
            painter.drawPolyline(QPolygonF(zigzag))
        rect = QRectF(x - 40, 0, 80, AXIS - 2)
        painter.fillRect(rect.adjusted(6, 0, -6, 0), QColor(t.surface))
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, f"… {seconds_words(seconds)}")

    def _paint_arrows(self, painter: QPainter, t: Tokens, at: int) -> None:
        """What goes from one line to another: the request, a call, its answer, the text."""
        span, rect = self._spans[at], self._rects[at]
        if span.kind == "request":
            self._arrow(painter, t.muted, rect.left(), APP, MODEL)
            number = QRectF(rect.left() - 8, APP - 8, 16, 15)
            painter.setPen(QPen(QColor(t.muted), 1))
            painter.setBrush(QColor(t.raised))
            painter.drawEllipse(number)
            painter.setPen(QColor(t.text))
            painter.drawText(number, Qt.AlignmentFlag.AlignCenter, str(self._numbers[span.turn_id]))
        elif span.kind == "call":
            self._arrow(painter, t.tool, rect.left(), MODEL + BAR, rect.top())
        elif span.kind == "result":
            self._arrow(painter, t.muted if span.ok else t.error, rect.right(), rect.top(), APP)
        elif span.kind == "server":
            self._arrow(painter, t.tool, rect.left(), rect.bottom(), self._servers)
            self._arrow(painter, t.ok if span.ok else t.error, rect.right(), self._servers, rect.bottom())
        elif span.kind == "text":
            self._arrow(painter, t.assistant, rect.right(), MODEL, APP)

    def _arrow(self, painter: QPainter, colour: str, x: float, start: float, end: float) -> None:
        painter.setPen(QPen(QColor(colour), 1))
        painter.drawLine(QPointF(x, start), QPointF(x, end))
        back = -5 if end > start else 5
        painter.setBrush(QColor(colour))
        painter.drawPolygon(QPolygonF([QPointF(x, end), QPointF(x - 3, end + back), QPointF(x + 3, end + back)]))

    def _paint_bar(self, painter: QPainter, t: Tokens, at: int) -> None:
        span, rect = self._spans[at], self._rects[at]
        colour = _colour(t, span)
        light = QColor(colour)
        light.setAlpha(70)
        marked = at in (self._current, self._hover)
        ground = QColor(t.surface)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ground)
        painter.drawRoundedRect(rect, 3, 3)
        painter.setBrush(light)
        dashed = Qt.PenStyle.DashLine if span.kind in ("result", "request") else Qt.PenStyle.SolidLine
        painter.setPen(QPen(QColor(t.text if marked else colour), 2 if marked else 1, dashed))
        painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
        room = self._room(at)
        if room > 26:
            words = one_line_of(title(span))
            text = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, int(room) - 8)
            if len(text) > 1:
                painter.setPen(QColor(t.text if span.ok else t.error))
                painter.drawText(QRectF(rect.left() + 5, rect.top(), room, BAR), Qt.AlignmentFlag.AlignVCenter, text)

    def _room(self, at: int) -> float:
        """Pixels for the words of a span: its own, and what is free behind it on its line."""
        rect = self._rects[at]
        if self._spans[at].kind in ("request", "reasoning", "text", "server"):
            return rect.width()
        for other in range(at + 1, min(at + 40, len(self._rects))):
            if self._rects[other].top() == rect.top():
                return max(self._rects[other].left() - rect.left() - 2, rect.width())
        return max(rect.width(), 120.0)

    def _paint_names(self, painter: QPainter, t: Tokens, origin: QPointF) -> None:
        """What each line is; they stay while time is scrolled."""
        painter.fillRect(QRectF(0, 0, GUTTER, self.viewport().height()), QColor(t.surface))
        painter.setPen(QPen(QColor(t.line), 1))
        painter.drawLine(QPointF(GUTTER, 0), QPointF(GUTTER, self.viewport().height()))
        names = [("App", APP, t.user), ("Model", MODEL + BAR / 2, t.assistant), ("Tools", TOOLS + BAR / 2, t.tool)]
        names += [("Servers", self._servers, t.ok)] if self._servers else []
        for name, middle, colour in names:
            painter.setPen(QColor(colour))
            rect = QRectF(12, middle - 10 - origin.y(), GUTTER - 14, 20)
            painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter, name)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(t.accent), 1))
            painter.drawRect(self.viewport().rect().adjusted(0, 0, -1, -1))


def _colour(t: Tokens, span: Span) -> str:
    if not span.ok:
        return t.error
    return {"reasoning": t.reasoning, "text": t.assistant, "call": t.tool, "server": t.ok}.get(span.kind, t.muted)


def no_tape() -> ServerTape | None:
    """No tool server was ever spoken with."""
    return None


class SequencePage(SessionPage):
    """``card_asked`` carries a turn id and a call id, which may be empty."""

    FOLLOWED = (PathChanged, TurnChanged, RunStateChanged, SettingsChanged)
    card_asked = Signal(str, str)

    def __init__(self, tape: Callable[[], ServerTape | None] = no_tape, parent: QWidget | None = None) -> None:
        """``tape`` gives what was said with tool servers; None as long as there are none."""
        super().__init__(parent)
        self._tape = tape
        self.view = SequenceView()
        self.said = ElidedLabel("Sequence", elide=Qt.TextElideMode.ElideRight)
        self.smaller = IconButton("minus", "Show more time (Ctrl+wheel)")
        self.usual = styled(QPushButton("100 %"), "quiet")
        self.usual.setAccessibleName("Back to the usual zoom")
        self.usual.setToolTip(tip("Back to the usual zoom"))
        self.larger = IconButton("plus", "Show less time (Ctrl+wheel)")
        self.copy_button = styled(QPushButton("Copy as text"), "quiet")
        self.empty = empty_words(EMPTY)
        self._stack = in_pages(self.empty, self.view)
        bar = in_row((self.said, 1), margins=(12, 4, 12, 4), spacing=4)
        for widget in (self.smaller, self.usual, self.larger, self.copy_button):
            bar.addWidget(widget)
        in_column(bar, (self._stack, 1), of=self, margins=0, spacing=0)
        self.smaller.clicked.connect(partial(self._zoom, -1))
        self.usual.clicked.connect(partial(self._zoom, 0))
        self.larger.clicked.connect(partial(self._zoom, 1))
        self.copy_button.clicked.connect(self._copy)
        self.view.zoomed.connect(self._zoomed)
        self.view.chosen.connect(self._chosen)
        self._show([], 0)

    def _begin(self, session: Session) -> None:
        self._show([], 0)

    def _read(self) -> None:
        session = self._session
        if session is None:
            return
        self._stale = False
        newest: deque[list[Span]] = deque(maxlen=MOST_REQUESTS)
        count = 0
        for spans in read_sequence(session, self._tape()):
            newest.append(spans)
            count += 1
        shown = sorted((span for spans in newest for span in spans), key=lambda span: span.start)
        self._show(shown, count)

    def _show(self, spans: list[Span], requests: int) -> None:
        self.view.set_spans(spans)
        self._stack.setCurrentWidget(self.view if spans else self.empty)
        words = [summary(spans)] if spans else []
        if requests > MOST_REQUESTS:
            words.insert(0, f"the last {MOST_REQUESTS} of {requests:,} requests")
        if self._session is not None and self._session.state is not RunState.IDLE:
            words.append("a request is under way")
        self.said.set_text(" · ".join(words))
        for button in (self.smaller, self.usual, self.larger, self.copy_button):
            button.setEnabled(bool(spans))

    def _zoom(self, step: int, _checked: bool = False) -> None:
        self.view.step_zoom(step)

    def _zoomed(self) -> None:
        self.usual.setText(f"{self.view.zoom:.0%}".replace("%", " %"))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.view.text())

    def _chosen(self, span: Span) -> None:
        self.card_asked.emit(span.turn_id, span.call_id)
