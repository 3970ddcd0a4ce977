"""The parts of a turn that its card shows, and how; cards and the search share this. No Qt."""

from __future__ import annotations

from typing import Final, TypeAlias

from playground.domain.output import wants_json
from playground.domain.parts import Part, Reasoning, Text
from playground.domain.transcript import Role, Turn
from playground.engine.inspect.unknown_members import Beside, beside_part, beside_turn, clipped
from playground.ui.features.conversation.calls.call_text import json_lines

REDACTED = "(redacted by the provider)"
PAGE: Final = 20  # parts of a turn shown at once

#: Content of a card: a part, or unknown members of one. Those of a call are shown in the call's own card.
Shown: TypeAlias = Part | Beside


def is_judged(turn: Turn) -> bool:
    """Return whether the text of a turn is an answer that was requested as JSON; text with a tool call is not."""
    outcome = turn.outcome
    return outcome is not None and wants_json(outcome.response_format) and bool(turn.text) and not turn.calls


def shown_parts(turn: Turn) -> list[Shown]:
    """Return the parts that are shown; the text of an answer that was requested as JSON is one part.

    Consecutive images are one part, the first. Unknown members of a part follow it, those of the message are last.
    """
    parts: list[Shown] = []
    before = ""
    judged, has_text = is_judged(turn), False
    for part in turn.parts:
        if judged and isinstance(part, Text):
            parts += [] if has_text else [Text(text=turn.text)]
            has_text = True
        elif not (part.kind == "image" and before == "image") and not (
            part.kind == "reasoning" and not _has_words(part)
        ):
            parts.append(part)
        if part.kind != "tool_call":
            parts += beside_part(part)
        before = part.kind
    return parts + beside_turn(turn)


def beside_text(members: Beside) -> str:
    """Return the text of unknown members, as a card shows it."""
    return "\n".join(line for _, line in json_lines(clipped(members.members)))


def text_mode(turn: Turn, part: Shown) -> str:
    """Return how a text is drawn unless its exact text is shown: "markdown", "plain" or "raw"."""
    if part.kind in ("unknown", "tool_result", "beside"):
        return "raw"
    return "markdown" if turn.role is Role.ASSISTANT else "plain"


def _has_words(part: Reasoning) -> bool:
    return bool(part.text or part.redacted)
