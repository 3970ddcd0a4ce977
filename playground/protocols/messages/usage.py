"""Token counts out of a usage object of the native protocol.

``prompt`` is everything that was read, input plus what was served from and written to the cache, as the chat protocol
counts it; ``cached`` is the part served from the cache. The object itself, merged over the stream, is kept.
"""

from __future__ import annotations

from typing import Final

from playground.domain.usage import Usage
from playground.jsonkit.foreign import amount_of, count_of, members_beside
from playground.jsonkit.values import JSONObject

_OFTEN: Final = 8 * 1024  # characters of reports, each of which is told at once


class GrowingUsage:
    """The object merged over the stream. Later counts replace earlier ones; one that is left out or null later stays.

    Reports that grow and grow are told less and less often, so that each costs what it is long.
    """

    def __init__(self) -> None:
        self._known: JSONObject = {}
        self._untold = 0  # characters of reports that say something new and were not told
        self._told = 0  # characters of those that were

    def add_report(self, usage: JSONObject, size: int) -> bool:
        """Take a report in that came with ``size`` characters; gives whether it is to be told now."""
        known = self._known
        news = {k: v for k, v in usage.items() if k not in known or (v is not None and v != known[k])}
        if not news:
            return False
        known.update(news)
        self._untold += size
        return self._untold > self._told or self._told < _OFTEN

    def tell(self) -> Usage | None:
        """All that is known; None when that was told already."""
        if not self._untold:
            return None
        self._told, self._untold = self._told + self._untold, 0
        return read_usage(self._known)


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
