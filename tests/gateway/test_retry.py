"""When to try again."""

from __future__ import annotations

from email.utils import formatdate
from random import Random

import pytest

from playground.domain.errors import Failure, FailureKind
from playground.gateway.limits import read_limits
from playground.gateway.retry import LARGEST_BACKOFF, delay_after, read_retry_after, read_should_retry, wait_for_window
from tests.support.each_case import each_case

NOW = 1_700_000_000.0


def http(status: int, message: str = "no", **more: object) -> Failure:
    return Failure(kind=FailureKind.HTTP, message=message, status=status).model_copy(update=more)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ([("Retry-After", "2")], 2),
        ([("retry-after", "0.5")], 0.5),
        ([("Retry-After", formatdate(NOW + 20, usegmt=True))], 20),
        ([("Retry-After", "9"), ("Retry-After-Ms", "1500")], 1.5),
        ([("Retry-After-Ms", "x"), ("Retry-After", "3")], 3),
        ([("Retry-After", "later")], None),
        ([], None),
    ],
)
def test_retry_after(headers: list[tuple[str, str]], seconds: float | None) -> None:
    assert read_retry_after(headers, NOW) == seconds


def test_should_retry() -> None:
    assert read_should_retry([("X-Should-Retry", "false")]) is False
    assert read_should_retry([("x-should-retry", "True")]) is True
    assert read_should_retry([("x-should-retry", "maybe")]) is None


BOTH_USED_UP = {
    "x-ratelimit-remaining-requests": "0",
    "x-ratelimit-reset-requests": "10s",
    "x-ratelimit-remaining-tokens": "0",
    "x-ratelimit-reset-tokens": "1m30s",
}


@each_case("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_transient_statuses_back_off_with_jitter(status: int) -> None:
    rng = Random(1)
    for attempt, most in ((1, 0.5), (2, 1.0), (3, 2.0), (4, 4.0), (60, LARGEST_BACKOFF)):
        delays = [delay_after(http(status), attempt, rng) for _ in range(50)]
        assert all(delay is not None and most / 2 <= delay <= most for delay in delays)
        assert len(set(delays)) > 40


@each_case(
    ("headers", "dimension", "seconds"),
    [
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "30"}, None, 30),
        ({"X-RateLimit-Reset": "30"}, None, 30),
        ({"X-RateLimit-Remaining": "0"}, None, None),
        (BOTH_USED_UP, None, 90),
        (BOTH_USED_UP, "RPM", 10),
        (BOTH_USED_UP, "TPD", 90),
        (BOTH_USED_UP, "IPM", 90),  # no window of images: all count
        ({**BOTH_USED_UP, "x-ratelimit-remaining-tokens": "5"}, None, 10),
        (
            {"x-ratelimit-limit-tokens": "100", "x-ratelimit-remaining-tokens": "5", "x-ratelimit-reset-tokens": "8s"},
            "TPM",
            8,
        ),
        ({}, "RPM", None),
    ],
)
def test_window_of_a_429_gives_the_wait(headers: dict[str, str], dimension: str | None, seconds: float | None) -> None:
    assert wait_for_window(read_limits(headers.items(), 1_700_000_000.0), dimension) == seconds


def test_should_retry_header_decides() -> None:
    assert delay_after(http(400), 1, Random(1), should_retry=True) is not None
    assert delay_after(http(503), 1, Random(1), should_retry=False) is None


def test_wait_of_the_gateway_is_kept_and_one_of_nothing_does_not_hasten_the_back_off() -> None:
    assert 12 <= (delay_after(http(429, retry_after=12.0), 1, Random(1)) or 0) <= 12.5
    assert (delay_after(http(429, retry_after=0.0), 5, Random(1)) or 0) >= 4


PLAN = "You exceeded your current quota, check your plan and billing details."


@each_case(
    ("failure", "passes"),
    [
        (http(400), False),
        (http(401), False),
        (http(402), False),
        (http(404), False),
        (http(503, retry_after=121.0), False),
        (Failure(kind=FailureKind.REFUSED, message=""), True),
        (Failure(kind=FailureKind.NAME, message=""), False),
        (Failure(kind=FailureKind.TLS, message=""), False),
        (Failure(kind=FailureKind.INPUT, message=""), False),
        # an error inside a stream counts by its body
        (Failure(kind=FailureKind.STREAM, message=""), False),
        (Failure(kind=FailureKind.STREAM, message="", status=503), True),
        (Failure(kind=FailureKind.STREAM, message="", status=400), False),
        (Failure(kind=FailureKind.STREAM, message="", type="overloaded_error"), True),
        (Failure(kind=FailureKind.STREAM, message="", type="rate_limit_error"), True),
        (Failure(kind=FailureKind.STREAM, message="", type="invalid_request_error"), False),
        (Failure(kind=FailureKind.STREAM, message="insufficient balance", status=429), False),
        # an empty account
        (http(429, "Insufficient balance"), False),
        (http(429, "Insufficient balance", retry_after=41.3), False),
        (http(429, "too much", code="insufficient_quota"), False),
        (http(429, PLAN), False),
        (http(429, "You exceeded your current quota, 3 requests per minute left", code="insufficient_quota"), False),
        (http(429, "TPM quota reached", dimension="TPM", code="insufficient_quota"), False),
        (http(429, "Budget has been exceeded! Current cost: 5.1, max budget: 5.0", type="budget_exceeded"), False),
        (http(429, "ExceededBudget: key over budget"), False),
        (http(429, "Your account is in arrears"), False),
        (http(429, "Your team has reached its spend limit"), False),
        (http(429, "余额不足"), False),
        (http(429, "You have reached your monthly limit"), False),
        # a rate
        (http(429, "TPM quota reached", dimension="TPM"), True),
        (http(429, PLAN, dimension="RPM"), True),
        (http(429, PLAN, retry_after=41.3), True),
        (http(429, "Quota exceeded: 10 requests per minute"), True),
        (http(429, "quota: 60 requests/min"), True),
        (http(429, "too many"), True),
        (http(429, "Quota exceeded for GenerateRequestsPerMinute; see billing."), True),
        (http(429, "Rate limit exceeded: free-models-per-min. Add 10 credits for more."), True),
        (http(429, "Exceeded the token rate limit of your tier. See https://x.example/quotaincrease"), True),
        (http(429, "Resource has been exhausted (e.g. check quota)."), True),
    ],
)
def test_failure_is_retried_when_waiting_can_help(failure: Failure, passes: bool) -> None:
    assert (delay_after(failure, 1, Random(1)) is not None) is passes
