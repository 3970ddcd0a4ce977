"""The cost that a gateway tells beside its token counts: an amount of money, whatever else may stand there."""

from __future__ import annotations

from typing import Any

from playground.protocols.chat.decode import read_usage as chat_usage
from playground.protocols.messages.decode import read_usage as messages_usage
from tests.support.each_case import each_case


@each_case(
    ("told", "cost"),
    [
        (0.00125, 0.00125),
        (1, 1.0),
        (0, 0.0),
        (None, None),
        ("0.1", None),
        (True, None),
        (-1, None),
        (float("nan"), None),
        (float("inf"), None),
        (10**400, None),
        ({"total": 1}, None),
    ],
)
def test_only_an_amount_is_one(told: Any, cost: float | None) -> None:
    assert chat_usage({"prompt_tokens": 3, "cost": told}).cost == cost
    assert messages_usage({"input_tokens": 3, "cost": told}).cost == cost
    assert chat_usage({"prompt_tokens": 3}).cost is None
