"""Golden pictures: how some scenes have to look, and the tolerant comparison with how they look now.

A golden picture is kept at half the size. The comparison forgives a pixel's shift and another way to smooth letters;
it reports what a person would notice: a missing button, other words, another colour or layout.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QImage, QImageWriter, QPainter

SMOOTH = Qt.TransformationMode.SmoothTransformation
NOWHERE = QPoint(0, 0)
COMMAND = "python -m tests.scenes --golden"
PICTURES = (
    "welcome-light-1440x900",
    "welcome-dark-1024x700",
    "finished-light-1440x900",
    "finished-dark-1024x700",
    "wide-answer-dark-1024x700",
    "image-attached-light-1024x700",
    "narrow-window-light-760x520",
    "palette-dark-1440x900",
    "tool-calls-light-1024x700",
    "paused-with-error-light-1440x900",
    "call-edited-dark-1440x900",
    "writing-calls-light-1024x700",
    "large-result-dark-1024x700",
    "rules-table-light-1440x900",
    "tools-form-light-1440x900",
    "tools-import-light-1440x900",
    "server-tools-groups-dark-1440x900",
    "servers-import-light-1024x700",
    "output-errors-light-1440x900",
    "raw-dark-1024x700",
    "request-next-light-1440x900",
    "nested-origins-dark-1024x700",
    "get-code-dark-1440x900",
    "import-request-light-1440x900",
    "request-diff-light-1440x900",
    "lint-report-dark-1440x900",
    "error-mid-stream-light-1024x700",
    "refused-fields-light-1440x900",
    "gateways-light-1440x900",
    "gateway-rules-dark-1024x700",
    "protocol-switch-light-1024x700",
    "connect-service-dark-1024x700",
    "compare-empty-light-1440x900",
    "alternatives-in-lanes-dark-1440x900",
    "compare-models-light-1024x700",
    "evaluate-cases-light-1440x900",
    "evaluate-variants-dark-1024x700",
    "listen-empty-light-1440x900",
    "listen-listing-light-1440x900",
    "listen-paused-dark-1024x700",
    "experiments-by-day-light-1440x900",
    "tree-map-dark-1024x700",
    "variables-light-1440x900",
    "check-before-light-1024x700",
    "models-panel-dark-1440x900",
    "told-costs-light-1440x900",
    "help-evaluating-light-1440x900",
)

BLOCK = 6  # pixels of the halved picture: about the height of a line of text
SHIFT = 1  # pixels of the picture that something may have moved
DIFFERENCE = 18  # of 255, the mean over a block, from which the block differs
BLOCKS = 2  # so many differing blocks are forgiven


def scene_and_look(picture: str) -> tuple[str, str, str]:
    """The name of the scene, the scheme and the size, by the name of a picture."""
    name, scheme, size = picture.rsplit("-", 2)
    return name, scheme, size


def halve(picture: QImage, shift: QPoint = NOWHERE) -> QImage:
    """The picture, moved by ``shift``, half as wide and high."""
    moved = picture.copy(QRect(shift, picture.size())) if shift != NOWHERE else picture
    return moved.scaled(picture.size() / 2, Qt.AspectRatioMode.IgnoreAspectRatio, SMOOTH)


def write_golden(picture: QImage, file: Path) -> bool:
    """Write a picture as a golden one: halved, with 32 shades of each colour, which makes the file small."""
    small = halve(picture).convertToFormat(QImage.Format.Format_RGB555).convertToFormat(QImage.Format.Format_RGB888)
    writer = QImageWriter(str(file))
    writer.setQuality(0)  # the smallest file
    return writer.write(small)


def find_differences(golden: QImage, actual: QImage) -> QImage | None:
    """A picture with the differing blocks in white, or None when ``actual``, in full size, looks like ``golden``."""
    if golden.size() != actual.size() / 2:
        return _mark(golden.size(), [(x, y) for x in range(golden.width()) for y in range(golden.height())])
    means = _means(golden, halve(actual))
    blocks = _find_blocks(means)
    if len(blocks) > BLOCKS:
        steps = range(-SHIFT, SHIFT + 1)
        for position in (QPoint(x, y) for x in steps for y in steps if x or y):
            moved = _means(golden, halve(actual, position))
            _compose(means, moved, QPainter.CompositionMode.CompositionMode_Darken)
        blocks = _find_blocks(means)
    return _mark(means.size(), blocks).scaled(golden.size()) if len(blocks) > BLOCKS else None


def _means(golden: QImage, actual: QImage) -> QImage:
    """One pixel a block: the mean difference of each colour."""
    difference = golden.convertToFormat(QImage.Format.Format_RGB32)
    _compose(difference, actual, QPainter.CompositionMode.CompositionMode_Difference)
    size = QSize(-(-golden.width() // BLOCK), -(-golden.height() // BLOCK))
    return difference.scaled(size, Qt.AspectRatioMode.IgnoreAspectRatio, SMOOTH)


def _compose(onto: QImage, image: QImage, mode: QPainter.CompositionMode) -> None:
    painter = QPainter(onto)
    painter.setCompositionMode(mode)
    painter.drawImage(0, 0, image)
    painter.end()


def _find_blocks(means: QImage) -> list[tuple[int, int]]:
    """The blocks that differ."""
    image = means.convertToFormat(QImage.Format.Format_RGB888)
    data, stride = bytes(image.constBits()), image.bytesPerLine()
    places = ((x, y) for y in range(image.height()) for x in range(image.width()))
    return [(x, y) for x, y in places if max(data[y * stride + 3 * x : y * stride + 3 * x + 3]) >= DIFFERENCE]


def _mark(size: QSize, blocks: list[tuple[int, int]]) -> QImage:
    marks = QImage(size, QImage.Format.Format_Grayscale8)
    marks.fill(QColor("black"))
    for x, y in blocks:
        marks.setPixelColor(x, y, QColor("white"))
    return marks
