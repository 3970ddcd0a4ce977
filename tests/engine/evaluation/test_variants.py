"""Sweeps: variants from ranges and lists, and the axes that a plot finds in them again."""

from __future__ import annotations

import pytest

from playground.engine.evaluation.resolved import ResolvedEvaluation
from playground.engine.evaluation.variants import (
    MOST_VARIANTS,
    ParameterRange,
    SweepError,
    axes,
    over_models,
    over_parameters,
    steps,
    sweepable,
)
from playground.engine.session.settings import ExperimentSettings
from tests.engine.evaluation.evaluations import planned
from tests.engine.session.test_session import make_session
from tests.support.each_case import each_case

BASE = ExperimentSettings(profile_id="p", model="m")


def test_steps_are_decimal_and_include_the_end() -> None:
    assert steps(0, 0.3, 0.1) == (0.0, 0.1, 0.2, 0.3)
    assert steps(0, 2, 0.25)[-1] == 2.0
    assert steps(1, 10, 4) == (1, 5, 9)
    assert steps(1, 1, 1) == (1,)
    for wrong in ((1, 0, 0.1), (0, 1, 0), (0, 1, -1)):
        with pytest.raises(SweepError, match="goes up"):
            steps(*wrong)
    with pytest.raises(SweepError, match="too many"):
        steps(0, 1e9, 1)
    names = [name for name, _ in sweepable(BASE)]
    assert ("temperature" in names, "stream" in names) == (True, False)


def test_sweep_has_a_variant_for_each_combination() -> None:
    item = over_parameters(BASE, [ParameterRange("temperature", steps(0, 2, 0.5))])
    assert [variant.name for variant in item] == [f"temperature {value}" for value in ("0", "0.5", "1", "1.5", "2")]
    assert [variant.applied(BASE).current.set_fields["temperature"] for variant in item] == [0, 0.5, 1, 1.5, 2]
    two = over_parameters(BASE, [ParameterRange("temperature", (0, 1)), ParameterRange("top_p", (0.5, 1.0))])
    assert [variant.name for variant in two][:2] == ["temperature 0, top p 0.5", "temperature 0, top p 1"]
    session = planned(make_session(), as_set=False, variants=two)
    assert axes(ResolvedEvaluation(session).columns) == {"temperature": [0, 0, 1, 1], "top_p": [0.5, 1.0, 0.5, 1.0]}
    assert axes(ResolvedEvaluation(planned(session, as_set=False, variants=item)).columns) == {
        "temperature": [0, 0.5, 1, 1.5, 2]
    }
    models = over_models(BASE, [" a ", "b", "a", ""])
    assert [variant.applied(BASE).model for variant in models] == ["a", "b"]
    assert axes(ResolvedEvaluation(planned(session, variants=models)).columns) == {}


@each_case(
    ("ranges", "words"),
    [
        ([], "one parameter, or over two"),
        ([ParameterRange("color", (1,))], "no parameter"),
        ([ParameterRange("temperature", ())], "no value for Temperature"),
        ([ParameterRange("temperature", (1,)), ParameterRange("temperature", (2,))], "different ones"),
        (
            [ParameterRange("temperature", tuple(range(20))), ParameterRange("top_p", tuple(range(20)))],
            "400 variants are too many",
        ),
    ],
)
def test_invalid_sweep_is_refused(ranges: list[ParameterRange], words: str) -> None:
    with pytest.raises(SweepError, match=words):
        over_parameters(BASE, ranges)
    with pytest.raises(SweepError, match="no model"):
        over_models(BASE, ["", " "])
    with pytest.raises(SweepError, match="too many"):
        over_models(BASE, map(str, range(MOST_VARIANTS + 1)))
