"""Evaluations whose calls a tool server answers: real calls, recorded calls and repeats."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from playground.domain.debugging import Policy
from playground.engine.evaluation.export.formats import export
from playground.engine.evaluation.results import Results
from playground.engine.evaluation.runner import Runner
from playground.engine.gateways.gateways import DEMO_ID, Gateways
from playground.engine.session.session import Experiment, Session
from tests.engine.debugging import always
from tests.engine.evaluation.evaluations import Evaluations, planned
from tests.engine.served import Sky, weather


@pytest.fixture
async def sky() -> AsyncIterator[Sky]:
    async with Sky() as created:
        created.let_go()
        yield created


@pytest.fixture
def session(gateways: Gateways, sky: Sky) -> Session:
    created = Experiment(gateways.client, profile_id=DEMO_ID, model="demo-tools", serving=lambda: sky).main
    created.change(tools=(weather(),), debugging=always(Policy.SERVER))
    return planned(created, "Weather in {{city}} !fast", repeats=2)


async def rows_of(runner: Runner, evaluations: Evaluations, form: str = "jsonl") -> list[dict[str, Any]]:
    """Return the rows of an export."""

    async def fetch(answer: Any) -> Any:
        return await evaluations.store.details(runner.resolved.id, answer)

    text = await export(form, Results(runner.resolved, runner.answers), fetch, (), 0.0)
    if form == "csv":
        return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
    return [json.loads(line) for line in text.splitlines()]


def calls_of(rows: list[dict[str, Any]]) -> set[tuple[str, str, bool]]:
    return {(call["answered_by"], call.get("server", ""), call["real"]) for row in rows for call in row["calls"]}


async def test_answer_counts_its_real_calls(evaluations: Evaluations, session: Session, sky: Sky) -> None:
    runner = await evaluations.run(session)
    assert (len(runner.answers), len(sky.calls)) == (6, 6)
    assert {(item.metrics.calls, item.metrics.real) for item in runner.answers.values()} == {(1, 1)}
    again = await evaluations.load(session)
    assert again.answers == runner.answers
    rows = await rows_of(runner, evaluations)
    assert [row["real_calls"] for row in rows] == [1] * 6
    assert calls_of(rows) == {("server", "Sky", True)}
    assert {row["real_calls"] for row in await rows_of(runner, evaluations, "csv")} == {"1"}


async def test_recorded_answers_replace_further_calls(evaluations: Evaluations, session: Session, sky: Sky) -> None:
    planned(session, repeats=2, record=True)
    runner = await evaluations.run(session)
    assert (len(runner.answers), len(sky.calls)) == (6, 3)  # both repeats ask the same
    assert sorted(item.metrics.real for item in runner.answers.values()) == [0, 0, 0, 1, 1, 1]
    await evaluations.store.forget(session.id)
    sky.refused = "There is no such server any more."
    runner = await evaluations.run(session)
    assert (len(runner.answers), len(sky.calls)) == (6, 3)
    assert {item.metrics.real for item in runner.answers.values()} == {0}
    assert calls_of(await rows_of(runner, evaluations)) == {("table", "Sky", False)}
    await evaluations.store.forget(session.id)
    await evaluations.store.forget_recorded(session.id)
    runner = await evaluations.run(session)
    assert len(sky.calls) == 3  # it cannot be asked
    assert {item.metrics.real for item in runner.answers.values()} == {0}
