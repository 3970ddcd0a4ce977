"""Prices of models, entered by a person or listed by the gateway, and the cost of a request.

No price is guessed. A turn keeps the price at the time of its request. A turn without a price takes the one that became
known later for its gateway and model, and a listed price gives way to one entered later; the model chosen in the window
has no influence. Without an entered price, the cost that the gateway reports with the tokens counts, then its list of
models.
"""

from __future__ import annotations

from typing import Annotated, Final

from playground.domain.hints import setting
from playground.domain.usage import Usage
from playground.domain.values import Value

MILLION = 1_000_000
DOLLARS: Final = "$"  # the currency of reported costs


class Price(Value):
    """The price of a million tokens of input, of input served from cache, and of output. None: not entered.

    Reasoning tokens are output tokens (specification, section 1). Without ``cached``, cached input costs as much as
    other input. ``told``: the price comes from the gateway's list of models instead of a person.
    """

    input: Annotated[float | None, setting("Input", placeholder="not entered", low=0)] = None
    cached: Annotated[float | None, setting("Cached input", placeholder="as input", low=0)] = None
    output: Annotated[float | None, setting("Output", placeholder="not entered", low=0)] = None
    currency: Annotated[str, setting("Currency", most=4)] = DOLLARS
    told: bool = False

    @property
    def is_set(self) -> bool:
        """Return whether there is a price of input or output."""
        return self.input is not None or self.output is not None


class Asked(Value):
    """The target of a request: the id of the gateway's profile, the requested model, and its price at that moment.

    Empty in turns of an earlier version.
    """

    profile_id: str = ""
    model: str = ""
    price: Price | None = None


def cost_of(usage: Usage | None, price: Price | None) -> float | None:
    """Return the cost of the tokens in the price's currency; None without usage or price."""
    if usage is None or price is None or not price.is_set:
        return None
    prompt, completion = usage.prompt or 0, usage.completion or 0
    cached = min(usage.cached or 0, prompt)
    input_price, output_price = price.input or 0.0, price.output or 0.0
    cached_price = price.cached if price.cached is not None else input_price
    return ((prompt - cached) * input_price + cached * cached_price + completion * output_price) / MILLION


def money(amount: float, currency: str) -> str:
    """Format an amount with as many digits as it needs: ``$1.20``, ``$0.0042``, ``< $0.0001``."""
    if 0 < amount < 0.0001:
        return f"< {currency}0.0001"
    return f"{currency}{amount:.4f}" if amount < 0.1 else f"{currency}{amount:,.2f}"
