"""Questions that a widget asks of foreign schemas, patterns and paths, without ever waiting for an answer.

A widget asks for what it shows each time it draws; what is not known yet it shows as "checking…", and draws again when
``answered`` tells that it is. So nothing that is shown can be of something else by then.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal
from shiboken6 import isValid

from playground.engine.questions import checking
from playground.engine.questions.kinds import Question

T = TypeVar("T")


class Asking(QObject):
    """``ask`` gives an answer that is known or cheap; ``answered`` tells that one more is known."""

    answered = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._open: dict[tuple[Any, ...], tuple[Question[Any], Callable[[], None]]] = {}

    def ask(self, question: Question[T], *, alone: bool = False) -> T | None:
        """The answer; None while it is not known. ``alone``: what was asked before is of no interest any more."""
        key = question.key
        if alone:
            self._call_off(but=key)
        found = checking.now(question)
        if found is not None or key in self._open:
            return found
        self._open[key] = (question, _nothing)
        call_off = checking.later(question, partial(self._arrived, key))
        if key in self._open:
            self._open[key] = (question, call_off)
            return None
        return checking.now(question)  # it was waited for: no event loop runs

    def _call_off(self, but: tuple[Any, ...]) -> None:
        for key in [key for key in self._open if key != but]:
            self._open.pop(key)[1]()

    def _arrived(self, key: tuple[Any, ...], _answer: object) -> None:
        if isValid(self) and self._open.pop(key, None) is not None:
            self.answered.emit()


def _nothing() -> None:
    """Nothing to call off yet."""
