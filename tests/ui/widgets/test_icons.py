"""Icons as Qt asks for them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QSize, QtMsgType, qInstallMessageHandler
from PySide6.QtWidgets import QApplication

from playground.ui.widgets.icons import icon


@pytest.fixture
def messages(qapp: QApplication) -> Iterator[list[str]]:
    heard: list[str] = []
    before = qInstallMessageHandler(lambda kind, _, text: heard.append(text) if kind > QtMsgType.QtDebugMsg else None)
    yield heard
    qInstallMessageHandler(before)


def test_icon_has_the_size_asked_for(messages: list[str]) -> None:
    assert icon("chevron-down").pixmap(QSize(12, 12), 1.0).size() == QSize(12, 12)
    for size in (QSize(0, 0), QSize(0, 12), QSize(12, 0)):
        assert icon("chevron-down", "muted").pixmap(size).isNull()
    assert messages == []
