"""What the last question cost in each lane, in figures, and which lane is the best in each. Measured, never judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from playground.domain.costs import Cost, Entered, cost, total
from playground.domain.roles import Role
from playground.domain.transcript import Outcome, Turn, one_per_request
from playground.engine.session.session import Session

#: What is best of each figure: its name here, the words for it, and whether more is better.
BEST: Final = (
    ("first", "soonest first token", False),
    ("rate", "most tokens per second", True),
    ("tokens", "fewest tokens", False),
    ("price", "cheapest", False),
    ("calls", "fewest calls", False),
)


@dataclass(frozen=True, slots=True)
class LaneFigures:
    """Since the last user turn: ``first`` is in seconds, ``rate`` in tokens per second of the last answer.

    ``tokens`` are those of all answers, ``costs`` those of all requests. None where the gateway does not say.
    """

    first: float | None = None
    rate: float | None = None
    tokens: int | None = None
    costs: tuple[Cost, ...] = ()
    calls: int = 0
    requests: int = 0
    whole: bool = False

    @property
    def price(self) -> float | None:
        """The amount, where there is one."""
        return sum(one.amount for one in self.costs) if self.costs else None

    @property
    def currencies(self) -> frozenset[str]:
        """What it is paid in."""
        return frozenset(one.currency for one in self.costs)

    @property
    def words(self) -> list[str]:
        """The figures that are known, for people."""
        out = [f"first token {self.first:.2f} s"] if self.first is not None else []
        out += [f"{self.rate:.0f} tok/s"] if self.rate is not None else []
        out += [f"{self.tokens:,} tok"] if self.tokens is not None else []
        out += [total(self.costs)] if self.costs else []
        return [*out, f"{self.calls} call{'s' * (self.calls != 1)}"] if self.calls else out


def figures_of(lane: Session, entered: Entered) -> LaneFigures:
    """Those of what a lane's last question brought. ``entered`` are prices that a person entered."""
    turns = since_last_question(lane.transcript.path)
    outcomes = one_per_request(turns)
    known = [usage.completion for one in outcomes if (usage := one.usage) is not None and usage.completion is not None]
    costs = [cost(one, lane.settings.profile_id, entered) for one in outcomes]
    return LaneFigures(
        first=_first(outcomes[0]) if outcomes else None,
        rate=_rate(outcomes[-1]) if outcomes else None,
        tokens=sum(known) if known and len(known) == len(outcomes) else None,
        costs=tuple(one for one in costs if one is not None) if all(one is not None for one in costs) else (),
        calls=sum(len(turn.calls) for turn in turns),
        requests=len(outcomes),
        whole=bool(outcomes) and all(one.whole for one in outcomes) and not lane.debugger.waiting,
    )


def since_last_question(path: Sequence[Turn]) -> tuple[Turn, ...]:
    """What follows the last user turn of a path."""
    at = next((at for at in range(len(path) - 1, -1, -1) if path[at].role is Role.USER), -1)
    return tuple(path[at + 1 :])


def best(of: Sequence[LaneFigures]) -> list[list[str]]:
    """In which figures each is the best, in words. Of answers that are not whole none is, nor where all are alike."""
    out: list[list[str]] = [[] for _ in of]
    one_currency = len({currency for one in of if one.whole for currency in one.currencies}) == 1
    for name, words, more in BEST:
        if name == "price" and not one_currency:
            continue
        found = {at: value for at, one in enumerate(of) if one.whole and (value := getattr(one, name)) is not None}
        if len(set(found.values())) < 2:
            continue
        winner = max(found.values()) if more else min(found.values())
        for at, value in found.items():
            if value == winner:
                out[at].append(words)
    return out


def _first(outcome: Outcome) -> float | None:
    timing = outcome.timing
    seen = [at for at in (timing.first_reasoning, timing.first_content) if at is not None] if timing is not None else []
    return min(seen, default=None)


def _rate(outcome: Outcome) -> float | None:
    timing, usage, first = outcome.timing, outcome.usage, _first(outcome)
    if timing is None or usage is None or not usage.completion or first is None or timing.end is None:
        return None
    wrote = timing.end - first
    return usage.completion / wrote if wrote > 0.05 else None
