"""Token counts and times of one run."""

from __future__ import annotations

from playground.domain.values import Value
from playground.jsonkit.values import JSONObject


class Usage(Value):
    """Token counts as reported by the gateway (specification, section 2.4); None for what is not reported.

    ``cached`` is the part of ``prompt`` served from cache, ``reasoning`` the part of ``completion`` spent on
    reasoning. ``cost`` is the reported cost in dollars. ``raw`` is the object as received.
    """

    prompt: int | None = None
    completion: int | None = None
    total: int | None = None
    cached: int | None = None
    reasoning: int | None = None
    cost: float | None = None
    raw: JSONObject | None = None


class Timing(Value):
    """Seconds since the request was sent; None for what did not happen."""

    started_at: float  # Unix time, seconds
    headers: float | None = None
    first_byte: float | None = None
    first_reasoning: float | None = None
    first_content: float | None = None  # text or a tool call, whichever came first
    reasoning_end: float | None = None
    end: float | None = None

    @property
    def first_token(self) -> float | None:
        """Seconds until the first token of reasoning or content."""
        times = [time for time in (self.first_reasoning, self.first_content) if time is not None]
        return min(times, default=None)

    @property
    def writing(self) -> float | None:
        """Seconds from the first token to the end; None if too short to compute a rate."""
        if self.end is None or self.first_token is None:
            return None
        duration = self.end - self.first_token
        return duration if duration > 0.05 else None
