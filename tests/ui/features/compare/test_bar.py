"""The controls of the lanes in the tool bar, at several widths of the window."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QMenu, QWidget
from pytestqt.qtbot import QtBot

from playground.ui.features.compare.bar import LanesBar
from playground.ui.shell.tool_bar import ToolBar


@pytest.mark.usefixtures("letters")
@pytest.mark.parametrize("width", [760, 1440])
def test_lanes_bar_at_any_width_is_not_cut_off(qtbot: QtBot, width: int) -> None:
    tool_bar, bar = ToolBar(QMenu(), QMenu()), LanesBar()
    qtbot.addWidget(tool_bar)
    tool_bar.show()
    qtbot.waitExposed(tool_bar)
    bar.show_lanes("A title that is rather long, and goes on & on", 6, together=True, marking=False, full="")
    tool_bar.show_page("Compare", bar)
    tool_bar.resize(width, 46)
    parts = (bar.title, bar.together, bar.add, bar.mark, tool_bar.pages)

    def is_whole() -> bool:
        shown = [part for part in parts if part.isVisible()]
        return len(shown) == len(parts) and all(
            part.width() >= part.minimumSizeHint().width() and _right(part, tool_bar) <= _left(tool_bar.code, tool_bar)
            for part in shown
        )

    qtbot.waitUntil(lambda: tool_bar.width() == width and is_whole())
    assert tool_bar.minimumSizeHint().width() <= 760
    assert not tool_bar.model.isVisible()
    tool_bar.show_page("Conversation")
    assert tool_bar.model.isVisible()
    assert not bar.isVisible()


def _left(part: QWidget, of: QWidget) -> int:
    return part.mapTo(of, part.rect().topLeft()).x()


def _right(part: QWidget, of: QWidget) -> int:
    return part.mapTo(of, part.rect().topRight()).x()
