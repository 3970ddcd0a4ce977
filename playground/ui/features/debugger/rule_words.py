"""Rules, rows and answers in a few words, for lists and buttons. No widgets here."""

from __future__ import annotations

from typing import Final

from playground.domain.debugging import Answer, AnswerRow, MatchKind, Policy, ToolRule
from playground.ui.widgets.plain_text import show_hidden

POLICIES: Final = (
    (Policy.PAUSE, "Ask me"),
    (Policy.TABLE, "Mock table"),
    (Policy.FIXED, "Fixed reply"),
    (Policy.SERVER, "Call server"),
)
LONGEST = 160  # characters of a text by somebody else in one line


def one_line(text: str, most: int = LONGEST) -> str:
    """A text in one line, hidden characters as marks, cut where it is long."""
    shown = show_hidden(" ".join(text[: most * 4].split()))
    return shown if len(shown) <= most and len(text) <= most * 4 else f"{shown[:most]}…"


def answer_words(answer: Answer, most: int = LONGEST) -> str:
    """``error · "no such city" · after 2 s``: the text of an answer and what is special about it."""
    if answer.never:
        return "never answers"
    words = ["error"] if answer.is_error else []
    if answer.size:
        words.append(f"{answer.size:,} characters of {one_line(answer.text, 24)}")
    else:
        words.append(one_line(answer.text, most) if answer.text.strip() else "empty")
    if answer.delay:
        words.append(f"after {answer.delay:g} s")
    return " · ".join(words)


def match_words(row: AnswerRow) -> str:
    """Which arguments a row is for."""
    if row.match is MatchKind.ANY:
        return "any"
    return one_line(row.pattern) or "(nothing yet)"


def rule_words(rule: ToolRule) -> str:
    """``pause`` · ``table, 3 rows`` · ``fixed: sunny``, and the conditions that are set besides."""
    if rule.policy is Policy.PAUSE:
        return f"pause · {_rows(rule)} ready" if rule.rows else "pause"
    words = _answer_words(rule)
    conditions = []
    if rule.policy is Policy.SERVER:
        conditions += ["before"] * rule.before + ["after"] * rule.after
    if rule.pause_on_path:
        conditions.append("on a match")
    if rule.pause_from:
        conditions.append(f"from call {rule.pause_from}")
    if not rule.pause_on_misfit:
        words += " · also on a misfit"
    return f"{words} · pauses {' and '.join(conditions)}" if conditions else words


def _answer_words(rule: ToolRule) -> str:
    if rule.policy is Policy.SERVER:
        return "the server"
    return f"table, {_rows(rule)}" if rule.policy is Policy.TABLE else f"fixed: {answer_words(rule.fixed, 40)}"


def _rows(rule: ToolRule) -> str:
    number = len(rule.rows)
    return "no rows" if not number else "1 row" if number == 1 else f"{number} rows"
