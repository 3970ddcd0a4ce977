"""Evaluate untrusted schemas, patterns and paths for a widget without blocking it.

A widget asks each time it draws, shows "checking…" for an answer that is not available yet, and draws again after
``answered``. So an outdated answer is never shown.
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


class WidgetQuestions(QObject):
    """The open questions of a widget. ``answered`` is emitted when another answer is available."""

    answered = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._pending: dict[tuple[Any, ...], tuple[Question[Any], Callable[[], None]]] = {}

    def ask(self, question: Question[T], *, alone: bool = False) -> T | None:
        """Return the answer, or None while it is not available. ``alone`` cancels all other open questions."""
        key = question.key
        if alone:
            self._cancel_pending(except_for=key)
        answer = checking.now(question)
        if answer is not None or key in self._pending:
            return answer
        self._pending[key] = (question, _do_nothing)
        cancel = checking.later(question, partial(self._receive, key))
        if key in self._pending:
            self._pending[key] = (question, cancel)
            return None
        return checking.now(question)  # without an event loop the answer was computed at once

    def _cancel_pending(self, except_for: tuple[Any, ...]) -> None:
        for key in [key for key in self._pending if key != except_for]:
            self._pending.pop(key)[1]()

    def _receive(self, key: tuple[Any, ...], _answer: object) -> None:
        if isValid(self) and self._pending.pop(key, None) is not None:
            self.answered.emit()


def _do_nothing() -> None:
    """Do nothing; the placeholder until a question can be cancelled."""
