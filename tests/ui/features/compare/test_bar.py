"""The part of the tool bar that is about lanes gives way before anything of it is cut off."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QMenu, QWidget
from pytestqt.qtbot import QtBot

from playground.ui.features.compare.bar import LanesBar
from playground.ui.shell.tool_bar import ToolBar


@pytest.mark.parametrize("width", [760, 1024, 1440])
def test_all_of_it_is_seen_at_any_width(qtbot: QtBot, width: int) -> None:
    tool_bar, bar = ToolBar(QMenu(), QMenu()), LanesBar()
    qtbot.addWidget(tool_bar)
    tool_bar.resize(width, 46)
    tool_bar.show()
    qtbot.waitExposed(tool_bar)
    bar.show_lanes("A title that is rather long, and goes on & on", 6, together=True, marking=False, full="")
    tool_bar.show_page("Compare", bar)
    qtbot.wait(1)
    assert tool_bar.minimumSizeHint().width() <= 760
    shown = [part for part in (bar.title, bar.together, bar.add, bar.mark, tool_bar.pages) if part.isVisible()]
    assert len(shown) == 5
    for part in shown:
        assert part.width() >= part.minimumSizeHint().width()
        assert _right(part, tool_bar) <= _left(tool_bar.code, tool_bar)
    assert not tool_bar.model.isVisible()
    tool_bar.show_page("Conversation")
    assert tool_bar.model.isVisible()
    assert not bar.isVisible()


def _left(part: QWidget, of: QWidget) -> int:
    return part.mapTo(of, part.rect().topLeft()).x()


def _right(part: QWidget, of: QWidget) -> int:
    return part.mapTo(of, part.rect().topRight()).x()
