"""Files and images dragged into the window and dropped there."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QWidget

PLACE = QPointF(20, 10)


def file_data(paths: Iterable[Path]) -> QMimeData:
    """The data of a drag as a file manager offers it."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return data


def drag_over(target: QWidget, data: QMimeData) -> bool:
    """Drag something over a widget or what is around it. Return True if it may be dropped."""
    button, no_key = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    event = QDragEnterEvent(PLACE.toPoint(), Qt.DropAction.CopyAction, data, button, no_key)
    event.ignore()
    QApplication.sendEvent(target, event)
    return event.isAccepted()


def drop(target: QWidget, data: QMimeData) -> bool:
    """Drop something onto a widget or what is around it. Return True if it was taken."""
    accepted = drag_over(target, data)
    if accepted:
        button, no_key = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        QApplication.sendEvent(target, QDropEvent(PLACE, Qt.DropAction.CopyAction, data, button, no_key))
    return accepted
