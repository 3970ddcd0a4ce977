"""Fixtures that tests of widgets share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget
from pytestqt.qtbot import QtBot

from tests.support.fonts import WIDTHS, letters_of_width

W = TypeVar("W", bound=QWidget)

PATIENCE = 30_000  # milliseconds: the longest one wait may take on a busy machine


class PatientBot(QtBot):
    """Waits as long as a busy machine may need, not pytest-qt's five seconds."""

    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = PATIENCE) -> None:
        super().waitUntil(callback, timeout=timeout)


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    """In the place of pytest-qt's own; no key of an earlier test counts as held."""
    if QGuiApplication.keyboardModifiers():
        QTest.keyRelease(QWidget(), Qt.Key.Key_Control)
    return PatientBot(request)


@pytest.fixture(params=WIDTHS)
def letters(qapp: QApplication, request: pytest.FixtureRequest) -> Iterator[None]:
    """Text as wide as in a narrow and as in a wide font; each test that uses this runs with both."""
    with letters_of_width(qapp, request.param):
        yield


class ShowWidget(Protocol):
    """Shows a widget of its own in a size, until the test ends."""

    def __call__(self, widget: W, width: int, height: int) -> W: ...


@pytest.fixture
def show_widget(qtbot: QtBot) -> Iterator[ShowWidget]:
    """Show a widget and wait until it is exposed."""
    widgets: list[QWidget] = []

    def show(widget: W, width: int, height: int) -> W:
        qtbot.addWidget(widget)
        widget.resize(width, height)
        widget.show()
        qtbot.waitExposed(widget)
        widgets.append(widget)
        return widget

    yield show
    for widget in widgets:
        widget.hide()


@pytest.fixture
def main(qtbot: QtBot) -> Iterator[QMainWindow]:
    """A parent window for dialogs."""
    main = QMainWindow()
    qtbot.addWidget(main)
    main.resize(1200, 900)
    main.show()
    yield main
    main.hide()
