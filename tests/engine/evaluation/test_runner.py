"""Runs of an evaluation over a real socket into a real file: complete, stopped, paused, bounded and resumed."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest

from playground.demo.server import DemoServer
from playground.domain.checks.calls import ToolCalled
from playground.domain.checks.figures import Latency
from playground.domain.checks.texts import Contains, Matches
from playground.domain.transcript import Role, make_turn
from playground.engine.evaluation.resolved import ResolvedEvaluation
from playground.engine.evaluation.results import Results
from playground.engine.evaluation.runner import Runner, State
from playground.engine.gateways.gateways import DEMO_ID, Gateways
from playground.engine.session.plan import Budget, Case, Keep, Order
from playground.engine.session.session import Session
from playground.engine.session.variants import Variant
from tests.engine.debugging import WEATHER, begin
from tests.engine.evaluation.evaluations import Evaluations, cases, planned, variant
from tests.support.eventually import eventually


def asked(gateway: DemoServer) -> list[str]:
    bodies = [json.loads(request.body) for request in gateway.requests if request.method == "POST"]
    return [body["messages"][-1]["content"] for body in bodies]


async def test_run_asks_each_case_of_each_variant_and_repeat(
    evaluations: Evaluations, session: Session, gateway: DemoServer
) -> None:
    planned(session, repeats=2, variants=(variant("B", model="demo-reasoner"),))
    runner = await evaluations.run(session)
    assert (runner.state, runner.progress.done, runner.progress.total, runner.reason) == (State.DONE, 12, 12, "")
    cities = ("Lisbon", "Oslo", "Rome")
    assert sorted(asked(gateway)) == sorted(f"What is {city} like? !fast" for city in cities * 4)
    assert {(item.case, item.column, item.repeat) for item in evaluations.answers_added} == {
        *product(("c0", "c1", "c2"), ("", "B"), (1, 2))
    }
    for item in runner.answers.values():
        (verdict,) = item.verdicts.values()
        assert verdict.passed is not None
        assert (item.failure, item.metrics.requests) == ("", 1)
        assert item.preview
        assert item.metrics.seconds is not None
        assert item.metrics.tokens
    assert runner.missing == []


@pytest.mark.parametrize(("keep", "count"), [(Keep.NONE, 0), (Keep.FAILED, 1), (Keep.ALL, 3)])
async def test_exchanges_are_saved_for_failed_all_or_no_answers(
    evaluations: Evaluations, session: Session, keep: Keep, count: int
) -> None:
    planned(session, keep=keep, checks=(Contains(text="Rome", negated=True),))
    runner = await evaluations.run(session)
    frames = [(await evaluations.store.details(session.id, item)).exchanges for item in runner.answers.values()]
    assert sum(map(bool, frames)) == count


async def test_run_asks_only_for_missing_answers(
    evaluations: Evaluations, session: Session, gateway: DemoServer
) -> None:
    planned(session)
    await evaluations.run(session)
    planned(session, cases=cases(5), repeats=2)
    before = len(asked(gateway))
    runner = await evaluations.run(session)
    assert len(asked(gateway)) - before == 5 * 2 - 3
    assert runner.progress.done == 10
    await evaluations.run(session)
    assert len(asked(gateway)) == before + 7
    checks = (Contains(text="{{city}}"), Latency(seconds=100), Contains(text="{{expected}}"))
    expecting = cases(5)[0].model_copy(update={"expected": "warm"})
    runner = await evaluations.run(planned(session, cases=(expecting, *cases(5)[1:]), repeats=2, checks=checks))
    assert len(asked(gateway)) == before + 7, "new checks judge the answers that are there"
    verdicts = [(answer.case, len(answer.verdicts)) for answer in runner.answers.values()]
    assert sorted(set(verdicts)) == [("c0", 3), *((f"c{number}", 2) for number in range(1, 5))]
    assert (await evaluations.load(session)).answers == runner.answers


async def test_changed_settings_make_answers_stale_until_restored(
    evaluations: Evaluations, session: Session, gateway: DemoServer
) -> None:
    b = variant("B", model="demo-reasoner")
    await evaluations.run(planned(session, variants=(b,)))
    session.change(model="demo-tools")  # of A; B has its own
    runner = await evaluations.load(session)
    assert (len(runner.answers), len(runner.stale), len(runner.missing)) == (3, 3, 3)
    assert {item.column for item in runner.stale} == {""}
    session.change(model="demo-chat", title="Another", variables={"unused": "1"})
    case = cases()[0].model_copy(update={"name": "South", "expected": "warm", "values": {"city": "Lisbon", "x": "y"}})
    planned(session, cases=(case, *cases()[1:]), variants=(b,), repeats=1, seed=5, keep=Keep.NONE)
    runner = await evaluations.load(session)
    assert (len(runner.answers), len(runner.stale)) == (6, 0), "none of this is sent"


async def test_failed_answer_is_no_failed_check(evaluations: Evaluations, session: Session) -> None:
    runner = await evaluations.run(planned(session, text="Hello {{city}} !500"))
    assert runner.state is State.DONE
    assert runner.progress.failed == 3
    for item in runner.answers.values():
        assert item.failure
        assert item.verdicts == {}


async def test_temporary_failure_is_retried(
    evaluations: Evaluations, session: Session, gateways: Gateways, gateway: DemoServer
) -> None:
    gateways.update(gateways.get(DEMO_ID).model_copy(update={"retries": 2}))
    runner = await evaluations.run(planned(session, text="Hello {{city}} !503x1"))
    assert runner.progress.failed == 0
    assert len(asked(gateway)) == 6


async def test_budget_stops_a_run(evaluations: Evaluations, session: Session, gateway: DemoServer) -> None:
    for budget, unit, most in ((Budget(requests=4), "4 requests", 4), (Budget(tokens=1), "1 tokens", 2)):
        await evaluations.store.forget(session.id)
        before = len(asked(gateway))
        runner = await evaluations.run(planned(session, cases=cases(20), budget=budget, at_once=2))
        assert (runner.state, runner.reason) == (State.STOPPED, f"The budget of {unit} is used up.")
        assert runner.progress.done == len(asked(gateway)) - before <= most


async def test_requests_at_once_are_bounded(evaluations: Evaluations, session: Session) -> None:
    planned(session, cases=cases(12), at_once=3)
    most = 0

    def look(_answers: object) -> None:
        nonlocal most
        most = max(most, runner.progress.under_way)

    runner = Runner(ResolvedEvaluation(session), evaluations.store, on_saved=look)
    await runner.run()
    assert 1 <= most <= 3
    assert runner.progress.done == 12


async def test_paused_run_sends_nothing_until_resumed(
    evaluations: Evaluations, session: Session, gateway: DemoServer
) -> None:
    runner = evaluations.runner(planned(session, cases=cases(30), at_once=1))
    task = begin(runner.run())
    await eventually(lambda: runner.progress.done >= 2)
    runner.pause()
    await eventually(lambda: runner.progress.under_way == 0)
    count = len(asked(gateway))
    assert runner.state is State.PAUSED
    assert count < 30
    runner.resume()
    await task
    assert runner.progress.done == 30
    assert len(asked(gateway)) == 30


async def test_stopped_run_is_completed_by_another(
    evaluations: Evaluations, session: Session, gateway: DemoServer
) -> None:
    runner = evaluations.runner(planned(session, cases=cases(30), at_once=2))
    task = begin(runner.run())
    await eventually(lambda: runner.progress.done >= 2)
    runner.stop()
    await task
    assert runner.state is State.STOPPED
    loaded = dict(runner.answers)
    again = await evaluations.load(session)
    assert again.answers == loaded
    assert again.progress.done < 30
    task = begin((last := evaluations.runner(session)).run())
    await eventually(lambda: last.progress.done > len(loaded))
    task.cancel()
    await eventually(task.done)
    assert (task.cancelled(), last.state) == (True, State.STOPPED)
    last = await evaluations.run(session)
    assert last.progress.done == 30
    assert {key: last.answers[key] for key in loaded} == loaded


async def test_tool_loop_is_one_answer(evaluations: Evaluations, session: Session) -> None:
    from playground.domain.debugging import Answer, AnswerRow, Debugging, Policy, ToolRule

    row = AnswerRow(answer=Answer(text='{"celsius": 21}'))
    session.change(
        model="demo-tools", tools=(WEATHER,), debugging=Debugging(default=ToolRule(policy=Policy.TABLE, rows=(row,)))
    )
    planned(session, text="Weather in {{city}}?", cases=cases(2), checks=(ToolCalled(tool="get_weather", fits=True),))
    runner = await evaluations.run(session)
    for item in runner.answers.values():
        assert (item.metrics.requests, item.metrics.calls) == (2, 1)
        (verdict,) = item.verdicts.values()
        assert verdict.passed is True
        saved = await evaluations.store.details(session.id, item)
        assert [turn.role for turn in saved.turns] == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT]


async def test_turns_of_a_case_are_asked_in_order_under_the_system_of_the_variant(
    evaluations: Evaluations, session: Session, gateway: DemoServer
) -> None:
    session.turns.add_turn(make_turn(Role.SYSTEM, "Be brief."))
    turns = (
        make_turn(Role.USER, "Example"),
        make_turn(Role.ASSISTANT, "Like this"),
        make_turn(Role.USER, "One {{city}} !fast"),
        make_turn(Role.USER, "Two !fast"),
    )
    stern = variant("B").model_copy(update={"system": "Be stern."})
    case = Case(id="a", turns=turns, values={"city": "Oslo"})
    runner = await evaluations.run(planned(session, cases=(case,), variants=(stern,), at_once=1))
    bodies = [json.loads(request.body)["messages"] for request in gateway.requests if request.method == "POST"]
    roles = [[message["role"] for message in body] for body in bodies]
    assert (
        roles
        == [["system", "user", "assistant", "user"], ["system", "user", "assistant", "user", "assistant", "user"]] * 2
    )
    assert [body[0]["content"] for body in bodies] == ["Be brief."] * 2 + ["Be stern."] * 2
    assert bodies[0][-1]["content"] == "One Oslo !fast"
    assert all(item.metrics.requests == 2 for item in runner.answers.values())


async def test_jobs_follow_the_order_of_the_plan(session: Session) -> None:
    b = variant("B", model="demo-reasoner")

    def order(**fields: Any) -> list[tuple[str, str, int]]:
        resolved = ResolvedEvaluation(planned(session, cases=cases(2), variants=(b,), repeats=2, **fields))
        return [(job.case.id, job.column.letter, job.repeat) for job in resolved.jobs]

    by_case = [("c0", "A", 1), ("c0", "A", 2), ("c0", "B", 1), ("c0", "B", 2), ("c1", "A", 1)]
    assert order(order=Order.BY_CASE)[:5] == by_case
    assert order(order=Order.BY_VARIANT)[:3] == [("c0", "A", 1), ("c0", "A", 2), ("c1", "A", 1)]
    shuffled = order(order=Order.SHUFFLED, seed=3)
    assert shuffled == order(order=Order.SHUFFLED, seed=3)
    assert shuffled != order(order=Order.SHUFFLED, seed=4)
    assert sorted(shuffled) == sorted(order(order=Order.BY_CASE))


async def test_problem_of_a_plan_names_its_place(session: Session) -> None:
    planned(
        session,
        cases=(Case(id="a", name="South"), Case(id="b", values={"city": "x"})),
        checks=(Matches(pattern="(a"),),
        budget=Budget(requests=0),
        variants=(variant("B", model=""),),
    )
    problems = [(item.place, item.id, item.words) for item in await ResolvedEvaluation(session).problems()]
    assert problems == [
        ("variants", "B", "Variant B has no model. Choose one."),
        ("cases", "a", "South has no value for {{city}}."),
        ("run", "", "A budget of 0 requests lets nothing run. Raise it, or leave it empty."),
        ("checks", "", "Regex: “(a” is no regular expression."),
    ]
    planned(session, cases=(), as_set=False)
    assert [item.place for item in await ResolvedEvaluation(session).problems()] == ["cases", "variants"]


async def test_equal_variants_share_their_answers(
    evaluations: Evaluations, session: Session, gateway: DemoServer
) -> None:
    runner = await evaluations.run(planned(session, variants=(Variant(name="the same"),), repeats=2))
    count = len(runner.resolved.cases) * 2
    assert len(asked(gateway)) == count
    assert runner.progress.total == runner.progress.done == count
    results = Results(runner.resolved, runner.answers)
    for case in runner.resolved.cases:
        first, second = (results.cell(case, column).answers for column in runner.resolved.columns)
        assert first == second
        assert None not in first
