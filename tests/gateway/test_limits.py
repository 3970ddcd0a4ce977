"""Rate-limit headers in every spelling."""

from __future__ import annotations

from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.gateway.limits import RateLimit, gateway_time, read_date, read_limits, read_number, read_reset
from tests.support.each_case import each_case

NOW = 1_700_000_000.0


@each_case(
    ("value", "seconds"),
    [
        ("1700000090", 90), ("1700000090.5", 90.5), ("1700000090000", 90), ("1699999999", 0), ("59", 59),
        ("0.25", 0.25), ("1s", 1), ("6m0s", 360), ("1h2m3.5s", 3723.5), ("120ms", 0.12), ("250µs", 0.00025),
        ("2023-11-14T22:13:30Z", 10), ("2023-11-14T23:13:30.500+01:00", 10.5),
        (formatdate(NOW + 15, usegmt=True), 15), ("soon", None), ("", None), ("-5", None), ("nan", None),
        ("inf", None), ("1e999", None), ("9" * 400, None),
    ],
)  # fmt: skip
def test_resets(value: str, seconds: float | None) -> None:
    result = read_reset(value, NOW)
    assert result == (None if seconds is None else pytest.approx(seconds))
    window = read_limits([("X-RateLimit-Reset", value)], NOW).windows[0]
    assert window.raw[2] == value  # the raw value stays beside what was made of it


@each_case(
    ("headers", "windows"),
    [
        (
            {"X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "12", "X-RateLimit-Reset": "1700000030"},
            [RateLimit("", 60, 12, 30, ("60", "12", "1700000030"))],
        ),
        (
            {
                "x-ratelimit-limit-requests": "100",
                "x-ratelimit-remaining-requests": "99",
                "x-ratelimit-reset-requests": "600ms",
                "x-ratelimit-limit-tokens": "40000",
                "x-ratelimit-remaining-tokens": "400",
                "x-ratelimit-reset-tokens": "6m0s",
            },
            [
                RateLimit("requests", 100, 99, 0.6, ("100", "99", "600ms")),
                RateLimit("tokens", 40000, 400, 360, ("40000", "400", "6m0s")),
            ],
        ),
        (
            {
                "anthropic-ratelimit-input-tokens-limit": "50000",
                "anthropic-ratelimit-input-tokens-remaining": "0",
                "anthropic-ratelimit-input-tokens-reset": "2023-11-14T22:14:20Z",
            },
            [RateLimit("input-tokens", 50000, 0, 60, ("50000", "0", "2023-11-14T22:14:20Z"))],
        ),
        (
            {"RateLimit": '"default";r=50;t=30', "RateLimit-Policy": '"default";q=100;w=60'},
            [RateLimit("", 100, 50, 30, ("100", "50", "30"))],
        ),
        (
            {
                "RateLimit-Policy": '"burst";q=10;w=1, "day";q=1000;w=86400',
                "RateLimit": '"burst";r=0;t=1,"day";r=9;t=8',
            },
            [RateLimit("burst", 10, 0, 1, ("10", "0", "1")), RateLimit("day", 1000, 9, 8, ("1000", "9", "8"))],
        ),
        (
            {"RateLimit": "limit=100, remaining=50, reset=30", "RateLimit-Policy": "100;w=60, 500;w=3600"},
            [RateLimit("", 100, 50, 30, ("100", "50", "30"))],
        ),
        (
            {"RateLimit-Limit": "10", "RateLimit-Remaining": "9", "RateLimit-Reset": "1", "RateLimit-Policy": "10;w=1"},
            [RateLimit("", 10, 9, 1, ("10", "9", "1"))],
        ),
        (
            {"RateLimit": '"api";r=489;t=189', "RateLimit-Policy": '"fixed window";"api";q=500;w=300'},
            [RateLimit("api", 500, 489, 189, ("500", "489", "189"))],
        ),
        ({"RateLimit": '"a,b;c";r=5;t=-9;pk=:abc=:'}, [RateLimit("a,b;c", None, 5, None, ("", "5", "-9"))]),
        ({"RateLimit": ',,;;=="" ;r'}, []),
    ],
)
def test_windows_are_read_from_headers(headers: dict[str, str], windows: list[RateLimit]) -> None:
    limits = read_limits(headers.items(), NOW)
    assert list(limits.windows) == windows
    shares = [window.share for window in windows if window.share is not None]
    assert not shares or (limits.tightest is not None and limits.tightest.share == min(shares))


def test_odd_values_do_not_raise() -> None:
    limits = read_limits([("X-RateLimit-Limit", "many"), ("X-RateLimit-Remaining", ""), ("Content-Type", "x")], NOW)
    assert limits.windows == (RateLimit(raw=("many", "", "")),)
    assert limits.windows[0].share is None
    assert limits.tightest is limits.windows[0]
    assert read_number("100;w=60") == 100


def test_reset_times_count_by_the_clock_of_the_gateway() -> None:
    """Ours is two hours slow; the Date header tells."""
    date = ("Date", formatdate(NOW + 7200, usegmt=True))
    pairs = [("X-RateLimit-Reset", str(int(NOW + 7230))), ("X-RateLimit-Reset-Tokens", "9s"), date]
    limits = read_limits(pairs, NOW)
    assert [window.reset_in for window in limits.windows] == [30, 9]
    assert limits.read_at == NOW  # countdowns run on our clock


@pytest.mark.parametrize(
    ("headers", "date"),
    [
        ([("date", formatdate(NOW, usegmt=True))], NOW),
        ([("Date", formatdate(NOW, usegmt=True)), ("Age", "40")], NOW + 40),
        ([("Date", "yesterday")], None),
        ([("Date", "1 Jan 99999999999999999999 00:00:00 GMT")], None),
        ([], None),
    ],
)
def test_date_of_a_gateway_is_read(headers: list[tuple[str, str]], date: float | None) -> None:
    assert read_date(headers) == date
    assert gateway_time(headers, NOW) == (NOW if date is None else date)


@given(st.text(max_size=40))
def test_no_header_raises(value: str) -> None:
    read_limits([("Date", value), ("Age", value), ("X-RateLimit-Reset", value), ("X-RateLimit-Limit", value)], NOW)


def test_no_limits() -> None:
    assert not read_limits([("Content-Type", "text/plain")], NOW)
    assert read_limits([], NOW).tightest is None
