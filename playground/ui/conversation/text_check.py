"""What is wrong with JSON somebody sent, found without keeping the window waiting: a long text on another thread.

A text above ``AT_ALL`` is not checked here: reading it alone would stop every thread for longer than a frame.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from playground.domain.tools import Problem
from playground.domain.values import JSONObject
from playground.ui.loop import spawn

AT_ONCE = 40_000  # characters that are checked within a few frames
AT_ALL = 1_000_000

Check = Callable[[str, JSONObject | None], list[Problem]]


class TextCheck(QObject):
    """Asks ``check`` about one text at a time; ``checked`` tells that the answer for the one asked last is known."""

    checked = Signal()

    def __init__(self, check: Check, parent: QObject) -> None:
        super().__init__(parent)
        self._check = check
        self._asked: tuple[str, JSONObject | None] | None = None
        self._problems: list[Problem] | None = None

    def problems(self, text: str, schema: JSONObject | None) -> list[Problem] | None:
        """What is wrong; None while that is not known, and for a text that is too large ever to be."""
        if len(text) <= AT_ONCE:
            return self._check(text, schema)
        if self._asked != (text, schema):
            self._asked, self._problems = (text, schema), None
            if len(text) <= AT_ALL:
                spawn(self._look(text, schema), name="check a long text")
        return self._problems

    async def _look(self, text: str, schema: JSONObject | None) -> None:
        found = await asyncio.to_thread(self._check, text, schema)
        if self._asked == (text, schema):
            self._problems = found
            self.checked.emit()


def unchecked_words(text: str) -> tuple[str, str]:
    """What a chip says of a text of which nothing is known: the words, and all there is to say."""
    if len(text) <= AT_ALL:
        return "checking…", ""
    return "too large to check here", f"Texts of more than {AT_ALL:,} characters are not held against a schema here."
