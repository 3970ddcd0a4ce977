"""Token counts out of the usage objects of many vendors (specification, section 2.4); the object itself is kept."""

from __future__ import annotations

from playground.domain.usage import Usage
from playground.jsonkit.foreign import amount_of, count_of, members_beside
from playground.jsonkit.values import JSON, JSONObject


def read_usage(value: JSONObject) -> Usage:
    """The counts that ``value`` holds, under the documented names or the common other ones."""
    return Usage(
        prompt=_first(value, "prompt_tokens", "input_tokens"),
        completion=_first(value, "completion_tokens", "output_tokens"),
        total=_first(value, "total_tokens"),
        cached=_first(
            value,
            "prompt_tokens_details.cached_tokens",
            "input_tokens_details.cached_tokens",
            "cached_tokens",
            "prompt_cache_hit_tokens",
            "cache_read_input_tokens",
        ),
        reasoning=_first(
            value,
            "completion_tokens_details.reasoning_tokens",
            "output_tokens_details.reasoning_tokens",
            "reasoning_tokens",
        ),
        cost=amount_of(value.get("cost")),
        raw=members_beside(value, (), empty=True),
    )


def _first(value: JSONObject, *paths: str) -> int | None:
    for path in paths:
        at: JSON = value
        for step in path.split("."):
            at = at.get(step) if isinstance(at, dict) else None
        count = count_of(at)
        if count is not None:
            return count
    return None
