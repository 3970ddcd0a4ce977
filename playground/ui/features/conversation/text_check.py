"""What is wrong with JSON somebody sent, found without keeping the window waiting.

A text above ``AT_ALL`` is not checked here: nobody waits for what could be said of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QObject, Signal

from playground.engine.questions.kinds import Question
from playground.jsonkit.problems import Problem
from playground.jsonkit.values import JSONObject
from playground.ui.widgets.asking import Asking

AT_ALL: Final = 1_000_000  # characters

Asks = Callable[[str, JSONObject | None], Question[list[Problem]]]


class TextCheck(QObject):
    """Asks about one text at a time; ``checked`` tells that the answer for the one asked last is known."""

    checked = Signal()

    def __init__(self, asks: Asks, parent: QObject) -> None:
        super().__init__(parent)
        self._asks = asks
        self._asking = Asking(self)
        self._asking.answered.connect(self.checked)

    def problems(self, text: str, schema: JSONObject | None) -> list[Problem] | None:
        """What is wrong; None while that is not known, and for a text that is too large ever to be."""
        return self._asking.ask(self._asks(text, schema), alone=True) if len(text) <= AT_ALL else None


def unchecked_words(text: str) -> tuple[str, str]:
    """What a chip says of a text of which nothing is known: the words, and all there is to say."""
    if len(text) <= AT_ALL:
        return "checking…", ""
    return "too large to check here", f"Texts of more than {AT_ALL:,} characters are not held against a schema here."
