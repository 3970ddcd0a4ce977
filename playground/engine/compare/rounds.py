"""Which answers and requests of lanes stand at the same place.

That is the same round: so many questions into the conversation, so many requests for that question.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from playground.domain.transcript import Role, Turn

if TYPE_CHECKING:
    from playground.engine.session.session import Exchange, Session


def fellows(path: Sequence[Turn], base: Sequence[Turn]) -> Iterator[tuple[Turn, Turn]]:
    """The answers of a path, each with the one of the same round of ``base``, where that is another one."""
    theirs = dict(_rounds(base))
    for place, turn in _rounds(path):
        other = theirs.get(place)
        if other is not None and other.id != turn.id:
            yield turn, other


def _rounds(path: Sequence[Turn]) -> Iterator[tuple[tuple[int, int], Turn]]:
    questions = answers = 0
    for turn in path:
        if turn.role is Role.USER:
            questions, answers = questions + 1, 0
        elif turn.role is Role.ASSISTANT and turn.outcome is not None:
            answers += 1
            yield (questions, answers), turn


def last_request(session: Session) -> str:
    """The id of the last exchange of a lane, empty for none; of an experiment of one lane, of its last of all."""
    if len(session.lanes) == 1:
        return next(reversed(session.exchanges), "")
    return next(reversed(_asked(session.transcript.path)), "")


def request_before(session: Session, exchange_id: str) -> str:
    """The one that was asked before that one in the same lane, empty for none."""
    if len(session.lanes) == 1:
        known = [one.id for one in session.exchanges.values() if one.method == "POST"]
    else:
        known = _asked(session.transcript.path)
    at = known.index(exchange_id) if exchange_id in known else 0
    return known[at - 1] if at else ""


def fellow_request(lane: Session, exchange_id: str) -> str | None:
    """The first lane's request of the same round, empty where there is none; None in the first lane itself."""
    if lane is lane.main:
        return None
    pairs = fellows(lane.transcript.path, lane.main.transcript.path)
    found = (other.outcome for turn, other in pairs if turn.outcome and turn.outcome.exchange == exchange_id)
    return next((outcome.exchange or "" for outcome in found if outcome is not None), "")


def last_requests(lane: Session) -> tuple[Exchange, Exchange] | None:
    """The first lane's request of the same round as a lane's last one, and that; None where either is not known."""
    mine = lane.exchanges.get(last_request(lane))
    other = lane.exchanges.get(fellow_request(lane, mine.id) or "") if mine is not None else None
    return (other, mine) if mine is not None and other is not None else None


def _asked(path: Sequence[Turn]) -> list[str]:
    """The exchanges that brought the answers of a path, in their order."""
    return list(dict.fromkeys(turn.outcome.exchange for turn in path if turn.outcome and turn.outcome.exchange))
