"""The sequence of a run: time runs to the right; the app, the model, tool calls and tool servers have a line each.

It is drawn from spans of time (`playground.engine.inspect.calls`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from typing import Final, NamedTuple

from PySide6.QtCore import QLineF, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QKeyEvent,
    QPainter,
    QPainterPath,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QPushButton, QStyleOptionGraphicsItem, QWidget

from playground.domain.durations import brief_duration
from playground.engine.inspect.calls import Span, read_sequence
from playground.engine.session.changes import PathChanged, RunState, RunStateChanged, SettingsChanged, TurnChanged
from playground.engine.session.session import Session
from playground.engine.tool_servers.tape import ServerTape
from playground.ui.features.debugger.texts import (
    clock_words,
    describe_span,
    list_requests,
    request_numbers,
    span_title,
    summarize_spans,
)
from playground.ui.widgets.diagram import TEXT_PX, Diagram, DiagramItem, round_step
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import in_column, in_pages, in_row
from playground.ui.widgets.page_parts import empty_words
from playground.ui.widgets.plain_text import one_line_of, tip
from playground.ui.widgets.session_page import SessionPage
from playground.ui.widgets.theme import Tokens, body_font, tokens

# Lengths in pixels
GUTTER, EDGE = 62, 16  # names of the lines; room at both ends of time
AXIS, BAR, ROW = 18, 16, 20
APP, MODEL, TOOLS = AXIS + 8, AXIS + 22, AXIS + 50  # the app's line; tops of the model's bars and the first call's
BELOW_CALLS = 12
TICK_ROOM = 90
STEP_WIDTH = 150.0  # a usual request at zoom 1
BREAK_WIDTH = 64.0
LEAST_WIDTH = 4.0
LEAST_TEXT = 26

ZOOMS: Final = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0, 16.0)
IDLE_LIMIT, BUSY_LIMIT = 1.0, 4.0  # usual requests until a stretch is broken: while nothing is received, and otherwise
LEAST_BREAK = 0.5  # seconds; shorter stretches are never broken
NOT_THE_GATEWAY = ("result", "server")
SHORTEST_STEP = 0.001  # seconds
MAX_REQUESTS, MAX_SPANS = 300, 1_500  # drawn at first, the newest ones
EMPTY = "No run yet. Requests, tool calls and results appear here in order of time."


class Break(NamedTuple):
    """A stretch that is not drawn to scale, in seconds and in pixels."""

    start: float
    end: float
    left: float
    right: float


class Scale:
    """Time to pixels for `spans` at a `zoom`, at least `room` pixels wide if that helps."""

    def __init__(self, spans: Sequence[Span], zoom: float = 1.0, room: float = 0.0) -> None:
        self.breaks: list[Break] = []
        self._times = sorted({moment for span in spans for moment in (span.start, span.end)})
        step = usual_step(spans)
        stretches = list(zip(self._times, self._times[1:], _busy_stretches(spans, self._times), strict=False))
        broken = [
            end - start > max(step * (BUSY_LIMIT if busy else IDLE_LIMIT), LEAST_BREAK)
            for start, end, busy in stretches
        ]
        drawn = sum(end - start for (start, end, _), cut in zip(stretches, broken, strict=True) if not cut)
        remaining = room - BREAK_WIDTH * sum(broken)
        self.per_second = max(STEP_WIDTH / step, remaining / drawn if drawn > 0 else 0.0) * zoom
        self._xs = [0.0] if self._times else []
        for (start, end, _), cut in zip(stretches, broken, strict=True):
            x = self._xs[-1]
            width = BREAK_WIDTH if cut else max((end - start) * self.per_second, LEAST_WIDTH)
            if cut:
                self.breaks.append(Break(start, end, x, x + width))
            self._xs.append(x + width)

    @property
    def width(self) -> float:
        """Pixels from the first moment to the last."""
        return self._xs[-1] if self._xs else 0.0

    def x(self, moment: float) -> float:
        """Return the position of a moment."""
        times, xs = self._times, self._xs
        index = bisect_right(times, moment) - 1
        if index < 0 or not xs:
            return 0.0
        if index >= len(xs) - 1:
            return xs[-1]
        share = (moment - times[index]) / (times[index + 1] - times[index])
        return xs[index] + share * (xs[index + 1] - xs[index])

    def ticks(self) -> tuple[float, list[tuple[float, float]]]:
        """Return the seconds between round moments, and such moments outside of breaks with their positions."""
        if not self._times or self.per_second <= 0:
            return 1.0, []
        step = round_step(TICK_ROOM / self.per_second)
        ticks: list[tuple[float, float]] = []
        edges = [self._times[0], *(moment for cut in self.breaks for moment in (cut.start, cut.end)), self._times[-1]]
        for start, end in zip(edges[::2], edges[1::2], strict=True):
            first = int(start / step) + (start % step > 0)
            for number in range(first, int(end / step) + 1):
                x = self.x(number * step)
                if not ticks or x - ticks[-1][1] >= TICK_ROOM:
                    ticks.append((number * step, x))
        return step, ticks


def usual_step(spans: Sequence[Span]) -> float:
    """Return the median seconds of a request at the gateway."""
    requests: dict[str, tuple[float, float]] = {}
    for span in spans:
        if span.kind not in NOT_THE_GATEWAY:
            start, end = requests.get(span.turn_id, (span.start, span.end))
            requests[span.turn_id] = (min(start, span.start), max(end, span.end))
    return max(median([end - start for start, end in requests.values()]), SHORTEST_STEP) if requests else 1.0


def _busy_stretches(spans: Sequence[Span], times: Sequence[float]) -> list[bool]:
    """Return for each stretch between two moments if the gateway works in it."""
    change = dict.fromkeys(times, 0)
    for span in spans:
        if span.kind not in NOT_THE_GATEWAY:
            change[span.start] += 1
            change[span.end] -= 1
    busy: list[bool] = []
    depth = 0
    for moment in times:
        depth += change[moment]
        busy.append(depth > 0)
    return busy[:-1]


class SequenceView(Diagram):
    """`set_spans` shows other spans. The keys of `chosen` are their indices."""

    zoomed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        self._spans: list[Span] = []
        self._numbers: dict[str, int] = {}
        self._rows = 0
        self._servers = 0.0  # the line of the servers; 0 if none was called
        self._scale = Scale(())
        self._tick_step, self._ticks = self._scale.ticks()
        self._zoom = 1.0
        super().__init__("Sequence of requests, calls and answers", parent)

    @property
    def spans(self) -> Sequence[Span]:
        """The spans shown, in order of their start."""
        return self._spans

    @property
    def current(self) -> Span | None:
        """The selected span."""
        return self._spans[int(self.selected)] if self.selected else None

    def set_spans(self, spans: Sequence[Span]) -> None:
        """Show these spans, in order of their start. A view at the right end stays there."""
        if list(spans) == self._spans:
            return
        bar, current = self.horizontalScrollBar(), self.current
        follow = bar.value() >= bar.maximum()
        self._spans = list(spans)
        self._numbers = request_numbers(self._spans)
        keys = {(span.kind, span.turn_id, span.call_id): str(index) for index, span in enumerate(self._spans)}
        key = keys.get((current.kind, current.turn_id, current.call_id), "") if current is not None else ""
        self._selected = key
        self.redraw()
        if follow:
            bar.setValue(bar.maximum())

    # Zoom

    @property
    def zoom(self) -> float:
        """The zoom; at 1.0 a usual request is easily seen."""
        return self._zoom

    def set_zoom(self, zoom: float, around: float | None = None) -> None:
        """Change the zoom; the moment at `around` (pixels of the viewport, by default the middle) stays in place."""
        zoom = min(max(zoom, ZOOMS[0]), ZOOMS[-1])
        if zoom == self._zoom:
            return
        x = around if around is not None else (GUTTER + self.viewport().width()) / 2
        bar = self.horizontalScrollBar()
        share = (bar.value() + x - GUTTER - EDGE) / self._scale.width if self._scale.width else 0.0
        self._zoom = zoom
        self.redraw()
        bar.setValue(round(share * self._scale.width - x + GUTTER + EDGE))
        self.zoomed.emit()

    def step_zoom(self, step: int, around: float | None = None) -> None:
        """Zoom in by one step (+1), out (-1), or back to the usual zoom (0)."""
        index = min(range(len(ZOOMS)), key=lambda n: abs(ZOOMS[n] - self._zoom))
        self.set_zoom(ZOOMS[min(max(index + step, 0), len(ZOOMS) - 1)] if step else 1.0, around)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Plus: 1, Qt.Key.Key_Equal: 1, Qt.Key.Key_Minus: -1, Qt.Key.Key_0: 0}
        if (step := steps.get(Qt.Key(event.key()))) is not None:
            self.step_zoom(step)
        else:
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.step_zoom(1 if event.angleDelta().y() > 0 else -1, event.position().x())
            event.accept()
        else:
            super().wheelEvent(event)

    # Drawing

    def text(self) -> str:
        """Return the sequence in words."""
        return f"{summarize_spans(self._spans)}\n{list_requests(self._spans)}"

    def describe(self) -> str:
        return (
            f"{summarize_spans(self._spans)}\nArrow keys select the next or the previous bar; Enter opens its message."
        )

    def reveal(self, item: DiagramItem) -> None:
        """Scroll until an item is in view, beside the names of the lines."""
        super().reveal(item)
        if self.rect_of(item.key).left() < GUTTER + EDGE:
            bar = self.horizontalScrollBar()
            bar.setValue(bar.value() - GUTTER - EDGE)

    def draw(self) -> None:
        self._scale = Scale(self._spans, self._zoom, self.room - GUTTER - 2 * EDGE)
        self._tick_step, self._ticks = self._scale.ticks()
        self._rows = max((span.row for span in self._spans), default=0) + 1
        bottom = TOOLS + self._rows * ROW
        called = any(span.kind == "server" for span in self._spans)
        self._servers = float(bottom + BELOW_CALLS) if called else 0.0
        height = bottom + 4 + (BELOW_CALLS + 8 if called else 0)
        self.setSceneRect(0, 0, self._scale.width + GUTTER + 2 * EDGE, height)
        for index, (span, room) in enumerate(zip(self._spans, self._text_rooms(), strict=True)):
            number = self._numbers.get(span.turn_id, 0)
            self.add(SpanItem(str(index), span, number, self._place(span), room, self._servers))

    def _place(self, span: Span) -> QRectF:
        left, right = self._scale.x(span.start), self._scale.x(span.end)
        top = TOOLS + span.row * ROW if span.kind in ("call", *NOT_THE_GATEWAY) else MODEL
        return QRectF(GUTTER + EDGE + left, top, max(right - left, 2.0), BAR)

    def _text_rooms(self) -> list[float]:
        """Return the pixels for the words of each span: its own, and what is free behind it on its line."""
        rooms: list[float] = []
        following: dict[float, float] = {}  # the left edge of the next span on a line
        for span in reversed(self._spans):
            rect = self._place(span)
            free = following.get(rect.top(), rect.left() + 120.0) - rect.left() - 2
            inside = span.kind in ("request", "reasoning", "text", "server")
            rooms.append(rect.width() if inside else max(rect.width(), free))
            following[rect.top()] = rect.left()
        return rooms[::-1]

    def drawBackground(self, painter: QPainter, rect: QRectF | QRect) -> None:
        """Draw the lines, the axis and the breaks."""
        super().drawBackground(painter, rect)
        if not self._spans:
            return
        t, left, right = tokens(), float(rect.left()), float(rect.left() + rect.width())
        first = max(int((rect.top() - TOOLS) / ROW), 0)
        last = min(int((rect.top() + rect.height() - TOOLS) / ROW) + 1, self._rows)
        ys = [APP, MODEL + BAR / 2, *(TOOLS + row * ROW + BAR / 2 for row in range(first, last))]
        ys += [self._servers] if self._servers else []
        painter.setPen(QPen(QColor(t.line), 1))
        painter.drawLines([QLineF(left, y, right, y) for y in ys])
        painter.setFont(body_font(TEXT_PX))
        for moment, offset in self._ticks:
            x = offset + GUTTER + EDGE
            if left - TICK_ROOM < x < right + TICK_ROOM:
                painter.setPen(QColor(t.line))
                painter.drawLine(QPointF(x, AXIS - 4), QPointF(x, AXIS))
                painter.setPen(QColor(t.muted))
                area = QRectF(x - TICK_ROOM / 2, 0, TICK_ROOM, AXIS - 4)
                painter.drawText(area, Qt.AlignmentFlag.AlignCenter, clock_words(moment, self._tick_step))
        bottom = rect.top() + rect.height()
        for cut in self._scale.breaks:
            x = GUTTER + EDGE + (cut.left + cut.right) / 2
            if left - 80 < x < right + 80:
                _draw_break(painter, t, x, bottom, cut.end - cut.start)

    def draw_fixed(self, painter: QPainter) -> None:
        """Draw the names of the lines, which stay while time is scrolled."""
        t, down = tokens(), self.verticalScrollBar().value()
        height = self.viewport().height()
        painter.fillRect(QRectF(0, 0, GUTTER, height), QColor(t.surface))
        painter.setPen(QPen(QColor(t.line), 1))
        painter.drawLine(QPointF(GUTTER, 0), QPointF(GUTTER, height))
        painter.setFont(body_font(TEXT_PX))
        names = [("App", APP, t.user), ("Model", MODEL + BAR / 2, t.assistant), ("Tools", TOOLS + BAR / 2, t.tool)]
        names += [("Servers", self._servers, t.ok)] if self._servers else []
        for name, middle, colour in names:
            painter.setPen(QColor(colour))
            area = QRectF(12, middle - 10 - down, GUTTER - 14, 20)
            painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, name)


class SpanItem(DiagramItem):
    """The bar of a span with its label, and arrows to the lines of the app, the model and the servers."""

    def __init__(self, key: str, span: Span, number: int, rect: QRectF, room: float, servers: float) -> None:
        outline = QPainterPath()
        outline.addRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
        super().__init__(key, outline, partial(describe_span, span, number))
        self._span, self._number, self._rect, self._room = span, number, rect, room
        t = tokens()
        colour = QColor(_span_colour(t, span))
        dashed = Qt.PenStyle.DashLine if span.kind in ("result", "request") else Qt.PenStyle.SolidLine
        self.setPen(QPen(colour, 1, dashed))
        self.setBrush(_blend(colour, QColor(t.surface)))
        self.setZValue(1 / (1 + rect.width()))  # the narrowest of several is in front
        self._arrows = self._make_arrows(t, servers)
        area = self.bounds.united(QRectF(rect.left() - 8, rect.top(), max(room, 16), BAR))
        for _, x, start, end in self._arrows:
            area = area.united(QRectF(x - 8, min(start, end) - 8, 16, abs(end - start) + 16))
        self.bounds = area

    def _make_arrows(self, t: Tokens, servers: float) -> list[tuple[str, float, float, float]]:
        """Return colour, x, start and end of the request, of a call, of its result, of the text."""
        span, rect = self._span, self._rect
        left, right, top, bottom = rect.left(), rect.right(), rect.top(), rect.bottom()
        match span.kind:
            case "request":
                return [(t.muted, left, APP, MODEL)]
            case "call":
                return [(t.tool, left, MODEL + BAR, top)]
            case "result":
                return [(t.muted if span.ok else t.error, right, top, APP)]
            case "server":
                return [(t.tool, left, bottom, servers), (t.ok if span.ok else t.error, right, servers, bottom)]
            case "text":
                return [(t.assistant, right, MODEL, APP)]
        return []

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        t, rect = tokens(), self._rect
        for colour, x, start, end in self._arrows:
            back = -5 if end > start else 5
            painter.setPen(QPen(QColor(colour), 1))
            painter.setBrush(QColor(colour))
            painter.drawLine(QPointF(x, start), QPointF(x, end))
            painter.drawPolygon([QPointF(x, end), QPointF(x - 3, end + back), QPointF(x + 3, end + back)])
        super().paint(painter, option, widget)
        painter.setFont(body_font(TEXT_PX))
        painter.setPen(QColor(t.text))
        if self._span.kind == "request":
            circle = QRectF(rect.left() - 8, APP - 8, 16, 15)
            painter.setBrush(QColor(t.raised))
            painter.setPen(QPen(QColor(t.muted), 1))
            painter.drawEllipse(circle)
            painter.setPen(QColor(t.text))
            painter.drawText(circle, Qt.AlignmentFlag.AlignCenter, str(self._number))
        if self._room > LEAST_TEXT:
            words = one_line_of(span_title(self._span))
            words = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, int(self._room) - 8)
            painter.setPen(QColor(t.text if self._span.ok else t.error))
            area = QRectF(rect.left() + 5, rect.top(), self._room, BAR)
            if len(words) > 1:
                painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, words)


def _draw_break(painter: QPainter, t: Tokens, x: float, bottom: float, seconds: float) -> None:
    """Draw two jagged lines with nothing between them, and the time that is left out."""
    painter.fillRect(QRectF(x - 5, AXIS, 10, bottom), QColor(t.surface))
    painter.setPen(QPen(QColor(t.muted), 1))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for side in (-5, 5):
        ys = range(AXIS, round(bottom) + 8, 8)
        painter.drawPolyline([QPointF(x + side + (2 if n % 2 else -2), y) for n, y in enumerate(ys)])
    area = QRectF(x - 40, 0, 80, AXIS - 2)
    painter.fillRect(area.adjusted(6, 0, -6, 0), QColor(t.surface))
    painter.drawText(area, Qt.AlignmentFlag.AlignCenter, f"… {brief_duration(seconds)}")


def _span_colour(t: Tokens, span: Span) -> str:
    if not span.ok:
        return t.error
    return {"reasoning": t.reasoning, "text": t.assistant, "call": t.tool, "server": t.ok}.get(span.kind, t.muted)


def _blend(colour: QColor, ground: QColor, share: float = 0.28) -> QColor:
    """Return `share` of a colour over another."""
    above, below = (colour.red(), colour.green(), colour.blue()), (ground.red(), ground.green(), ground.blue())
    return QColor(*(round(a * share + b * (1 - share)) for a, b in zip(above, below, strict=True)))


def newest_requests(requests: Sequence[list[Span]]) -> tuple[Sequence[list[Span]], str]:
    """Return the newest requests that are drawn at once, and words for a part; of a huge request, its first spans."""
    first, count = len(requests), 0
    while first and len(requests) - first < MAX_REQUESTS and (count := count + len(requests[first - 1])) <= MAX_SPANS:
        first -= 1
    if first == len(requests) and requests:
        spans = requests[-1][:MAX_SPANS]
        return [spans], f"First {sum(span.kind == 'call' for span in spans):,} calls of the last request"
    return requests[first:], f"Last {len(requests) - first:,} of {len(requests):,} requests" if first else ""


def no_tape() -> ServerTape | None:
    """Return no messages with tool servers."""
    return None


class SequencePage(SessionPage):
    """`card_asked` carries a turn id and a call id, which may be empty."""

    FOLLOWED = (PathChanged, TurnChanged, RunStateChanged, SettingsChanged)
    card_asked = Signal(str, str)

    def __init__(self, tape: Callable[[], ServerTape | None] = no_tape, parent: QWidget | None = None) -> None:
        """`tape` returns the messages with tool servers; None while there are none."""
        super().__init__(parent)
        self._tape = tape
        self.view = SequenceView()
        self.summary = ElidedLabel("Sequence", elide=Qt.TextElideMode.ElideRight)
        self.smaller = IconButton("minus", "Show more time (Ctrl+wheel)")
        self.usual = styled(QPushButton("100 %"), "quiet")
        self.usual.setAccessibleName("Reset zoom")
        self.usual.setToolTip(tip("Reset zoom (0)"))
        self.larger = IconButton("plus", "Show less time (Ctrl+wheel)")
        self.all_button = styled(QPushButton("Show all"), "link")
        self.all_button.hide()
        self.copy_button = styled(QPushButton("Copy as text"), "quiet")
        self.empty = empty_words(EMPTY)
        self._stack = in_pages(self.empty, self.view)
        bar = in_row((self.summary, 1), margins=(12, 4, 12, 4), spacing=4)
        for widget in (self.all_button, self.smaller, self.usual, self.larger, self.copy_button):
            bar.addWidget(widget)
        self._capped = True
        in_column(bar, (self._stack, 1), parent=self, margins=0, spacing=0)
        self.smaller.clicked.connect(lambda: self.view.step_zoom(-1))
        self.usual.clicked.connect(lambda: self.view.step_zoom(0))
        self.larger.clicked.connect(lambda: self.view.step_zoom(1))
        self.copy_button.clicked.connect(self._copy)
        self.all_button.clicked.connect(self.show_all)
        self.view.zoomed.connect(self._show_zoom)
        self.view.chosen.connect(self._open)
        self._show([], "")

    def show_all(self) -> None:
        """Draw all requests of this experiment, however many."""
        self._capped = False
        self._read()

    def _begin(self, session: Session) -> None:
        self._capped = True
        self._show([], "")

    def _read(self) -> None:
        session = self._session
        if session is None:
            return
        self._stale = False
        requests = list(read_sequence(session, self._tape()))
        displayed, part = newest_requests(requests) if self._capped else (requests, "")
        self._show(sorted((span for spans in displayed for span in spans), key=lambda span: span.start), part)

    def _show(self, spans: list[Span], part: str) -> None:
        self.view.set_spans(spans)
        self._stack.setCurrentWidget(self.view if spans else self.empty)
        words = [part, summarize_spans(spans)] if part else [summarize_spans(spans)] if spans else []
        if self._session is not None and self._session.state is not RunState.IDLE:
            words.append("running")
        self.summary.set_text(" · ".join(words))
        self.all_button.setVisible(bool(part))
        for button in (self.smaller, self.usual, self.larger, self.copy_button):
            button.setEnabled(bool(spans))

    def _show_zoom(self) -> None:
        self.usual.setText(f"{self.view.zoom:.0%}".replace("%", " %"))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.view.text())

    def _open(self, key: str) -> None:
        span = self.view.spans[int(key)]
        self.card_asked.emit(span.turn_id, span.call_id)
