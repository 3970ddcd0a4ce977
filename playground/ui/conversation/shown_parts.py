"""Which parts of a turn are shown, and how: the one place that cards and the search agree on. No Qt."""

from __future__ import annotations

from playground.domain.output import wants_json
from playground.domain.parts import Part, Reasoning, Text
from playground.domain.transcript import Role, Turn

REDACTED = "(redacted by the provider)"


def is_judged(turn: Turn) -> bool:
    """Whether the text of a turn is an answer that was to be JSON; what stands beside a tool call is not."""
    outcome = turn.outcome
    return outcome is not None and wants_json(outcome.response_format) and bool(turn.text) and not turn.calls


def shown_parts(turn: Turn) -> list[Part]:
    """The parts that are shown; the text of an answer that was to be JSON is one part.

    Images that follow one another are shown together, in the place of the first.
    """
    parts: list[Part] = []
    before = ""
    for part in turn.parts:
        if not (part.kind == "image" and before == "image") and not (part.kind == "reasoning" and not _has_words(part)):
            parts.append(part)
        before = part.kind
    if not is_judged(turn):
        return parts
    first = next(part for part in parts if isinstance(part, Text))
    whole = first.model_copy(update={"text": turn.text})
    return [whole if part is first else part for part in parts if part is first or not isinstance(part, Text)]


def text_mode(turn: Turn, part: Part) -> str:
    """How a text of a turn is drawn where nobody asked for the exact text: "markdown", "plain" or "raw"."""
    if part.kind in ("unknown", "tool_result"):
        return "raw"
    return "markdown" if turn.role is Role.ASSISTANT else "plain"


def _has_words(part: Reasoning) -> bool:
    return bool(part.text or part.redacted)
