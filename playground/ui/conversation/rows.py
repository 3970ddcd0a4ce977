"""What the conversation shows, a row each: the turns of the path, results folded into the calls they answer. No Qt."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from playground.domain.parts import ToolResult
from playground.domain.transcript import Role, Transcript, Turn


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of one call and the tool turn that holds it."""

    turn_id: str
    result: ToolResult


@dataclass(frozen=True, slots=True)
class Row:
    """One card. ``answers`` maps call ids to results; ``variants`` are the turn's siblings, itself included.

    ``growing`` says that the turn is being received.
    """

    turn: Turn
    variants: tuple[str, ...]
    answers: dict[str, Answer]
    growing: bool = False

    @property
    def id(self) -> str:
        """The id of the turn shown."""
        return self.turn.id


def make_rows(transcript: Transcript, growing: Container[str] = ()) -> list[Row]:
    """The rows of a transcript's path. A tool turn whose result answers a call before it has no row of its own."""
    out: list[Row] = []
    owner: dict[str, Row] = {}
    for turn in transcript.path:
        if turn.role is Role.TOOL and len(turn.results) == 1 and len(turn.parts) == 1:
            result = turn.results[0]
            row = owner.get(result.call_id)
            if row is not None and result.call_id not in row.answers:
                row.answers[result.call_id] = Answer(turn.id, result)
                continue
        row = Row(turn, transcript.siblings(turn.id), {}, turn.id in growing)
        owner.update({call.id: row for call in turn.calls})
        out.append(row)
    return out
