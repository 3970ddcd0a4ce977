"""What an experiment kept by an earlier version leaves unsaid, filled in where it is opened; nothing is guessed."""

from __future__ import annotations

from playground.domain.transcript import Outcome, Transcript, Turn


def mended(transcript: Transcript) -> Transcript:
    """The same conversation with what its turns can be told: how many choices the request of each had."""
    received = [(turn, turn.outcome) for turn in transcript.turns.values() if turn.outcome is not None]
    brought: dict[str, set[int]] = {}  # the choices there are of each exchange; edits may have copied a turn
    for turn, outcome in received:
        if outcome.exchange is not None and turn.parts:
            brought.setdefault(outcome.exchange, set()).add(outcome.choice)
    changed: dict[str, Turn] = {}
    for turn, outcome in received:
        new = _mended(outcome, len(brought.get(outcome.exchange or "", ())))
        if new is not outcome:
            changed[turn.id] = turn.model_copy(update={"outcome": new})
    return Transcript({**transcript.turns, **changed}, transcript.head) if changed else transcript


def _mended(outcome: Outcome, brought: int) -> Outcome:
    choices = max(brought, outcome.choice + 1, outcome.choices, 1)
    return outcome.model_copy(update={"choices": choices}) if choices != outcome.choices else outcome
