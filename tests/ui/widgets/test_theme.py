"""Every colour that carries words can be read, in both schemes."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QCheckBox, QPushButton, QRadioButton, QWidget
from pytestqt.qtbot import QtBot

from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.theme import DARK, LIGHT, Tokens, style_sheet

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
    ("text", "found"),
    ("on_found_current", "found_current"),
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


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("word", "ground"), PAIRS)
def test_words_stand_out(scheme: Tokens, word: str, ground: str) -> None:
    ratio = contrast(getattr(scheme, word), getattr(scheme, ground))
    assert ratio >= READABLE, f"{word} on {ground} is {ratio:.2f}:1"


def test_the_ratio_itself() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21, abs=0.01)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)
    assert contrast("#2F5BEA", "#2F5BEA") == 1


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_style_template_is_filled_in_completely(scheme: Tokens) -> None:
    sheet = style_sheet(scheme)
    assert "$" not in sheet
    assert scheme.accent in sheet


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("kind", ["radio", "check", "", "primary", "danger", "over", "quiet", "pill", "link"])
def test_the_keyboards_focus_is_a_line_around_a_button_and_fills_nothing(
    qtbot: QtBot, kind: str, scheme: Tokens
) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    page.setMinimumWidth(240)
    button: QAbstractButton = {"radio": QRadioButton, "check": QCheckBox}.get(kind, QPushButton)("Choose")
    button.setProperty("kind", kind)
    if isinstance(button, QRadioButton | QCheckBox):
        button.setChecked(True)  # its mark is as coloured as the line
    before = QPushButton("Before")
    in_column(before, button, of=page)
    page.setStyleSheet(style_sheet(scheme))
    with qtbot.waitActive(page):
        page.show()
        page.activateWindow()
    before.setFocus()
    without = button.grab().toImage()
    QTest.keyClick(before, Qt.Key.Key_Tab)
    qtbot.waitUntil(button.hasFocus)
    focused = button.grab().toImage()
    assert focused != without
    beside = focused.width() - 20, focused.height() // 2  # of the words
    assert focused.pixel(*beside) == without.pixel(*beside)
