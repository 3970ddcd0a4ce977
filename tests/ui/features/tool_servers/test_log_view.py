"""The log of a tool server."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from playground.engine.tool_servers.events import LogLine
from playground.ui.features.tool_servers.log_view import AT_ONCE, MOST, LogView, log_line


def make_view(qtbot: QtBot) -> LogView[str]:
    view: LogView[str] = LogView("Log", "Nothing yet", str)
    qtbot.addWidget(view)
    view.resize(300, 120)
    view.show()
    return view


def test_flood_of_lines_is_shortened(qtbot: QtBot) -> None:
    view = make_view(qtbot)
    view.show_lines(["first"])
    view.show_lines([f"{n}" for n in range(5_000)])
    assert f"{MOST - AT_ONCE} lines or more" in view.toPlainText()
    assert view.toPlainText().endswith("4999")
    for start in range(0, 5_000, 50):
        view.show_lines([f"{n}" for n in range(start, start + 60)])
    assert view.blockCount() <= MOST


def test_hidden_characters_are_marks_and_long_lines_are_cut(qtbot: QtBot) -> None:
    view: LogView[LogLine] = LogView("Log", "", log_line)
    qtbot.addWidget(view)
    view.show_lines([LogLine(0, "info", "server", "\x1b[31mred\u202e" + "x" * 5_000)])
    text = view.toPlainText()
    assert "info server:" in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert len(text) < 600
