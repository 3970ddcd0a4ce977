"""What the last question cost in each lane, in figures, and which lane is the best in each. Measured, never judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from playground.domain.costs import Cost, PriceLookup, cost, total
from playground.domain.prices import money
from playground.domain.roles import Role
from playground.domain.transcript import Outcome, Turn, one_per_request
from playground.engine.inspect.compare import difference
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

    ``tokens`` are those of all answers, ``prompt``, ``costs`` and ``seconds`` are of all requests. None where the
    gateway does not say. ``ended`` says how the last answer ended, where it is not whole.
    """

    first: float | None = None
    rate: float | None = None
    tokens: int | None = None
    costs: tuple[Cost, ...] = ()
    calls: int = 0
    requests: int = 0
    prompt: int | None = None
    seconds: float = 0.0
    whole: bool = False
    ended: str = ""

    @property
    def price(self) -> float | None:
        """The amount, where there is one."""
        return sum(one.amount for one in self.costs) if self.costs else None

    @property
    def currencies(self) -> frozenset[str]:
        """What it is paid in."""
        return frozenset(one.currency for one in self.costs)

    @property
    def listed(self) -> bool:
        """Whether some of it is by a price of the gateway's list."""
        return any(one.listed and one.amount for one in self.costs)

    @property
    def words(self) -> list[str]:
        """The figures that are known, for people."""
        return self.words_beside(None)

    @property
    def in_all(self) -> list[str]:
        """What all requests took, for whoever asks for more."""
        if not self.requests:
            return []
        out = [f"{self.requests} request{'s' * (self.requests != 1)}, {self.seconds:.2f} s in all"]
        out += [f"{self.prompt:,} tokens in"] if self.prompt is not None else []
        return [*out, f"{self.tokens:,} tokens out"] if self.tokens is not None else out

    def words_beside(self, first: LaneFigures | None) -> list[str]:
        """The same, each with how it differs from that of the first lane, where both are of a whole answer."""
        base = first if first is not None and first.whole and self.whole else LaneFigures()
        out = [self.ended] if self.ended else []
        if self.first is not None:
            out.append(f"first token {self.first:.2f} s" + _apart(self.first, base.first, " s", 2))
        if self.rate is not None:
            out.append(f"{self.rate:.0f} tok/s" + _apart(self.rate, base.rate))
        if self.tokens is not None:
            out.append(f"{self.tokens:,} tok" + _apart(self.tokens, base.tokens))
        if self.costs:
            out.append(total(self.costs) + self._price_apart(base))
        if self.calls or base.calls:
            calls = f"{self.calls} call{'s' * (self.calls != 1)}"
            out.append(calls + (_apart(self.calls, base.calls) if base.requests else ""))
        return out

    def _price_apart(self, base: LaneFigures) -> str:
        if self.price is None or base.price is None or self.currencies != base.currencies or len(self.currencies) > 1:
            return ""
        sign, apart = difference(0, self.price - base.price, 4)
        return f" ({sign}{money(apart, next(iter(self.currencies)))})"


def figures_of(lane: Session, entered: PriceLookup) -> LaneFigures:
    """Those of what a lane's last question brought. ``entered`` are prices that a person entered."""
    turns = _since_last_question(lane.transcript.path)
    return figures_of_turns(
        turns, lane.settings.profile_id, entered, waits=bool(lane.debugger.waiting) or lane.debugger.answer_paused
    )


def figures_of_turns(
    turns: Sequence[Turn], profile_id: str, entered: PriceLookup, *, waits: bool = False
) -> LaneFigures:
    """Those of turns that came. ``waits``: a call in them has no answer, or the gateway paused them, so that
    they are not whole."""
    outcomes = list(one_per_request(turns))
    known = [usage.completion for one in outcomes if (usage := one.usage) is not None and usage.completion is not None]
    prompts = [usage.prompt for one in outcomes if (usage := one.usage) is not None and usage.prompt is not None]
    last = outcomes[-1] if outcomes else None
    costs = [cost(one, profile_id, entered) for one in outcomes]
    priced = None not in costs and any(one.amount or not one.listed for one in costs if one is not None)
    return LaneFigures(
        first=timing.first_token if outcomes and (timing := outcomes[0].timing) is not None else None,
        rate=_rate(last) if last is not None else None,
        tokens=sum(known) if known and len(known) == len(outcomes) else None,
        costs=tuple(one for one in costs if one is not None) if priced else (),
        calls=sum(len(turn.calls) for turn in turns),
        requests=len(outcomes),
        prompt=sum(prompts) if prompts and len(prompts) == len(outcomes) else None,
        seconds=sum(one.timing.end or 0.0 for one in outcomes if one.timing is not None),
        ended=last.ending.words if last is not None else "",
        whole=bool(outcomes) and all(outcome.is_complete for outcome in outcomes) and not waits,
    )


def _since_last_question(path: Sequence[Turn]) -> tuple[Turn, ...]:
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


def _apart(value: float, base: float | None, unit: str = "", digits: int = 0) -> str:
    """How much more or less than in the first lane, of what is shown of both: ``(+0.11 s)``, ``(±0)``."""
    if base is None:
        return ""
    sign, apart = difference(base, value, digits)
    return f" ({sign}{apart:,.{digits}f}{unit})"


def _rate(outcome: Outcome) -> float | None:
    timing, usage = outcome.timing, outcome.usage
    writing = timing.writing if timing is not None else None
    return usage.completion / writing if usage is not None and usage.completion and writing is not None else None
