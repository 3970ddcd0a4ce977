"""What a check costs at most, as far as can be said before it is made. Nothing is guessed where no price is known."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from playground.domain.prices import Price, cost_of, money
from playground.domain.tokens import estimate_tokens
from playground.domain.usage import Usage
from playground.engine.gateway_check.series import BY_ID, How, Key
from playground.engine.gateway_check.setting import Setting
from playground.jsonkit.values import JSON

_IMAGE: Final = 300  # tokens that a small picture is counted as: what gateways count differs widely
_FREE: Final = frozenset({"unknown_model", "wrong_key"})  # what is refused is not charged


@dataclass(frozen=True)
class Estimate:
    """Tokens of the prompt by a rough count, and of the answer at most; ``amount`` is None where no price is known."""

    requests: int = 0
    prompt: int = 0
    output: int = 0
    amount: float | None = 0.0
    currency: str = ""

    @property
    def words(self) -> str:
        """For people, without the number of requests."""
        if not self.prompt:
            return "free"
        tokens = f"about {self.prompt} in, at most {self.output} out"
        return tokens if self.amount is None else f"{self.price_words} ({tokens})"

    @property
    def price_words(self) -> str:
        """What it costs, in a word or two."""
        if self.amount is None:
            return "price not known"
        return f"at most {money(self.amount, self.currency)}" if self.prompt and self.amount else "free"


def estimate(key: Key, setting: Setting | None, price: Price | None) -> Estimate:
    """Of one check; ``setting`` is of its protocol, None where it is about none."""
    check = BY_ID[key[0]]
    request = check.ask(setting) if check.ask is not None and setting is not None else None
    if check.how is How.LIST:
        return Estimate(requests=1)
    if request is None or setting is None:
        return Estimate()
    if check.id in _FREE:
        return Estimate(requests=1)
    body = setting.protocol.encode(request)
    prompt = estimate_tokens(json.dumps(_without_pictures(body), ensure_ascii=False))
    prompt += _IMAGE * sum(len(turn.images) for turn in request.turns)
    limits = [body.get(name) for name, _ in setting.protocol.expected.limits]
    most = next((limit for limit in limits if type(limit) is int), 0) * setting.protocol.choices(body)
    amount = cost_of(Usage(prompt=prompt, completion=most), price)
    return Estimate(1, prompt, most, amount, price.currency if price is not None else "")


def total(found: Iterable[Estimate]) -> Estimate:
    """All together; the amount is known where that of each is."""
    all_of = tuple(found)
    amounts = [one.amount for one in all_of]
    known = [amount for amount in amounts if amount is not None]
    return Estimate(
        requests=sum(one.requests for one in all_of),
        prompt=sum(one.prompt for one in all_of),
        output=sum(one.output for one in all_of),
        amount=sum(known) if len(known) == len(amounts) else None,
        currency=next((one.currency for one in all_of if one.currency), ""),
    )


def _without_pictures(value: JSON) -> JSON:
    """The body without data that is counted otherwise."""
    if isinstance(value, dict):
        return {name: _without_pictures(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_without_pictures(inner) for inner in value]
    return "" if isinstance(value, str) and len(value) > 100 and " " not in value else value
