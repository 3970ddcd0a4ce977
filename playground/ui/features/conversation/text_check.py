"""Check JSON that was received, in another process. A text above ``AT_ALL`` is not checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QObject, Signal

from playground.engine.questions.kinds import Question
from playground.jsonkit.problems import Problem
from playground.jsonkit.values import JSONObject
from playground.ui.widgets.widget_questions import WidgetQuestions

AT_ALL: Final = 1_000_000  # characters

Asks = Callable[[str, JSONObject | None], Question[list[Problem]]]


class TextCheck(QObject):
    """Check one text at a time; ``checked`` is emitted when the result for the last one arrives."""

    checked = Signal()

    def __init__(self, asks: Asks, parent: QObject) -> None:
        super().__init__(parent)
        self._asks = asks
        self._questions = WidgetQuestions(self)
        self._questions.answered.connect(self.checked)

    def problems(self, text: str, schema: JSONObject | None) -> list[Problem] | None:
        """Return the problems; None while they are not known, and for a text that is too large to check."""
        return self._questions.ask(self._asks(text, schema), alone=True) if len(text) <= AT_ALL else None


def unchecked_words(text: str) -> tuple[str, str]:
    """Return the words of a chip for an unchecked text, and its tooltip."""
    if len(text) <= AT_ALL:
        return "checking…", ""
    return "too large to check here", f"Texts of more than {AT_ALL:,} characters are not checked."
