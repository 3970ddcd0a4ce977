"""Checks for contradictions in a body of POST /messages (public protocol, and real gateways)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from playground.jsonkit.merge import at_path
from playground.jsonkit.values import JSON, JSONObject, is_number
from playground.protocols.oddities import Check, Oddity, tool_choice

LEAST_BUDGET: Final = 1024
_BUDGET: Final = ("thinking", "budget_tokens")


def choice_of_tool(body: JSONObject) -> Iterator[Oddity]:
    """Check that ``tool_choice`` has tools and names one of them."""
    choice = body.get("tool_choice")
    yield from tool_choice(choice, at_path(choice, ("name",)), body.get("tools"), _name_of)


def budget_of_thinking(body: JSONObject) -> Iterator[Oddity]:
    """Check that enabled thinking has a budget: 1,024 at least, and below ``max_tokens``, which includes it."""
    if at_path(body, ("thinking", "type")) != "enabled":
        return
    budget, limit = at_path(body, _BUDGET), body.get("max_tokens")
    if budget is None:
        yield Oddity(_BUDGET, "enabled thinking needs a budget of tokens")
    elif not isinstance(budget, int) or isinstance(budget, bool):
        yield Oddity(_BUDGET, "the budget is no whole number")
    elif budget < LEAST_BUDGET:
        yield Oddity(_BUDGET, f"the budget is below the least of {LEAST_BUDGET:,}")
    if is_number(budget) and is_number(limit) and budget >= limit:
        yield Oddity(_BUDGET, f"the budget is not below max_tokens ({limit:,}), which includes it")


def beside_thinking(body: JSONObject) -> Iterator[Oddity]:
    """Check for a forced tool and another temperature than 1, which may be refused with thinking."""
    if at_path(body, ("thinking", "type")) not in ("enabled", "adaptive"):
        return
    if at_path(body, ("tool_choice", "type")) in ("any", "tool"):
        yield Oddity(("tool_choice",), "a forced tool may be refused while thinking is on")
    if body.get("temperature") not in (None, 1):
        yield Oddity(("temperature",), "another temperature than 1 may be refused while thinking is on")


CHECKS: Final[tuple[Check, ...]] = (choice_of_tool, budget_of_thinking, beside_thinking)


def _name_of(tool: JSON) -> JSON:
    return at_path(tool, ("name",))
