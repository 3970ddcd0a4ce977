"""What a model costs, as a person entered it, and what a request cost by that. Nothing here guesses a price.

A turn keeps the price it was asked at. One that was asked before a price was entered takes what was entered since for
the gateway and the model that it was asked of; whatever is chosen in the window now has no say in it. Where no price
is known, a gateway that tells the cost beside the tokens is believed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from playground.domain.usage import Usage
from playground.domain.values import Value

if TYPE_CHECKING:
    from playground.domain.transcript import Outcome

MILLION = 1_000_000
DOLLARS: Final = "$"  # what gateways that tell a cost tell it in


class Price(Value):
    """Money for a million tokens: of input, of input served from cache, of output. None: not entered.

    Reasoning tokens are output tokens (specification, section 1). Without ``cached``, cached input costs as input.
    """

    input: float | None = None
    cached: float | None = None
    output: float | None = None
    currency: str = DOLLARS

    @property
    def known(self) -> bool:
        """Whether anything was entered."""
        return self.input is not None or self.output is not None


class Asked(Value):
    """Whom a request went to: the id of the gateway's settings, the model asked for, and its price at that moment.

    Empty where an earlier version did not note it.
    """

    profile_id: str = ""
    model: str = ""
    price: Price | None = None


class Cost(NamedTuple):
    """An amount of money."""

    amount: float
    currency: str


#: The price entered for a model of a gateway, by profile id and model id.
Entered: TypeAlias = Callable[[str, str], Price | None]


def price_of(outcome: Outcome, here: str, entered: Entered) -> Price | None:
    """The price of a turn. ``here`` is the gateway of its experiment, for turns that do not say theirs."""
    asked = outcome.asked
    if asked.price is not None:
        return asked.price
    models = dict.fromkeys((asked.model, outcome.model))
    return next((price for model in models if model and (price := entered(asked.profile_id or here, model))), None)


def cost(outcome: Outcome, here: str, entered: Entered) -> Cost | None:
    """What the request that brought a turn cost, all its choices together; None where nobody says."""
    price = price_of(outcome, here, entered)
    amount = cost_of(outcome.usage, price)
    if price is not None and amount is not None:
        return Cost(amount, price.currency)
    told = outcome.usage.cost if outcome.usage is not None else None
    return Cost(told, DOLLARS) if told is not None else None


def cost_of(usage: Usage | None, price: Price | None) -> float | None:
    """What the tokens cost, in the price's currency; None without usage or price."""
    if usage is None or price is None or not price.known:
        return None
    prompt, completion = usage.prompt or 0, usage.completion or 0
    cached = min(usage.cached or 0, prompt)
    input_price, output_price = price.input or 0.0, price.output or 0.0
    cached_price = price.cached if price.cached is not None else input_price
    return ((prompt - cached) * input_price + cached * cached_price + completion * output_price) / MILLION


def money(amount: float, currency: str) -> str:
    """An amount with as many digits as it needs: ``$1.20``, ``$0.0042``, ``< $0.0001``."""
    if 0 < amount < 0.0001:
        return f"< {currency}0.0001"
    return f"{currency}{amount:.4f}" if amount < 0.1 else f"{currency}{amount:,.2f}"


def total(costs: Iterable[Cost]) -> str:
    """All of them in words, each currency for itself: ``$1.20 + €0.0042``; empty for none."""
    sums: dict[str, float] = {}
    for amount, currency in costs:
        sums[currency] = sums.get(currency, 0.0) + amount
    return " + ".join(money(amount, currency) for currency, amount in sums.items())
