"""Differences of a lane from the first one in the same rounds: words of answers, and fields of the last request.

A round is the same number of questions into the conversation, and the same number of requests for that question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from playground.domain.transcript import Role, Turn
from playground.engine.inspect.compare import CUT, MOST_TEXT, Side, TooLargeError, diff_sent, diff_words, sent

if TYPE_CHECKING:
    from playground.engine.session.session import Exchange, Session

GONE = "The bytes of a request were dropped to save memory and are not stored on disk."
#: Marked differences of an answer, at most.
MOST_MARKS = 1_000
MANY = f"Of more differences the first {MOST_MARKS:,} of an answer are marked."


class Stretch(NamedTuple):
    """A range of characters in the text part `nth` (from 0) of a turn."""

    nth: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Differences:
    """Differences of a lane from the first: `words` by turn id, and the paths of different `fields` of its request.

    `fields` is None where nothing can be compared; `left_out` are sentences about what was not compared.
    """

    words: Mapping[str, Sequence[Stretch]]
    fields: tuple[str, ...] | None = None
    left_out: tuple[str, ...] = ()


def differing(
    path: Sequence[Turn], base: Sequence[Turn], requests: tuple[Exchange, Exchange] | None = None
) -> Differences:
    """Return the differences of a path from `base`, and of the second request from the first.

    Answers without a counterpart are left out. To be called in a worker thread.
    """
    words: dict[str, list[Stretch]] = {}
    left_out: list[str] = []
    too_many = False
    for turn, counterpart in fellows(path, base):
        texts, base_text = [part.text for part in turn.parts if part.kind == "text"], counterpart.text
        if max(sum(map(len, texts)), len(base_text)) > MOST_TEXT:
            left_out = [CUT]
        ranges = _different_ranges("".join(texts)[:MOST_TEXT], base_text[:MOST_TEXT])
        too_many = too_many or len(ranges) > MOST_MARKS
        if ranges:
            words[turn.id] = _in_parts(texts, ranges[:MOST_MARKS])
    left_out += [MANY] * too_many
    fields = None
    if requests is not None and any(exchange.dropped for exchange in requests):
        left_out.append(GONE)
    elif requests is not None:
        before, after = map(sent, requests)
        try:
            fields = tuple(change.path for change in diff_sent(before, after))
        except TooLargeError as error:
            left_out.append(str(error))
    return Differences(words, fields, tuple(left_out))


def _different_ranges(text: str, base: str) -> list[tuple[int, int]]:
    """Return the ranges of words in a text that `base` does not have."""
    ranges: list[tuple[int, int]] = []
    start = 0
    for piece in diff_words(f"{base} ", f"{text} "):  # a word is matched with the space after it
        if piece.kind is Side.REMOVED:
            continue
        if piece.kind is Side.ADDED and piece.text.strip():
            ranges.append((start, min(start + len(piece.text), len(text))))
        start += len(piece.text)
    return ranges


def _in_parts(texts: Sequence[str], ranges: Sequence[tuple[int, int]]) -> list[Stretch]:
    """Return ranges of the joined texts as ranges in each of them."""
    out: list[Stretch] = []
    begin = 0
    for nth, text in enumerate(texts):
        end = begin + len(text)
        out += [Stretch(nth, max(a, begin) - begin, min(b, end) - begin) for a, b in ranges if a < end and b > begin]
        begin = end
    return out


# ---- rounds ----------------------------------------------------------------------------------------------------------


def fellows(path: Sequence[Turn], base: Sequence[Turn]) -> Iterator[tuple[Turn, Turn]]:
    """Yield the answers of a path, each with that of the same round of `base`, if it is another one."""
    counterparts = dict(_rounds(base))
    for number, turn in _rounds(path):
        counterpart = counterparts.get(number)
        if counterpart is not None and counterpart.id != turn.id:
            yield turn, counterpart


def _rounds(path: Sequence[Turn]) -> Iterator[tuple[tuple[int, int], Turn]]:
    questions = answers = 0
    for turn in path:
        if turn.role is Role.USER:
            questions, answers = questions + 1, 0
        elif turn.role is Role.ASSISTANT and turn.outcome is not None:
            answers += 1
            yield (questions, answers), turn


def last_request(session: Session) -> str:
    """Return the id of a lane's last exchange, empty for none; with a single lane, of the experiment's last one."""
    if len(session.experiment.lanes) == 1:
        return next(reversed(session.exchanges), "")
    return next(reversed(_exchanges(session.transcript.path)), "")


def request_before(session: Session, exchange_id: str) -> str:
    """Return the id of the request before that one in the same lane, empty for none."""
    if len(session.experiment.lanes) == 1:
        ids = [exchange.id for exchange in session.exchanges.values() if exchange.method == "POST"]
    else:
        ids = _exchanges(session.transcript.path)
    index = ids.index(exchange_id) if exchange_id in ids else 0
    return ids[index - 1] if index else ""


def fellow_request(lane: Session, exchange_id: str) -> str | None:
    """Return the first lane's request of the same round, empty without one; None in the first lane itself."""
    if lane is lane.main:
        return None
    for turn, counterpart in fellows(lane.transcript.path, lane.main.transcript.path):
        if turn.outcome and turn.outcome.exchange == exchange_id and counterpart.outcome is not None:
            return counterpart.outcome.exchange or ""
    return ""


def last_requests(lane: Session) -> tuple[Exchange, Exchange] | None:
    """Return the first lane's request of the round of a lane's last one, and that; None if either is unknown."""
    own = lane.exchanges.get(last_request(lane))
    base = lane.exchanges.get(fellow_request(lane, own.id) or "") if own is not None else None
    return (base, own) if own is not None and base is not None else None


def _exchanges(path: Sequence[Turn]) -> list[str]:
    """Return the ids of the exchanges of a path, in order."""
    return list(dict.fromkeys(turn.outcome.exchange for turn in path if turn.outcome and turn.outcome.exchange))
