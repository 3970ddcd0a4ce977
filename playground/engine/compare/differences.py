"""Where the answers of lanes differ from those of the first: words, answer by answer, in the order of the turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from playground.domain.transcript import Role, Turn
from playground.engine.inspect.compare import Side, diff_words


class Stretch(NamedTuple):
    """Characters of a text part of a turn: ``nth`` counts its text parts, from 0."""

    nth: int
    start: int
    end: int


def differing(path: Sequence[Turn], base: Sequence[Turn]) -> dict[str, list[Stretch]]:
    """The words of each answer of a path, by turn id, that the answer at the same place of ``base`` does not have.

    An answer that has no fellow there is left out: all of it is different.
    """
    ours, theirs = (
        [turn for turn in one if turn.role is Role.ASSISTANT and turn.outcome is not None] for one in (path, base)
    )
    return {
        turn.id: found
        for turn, other in zip(ours, theirs, strict=False)
        if turn.id != other.id and (found := _words(turn, other))
    }


def _words(turn: Turn, other: Turn) -> list[Stretch]:
    texts = [part.text for part in turn.parts if part.kind == "text"]
    places: list[tuple[int, int]] = []
    at = 0
    for piece in diff_words(other.text, "".join(texts)):
        if piece.kind is Side.REMOVED:
            continue
        if piece.kind is Side.ADDED and piece.text.strip():
            places.append((at, at + len(piece.text)))
        at += len(piece.text)
    out: list[Stretch] = []
    begin = 0
    for nth, text in enumerate(texts):
        end = begin + len(text)
        out += [Stretch(nth, max(a, begin) - begin, min(b, end) - begin) for a, b in places if a < end and b > begin]
        begin = end
    return out
