"""A copy that holds invisible characters is reported, however it was made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from playground.ui.widgets.copied import CopiedNotice, copied_words
from playground.ui.widgets.notice_bar import NoticeBar


@pytest.fixture
def notice(qtbot: QtBot) -> Iterator[NoticeBar]:
    field, bar = QLineEdit(), NoticeBar()
    qtbot.addWidget(field)
    qtbot.addWidget(bar)
    field.show()
    field.activateWindow()
    qtbot.waitUntil(lambda: QGuiApplication.focusWindow() is not None)
    CopiedNotice(bar.say, field)
    yield bar
    field.close()


def test_hidden_characters_are_named_and_can_be_left_out(qtbot: QtBot, notice: NoticeBar) -> None:
    QGuiApplication.clipboard().setText("pay\u202e to\u200b m\u200be ❤️ می‌خواهم")
    qtbot.waitUntil(lambda: not notice.isHidden())
    assert notice.words == (
        "Copied with 3 characters that are invisible where you paste: U+200B ZERO WIDTH SPACE (2 times), "
        "U+202E RIGHT-TO-LEFT OVERRIDE."
    )
    (button,) = notice.buttons
    assert button.text() == "Copy without them"
    button.click()
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().text() == "pay to me ❤️ می‌خواهم")
    assert notice.isHidden()
    for text in ("plain", "❤️ 👩‍💻 می‌خواهم שלום C++\u200e,", "", "a\tb\n"):
        QGuiApplication.clipboard().setText(text)
        assert notice.isHidden()
    QGuiApplication.clipboard().setText("the next\u200b copy")
    qtbot.waitUntil(lambda: not notice.isHidden())
    assert "with a character" in notice.words, "of the last one only"


def test_window_without_focus_shows_no_notice(qtbot: QtBot, notice: NoticeBar) -> None:
    second, messages = QLineEdit(), []
    qtbot.addWidget(second)
    CopiedNotice(lambda words, _name, _work: messages.append(words), second)
    QGuiApplication.clipboard().setText("to\u200b me")
    qtbot.waitUntil(lambda: not notice.isHidden())
    assert messages == []


def test_notice_counts_hidden_characters() -> None:
    item = copied_words(Counter({"\u00ad": 1}))
    assert item == "Copied with a character that is invisible where you paste: U+00AD SOFT HYPHEN."
    many = copied_words(Counter({"\u200b": 1500, "\u200c": 3, "\u200d": 2, "\u2060": 1, "\u3164": 1}))
    assert "with 1,507 characters" in many
    assert "U+200B ZERO WIDTH SPACE (1,500 times)" in many
    assert many.endswith("3 other kinds.")
    assert copied_words(Counter("\u200b\u200c\u200d")).endswith(", 1 other kind.")
