"""The output of a server: the last lines, followed while the view is at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import localtime, strftime
from typing import Final, Generic, TypeVar

from PySide6.QtGui import QTextOption
from PySide6.QtWidgets import QPlainTextEdit

from playground.engine.tool_servers.events import LogLine
from playground.jsonkit.texts import cut
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.plain_text import escape_hidden
from playground.ui.widgets.theme import code_font

MOST: Final = 300  # lines
AT_ONCE: Final = 60  # new lines that are written below others; more than anybody reads in a moment
_LONGEST: Final = 400  # characters of a line

L = TypeVar("L")


class LogView(QPlainTextEdit, Generic[L]):
    """Shows the last lines; only new ones are added."""

    def __init__(self, says: str, empty: str, spell: Callable[[L], str]) -> None:
        super().__init__()
        styled(self, "code")
        self._spell = spell
        self._last: tuple[L, ...] = ()
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setAccessibleName(says)
        self.setPlaceholderText(empty)
        self.setFont(code_font())
        self.setMaximumBlockCount(MOST)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setTabChangesFocus(True)

    def forget(self) -> None:
        """Clear the view before another server is shown."""
        self._last = ()
        self.clear()

    def show_lines(self, lines: Sequence[L]) -> None:
        """Show the last of ``lines``, which may continue those in the view."""
        visible = tuple(lines[-MOST:])
        if visible == self._last:
            return
        new = _new(self._last, visible)
        bar = self.verticalScrollBar()
        follows, place = bar.value() >= bar.maximum() - 2, bar.value()
        added = new[-AT_ONCE:] if self._last else new
        text = "\n".join(escape_hidden(cut(self._spell(line), _LONGEST).replace("\n", " ")) for line in added)
        if len(added) < len(new):
            text = f"… {len(new) - len(added)} lines or more omitted …\n{text}"
        if self._last and visible:
            self.appendPlainText(text)
        else:
            self.setPlainText(text)
        self._last = visible
        bar.setValue(bar.maximum() if follows else place)


def _new(before: tuple[L, ...], now: tuple[L, ...]) -> tuple[L, ...]:
    """Return the lines of ``now`` after those of ``before``; all if they have none in common."""
    if not before:
        return now
    for index in range(len(now) - 1, -1, -1):
        if now[index] == before[-1] and now[: index + 1] == before[max(len(before) - index - 1, 0) :]:
            return now[index + 1 :]
    return now


def log_line(line: LogLine) -> str:
    """Return a log line as text."""
    time = strftime("%H:%M:%S", localtime(line.time))
    logger = f" {line.logger}:" if line.logger else ""
    return f"{time} {line.level}{logger} {line.text}"
