"""A picture in small: loads off the window's thread where that takes time, and says in words what it cannot show."""

from __future__ import annotations

import asyncio

import shiboken6
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from playground.domain.parts import Image
from playground.engine.files.images import Facts, ImageError, facts
from playground.ui.features.conversation import images
from playground.ui.widgets.icons import icon
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.theme import tokens

SHARPNESS = 2  # pixels decoded for each pixel shown, for screens that have them
LEAST = 48


class Thumb(QAbstractButton):
    """A button that shows one image within ``box``; square and filled where ``cropped``. An address shows an icon."""

    def __init__(self, box: QSize, *, cropped: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._box = box
        self._cropped = cropped
        self._image: Image | None = None
        self._known = Facts()
        self._picture: QImage | None = None
        self._problem = ""
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    @property
    def problem(self) -> str:
        """Why nothing is shown; empty while it loads or when all is well."""
        return self._problem

    @property
    def loaded(self) -> bool:
        """Whether the picture is there."""
        return self._picture is not None

    def show_image(self, image: Image) -> None:
        """Show another image; the same one again costs nothing."""
        if self._image is not None and self._image.url == image.url:
            return
        self._image, self._picture, self._problem = image, None, ""
        self._known = facts(image)
        self.updateGeometry()
        self.update()
        if self._known.address:
            return
        if images.is_quick(image):
            try:
                self._loaded(images.decode(image, self._room()))
            except ImageError as error:
                self._failed(error)
        else:
            spawn(self._load(image), name="thumbnail")

    async def _load(self, image: Image) -> None:
        try:
            picture = await asyncio.to_thread(images.decode, image, self._room())
        except ImageError as error:
            if shiboken6.isValid(self) and image is self._image:
                self._failed(error)
        else:
            if shiboken6.isValid(self) and image is self._image:
                self._loaded(picture)

    def _room(self) -> QSize:
        return self._box * SHARPNESS

    def _loaded(self, picture: QImage) -> None:
        self._picture = picture
        self.updateGeometry()
        self.update()

    def _failed(self, error: ImageError) -> None:
        self._problem = str(error)
        self.setToolTip(self._problem)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.update()

    def sizeHint(self) -> QSize:
        """The picture's own size within the box, known from its header before it is decoded."""
        if self._cropped or self._image is None:
            return self._box
        size = QSize(self._box.width(), min(self._box.height(), 72))
        if self._picture is not None:
            size = self._picture.size()
        elif (known := self._known.measure) is not None and known.width and known.height:
            size = QSize(known.width, known.height)
        if size.width() > self._box.width() or size.height() > self._box.height():
            size = size.scaled(self._box, Qt.AspectRatioMode.KeepAspectRatio)
        return size.expandedTo(QSize(LEAST, LEAST)).boundedTo(self._box)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        t = tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        frame = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        shape = QPainterPath()
        shape.addRoundedRect(frame, 6, 6)
        painter.fillPath(shape, QColor(t.chip))
        painter.setClipPath(shape)
        if self._picture is not None:
            self._draw(painter, self._picture)
        else:
            side = min(20, self.height() - 8)
            mark = icon("warning" if self._problem else "image", t.muted).pixmap(side * 2, side * 2)
            painter.drawPixmap((self.width() - side) // 2, (self.height() - side) // 2, side, side, mark)
        painter.setClipping(False)
        painter.setPen(QColor(t.accent if self.hasFocus() else t.line))
        painter.drawPath(shape)

    def _draw(self, painter: QPainter, picture: QImage) -> None:
        mode = Qt.AspectRatioMode.KeepAspectRatioByExpanding if self._cropped else Qt.AspectRatioMode.KeepAspectRatio
        size = picture.size().scaled(self.size(), mode)
        if not self._cropped and picture.width() <= self.width() and picture.height() <= self.height():
            size = picture.size()  # never larger than it is
        place = QRectF((self.width() - size.width()) / 2, (self.height() - size.height()) / 2, *size.toTuple())
        painter.drawImage(place, picture)
