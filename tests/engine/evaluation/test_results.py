"""Rates and comparisons of answers that are made up, so that the truth is known."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from playground.domain.checks.check import Verdict
from playground.domain.checks.figures import Latency
from playground.domain.checks.texts import Contains
from playground.domain.costs import AnswerMetrics
from playground.engine.evaluation.provider import Answer, with_verdicts
from playground.engine.evaluation.resolved import ResolvedEvaluation
from playground.engine.evaluation.results import Results
from playground.engine.evaluation.statistics import wilson
from playground.engine.session.plan import Case
from tests.engine.evaluation.evaluations import planned, variant
from tests.engine.session.test_session import make_session

#: Of case, column and repeat: whether the answer passed, failed for good (None), and in how many seconds it came.
Outcomes = Callable[[int, int, int], tuple[bool | None, float]]


def results(created: Outcomes, cases: int = 20, columns: int = 2, repeats: int = 1, **fields: Any) -> Results:
    session = planned(
        make_session(),
        cases=tuple(Case(id=f"c{number}", values={"city": str(number)}) for number in range(cases)),
        variants=tuple(variant("BCD"[place], model=f"m{place}") for place in range(columns - 1)),
        repeats=repeats,
        **{"checks": (Contains(text="x"),), **fields},
    )
    resolved = ResolvedEvaluation(session)
    answers = {}
    for job in resolved.jobs:
        case = int(job.case.id[1:])
        place = [item.id for item in resolved.columns].index(job.column.id)
        passed, seconds = created(case, place, job.repeat)
        verdicts = {key: Verdict(passed, float(bool(passed))) for key, _ in resolved.checks(job.case)}
        answers[job.key] = Answer(
            job.digest,
            job.repeat,
            job.case.id,
            job.column.id,
            0.0,
            preview="yes" if passed else "no",
            failure="" if passed is not None else "it is broken",
            metrics=AnswerMetrics(seconds=seconds, tokens=10, price=0.01, currency="$"),
            verdicts=verdicts if passed is not None else {},
        )
    return Results(resolved, answers)


def test_rate_of_a_column_has_its_interval() -> None:
    first, second = results(lambda case, place, _: (case < 15 + 5 * place, 1.0)).columns
    assert (first.rate.passed, first.rate.judged) == (15, 20)
    assert first.rate.interval == wilson(15, 20)
    assert first.rate.words == "75 % [53–89]"
    assert (second.rate.words, second.words) == ("100 % [84–100]", "100 % [84–100] · 1.00 s · 10 tokens · $0.20")
    some = results(lambda case, *_: (None if case < 5 else case < 15, 1.0)).columns[0]
    assert (some.rate.passed, some.rate.judged, some.failed, some.answered) == (10, 15, 5, 15)
    assert some.words.endswith("5 failed to answer")
    one_case = results(lambda _case, place, repeat: (repeat <= 6 + 12 * place, 1.0), cases=1, repeats=20)
    assert one_case.columns[0].rate.interval == wilson(6, 20)
    assert one_case.comparisons()[0].words == "B passes more often than A (p < 0.001)"


def test_significant_difference_is_named() -> None:
    compared = results(lambda case, place, _: (place == 1 or case % 2 == 0, 1.0 + place)).comparisons()
    words = {item.what: item for item in compared}
    assert words["passes"].words == "B passes more often than A (p = 0.002)"
    assert words["passes"].better
    assert words["time to the last token"].words.startswith("B: time to the last token more than A by 1 [1–1]")
    assert not words["time to the last token"].better


def test_insignificant_difference_is_named_as_such() -> None:
    chance = Random(5)
    noise = [chance.uniform(-1, 1) for _ in range(40)]
    same = {
        item.what: item for item in results(lambda case, place, _: (True, 2 + noise[2 * case + place])).comparisons()
    }
    assert same["passes"].words == "no difference between B and A in passing can be told from 20 cases (p = 1.00)"
    assert "no difference between B and A in time to the last token" in same["time to the last token"].words
    few = results(lambda case, place, _: (place == 1 or case > 2, 1.0)).comparisons()[0]
    assert few.words == "B and A differ in 3 of 20 cases: too few to compare their pass rates"
    assert not few.sure
    three = {item.what: item for item in results(lambda case, place, _: (True, 1.0 + place), cases=3).comparisons()}
    assert "can be told from 3 cases" in three["time to the last token"].words


def test_comparisons_are_corrected_together() -> None:
    def outcomes(case: int, place: int, _repeat: int) -> tuple[bool, float]:
        return (place == 0 or case >= 7, 1.0)

    (alone,) = results(outcomes, columns=2).comparisons()
    three = results(outcomes, columns=4).comparisons()
    assert alone.p == pytest.approx(2 / 2**7)
    assert [item.p for item in three] == pytest.approx([3 * alone.p] * 3)
    assert alone.sure
    assert alone.words == "B passes less often than A (p = 0.016)"


def test_nothing_is_compared_without_two_columns_and_answers() -> None:
    assert results(lambda *_: (True, 1.0), columns=1).comparisons() == []
    empty = Results(ResolvedEvaluation(planned(make_session(), variants=(variant("B"),))), {})
    assert empty.comparisons() == []
    assert [item.rate.words for item in empty.columns] == ["not judged", "not judged"]
    assert empty.checks()[0].rate.share is None


def test_cell_has_marks_score_and_differing_answers() -> None:
    evaluated = results(
        lambda case, place, repeat: (case == 0 or (place == 1 and repeat < 3), 1.0),
        cases=2,
        repeats=3,
        checks=(Contains(text="x", weight=3), Latency(seconds=1)),
    )
    first, second = evaluated.resolved.columns
    easy, hard = evaluated.resolved.plan.cases
    assert evaluated.cell(easy, first).marks == (True, True, True)
    assert evaluated.cell(hard, first).marks == (False, False, False)
    assert evaluated.cell(hard, second).marks == (True, True, False)
    assert [evaluated.differing(case) for case in (easy, hard)] == [False, True]
    assert evaluated.cell(hard, second).failing
    assert evaluated.answers_of(hard, second) == [("yes", 2), ("no", 1)]
    answer = evaluated.cell(hard, second).answers[2]
    assert answer is not None
    key = evaluated.resolved.checks(hard)[1][0]
    better = with_verdicts(answer, {key: Verdict(True, 1.0)})
    assert evaluated.score(hard, better) == 0.25
    assert [item.title for item in evaluated.checks()] == ["Contains", "Latency"]
    assert (evaluated.checks()[0].rate.passed, evaluated.checks()[0].rate.judged) == (8, 12)


def test_copy_of_results_is_unchanged_by_later_answers() -> None:
    complete = results(lambda case, place, repeat: ((case + place + repeat) % 3 > 0, 1.0 + case), cases=4, repeats=2)
    early, late = list(complete.answers.values())[:5], list(complete.answers.values())[5:]
    growing = Results(complete.resolved, {answer.key: answer for answer in early})
    snapshot = growing.copy()
    before = snapshot.findings()
    assert sum(column.answered for column in before.columns) == len(early)
    stale = Answer("unknown", 1, "c0", "", 0.0)
    assert growing.arrived([*late, stale]) == [stale]
    assert snapshot.findings() == before
    assert growing.findings() == complete.findings() != before


def test_variant_names_its_differences() -> None:
    second = variant("B", model="m", parameters={"chat": {"temperature": 0.5}})
    second = second.model_copy(update={"system": "Be brief."})
    resolved = ResolvedEvaluation(planned(make_session(), variants=(second,), streamed=True))
    assert resolved.words(resolved.columns[0], str) == []
    assert resolved.words(resolved.columns[1], str) == ["temperature 0.5", "“Be brief.”"]


def test_findings_are_sentences_without_statistics() -> None:
    def sentences(created: Outcomes, columns: int = 2) -> list[str]:
        return results(created, columns=columns).findings().sentences

    better = sentences(lambda case, place, _: (place == 1 or case % 2 == 0, 1.0))
    assert better == ["B passes more often than A: 100 % against 50 %, unlikely to be chance."]
    close = sentences(lambda case, place, _: (place == 1 or case > 2, 1.0))
    assert close == ["B passes 100 %, A 85 %. The difference may be chance."]
    mixed = sentences(lambda case, place, _: (place < 2 or case % 2 == 0, 1.0), columns=3)
    assert mixed[0].startswith("C passes less often than A: 50 % against 100 %")
    assert mixed[1] == "B passes as often as A: 100 %."
    assert sentences(lambda case, *_: (case < 15, 1.0), columns=1) == ["A passes 75 % of 20 answers."]
    under_way = results(lambda case, place, _: (case < 15, 1.0)).findings(compared=False)
    assert under_way.sentences == ["Pass rates so far: A 75 %, B 75 %."]
    assert results(lambda *_: (True, 1.0), checks=()).findings().sentences == []
