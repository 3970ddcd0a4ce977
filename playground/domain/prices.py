"""What a model costs, as a person entered it or the gateway's list tells it, and what a request cost by that.

Nothing here guesses a price. A turn keeps the price it was asked at. One that was asked before a price was known takes
what became known since for the gateway and the model that it was asked of, and one that was asked at the price of a
list what was entered since; whatever is chosen in the window now has no say in it. Where no price was entered, a
gateway that tells the cost beside the tokens is believed, and after that its list of models.
"""

from __future__ import annotations

from typing import Final

from playground.domain.usage import Usage
from playground.domain.values import Value

MILLION = 1_000_000
DOLLARS: Final = "$"  # what gateways that tell a cost tell it in


class Price(Value):
    """Money for a million tokens: of input, of input served from cache, of output. None: not entered.

    Reasoning tokens are output tokens (specification, section 1). Without ``cached``, cached input costs as input.
    ``told`` says that nobody entered it: it stands in the gateway's list of models.
    """

    input: float | None = None
    cached: float | None = None
    output: float | None = None
    currency: str = DOLLARS
    told: bool = False

    @property
    def known(self) -> bool:
        """Whether it says anything."""
        return self.input is not None or self.output is not None


class Asked(Value):
    """Whom a request went to: the id of the gateway's settings, the model asked for, and its price at that moment.

    Empty where an earlier version did not note it.
    """

    profile_id: str = ""
    model: str = ""
    price: Price | None = None


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
