"""Words are readable in both schemes, and the focus is seen."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QCheckBox, QPushButton, QRadioButton, QWidget
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


def test_colours_of_words_have_a_readable_contrast() -> None:
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)
    ratios = {
        (scheme is DARK, word, ground): contrast(getattr(scheme, word), getattr(scheme, ground))
        for scheme in (LIGHT, DARK)
        for word, ground in PAIRS
    }
    assert {pair: ratio for pair, ratio in ratios.items() if ratio < READABLE} == {}


def test_style_template_is_filled_in() -> None:
    for scheme in (LIGHT, DARK):
        assert "$" not in style_sheet(scheme)
        assert scheme.accent in style_sheet(scheme)


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_keyboard_focus_is_a_line_around_a_button(qtbot: QtBot, scheme: Tokens) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    page.setMinimumWidth(240)
    before = QPushButton("Before")
    buttons: list[QAbstractButton] = []
    for kind in ("radio", "check", "", "primary", "danger", "over", "quiet", "pill", "link"):
        button: QAbstractButton = {"radio": QRadioButton, "check": QCheckBox}.get(kind, QPushButton)("Choose")
        button.setProperty("kind", kind)
        if isinstance(button, QRadioButton | QCheckBox):
            button.setChecked(True)  # its mark is as coloured as the line
        buttons.append(button)
    in_column(before, *buttons, of=page)
    page.setStyleSheet(style_sheet(scheme))
    with qtbot.waitActive(page):
        page.show()
        page.activateWindow()
    before.setFocus()
    for button in buttons:
        plain = button.grab().toImage()
        focus = QApplication.focusWidget()
        assert focus is not None
        QTest.keyClick(focus, Qt.Key.Key_Tab)
        qtbot.waitUntil(button.hasFocus)
        focused = button.grab().toImage()
        assert focused != plain
        beside = focused.width() - 20, focused.height() // 2  # of the words
        assert focused.pixel(*beside) == plain.pixel(*beside), button.property("kind")
