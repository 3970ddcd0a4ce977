"""Widgets as windows of their own."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot


def show_in_front(qtbot: QtBot, widget: QWidget) -> None:
    """Show a widget as the window that has the keyboard: on a screen without a window manager none has it by itself."""
    with qtbot.waitActive(widget):
        widget.show()
        widget.activateWindow()
