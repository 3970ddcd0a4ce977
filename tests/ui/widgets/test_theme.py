"""Words are readable in both schemes, and the focus is seen."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from playground.ui.widgets.theme import DARK, LIGHT, style_sheet

READABLE = 4.5  # WCAG 2.1, level AA, body text

WORDS = ["text", "muted", "accent", "system", "user", "assistant", "tool", "reasoning", "error", "ok"]
GROUNDS = ["window", "surface", "raised", "chip", "code"]
PAIRS = [
    *((word, ground) for word in WORDS for ground in GROUNDS),
    ("on_accent", "accent"),
    ("text", "accent_background"),
    ("muted", "accent_background"),
    ("accent", "accent_background"),
    ("text", "line"),
    ("text", "reasoning_background"),
    ("muted", "reasoning_background"),
    ("reasoning", "reasoning_background"),
    ("text", "search_match"),
    ("on_search_match_current", "search_match_current"),
    ("text", "error_background"),
    ("muted", "error_background"),
    ("error", "error_background"),
]


def contrast(first: str, second: str) -> float:
    """The WCAG contrast ratio of two colours, 1 to 21."""
    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    def linear(channel: float) -> float:
        return channel / 12.92 if channel <= 0.03928 else ((channel + 0.055) / 1.055) ** 2.4

    c = QColor(colour)
    return 0.2126 * linear(c.redF()) + 0.7152 * linear(c.greenF()) + 0.0722 * linear(c.blueF())


def test_colours_of_words_have_a_readable_contrast() -> None:
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)
    ratios = {
        (scheme is DARK, word, ground): contrast(getattr(scheme, word), getattr(scheme, ground))
        for scheme in (LIGHT, DARK)
        for word, ground in PAIRS
    }
    assert {pair: ratio for pair, ratio in ratios.items() if ratio < READABLE} == {}


def test_drop_down_opens_as_a_list_below_its_field(qtbot: QtBot) -> None:
    box = QComboBox()
    qtbot.addWidget(box)
    box.addItems([f"entry {number}" for number in range(4)])
    box.setStyleSheet(style_sheet(LIGHT))
    box.show()
    box.showPopup()
    popup = box.view().window()
    assert popup.mapToGlobal(QPoint()).y() >= box.mapToGlobal(QPoint(0, box.height())).y() - 1
    assert box.view().verticalScrollBar().maximum() == 0, "no entry is cut off"
    box.hidePopup()


def test_style_template_is_filled_in() -> None:
    for scheme in (LIGHT, DARK):
        assert "$" not in style_sheet(scheme)
        assert scheme.accent in style_sheet(scheme)
