"""What tests of widgets share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QMainWindow
from pytestqt.qtbot import QtBot


@pytest.fixture
def main(qtbot: QtBot) -> Iterator[QMainWindow]:
    """A window for dialogs to stand before."""
    main = QMainWindow()
    qtbot.addWidget(main)
    main.resize(1200, 900)
    main.show()
    yield main
    main.hide()
