"""Plots as pictures: SVG, whose lines stay lines, or PNG; with titles, in the colours that are in force."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Final

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPointF, QRect, QRectF, QSize
from PySide6.QtGui import QColor, QFont, QImage, QImageWriter, QPaintDevice, QPainter

from playground.ui.features.evaluate.plots.card import PlotCard
from playground.ui.widgets.theme import BODY_PX, SMALL_PX, body_font, tokens

HEAD, MARGIN = 52, 16  # pixels
SHARP: Final = 2  # pixels of a PNG for one of the screen


def to_svg(cards: Sequence[PlotCard], across: int) -> bytes:
    """The plots of these cards, so many beside each other."""
    from PySide6.QtSvg import QSvgGenerator

    size = _size(cards, across)
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(size)
    generator.setViewBox(QRect(0, 0, size.width(), size.height()))
    generator.setTitle(", ".join(card.plot.title for card in cards if card.plot is not None))
    _paint(generator, cards, across)
    buffer.close()
    return bytes(data.data())


def to_png(cards: Sequence[PlotCard], across: int) -> bytes:
    """Return the plots as a PNG picture."""
    size = _size(cards, across)
    image = QImage(size * SHARP, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(SHARP)
    _paint(image, cards, across)
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    buffer.close()
    return bytes(data.data())


def _cell(cards: Sequence[PlotCard]) -> QSize:
    wide = max(card.chart.width() for card in cards)
    high = max(card.chart.height() for card in cards)
    return QSize(wide + 2 * MARGIN, high + HEAD + MARGIN)


def _size(cards: Sequence[PlotCard], across: int) -> QSize:
    cell, columns = _cell(cards), min(across, len(cards))
    return QSize(cell.width() * columns, cell.height() * ceil(len(cards) / columns))


def _paint(on: QPaintDevice, cards: Sequence[PlotCard], across: int) -> None:
    painter = QPainter(on)
    try:
        _draw(painter, cards, across)
    finally:
        painter.end()


def _draw(painter: QPainter, cards: Sequence[PlotCard], across: int) -> None:
    t, size, cell, columns = tokens(), _size(cards, across), _cell(cards), min(across, len(cards))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.fillRect(QRect(0, 0, size.width(), size.height()), QColor(t.raised))
    for number, card in enumerate(cards):
        if card.plot is None:
            continue
        left, top = number % columns * cell.width() + MARGIN, number // columns * cell.height()
        bold = QFont(body_font(BODY_PX))
        bold.setWeight(QFont.Weight.DemiBold)
        for font, colour, down, words in (
            (bold, t.text, 22, card.plot.title),
            (body_font(SMALL_PX), t.muted, 40, card.plot.subtitle),
        ):
            painter.setFont(font)
            painter.setPen(QColor(colour))
            painter.drawText(QPointF(left, top + down), words)
        chart = card.chart
        room = QRectF(left, top + HEAD, chart.width(), chart.height())
        painter.save()
        chart.render_to(painter, room)
        painter.restore()
