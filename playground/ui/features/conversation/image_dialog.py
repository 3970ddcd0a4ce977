"""One image, large: fitted to the window, with what is known of it. Nothing is fetched and nothing is changed here."""

from __future__ import annotations

import asyncio

import shiboken6
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QDialog, QPushButton, QWidget

from playground.domain.parts import Image
from playground.engine.files.images import ImageError, facts
from playground.ui.features.conversation import images
from playground.ui.features.conversation.image_view import figures, title
from playground.ui.widgets.form_parts import text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.plain_text import show_hidden
from playground.ui.widgets.theme import tokens

SHARE = 0.8  # of the window's size
LEAST = QSize(420, 320)


class ImageDialog(QDialog):
    """Shows one image; open it with ``show``."""

    def __init__(self, image: Image, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(show_hidden(title(image))[:120])
        self.canvas = _Canvas()
        self.canvas.setAccessibleName(title(image))
        known = facts(image)
        kind = known.measure.media_type if known.measure else "unknown format"
        words = text_label(f"{figures(known)} · {kind}", "small")
        self.copy = QPushButton("Copy image")
        self.copy.setEnabled(False)
        self.copy.clicked.connect(self._copy)
        close = QPushButton("Close")
        close.clicked.connect(self.accept)
        row = in_row((words, 1), self.copy, close, spacing=8)
        in_column((self.canvas, 1), row, of=self, margins=12, spacing=10)
        most = parent.window().size() * SHARE
        if known.measure is not None:
            size = QSize(known.measure.width, known.measure.height).boundedTo(QSize(20_000, 20_000))
            if size.width() > most.width() - 24 or size.height() > most.height() - 70:
                size = size.scaled(most - QSize(24, 70), Qt.AspectRatioMode.KeepAspectRatio)
            self.resize((size + QSize(24, 70)).expandedTo(LEAST))
        else:
            self.resize(LEAST)
        close.setFocus()
        spawn(self._load(image, most * 2), name="show image")

    async def _load(self, image: Image, box: QSize) -> None:
        try:
            picture = await asyncio.to_thread(images.decode, image, box)
        except ImageError as error:
            if shiboken6.isValid(self):
                self.canvas.say(str(error))
        else:
            if shiboken6.isValid(self):
                self.canvas.show_picture(picture)
                self.copy.setEnabled(True)

    def _copy(self) -> None:
        if self.canvas.picture is not None:
            QGuiApplication.clipboard().setImage(self.canvas.picture)


class _Canvas(QWidget):
    """Draws the picture as large as it fits, never larger than it is, on squares where it is transparent."""

    def __init__(self) -> None:
        super().__init__()
        self.picture: QImage | None = None
        self.words = "Reading…"
        self.setMinimumSize(200, 140)

    def show_picture(self, picture: QImage) -> None:
        """Draw this one."""
        self.picture = picture
        self.update()

    def say(self, words: str) -> None:
        """Say why there is no picture."""
        self.words = words
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        t = tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        if self.picture is None:
            painter.setPen(QColor(t.muted))
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self.words)
            return
        size = self.picture.size()
        if size.width() > self.width() or size.height() > self.height():
            size = size.scaled(self.size(), Qt.AspectRatioMode.KeepAspectRatio)
        place = QRectF((self.width() - size.width()) / 2, (self.height() - size.height()) / 2, *size.toTuple())
        if self.picture.hasAlphaChannel():
            _squares(painter, place)
        painter.drawImage(place, self.picture)


def _squares(painter: QPainter, place: QRectF) -> None:
    t = tokens()
    painter.fillRect(place, QColor(t.raised))
    painter.save()
    painter.setClipRect(place)
    side = 10
    for row in range(int(place.height()) // side + 1):
        for column in range(row % 2, int(place.width()) // side + 1, 2):
            painter.fillRect(QRectF(place.x() + column * side, place.y() + row * side, side, side), QColor(t.chip))
    painter.restore()
