"""The scale of the timeline."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from playground.domain.durations import duration_words
from playground.ui.features.inspector.timeline.scale import TimeScale
from tests.support.each_case import each_case


def make_scale(total: float = 4.0) -> TimeScale:
    scale = TimeScale()
    scale.left, scale.width = 12, 400
    scale.set_total(total)
    return scale


@given(st.floats(0.0, 1e4), st.floats(1e-6, 1e4), st.floats(-1e4, 1e4), st.floats(0.01, 100))
def test_visible_range_is_within_the_whole(total: float, span: float, moved: float, factor: float) -> None:
    scale = make_scale(total)
    scale.show(moved, moved + span)
    scale.zoom(factor, moved)
    scale.pan(moved)
    assert 0 <= scale.start < scale.end <= max(total, 0.001) + 1e-9
    ticks = list(scale.ticks())
    assert len(ticks) <= scale.width / 72 + 2
    assert all(scale.start - 1e-9 <= at <= scale.end + 1e-9 for at, _ in ticks)


@each_case(
    "seconds, words",
    [(0, "0"), (0.000_069, "69 µs"), (0.0012, "1.2 ms"), (0.009_96, "10 ms"), (0.25, "250 ms"), (2.4, "2.40 s")],
)
def test_durations_have_three_digits(seconds: float, words: str) -> None:
    assert duration_words(seconds) == words
