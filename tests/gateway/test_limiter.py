"""The limits that a gateway reports, counted over all its callers."""

from __future__ import annotations

from playground.gateway.limits import LONGEST, Limiter, RateLimit, RateLimits


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def limits(remaining: float | None, reset: float | None, dimension: str = "") -> RateLimits:
    return RateLimits((RateLimit(dimension, 60, remaining, reset),), 0.0)


def test_delay_without_limits_is_zero() -> None:
    limiter = Limiter()
    for _ in range(100):
        assert limiter.delay == 0
        limiter.begin()


def test_remaining_requests_are_counted_down_within_the_window() -> None:
    clock = Clock()
    limiter = Limiter(clock)
    limiter.begin()
    limiter.note(limits(2, 12))
    limiter.end()
    for _ in range(2):
        assert limiter.delay == 0
        limiter.begin()
    assert limiter.delay == 12
    clock.now += 5
    assert limiter.delay == 7
    clock.now += 7
    assert limiter.delay == 0


def test_requests_in_flight_count_against_the_limit() -> None:
    limiter = Limiter(Clock())
    for _ in range(4):
        limiter.begin()
    limiter.note(limits(3, 10))  # of the first: three others are on their way
    assert limiter.delay == 10
    for _ in range(4):
        limiter.end()
    limiter.note(limits(2, 10))
    assert limiter.delay == 0


def test_hold_delays_all_requests_up_to_the_longest_wait() -> None:
    clock = Clock()
    limiter = Limiter(clock)
    limiter.hold(3)
    limiter.hold(1)
    assert limiter.delay == 3
    clock.now += 3
    assert limiter.delay == 0
    limiter.hold(1e9)
    assert limiter.delay == LONGEST


def test_used_up_tokens_delay_and_incomplete_headers_do_not() -> None:
    limiter = Limiter(Clock())
    for result in (limits(None, 10), limits(0, None), limits(0, 0), limits(5, 10, "tokens"), RateLimits()):
        limiter.note(result)
        assert limiter.delay == 0
    limiter.note(limits(0, 8, "input-tokens"))
    assert limiter.delay == 8
