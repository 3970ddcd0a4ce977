"""Texts for the facts that a gateway's list gives about a model; facts it does not give are left out. No Qt here."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from playground.domain.model_facts import ModelFacts
from playground.domain.prices import Price, money

THOUSAND: Final = 1_000
ABSURD: Final = 10**12  # tokens
_ROUNDS_UP: Final = 0.9995  # of a unit; three digits round this up to 1
MANY: Final = 12  # names listed per fact
#: The kinds of input that have a sign, and its icon.
SIGNS: Final = {"image": "image", "audio": "audio", "video": "video", "file": "file"}
TOOLS_SIGN, REASONING_SIGN = "tool", "thinking"


def rounded(count: int) -> str:
    """Format a token count with three digits: ``8.19k``, ``128k``, ``1M``."""
    if count >= ABSURD:
        return "very many"
    for unit, name in ((THOUSAND**3, "G"), (THOUSAND**2, "M"), (THOUSAND, "k")):
        if count >= unit * _ROUNDS_UP:
            return f"{count / unit:.3g}{name}"
    return str(count)


def price_words(price: Price | None) -> str:
    """Format the price per million tokens, as in ``$2.50 in · $10.00 out``; empty without a price."""
    if price is None or not price.is_set:
        return ""
    if not price.input and not price.output:
        return "free"
    amounts = (("in", price.input), ("out", price.output))
    return " · ".join(f"{money(amount, price.currency)} {name}" for name, amount in amounts if amount is not None)


def short_words(facts: ModelFacts) -> str:
    """Format mode, context, longest answer and price on one line."""
    words = [
        facts.mode,
        f"{rounded(facts.context)} context" if facts.context is not None else "",
        f"{rounded(facts.output)} out" if facts.output is not None else "",
        price_words(facts.price),
    ]
    return " · ".join(word for word in words if word)


def signs(facts: ModelFacts) -> list[tuple[str, str]]:
    """Return the icons of input kinds and abilities, each with its text."""
    icons = [(sign, f"takes {kind}") for kind, sign in SIGNS.items() if facts.takes(kind)]
    if facts.tools:
        icons.append((TOOLS_SIGN, "calls tools"))
    if facts.reasoning:
        icons.append((REASONING_SIGN, "thinks"))
    return icons


def fact_lines(facts: ModelFacts) -> list[tuple[str, str]]:
    """Return title and text of each given fact except the description."""
    price = facts.price if facts.price is not None and facts.price.is_set else None
    cached = price.cached if price is not None else None
    amounts = price_words(price) + (f" · {money(cached, price.currency)} cached in" if price and cached else "")
    lines = [
        ("Not for conversation", facts.mode),
        ("Context", _tokens(facts.context)),
        ("Longest answer", _tokens(facts.output)),
        ("Price per 1M tokens", amounts),
        ("Input", _names(facts.inputs)),
        ("Output", _names(facts.outputs)),
        ("Tool calls", _yes(facts.tools)),
        ("Reasoning", _yes(facts.reasoning)),
        ("Structured output", _yes(facts.schema_kept)),
        ("Made by", facts.owner),
        ("Since", _day(facts.created)),
    ]
    return [(title, words) for title, words in lines if words]


def parameter_words(facts: ModelFacts) -> str:
    """Return the names of the supported request fields; empty when the list does not give them."""
    return "" if facts.parameters is None else _names(facts.parameters, 60) or "none"


def _tokens(count: int | None) -> str:
    return "" if count is None else f"{count:,} tokens" if count < ABSURD else "very many tokens"


def _yes(value: bool | None) -> str:
    return "" if value is None else "yes" if value else "no"


def _names(names: frozenset[str] | None, most: int = MANY) -> str:
    listed = sorted(names or ())
    return ", ".join(listed[:most]) + (f" and {len(listed) - most:,} more" if len(listed) > most else "")


def _day(moment: float | None) -> str:
    try:
        return "" if moment is None else datetime.fromtimestamp(moment, UTC).strftime("%d %B %Y").lstrip("0")
    except (ValueError, OverflowError, OSError):
        return ""
