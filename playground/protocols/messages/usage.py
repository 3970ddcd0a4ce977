"""Token counts out of a usage object of the native protocol.

``prompt`` is everything that was read, input plus what was served from and written to the cache, as the chat protocol
counts it; ``cached`` is the part served from the cache. The object itself, merged over the stream, is kept.
"""

from __future__ import annotations

from playground.domain.usage import Usage
from playground.domain.values import JSONObject
from playground.protocols.jsontext import amount_of, count_of, members_beside


def read_usage(value: JSONObject) -> Usage:
    """Counts of a usage object; see the module for what ``prompt`` includes."""
    read, written = count_of(value.get("cache_read_input_tokens")), count_of(value.get("cache_creation_input_tokens"))
    fresh, completion = count_of(value.get("input_tokens")), count_of(value.get("output_tokens"))
    prompt = None if fresh is None else fresh + (read or 0) + (written or 0)
    details = value.get("output_tokens_details")
    return Usage(
        prompt=prompt,
        completion=completion,
        total=None if prompt is None or completion is None else prompt + completion,
        cached=read,
        reasoning=count_of(details.get("thinking_tokens")) if isinstance(details, dict) else None,
        cost=amount_of(value.get("cost")),
        raw=members_beside(value, (), empty=True),
    )
