"""What a lane has otherwise than the first one in the same rounds: words of answers, and fields of its last request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from playground.domain.transcript import Turn
from playground.engine.compare.rounds import fellows
from playground.engine.inspect.compare import CUT, MOST_TEXT, Side, TooLargeError, diff_sent, diff_words, sent

if TYPE_CHECKING:
    from playground.engine.session.session import Exchange

GONE = "The bytes of a request were let go to save memory, and are not kept on the disk."
MOST_MARKS = 1_000  # places of an answer that are marked: to draw them is a moment
MANY = f"Of more differences the first {MOST_MARKS:,} of an answer are marked."


class Stretch(NamedTuple):
    """Characters of a text part of a turn: ``nth`` counts its text parts, from 0."""

    nth: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Differences:
    """Of a lane from the first: ``words`` by turn id, ``fields`` of its last request by their places.

    ``fields`` is None where there is nothing to compare; ``left_out`` says in sentences what was not compared.
    """

    words: Mapping[str, Sequence[Stretch]]
    fields: tuple[str, ...] | None = None
    left_out: tuple[str, ...] = ()


def differing(
    path: Sequence[Turn], base: Sequence[Turn], requests: tuple[Exchange, Exchange] | None = None
) -> Differences:
    """What a path has otherwise than ``base``, and the second of two requests otherwise than the first.

    An answer that has no fellow there is left out: all of it is different. For a thread of its own.
    """
    words: dict[str, list[Stretch]] = {}
    left_out: list[str] = []
    many = False
    for turn, other in fellows(path, base):
        texts, there = [part.text for part in turn.parts if part.kind == "text"], other.text
        if max(sum(map(len, texts)), len(there)) > MOST_TEXT:
            left_out = [CUT]
        places = _places("".join(texts)[:MOST_TEXT], there[:MOST_TEXT])
        many = many or len(places) > MOST_MARKS
        if places:
            words[turn.id] = _in_parts(texts, places[:MOST_MARKS])
    left_out += [MANY] * many
    fields = None
    if requests is not None and any(one.dropped for one in requests):
        left_out.append(GONE)
    elif requests is not None:
        before, after = map(sent, requests)
        try:
            fields = tuple(one.path for one in diff_sent(before, after))
        except TooLargeError as error:
            left_out.append(str(error))
    return Differences(words, fields, tuple(left_out))


def _places(text: str, other: str) -> list[tuple[int, int]]:
    """Where a text has words that the other has not."""
    out: list[tuple[int, int]] = []
    at = 0
    for piece in diff_words(f"{other} ", f"{text} "):  # a word is matched with the space behind it
        if piece.kind is Side.REMOVED:
            continue
        if piece.kind is Side.ADDED and piece.text.strip():
            out.append((at, min(at + len(piece.text), len(text))))
        at += len(piece.text)
    return out


def _in_parts(texts: Sequence[str], places: Sequence[tuple[int, int]]) -> list[Stretch]:
    """The places in all texts together as those in each of them."""
    out: list[Stretch] = []
    begin = 0
    for nth, text in enumerate(texts):
        end = begin + len(text)
        out += [Stretch(nth, max(a, begin) - begin, min(b, end) - begin) for a, b in places if a < end and b > begin]
        begin = end
    return out
