"""Lines that a server writes, the newest at the end: followed while the view stands there, and never too many."""

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
    """``show_lines`` shows the last of them; what was there before is not written anew."""

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
        """What comes next is another server's."""
        self._last = ()
        self.clear()

    def show_lines(self, lines: Sequence[L]) -> None:
        """Show the last of ``lines``, which may go on from those that are shown."""
        shown = tuple(lines[-MOST:])
        if shown == self._last:
            return
        new = _new(self._last, shown)
        bar = self.verticalScrollBar()
        follows, place = bar.value() >= bar.maximum() - 2, bar.value()
        told = new[-AT_ONCE:] if self._last else new
        text = "\n".join(escape_hidden(cut(self._spell(line), _LONGEST).replace("\n", " ")) for line in told)
        if len(told) < len(new):
            text = f"… {len(new) - len(told)} lines and more …\n{text}"
        if self._last and shown:
            self.appendPlainText(text)
        else:
            self.setPlainText(text)
        self._last = shown
        bar.setValue(bar.maximum() if follows else place)


def _new(before: tuple[L, ...], now: tuple[L, ...]) -> tuple[L, ...]:
    """What of ``now`` comes after ``before``; all of it where they have nothing in common."""
    if not before:
        return now
    for at in range(len(now) - 1, -1, -1):
        if now[at] == before[-1] and now[: at + 1] == before[max(len(before) - at - 1, 0) :]:
            return now[at + 1 :]
    return now


def log_line(line: LogLine) -> str:
    """A line of the log as it is shown."""
    at = strftime("%H:%M:%S", localtime(line.at))
    logger = f" {line.logger}:" if line.logger else ""
    return f"{at} {line.level}{logger} {line.text}"
