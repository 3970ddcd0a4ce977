"""Draws a plot with pyqtgraph: axes, dots, lines, bands, bars. A click leads to what is nearest, the pointer tells it.

Imported late, off the window's thread (``view.py``): pyqtgraph and numpy take most of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, Final

import pyqtgraph
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QHelpEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QGraphicsObject, QStyleOptionGraphicsItem, QToolTip, QWidget

from playground.ui.features.evaluate.colours import colour_name
from playground.ui.features.evaluate.plots.scene import Axis, Box, Dots, Scene, Spot, Words
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.plain_text import tip
from playground.ui.widgets.theme import Tokens, body_font, tokens

BELOW: Final = 44  # pixels of the axis below, with its title
RIGHT: Final = 26  # pixels beside the plot
NEAR: Final = 9  # pixels from a spot, within which it is meant
TITLE: Final = 18  # pixels that the name of an axis takes
SMALL_PX: Final = 11
#: The shapes of dots, one a letter.
SHAPES: Final = ("o", "s", "t1", "d", "t", "star", "p", "h")

pyqtgraph.setConfigOptions(antialias=True, exitCleanup=False)  # what is left at the end is Qt's to clear


def colour(place: int, t: Tokens) -> str:
    """Return the colour of a variant by its number; below 0 that of text."""
    return t.text if place < 0 else str(getattr(t, colour_name(place)))


def mixed(share: float, over: str, under: str) -> QColor:
    """Return ``share`` of one colour over another."""
    above, below = QColor(over), QColor(under)
    pairs = ((above.red(), below.red()), (above.green(), below.green()), (above.blue(), below.blue()))
    return QColor(*(round(top * share + bottom * (1 - share)) for top, bottom in pairs))


class Chart(QWidget):
    """``pressed`` tells the target of what was clicked."""

    pressed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._scene: Scene | None = None
        self._colours: Tokens | None = None  # those it was drawn in
        self._spots: Sequence[Spot] = ()
        self.canvas: Any = pyqtgraph.PlotWidget(background=None, enableMenu=False)
        self.canvas.setFrameShape(self.canvas.Shape.NoFrame)
        self.canvas.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._plot: Any = self.canvas.getPlotItem()
        self._plot.hideButtons()
        self._plot.layout.setContentsMargins(0, 4, RIGHT, 0)  # the last label of an axis is half outside
        self._box: Any = self._plot.getViewBox()
        self._box.setMouseEnabled(False, False)
        self._box.disableAutoRange()
        self.canvas.viewport().setMouseTracking(True)
        self.canvas.viewport().installEventFilter(self)
        in_column(self.canvas, parent=self, margins=0)

    def show_scene(self, scene: Scene) -> None:
        """Draw this in the place of what was drawn."""
        self._scene, self._spots = scene, scene.spots
        self.setMinimumHeight(scene.height + BELOW)
        self.redraw()

    def redraw(self) -> None:
        """Draw it again, in the colours in force."""
        scene, t = self._scene, tokens()
        if scene is None:
            return
        self._colours = t
        self._plot.clear()
        self.canvas.setBackground(t.raised)
        for side, axis in (("bottom", scene.x), ("left", scene.y)):
            self._show_axis(self._plot.getAxis(side), axis, t)
        self._box.setRange(xRange=scene.x[:2], yRange=scene.y[:2], padding=0, disableAutoRange=True)
        self._draw_lines_of(scene, t)
        for band in scene.bands:
            low, high = (pyqtgraph.PlotCurveItem(list(band.xs), list(ys), pen=None) for ys in (band.lows, band.highs))
            shade = QColor(colour(band.place, t))
            shade.setAlphaF(0.18)
            self._plot.addItem(pyqtgraph.FillBetweenItem(low, high, brush=shade))
        if scene.boxes:
            self._plot.addItem(_bars(scene.boxes, t))
        faint = [dots for dots in scene.dots if dots.faint]
        for dots in faint:
            self._plot.addItem(_dots(dots, t))
        for line in scene.lines:
            pen = pyqtgraph.mkPen(colour(line.place, t), width=line.width)
            self._plot.addItem(pyqtgraph.PlotCurveItem(list(line.xs), list(line.ys), pen=pen))
        for dots in scene.dots:
            if not dots.faint:
                self._plot.addItem(_dots(dots, t))
        if scene.words:
            self._plot.addItem(_Texts(scene), ignoreBounds=True)

    def render_to(self, painter: QPainter, room: QRectF) -> None:
        """Draw it elsewhere; dots are shapes there, not copies of little pictures."""
        for _ in range(2):  # axes find out how wide they are when they are drawn; this one may never have been
            self.canvas.grab()
            self._plot.layout.activate()
        parts = [item for item in self._plot.items if hasattr(item, "setExportMode")]
        for item in parts:
            item.setExportMode(True)
        try:
            self.canvas.render(painter, room, self.canvas.viewport().rect())
        finally:
            for item in parts:
                item.setExportMode(False)

    def _show_axis(self, axis: Any, scale: Axis, t: Tokens) -> None:
        axis.setTicks([[(place, words) for place, words in scale.ticks]])
        axis.setStyle(tickAlpha=0, tickLength=0, tickFont=body_font(SMALL_PX), tickTextOffset=6)
        axis.setStyle(hideOverlappingLabels=False)
        axis.setPen(pyqtgraph.mkPen(None))
        axis.setTextPen(t.text if axis.orientation == "left" else t.muted)
        axis.enableAutoSIPrefix(False)  # it would say "× 0.001" of words that are not divided
        size = {"font-size": f"{SMALL_PX}px", "color": t.muted}
        axis.setLabel(escape(scale.title), **size)  # it is read as HTML
        axis.showLabel(bool(scale.title))
        # Left to itself, it finds out what room its words need when it has drawn them once, without those that were
        # too wide.
        metrics, title = QFontMetricsF(body_font(SMALL_PX)), TITLE if scale.title else 0
        if axis.orientation == "left":
            axis.setWidth(max((metrics.horizontalAdvance(words) for _, words in scale.ticks), default=0) + 14 + title)
        else:
            axis.setHeight(metrics.height() + 8 + title)
        axis.show()

    def _draw_lines_of(self, scene: Scene, t: Tokens) -> None:
        """A line at each tick of an axis that has them."""
        xs: list[float] = []
        ys: list[float] = []
        if scene.x.lines:
            for place, _ in scene.x.ticks:
                xs += [place, place]
                ys += [scene.y.low, scene.y.high]
        if xs:
            pen = pyqtgraph.mkPen(t.line, width=1)
            self._plot.addItem(pyqtgraph.PlotCurveItem(xs, ys, pen=pen, connect="pairs", antialias=False))

    # The pointer

    def spot_at(self, position: QPointF) -> int | None:
        """Return the number of the spot nearest to a point of the viewport, or None."""
        scene = self._scene
        if scene is None or not scene.spots:
            return None
        point = self._box.mapSceneToView(self.canvas.mapToScene(position.toPoint()))
        wide, high = self._box.viewPixelSize()
        best, nearest = None, float(NEAR * NEAR)
        x, y = point.x(), point.y()
        for number, (x0, x1, y0, y1, *_) in enumerate(scene.spots):
            across = (x0 - x if x < x0 else x - x1 if x > x1 else 0.0) / wide
            down = (y0 - y if y < y0 else y - y1 if y > y1 else 0.0) / high
            far = across * across + down * down
            if far < nearest:
                best, nearest = number, far
        return best

    def point_of(self, number: int) -> QPointF:
        """Where in the viewport a spot is."""
        spot = self._spots[number]
        middle = QPointF((spot.x0 + spot.x1) / 2, (spot.y0 + spot.y1) / 2)
        return QPointF(self.canvas.mapFromScene(self._box.mapViewToScene(middle)))

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        scene = self._scene
        if scene is None:
            return False
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            number = self.spot_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), tip(scene.spots[number].words if number is not None else ""))
            return True
        if isinstance(event, QMouseEvent) and event.button() == Qt.MouseButton.LeftButton:
            if event.type() == QEvent.Type.MouseButtonRelease:
                number = self.spot_at(event.position())
                if number is not None and (target := scene.spots[number].target) is not None:
                    self.pressed.emit(target)
            return True
        return False

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_box") and self._colours is not tokens():
            self.redraw()


def _dots(dots: Dots, t: Tokens) -> Any:
    shade = QColor(colour(dots.place, t))
    if dots.faint:
        shade.setAlphaF(0.55)
    return pyqtgraph.ScatterPlotItem(
        x=list(dots.xs),
        y=list(dots.ys),
        size=6 if dots.faint else 11,
        symbol=SHAPES[dots.place % len(SHAPES)],
        brush=shade,
        pen=None,
    )


def _bars(boxes: Sequence[Box], t: Tokens) -> Any:
    brushes = [mixed(0.06 + 0.94 * box.share, colour(box.place, t), t.raised) for box in boxes]
    return pyqtgraph.BarGraphItem(
        x0=[box.x0 for box in boxes],
        x1=[box.x1 for box in boxes],
        y0=[box.y0 for box in boxes],
        y1=[box.y1 for box in boxes],
        pens=[None] * len(boxes),
        brushes=brushes,
    )


class _Texts(QGraphicsObject):
    """The words of a plot, in pixels at places in its units: many of them are drawn as one."""

    def __init__(self, scene: Scene) -> None:
        super().__init__()
        self._words = scene.words
        self._around = QRectF(QPointF(scene.x.low, scene.y.low), QPointF(scene.x.high, scene.y.high))

    def boundingRect(self) -> QRectF:
        return self._around

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        t, font = tokens(), QFont(body_font(SMALL_PX))
        to_pixels = painter.worldTransform()
        painter.save()
        painter.resetTransform()
        painter.setFont(font)
        metrics = QFontMetricsF(font)
        for words in self._words:
            point = to_pixels.map(QPointF(words.x, words.y))
            self._draw(painter, words, point, metrics, t)
        painter.restore()

    @staticmethod
    def _draw(painter: QPainter, words: Words, point: QPointF, metrics: QFontMetricsF, t: Tokens) -> None:
        painter.setPen(QColor(t.on_accent if words.on > 0.6 else t.muted if words.muted else t.text))
        across = 2.0 if words.left else -metrics.horizontalAdvance(words.text) / 2
        down = -words.up if words.up else (metrics.ascent() - metrics.descent()) / 2
        painter.drawText(QPointF(point.x() + across, point.y() + down), words.text)
