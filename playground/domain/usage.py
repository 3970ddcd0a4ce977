"""Token counts and times of one run."""

from __future__ import annotations

from playground.domain.values import Value
from playground.jsonkit.values import JSONObject


class Usage(Value):
    """Token counts as the gateway reported them (specification, section 2.4); None where it said nothing.

    ``cached`` is the part of ``prompt`` served from cache, ``reasoning`` the part of ``completion`` spent on
    reasoning. ``cost`` is the money it says was spent, in dollars. ``raw`` is the object as received.
    """

    prompt: int | None = None
    completion: int | None = None
    total: int | None = None
    cached: int | None = None
    reasoning: int | None = None
    cost: float | None = None
    raw: JSONObject | None = None


class Timing(Value):
    """Seconds from the moment the request was sent; None for what did not happen."""

    started_at: float  # Unix time, seconds
    headers: float | None = None
    first_byte: float | None = None
    first_reasoning: float | None = None
    first_content: float | None = None  # text or a tool call, whichever came first
    reasoning_end: float | None = None
    end: float | None = None

    @property
    def first_token(self) -> float | None:
        """When the first of anything was written, reasoning or content."""
        return min((at for at in (self.first_reasoning, self.first_content) if at is not None), default=None)

    @property
    def writing(self) -> float | None:
        """How long it was written from there on; None where that is too short to tell a rate of."""
        if self.end is None or self.first_token is None:
            return None
        return wrote if (wrote := self.end - self.first_token) > 0.05 else None
