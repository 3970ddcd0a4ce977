"""Rows of a conversation, and the parts of a turn that its card shows; cards and the search share this. No Qt."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from playground.domain.output import wants_json
from playground.domain.parts import Part, Reasoning, Text, ToolCall, ToolResult, Unknown
from playground.domain.tokens import estimate_tokens
from playground.domain.transcript import Role, Transcript, Turn
from playground.engine.inspect.hosted_items import HostedItem, hosted_item
from playground.engine.inspect.unknown_members import Beside, beside_part, beside_turn, clipped
from playground.ui.features.conversation.calls.call_text import json_lines

HEADER_HEIGHT, CALL_HEIGHT, REASONING_HEIGHT, LINE_HEIGHT = 80, 90, 34, 20  # pixels
LETTER_WIDTH = 7  # pixels on average
LONGEST_SHOWN = 20_000  # characters of a text that count for the height of its card


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a call and the tool turn that holds it. `alternatives` are that turn's siblings and itself."""

    turn_id: str
    result: ToolResult
    alternatives: tuple[str, ...] = ()


class Row(NamedTuple):
    """The content of one card. `answers` are the results by call id; `alternatives` the turn's siblings and itself.

    A row that is the same object shows the same: it is never changed. `growing` says that the turn is being received.
    """

    turn: Turn
    alternatives: tuple[str, ...]
    answers: dict[str, Answer]
    growing: bool = False

    @property
    def id(self) -> str:
        """The id of the turn."""
        return self.turn.id


def make_rows(transcript: Transcript, growing: Collection[str] = (), before: Iterable[Row] = ()) -> list[Row]:
    """Return the rows of the path. A row that equals one of `before` is that object.

    A tool turn with one result has no row of its own if a call above it has that id.
    """
    rows: list[Row] = []
    callers: dict[str, int] = {}  # number of the last row with a call of that id
    for turn in transcript.path:
        alternatives = transcript.forks.get(turn.parent, (turn.id,))
        result = turn.parts[0] if turn.role is Role.TOOL and len(turn.parts) == 1 else None
        if isinstance(result, ToolResult) and (number := callers.get(result.call_id)) is not None:
            answers = rows[number].answers
            if result.call_id not in answers:
                answers[result.call_id] = Answer(turn.id, result, alternatives)
                continue
        callers.update((part.id, len(rows)) for part in turn.parts if isinstance(part, ToolCall))
        rows.append(Row(turn, alternatives, {}, turn.id in growing))
    previous = {row.turn.id: row for row in before}
    return [same if (same := previous.get(row.turn.id)) == row else row for row in rows]


def estimate_height(row: Row, width: int, zoom: float) -> int:
    """Return about how tall the card of a row is at a width in pixels and a text size; close enough to scroll by."""
    letters = max(int((width - 32) / (LETTER_WIDTH * zoom)), 20)
    height = float(HEADER_HEIGHT)
    for part in row.turn.parts[:PAGE]:
        if part.kind == "text":
            text = part.text[:LONGEST_SHOWN]
            height += (len(text) // letters + text.count("\n") // 2) * LINE_HEIGHT * zoom
        elif part.kind == "tool_call":
            height += CALL_HEIGHT
        elif part.kind == "reasoning":
            height += REASONING_HEIGHT
    return int(height)


REDACTED = "(redacted by the provider)"
PAGE: Final = 20  # parts of a turn shown at once

#: Content of a card: a part, or unknown members of one. Those of a call are shown in the call's own card.
Shown: TypeAlias = Part | Beside | HostedItem


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
            item = hosted_item(part) if isinstance(part, Unknown) else None
            parts.append(item or part)
        if part.kind != "tool_call":
            parts += beside_part(part)
        before = part.kind
    return parts + beside_turn(turn)


def beside_text(members: Beside) -> str:
    """Return the text of unknown members, as a card shows it."""
    return "\n".join(line for _, line in json_lines(clipped(members.members)))


def hosted_text(item: HostedItem) -> str:
    """Return the text of an item that the gateway ran, as a card shows it."""
    return "\n".join(line for _, line in json_lines(clipped(item.value)))


def text_mode(turn: Turn, part: Shown) -> str:
    """Return how a text is drawn unless its exact text is shown: "markdown", "plain" or "raw"."""
    if part.kind in ("unknown", "tool_result", "beside", "hosted"):
        return "raw"
    return "markdown" if turn.role is Role.ASSISTANT else "plain"


def _has_words(part: Reasoning) -> bool:
    return bool(part.text or part.redacted)


class PathSize:
    """The estimated size of a path in tokens and images; unchanged turns are measured once."""

    def __init__(self) -> None:
        self._sizes: dict[str, tuple[Turn, int, int]] = {}
        self._path: tuple[Turn, ...] = ()
        self.tokens = 0  # of texts, calls and results; reasoning is left out
        self.images = 0

    def measure(self, path: tuple[Turn, ...]) -> None:
        """Set `tokens` and `images` to those of a path."""
        if path is self._path:
            return
        sizes: dict[str, tuple[Turn, int, int]] = {}
        for turn in path:
            size = self._sizes.get(turn.id)
            sizes[turn.id] = size if size is not None and size[0] is turn else (turn, *_measure(turn))
        self._sizes, self._path = sizes, path
        self.tokens = sum(tokens for _, tokens, _ in sizes.values())
        self.images = sum(images for _, _, images in sizes.values())


def _measure(turn: Turn) -> tuple[int, int]:
    tokens = images = 0
    for part in turn.parts:
        if part.kind == "text" or part.kind == "tool_result":
            tokens += estimate_tokens(part.text)
        elif part.kind == "tool_call":
            tokens += estimate_tokens(part.name) + estimate_tokens(part.arguments)
        elif part.kind == "image":
            images += 1
    return tokens, images
