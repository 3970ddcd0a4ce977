"""The formulas against scipy, where it has them, and against what they must be."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from playground.engine.evaluation.statistics import (
    Interval,
    bootstrap,
    effective,
    holm,
    mcnemar,
    mean,
    median,
    wilson,
)


@settings(max_examples=40)
@given(st.integers(0, 400), st.integers(1, 400))
def test_interval_of_a_rate_agrees_with_scipy(passed: int, more: int) -> None:
    total = passed + more if passed % 2 else max(passed, more)
    passed = min(passed, total)
    theirs = stats.binomtest(passed, total).proportion_ci(0.95, method="wilson")
    ours = wilson(passed, total)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)
    assert wilson(0, 0) == Interval(0.0, 1.0)


@settings(max_examples=40)
@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_agrees_with_scipy(gained: int, lost: int) -> None:
    if gained + lost:
        assert mcnemar(gained, lost) == pytest.approx(stats.binomtest(gained, gained + lost).pvalue)
    else:
        assert mcnemar(gained, lost) == 1.0
        assert mcnemar(5_000, 4_000) == pytest.approx(stats.binomtest(4_000, 9_000).pvalue)


@settings(max_examples=40)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_agrees_with_closed_testing(ps: list[float]) -> None:
    ours = holm(ps)
    # Holm is what closed testing by Bonferroni comes to: the largest over all sets that hold the one.
    ordered = sorted(range(len(ps)), key=lambda index: ps[index])
    for rank, place in enumerate(ordered):
        expected = max(min(1.0, ps[item] * (len(ps) - index)) for index, item in enumerate(ordered[: rank + 1]))
        assert ours[place] == pytest.approx(expected)
    assert all(before <= after for before, after in zip(ps, ours, strict=True))


def test_bootstrap_agrees_with_scipy() -> None:
    chance = Random(3)
    values = [chance.gauss(0.4, 1.0) for _ in range(40)]
    ours = bootstrap(values, seed=7)
    theirs = stats.bootstrap(
        (values,), lambda sample, axis: sample.mean(axis=axis), n_resamples=4_000, method="percentile", rng=7
    ).confidence_interval
    assert ours == bootstrap(values, seed=7)
    assert ours != bootstrap(values, seed=8)
    assert ours.value == pytest.approx(mean(values))
    assert ours.interval.low == pytest.approx(theirs.low, abs=0.05)
    assert ours.interval.high == pytest.approx(theirs.high, abs=0.05)
    # Of a mean its p is near that of the t test.
    assert ours.p == pytest.approx(float(stats.ttest_1samp(values, 0.0).pvalue), abs=0.03)
    assert bootstrap([0.0] * 10).p == 1.0
    assert bootstrap([1.0] * 10, median).interval == Interval(1.0, 1.0)
    with pytest.raises(ValueError, match="no value"):
        bootstrap([])


def test_equal_repeats_count_once() -> None:
    assert effective([(5, 5), (0, 5), (5, 5), (0, 5)]) == pytest.approx(4.0)
    assert effective([(5, 5)] * 4) == 4.0  # all alike: nothing tells how alike repeats are
    assert effective([(3, 5)]) == 5.0  # one case: it is about this one
    assert effective([]) == 0.0
    assert effective([(2, 4), (2, 4), (2, 4)]) == 12.0  # no spread between cases: as if all were independent
