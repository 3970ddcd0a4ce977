"""Lengths of time as people say them."""

from __future__ import annotations

import pytest

from playground.domain.durations import brief_duration, countdown, duration_words, span
from tests.support.each_case import each_case


@each_case(
    ("seconds", "words"),
    [
        (0.25, "0.25 s"), (45, "45 s"), (59.97, "1 min"), (60, "1 min"), (61, "1 min 1 s"), (125, "2 min 5 s"),
        (7200, "2 h"), (86400 + 3600, "1 day 1 h"), (40 * 86400, "40 days"), (float("inf"), "for ever"),
    ],
)  # fmt: skip
def test_span(seconds: float, words: str) -> None:
    assert span(seconds) == words


@pytest.mark.parametrize(("seconds", "words"), [(0.01, "1 s"), (59.5, "1 min"), (60.2, "1 min 1 s"), (-3, "0 s")])
def test_countdown(seconds: float, words: str) -> None:
    assert countdown(seconds) == words


def test_brief_durations_are_rounded_to_their_size() -> None:
    words = [brief_duration(seconds) for seconds in (0, 0.0843, 0.9996, 1.2, 9.996, 59.94, 185.4, 7260)]
    assert words == ["0 ms", "84 ms", "1.00 s", "1.20 s", "10.0 s", "59.9 s", "3 min 05 s", "2 h 01 min"]


def test_short_durations_have_three_digits() -> None:
    seconds = (0, 0.000_069, 0.0012, 0.009_96, 0.25, 2.4)
    assert [duration_words(value) for value in seconds] == ["0", "69 µs", "1.2 ms", "10 ms", "250 ms", "2.40 s"]
