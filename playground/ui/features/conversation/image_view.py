"""Images of a message: thumbnail, size, detail, removal, and one of them large in a dialog.

An image at an http(s) address is never loaded; its address is shown.
"""

from __future__ import annotations

import asyncio
from functools import partial

import shiboken6
from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QDialog,
    QFrame,
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from playground.domain.parts import Image
from playground.engine.files.images import DETAILS, SHRINK_SIDE, Facts, ImageError, facts, is_large, size_words, warning
from playground.ui.features.conversation import images
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import paragraph, styled, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import discard, in_column, in_row
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.plain_text import show_hidden
from playground.ui.widgets.theme import tokens

CHIP_THUMB = QSize(42, 42)
TURN_THUMB = QSize(220, 160)
CHIP_WIDTH = 320
TURN_WIDTH = 246

DIALOG_SHARE = 0.8  # of the window's size
LEAST_DIALOG = QSize(420, 320)

SHARPNESS = 2  # pixels decoded for each pixel shown, for screens that have them
LEAST = 48


class Thumb(QAbstractButton):
    """A button that shows one image within ``box``; square and filled where ``cropped``. An address shows an icon."""

    decoded = Signal()  # the picture or the problem is there

    def __init__(self, box: QSize, *, cropped: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._box = box
        self._cropped = cropped
        self._image: Image | None = None
        self._facts = Facts()
        self._picture: QImage | None = None
        self._problem = ""
        self._cut_off = False
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    @property
    def problem(self) -> str:
        """The reason why no image is shown; empty while it loads or if it is shown."""
        return self._problem

    @property
    def cut_off(self) -> bool:
        """Return whether the end of the file is missing."""
        return self._cut_off

    @property
    def loaded(self) -> bool:
        """Return whether the picture is decoded."""
        return self._picture is not None

    def show_image(self, image: Image) -> None:
        """Show another image; the same one again costs nothing."""
        if self._image is not None and self._image.url == image.url:
            return
        self._image, self._picture, self._problem, self._cut_off = image, None, "", False
        self._facts = facts(image)
        self.updateGeometry()
        self.update()
        if self._facts.address:
            return
        if images.is_quick(image):
            try:
                self._loaded(*images.decode_and_check(image, self._room()))
            except ImageError as error:
                self._failed(error)
        else:
            spawn(self._load(image), name="thumbnail")

    async def _load(self, image: Image) -> None:
        try:
            picture, cut_off = await asyncio.to_thread(images.decode_and_check, image, self._room())
        except ImageError as error:
            if shiboken6.isValid(self) and image is self._image:
                self._failed(error)
        else:
            if shiboken6.isValid(self) and image is self._image:
                self._loaded(picture, cut_off)

    def _room(self) -> QSize:
        return self._box * SHARPNESS

    def _loaded(self, picture: QImage, cut_off: bool) -> None:
        self._picture, self._cut_off = picture, cut_off
        self.updateGeometry()
        self.update()
        self.decoded.emit()

    def _failed(self, error: ImageError) -> None:
        self._problem = str(error)
        self.setToolTip(self._problem)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.update()
        self.decoded.emit()

    def sizeHint(self) -> QSize:
        """The picture's own size within the box, known from its header before it is decoded."""
        if self._cropped or self._image is None:
            return self._box
        size = QSize(self._box.width(), min(self._box.height(), 72))
        if self._picture is not None:
            size = self._picture.size()
        elif (measure := self._facts.measure) is not None and measure.width and measure.height:
            size = QSize(measure.width, measure.height)
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
            side = max(min(20, self.height() - 8), 1)  # laid out too low for a moment, it has no room
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


def figures(about: Facts) -> str:
    """``1 024 × 768 · 412 KB``, as far as known."""
    if about.address:
        return "address, not loaded"
    size = f"{about.measure.width:,} × {about.measure.height:,}" if about.measure else "unknown format"
    return f"{size} · {size_words(about.size)}"


def title(image: Image) -> str:
    """Return the name of an image: its file's name, its address, else its format."""
    about = facts(image)
    if image.name or about.address:
        return image.name or about.address
    kind = about.measure.media_type.removeprefix("image/").upper() if about.measure else "Image"
    return f"{kind} image" if about.measure else kind


class DetailButton(QToolButton):
    """Menu of the image detail; by default none is sent. ``chosen`` carries a word or None."""

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "detail")
        self.setProperty("arrow", True)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setToolTip("How closely the model looks: low costs fewer tokens, high more. Not in the Messages API.")
        menu = QMenu(self)
        for word in (None, *DETAILS):
            action = menu.addAction(word or "default (not sent)")
            action.setCheckable(True)
            action.setData(word or "")
            action.triggered.connect(partial(self._pick, word))
        self.setMenu(menu)
        self.show_detail(None)

    def show_detail(self, detail: str | None) -> None:
        """Show the current detail, also one that is not in the menu."""
        self.setText(f"detail: {detail or 'default'}")
        self.setAccessibleName(f"Detail of the image: {detail or 'default'}")
        for action in self.menu().actions():
            action.setChecked(action.data() == (detail or ""))

    def _pick(self, word: str | None, _checked: bool = False) -> None:
        self.chosen.emit(word)


class ImageBox(QFrame):
    """One image with its commands, ``large`` in a turn, else as a chip.

    ``fixed`` leaves out the commands that change it.
    """

    detail_chosen = Signal(object)  # a word or None
    removed = Signal()
    opened = Signal()
    shrink_asked = Signal()
    link_asked = Signal(str)

    def __init__(self, image: Image, *, large: bool, fixed: bool = False) -> None:
        super().__init__()
        self._fixed = fixed
        self._image = image
        self._large = large
        self.setObjectName("imageBox")
        self.setProperty("kind", "image")
        self.thumb = Thumb(TURN_THUMB if large else CHIP_THUMB, cropped=not large)
        self.thumb.clicked.connect(self._clicked)
        self.thumb.decoded.connect(self._show_warning)
        self._name = ElidedLabel(colour="text")
        self._name.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._figures = text_label("", "small")
        self.detail = DetailButton()
        self.detail.chosen.connect(self.detail_chosen)
        self.remove = IconButton("close", "Remove the image", size=14)
        self.remove.clicked.connect(self.removed)
        self._warning = paragraph("", "flag")
        self._warning.setToolTip("Gateways may refuse it. It can still be sent.")
        self.shrink = styled(QPushButton(f"Resize to {SHRINK_SIDE:,} px"), "pill")
        self.shrink.setToolTip("Attach a smaller copy; the file itself is not changed")
        self.shrink.clicked.connect(self.shrink_asked)
        self.copy_address = self._pill("Copy address", self._copy_address)
        self.open_address = self._pill("Open in browser", self._open_address)
        self._least_width = TURN_WIDTH if large else CHIP_WIDTH
        self._lay_out()
        for part in (self.detail, self.remove) if fixed else ():
            part.hide()
        self.show_image(image)

    def _pill(self, text: str, act: object) -> QPushButton:
        button = styled(QPushButton(text), "pill")
        button.clicked.connect(act)
        return button

    def _lay_out(self) -> None:
        name = in_row((self._name, 1), self.remove, spacing=4)
        line = in_row(self._figures, 1, spacing=4)
        if not self._large:  # a large image has no space next to its figures
            line.addWidget(self.detail)
        pills = in_row(self.copy_address, self.open_address, 1, spacing=6)
        warned = in_row((self._warning, 1), self.shrink, spacing=8)
        words = in_column(name, line, spacing=1)
        if self._large:
            words.addLayout(in_row(self.detail, 1))
        column = in_column(parent=self, margins=(7, 7, 7, 6), spacing=5)
        if self._large:
            column.addWidget(self.thumb, 0, Qt.AlignmentFlag.AlignLeft)
            column.addLayout(words)
        else:
            row = in_row(self.thumb, (words, 1), spacing=8)
            column.addLayout(row)
        column.addLayout(warned)
        column.addLayout(pills)
        column.addStretch(1)

    @property
    def image(self) -> Image:
        """The image shown."""
        return self._image

    def sizeHint(self) -> QSize:
        """Return the usual width, or more where a text needs it, and the height that its words need."""
        layout = self.layout()
        if layout is None:
            return QSize(self._least_width, super().sizeHint().height())
        width = max(self._least_width, layout.minimumSize().width())
        height = layout.heightForWidth(width)
        return QSize(width, height if height > 0 else super().sizeHint().height())

    def show_image(self, image: Image) -> None:
        """Show another image, or the same with another detail."""
        self._image = image
        about, named = facts(image), title(image)
        self.thumb.show_image(image)
        self.thumb.setAccessibleName(f"{named}: open in the browser" if about.address else f"{named}: show larger")
        self._name.set_text(named)
        self._figures.setText(figures(about))
        self.detail.show_detail(image.detail)
        self.remove.say(f"Remove {named[:80]}")
        self._show_warning()
        self.shrink.setVisible(is_large(about) and not self._fixed)
        self.copy_address.setVisible(bool(about.address) and self._large)
        self.open_address.setVisible(bool(about.address) and self._large)
        self.setAccessibleName(f"Image {named}, {figures(about)}")

    def _show_warning(self) -> None:
        cut_off = "Cut off: the end of the file is missing" if self.thumb.cut_off else ""
        words = "\n".join(filter(None, (warning(facts(self._image)), cut_off)))
        self._warning.setText(words)
        self._warning.setVisible(bool(words))

    def _clicked(self) -> None:
        address = facts(self._image).address
        if address:
            self.link_asked.emit(address)
        elif not self.thumb.problem:
            self.opened.emit()

    def _copy_address(self) -> None:
        QGuiApplication.clipboard().setText(self._image.url)

    def _open_address(self) -> None:
        self.link_asked.emit(self._image.url)


class ImageStrip(QWidget):
    """Images side by side, wrapped to the width. Signals carry the image's index."""

    detail_chosen = Signal(int, object)
    removed = Signal(int)
    opened = Signal(int)
    shrink_asked = Signal(int)
    link_asked = Signal(str)

    def __init__(self, *, large: bool, fixed: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._large, self._fixed = large, fixed
        self._flow = FlowLayout(self, gap=8, top=True)
        self.boxes: list[ImageBox] = []

    @property
    def images(self) -> tuple[Image, ...]:
        """The images shown, in order."""
        return tuple(box.image for box in self.boxes)

    def show_images(self, images: tuple[Image, ...]) -> None:
        """Show these; boxes of images that stay are kept."""
        for index, image in enumerate(images):
            if index < len(self.boxes):
                self.boxes[index].show_image(image)
            else:
                self._add(image)
        discard(self._flow, *self.boxes[len(images) :])
        del self.boxes[len(images) :]
        self.updateGeometry()

    def _add(self, image: Image) -> None:
        index = len(self.boxes)
        box = ImageBox(image, large=self._large, fixed=self._fixed)
        box.detail_chosen.connect(partial(self.detail_chosen.emit, index))
        box.removed.connect(partial(self.removed.emit, index))
        box.opened.connect(partial(self.opened.emit, index))
        box.shrink_asked.connect(partial(self.shrink_asked.emit, index))
        box.link_asked.connect(self.link_asked)
        self.boxes.append(box)
        self._flow.addWidget(box)
        box.show()


# One image, large


class ImageDialog(QDialog):
    """Dialog with one image; open it with ``show``."""

    def __init__(self, image: Image, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(show_hidden(title(image))[:120])
        self.canvas = _Canvas()
        self.canvas.setAccessibleName(title(image))
        about = facts(image)
        kind = about.measure.media_type if about.measure else "unknown format"
        words = text_label(f"{figures(about)} · {kind}", "small")
        self.copy = QPushButton("Copy image")
        self.copy.setEnabled(False)
        self.copy.clicked.connect(self._copy)
        close = QPushButton("Close")
        close.clicked.connect(self.accept)
        row = in_row((words, 1), self.copy, close, spacing=8)
        in_column((self.canvas, 1), row, parent=self, margins=12, spacing=10)
        most = parent.window().size() * DIALOG_SHARE
        if about.measure is not None:
            size = QSize(about.measure.width, about.measure.height).boundedTo(QSize(20_000, 20_000))
            if size.width() > most.width() - 24 or size.height() > most.height() - 70:
                size = size.scaled(most - QSize(24, 70), Qt.AspectRatioMode.KeepAspectRatio)
            self.resize((size + QSize(24, 70)).expandedTo(LEAST_DIALOG))
        else:
            self.resize(LEAST_DIALOG)
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
    """Draw the picture as large as it fits, at most in its own size, on squares where it is transparent."""

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
