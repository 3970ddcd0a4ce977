"""What a list says of a model, in words. No Qt here; nothing is said that is not told."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from playground.domain.model_facts import ModelFacts
from playground.domain.prices import Price, money

THOUSAND: Final = 1_000
ABSURD: Final = 10**12  # tokens
_ROUNDS_UP: Final = 0.9995  # of a unit, which three digits make a whole one
MANY: Final = 12  # names of one kind that are listed
#: The kinds of input that have a sign, and its icon.
SIGNS: Final = {"image": "image", "audio": "audio", "video": "video", "file": "file"}
TOOLS_SIGN, REASONING_SIGN = "tool", "thinking"


def rounded(count: int) -> str:
    """A number of tokens that is quick to compare: ``8.19k``, ``128k``, ``1M``."""
    if count >= ABSURD:
        return "very many"
    for unit, name in ((THOUSAND**3, "G"), (THOUSAND**2, "M"), (THOUSAND, "k")):
        if count >= unit * _ROUNDS_UP:
            return f"{count / unit:.3g}{name}"
    return str(count)


def price_words(price: Price | None) -> str:
    """``$2.50 in · $10.00 out``, for a million tokens; empty where no price is known."""
    if price is None or not price.is_set:
        return ""
    if not price.input and not price.output:
        return "free"
    told = (("in", price.input), ("out", price.output))
    return " · ".join(f"{money(amount, price.currency)} {name}" for name, amount in told if amount is not None)


def short_words(facts: ModelFacts) -> str:
    """What is compared at a glance, on a line."""
    words = [
        facts.mode,
        f"{rounded(facts.context)} context" if facts.context is not None else "",
        f"{rounded(facts.output)} out" if facts.output is not None else "",
        price_words(facts.price),
    ]
    return " · ".join(word for word in words if word)


def signs(facts: ModelFacts) -> list[tuple[str, str]]:
    """Icons of what it takes and can do, each with its words."""
    found = [(sign, f"takes {kind}") for kind, sign in SIGNS.items() if facts.takes(kind)]
    if facts.tools:
        found.append((TOOLS_SIGN, "calls tools"))
    if facts.reasoning:
        found.append((REASONING_SIGN, "thinks"))
    return found


def told_lines(facts: ModelFacts) -> list[tuple[str, str]]:
    """All that is told but the description: what it is about, and what is said."""
    price = facts.price if facts.price is not None and facts.price.is_set else None
    cached = price.cached if price is not None else None
    amounts = price_words(price) + (f" · {money(cached, price.currency)} cached in" if price and cached else "")
    lines = [
        ("Not for conversation", facts.mode),
        ("Context", _tokens(facts.context)),
        ("Longest answer", _tokens(facts.output)),
        ("A million tokens", amounts),
        ("Takes", _names(facts.inputs)),
        ("Gives", _names(facts.outputs)),
        ("Calls tools", _yes(facts.tools)),
        ("Thinks", _yes(facts.reasoning)),
        ("Keeps to a JSON schema", _yes(facts.schema_kept)),
        ("Made by", facts.owner),
        ("Since", _day(facts.created)),
    ]
    return [(title, words) for title, words in lines if words]


def parameter_words(facts: ModelFacts) -> str:
    """The fields of a request that it is said to support, by name; empty where that is not told."""
    return "" if facts.parameters is None else _names(facts.parameters, 60) or "none"


def _tokens(count: int | None) -> str:
    return "" if count is None else f"{count:,} tokens" if count < ABSURD else "very many tokens"


def _yes(value: bool | None) -> str:
    return "" if value is None else "yes" if value else "no"


def _names(names: frozenset[str] | None, most: int = MANY) -> str:
    found = sorted(names or ())
    return ", ".join(found[:most]) + (f" and {len(found) - most:,} more" if len(found) > most else "")


def _day(moment: float | None) -> str:
    try:
        return "" if moment is None else datetime.fromtimestamp(moment, UTC).strftime("%d %B %Y").lstrip("0")
    except (ValueError, OverflowError, OSError):
        return ""
