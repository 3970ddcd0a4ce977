"""Text as wide as in a narrow or in a wide font, whichever fonts a machine has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtGui import QFont, QFontMetricsF
from PySide6.QtWidgets import QApplication

#: Mean width of a letter as a share of the font's size: 0.45 is Arial, 0.48 Noto Sans, 0.51 DejaVu Sans.
WIDTHS = {"narrow": 0.45, "wide": 0.53}
_SAMPLE = "The quick brown fox jumps over the lazy dog. "


def letter_width(font: QFont) -> float:
    """Return the mean width of a letter as a share of the font's size."""
    sized = QFont(font)
    sized.setPixelSize(100)
    return QFontMetricsF(sized).horizontalAdvance(_SAMPLE) / len(_SAMPLE) / 100


@contextmanager
def letters_of_width(application: QApplication, name: str) -> Iterator[None]:
    """Space the letters of the application's font so that its text is as wide as in the font of that name."""
    before = QApplication.font()
    plain = QFont(before)
    plain.setLetterSpacing(QFont.SpacingType.PercentageSpacing, 100)
    spaced = QFont(plain)
    spaced.setLetterSpacing(QFont.SpacingType.PercentageSpacing, 100 * WIDTHS[name] / letter_width(plain))
    application.setFont(spaced)
    try:
        yield
    finally:
        application.setFont(before)
