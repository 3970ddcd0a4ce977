"""The scale of the timeline."""

from __future__ import annotations

from playground.domain.durations import duration_words
from tests.support.each_case import each_case


@each_case(
    "seconds, words",
    [(0, "0"), (0.000_069, "69 µs"), (0.0012, "1.2 ms"), (0.009_96, "10 ms"), (0.25, "250 ms"), (2.4, "2.40 s")],
)
def test_durations_have_three_digits(seconds: float, words: str) -> None:
    assert duration_words(seconds) == words
