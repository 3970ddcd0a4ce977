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
    "failure",
    [
        http(400),
        http(401),
        http(402),
        http(404),
        http(429, "Insufficient balance"),
        http(429, "too much", code="insufficient_quota"),
        http(503, retry_after=121.0),
        Failure(kind=FailureKind.NAME, message=""),
        Failure(kind=FailureKind.TLS, message=""),
        Failure(kind=FailureKind.INPUT, message=""),
        Failure(kind=FailureKind.STREAM, message=""),
    ],
)
def test_what_does_not_pass_by_waiting(failure: Failure) -> None:
    assert delay_after(failure, 1, Random(1)) is None


def test_the_gateways_wait_is_kept_to() -> None:
    delay = delay_after(http(429, retry_after=12.0), 1, Random(1))
    assert delay is not None
    assert 12 <= delay <= 12.5


def test_a_wait_of_nothing_does_not_hasten_the_back_off() -> None:
    delay = delay_after(http(429, retry_after=0.0), 5, Random(1))
    assert delay is not None
    assert delay >= 4


def test_an_error_inside_a_stream_counts_by_what_its_body_says() -> None:
    for failure in (
        Failure(kind=FailureKind.STREAM, message="", status=503),
        Failure(kind=FailureKind.STREAM, message="", type="overloaded_error"),
        Failure(kind=FailureKind.STREAM, message="", type="rate_limit_error"),
    ):
        assert delay_after(failure, 1, Random(1)) is not None
    for failure in (
        Failure(kind=FailureKind.STREAM, message="", status=400),
        Failure(kind=FailureKind.STREAM, message="", type="invalid_request_error"),
        Failure(kind=FailureKind.STREAM, message="insufficient balance", status=429),
    ):
        assert delay_after(failure, 1, Random(1)) is None


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
def test_the_window_a_429_waits_for(headers: dict[str, str], dimension: str | None, seconds: float | None) -> None:
    assert wait_for_window(read_limits(headers.items(), 1_700_000_000.0), dimension) == seconds


def test_a_named_dimension_is_a_rate_limit_whatever_the_words() -> None:
    assert delay_after(http(429, "TPM quota reached", dimension="TPM"), 1, Random(1)) is not None


def test_the_gateways_own_word_counts() -> None:
    assert delay_after(http(400), 1, Random(1), should_retry=True) is not None
    assert delay_after(http(503), 1, Random(1), should_retry=False) is None


def test_connection_failures() -> None:
    assert delay_after(Failure(kind=FailureKind.REFUSED, message=""), 1, Random(1)) is not None


@each_case(
    "failure",
    [
        http(429, "Budget has been exceeded! Current cost: 5.1, max budget: 5.0", type="budget_exceeded"),
        http(429, "ExceededBudget: key over budget"),
        http(429, "Your account is in arrears"),
        http(429, "Your team has reached its spend limit"),
        http(429, "余额不足"),
        http(429, "You have reached your monthly limit"),
        http(429, "You exceeded your current quota, 3 requests per minute were left", code="insufficient_quota"),
        http(429, "TPM quota reached", dimension="TPM", code="insufficient_quota"),
    ],
)
def test_an_empty_account_is_not_asked_again(failure: Failure) -> None:
    assert delay_after(failure, 1, Random(1)) is None


@pytest.mark.parametrize("message", ["Quota exceeded: 10 requests per minute", "quota: 60 requests/min", "too many"])
def test_a_quota_for_a_minute_is_a_rate(message: str) -> None:
    assert delay_after(http(429, message), 1, Random(1)) is not None


@each_case(
    ("failure", "passes"),
    [
        (http(429, "You exceeded your current quota, check your billing details.", dimension="RPM"), True),
        (http(429, "Quota exceeded for GenerateRequestsPerMinute; see billing."), True),
        (http(429, "Rate limit exceeded: free-models-per-min. Add 10 credits for more."), True),
        (http(429, "Exceeded the token rate limit of your tier. See https://x.example/quotaincrease"), True),
        (http(429, "You exceeded your current quota, check your plan and billing details.", retry_after=41.3), True),
        (http(429, "Resource has been exhausted (e.g. check quota)."), True),
        (http(429, "Insufficient balance", retry_after=41.3), False),
        (http(429, "You exceeded your current quota, check your plan and billing details."), False),
        (http(429, "You exceeded your current quota", code="insufficient_quota"), False),
    ],
)
def test_quota_by_the_minute_is_no_empty_account(failure: Failure, passes: bool) -> None:
    assert (delay_after(failure, 1, Random(1)) is not None) is passes
