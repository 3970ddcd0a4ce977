"""An evaluation is run over a real socket, kept in a real file, stopped, paused, bounded and gone on with."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.demo.server import DemoServer
from playground.domain.checks.calls import ToolCalled
from playground.domain.checks.figures import Latency
from playground.domain.checks.texts import Contains, Matches
from playground.domain.transcript import Role, make_turn
from playground.engine.evaluation.inquiry import Inquiry
from playground.engine.evaluation.results import Results
from playground.engine.evaluation.runner import Runner, State
from playground.engine.gateways.offered import DEMO_ID, Gateways
from playground.engine.session.plan import Budget, Case, Keep, Order
from playground.engine.session.session import Session
from playground.engine.session.variants import Variant
from tests.engine.debugging import WEATHER, begin
from tests.engine.evaluation.evaluations import Evaluations, cases, planned, variant
from tests.support.eventually import eventually


def asked(gateway: DemoServer) -> list[str]:
    bodies = [json.loads(request.body) for request in gateway.requests if request.method == "POST"]
    return [body["messages"][-1]["content"] for body in bodies]


async def test_each_case_is_asked_of_each_variant_as_often_as_wanted(
    evaluations: Evaluations, session: Session, gateway: DemoServer
) -> None:
    planned(session, repeats=2, variants=(variant("B", model="demo-reasoner"),))
    runner = await evaluations.run(session)
    assert (runner.state, runner.progress.done, runner.progress.total, runner.reason) == (State.DONE, 12, 12, "")
    assert len(asked(gateway)) == 12
    assert sorted(set(asked(gateway))) == sorted(f"What is {city} like? !fast" for city in ("Lisbon", "Oslo", "Rome"))
    assert {(one.case, one.column, one.repeat) for one in evaluations.told} == {
        (case, column, repeat) for case in ("c0", "c1", "c2") for column in ("", "B") for repeat in (1, 2)
    }
    for one in runner.answers.values():
        (verdict,) = one.verdicts.values()
        assert verdict.passed is not None
        assert not one.failure
        assert one.gist
        assert one.figures.requests == 1
        assert one.figures.seconds is not None
        assert one.figures.tokens
    assert runner.missing == []


async def test_answers_that_are_judged_alike_have_one_verdict(evaluations: Evaluations, session: Session) -> None:
    planned(session, repeats=5, checks=(Contains(text="{{city}}"),))
    runner = await evaluations.run(session)
    for answers in (runner.answers, (await evaluations.load(session)).answers):
        found = [next(iter(one.verdicts.values())) for one in answers.values()]
        assert len(found) == 15
        assert len({id(one) for one in found}) == len(set(found)) <= 6


async def test_what_is_kept_is_what_came(evaluations: Evaluations, session: Session) -> None:
    planned(session, keep=Keep.ALL)
    runner = await evaluations.run(session)
    again = await evaluations.load(session)
    assert again.answers == runner.answers
    answer = next(iter(again.answers.values()))
    kept = await evaluations.store.kept(session.id, answer)
    assert [turn.role for turn in kept.turns] == [Role.USER, Role.ASSISTANT]
    assert kept.turns[0].text.startswith("What is ")
    assert "{{" not in kept.turns[0].text
    assert answer.gist.startswith(" ".join(kept.turns[1].text.split())[:40])
    (exchange,) = kept.exchanges
    assert exchange.status == 200
    assert exchange.body


@pytest.mark.parametrize(("keep", "count"), [(Keep.NONE, 0), (Keep.FAILED, 1), (Keep.ALL, 3)])
async def test_frames_are_kept_of_those_that_failed_of_all_or_of_none(
    evaluations: Evaluations, session: Session, keep: Keep, count: int
) -> None:
    planned(session, keep=keep, checks=(Contains(text="Rome", negated=True),))
    runner = await evaluations.run(session)
    frames = [(await evaluations.store.kept(session.id, one)).exchanges for one in runner.answers.values()]
    assert sum(map(bool, frames)) == count


async def test_it_goes_on_with_what_is_missing_and_asks_nothing_twice(
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


async def test_what_is_set_otherwise_makes_answers_stale_and_back_again_finds_them(
    evaluations: Evaluations, session: Session, gateway: DemoServer
) -> None:
    planned(session, variants=(variant("B", model="demo-reasoner"),))
    await evaluations.run(session)
    session.change(model="demo-tools")  # of A; B has its own
    runner = await evaluations.load(session)
    assert (len(runner.answers), len(runner.stale), len(runner.missing)) == (3, 3, 3)
    assert {one.column for one in runner.stale} == {""}
    session.change(model="demo-chat")
    runner = await evaluations.load(session)
    assert (len(runner.answers), len(runner.stale)) == (6, 0)


async def test_what_does_not_go_out_makes_nothing_stale(evaluations: Evaluations, session: Session) -> None:
    planned(session)
    await evaluations.run(session)
    case = cases()[0].model_copy(update={"name": "South", "expected": "warm", "values": {"city": "Lisbon", "x": "y"}})
    planned(session, cases=(case, *cases()[1:]), repeats=1, seed=5, keep=Keep.NONE)
    session.change(title="Another", variables={"unused": "1"})
    runner = await evaluations.load(session)
    assert (len(runner.answers), len(runner.stale)) == (3, 0)


async def test_two_cases_that_ask_the_same_are_two_answers(
    evaluations: Evaluations, session: Session, gateway: DemoServer
) -> None:
    twins = (Case(id="a", values={"city": "Oslo"}), Case(id="b", values={"city": "Oslo"}))
    runner = await evaluations.run(planned(session, cases=twins))
    assert {one.case for one in runner.answers.values()} == {"a", "b"}
    assert len(asked(gateway)) == 2


async def test_a_new_check_is_made_of_answers_that_are_there(
    evaluations: Evaluations, session: Session, gateway: DemoServer
) -> None:
    await evaluations.run(planned(session))
    before = len(asked(gateway))
    runner = await evaluations.run(planned(session, checks=(Contains(text="{{city}}"), Latency(seconds=100))))
    assert len(asked(gateway)) == before
    assert [len(one.verdicts) for one in runner.answers.values()] == [2, 2, 2]
    again = await evaluations.load(session)
    assert again.answers == runner.answers


async def test_an_answer_that_failed_for_good_is_no_failed_check(evaluations: Evaluations, session: Session) -> None:
    runner = await evaluations.run(planned(session, text="Hello {{city}} !500"))
    assert runner.state is State.DONE
    assert runner.progress.failed == 3
    for one in runner.answers.values():
        assert "500" in one.failure or one.failure
        assert one.verdicts == {}


async def test_one_that_passes_is_tried_again_as_in_a_run(
    evaluations: Evaluations, session: Session, gateways: Gateways, gateway: DemoServer
) -> None:
    gateways.update(gateways.get(DEMO_ID).model_copy(update={"retries": 2}))
    runner = await evaluations.run(planned(session, text="Hello {{city}} !503x1"))
    assert runner.progress.failed == 0
    assert len(asked(gateway)) == 6


@pytest.mark.parametrize("word", ["!401", "!402"])
async def test_a_key_that_is_refused_stops_all_of_it_and_says_why(
    evaluations: Evaluations, session: Session, gateway: DemoServer, word: str
) -> None:
    runner = await evaluations.run(planned(session, text=f"Hello {{{{city}}}} {word}", cases=cases(40), at_once=2))
    assert runner.state is State.STOPPED
    assert runner.reason.startswith("A · as set: ")
    assert len(asked(gateway)) <= 3
    assert runner.progress.done == 0


@pytest.mark.parametrize(
    ("budget", "words", "most"),
    [
        (Budget(requests=4), "The budget of 4 requests is used up.", 4),
        (Budget(tokens=1), "The budget of 1 tokens is used up.", 2),
    ],
)
async def test_a_budget_stops_it(
    evaluations: Evaluations, session: Session, gateway: DemoServer, budget: Budget, words: str, most: int
) -> None:
    runner = await evaluations.run(planned(session, cases=cases(20), budget=budget, at_once=2))
    assert (runner.state, runner.reason) == (State.STOPPED, words)
    assert len(asked(gateway)) <= most
    assert runner.progress.done == len(asked(gateway))


async def test_no_more_are_under_way_at_once_than_is_set(evaluations: Evaluations, session: Session) -> None:
    planned(session, text="Hello {{city}} !tps=300", cases=cases(12), at_once=3)
    most = 0

    def look(_answers: object) -> None:
        nonlocal most
        most = max(most, runner.progress.under_way)

    runner = Runner(Inquiry(session), evaluations.store, told=look)
    await runner.run()
    assert 1 <= most <= 3
    assert runner.progress.done == 12


async def test_paused_it_asks_for_no_more_and_goes_on_when_told(
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


async def test_stopped_it_keeps_what_came_and_another_run_asks_for_the_rest(
    evaluations: Evaluations, session: Session, gateway: DemoServer
) -> None:
    runner = evaluations.runner(planned(session, text="Hello {{city}} !tps=400", cases=cases(30), at_once=2))
    task = begin(runner.run())
    await eventually(lambda: runner.progress.done >= 2)
    runner.stop()
    await task
    assert runner.state is State.STOPPED
    shown = dict(runner.answers)
    again = await evaluations.load(session)
    assert again.answers == shown
    assert again.progress.done < 30
    last = await evaluations.run(session)
    assert last.progress.done == 30
    assert {key: last.answers[key] for key in shown} == shown


async def test_cancelled_it_keeps_what_came_and_passes_that_on(evaluations: Evaluations, session: Session) -> None:
    runner = evaluations.runner(planned(session, cases=cases(30), at_once=1))
    task = begin(runner.run())
    await eventually(lambda: runner.progress.done >= 1)
    task.cancel()
    await eventually(task.done)
    assert task.cancelled()
    assert runner.state is State.STOPPED


async def test_a_whole_tool_loop_is_one_answer(evaluations: Evaluations, session: Session) -> None:
    from playground.domain.debugging import Answer, AnswerRow, Debugging, Policy, ToolRule

    row = AnswerRow(answer=Answer(text='{"celsius": 21}'))
    session.change(
        model="demo-tools",
        tools=(WEATHER,),
        debugging=Debugging(default=ToolRule(policy=Policy.TABLE, rows=(row,))),
    )
    planned(session, text="Weather in {{city}}?", cases=cases(2), checks=(ToolCalled(tool="get_weather", fits=True),))
    runner = await evaluations.run(session)
    for one in runner.answers.values():
        assert one.figures.requests == 2
        assert one.figures.calls == 1
        (verdict,) = one.verdicts.values()
        assert verdict.passed is True
        kept = await evaluations.store.kept(session.id, one)
        assert [turn.role for turn in kept.turns] == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT]


async def test_several_turns_of_a_case_are_asked_one_after_another_under_the_variants_system(
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
    assert all(one.figures.requests == 2 for one in runner.answers.values())


async def test_the_orders(session: Session) -> None:
    b = variant("B", model="demo-reasoner")

    def order(**fields: Any) -> list[tuple[str, str, int]]:
        inquiry = Inquiry(planned(session, cases=cases(2), variants=(b,), repeats=2, **fields))
        return [(job.case.id, job.column.letter, job.repeat) for job in inquiry.jobs]

    by_case = [("c0", "A", 1), ("c0", "A", 2), ("c0", "B", 1), ("c0", "B", 2), ("c1", "A", 1)]
    assert order(order=Order.BY_CASE)[:5] == by_case
    assert order(order=Order.BY_VARIANT)[:3] == [("c0", "A", 1), ("c0", "A", 2), ("c1", "A", 1)]
    shuffled = order(order=Order.SHUFFLED, seed=3)
    assert shuffled == order(order=Order.SHUFFLED, seed=3)
    assert shuffled != order(order=Order.SHUFFLED, seed=4)
    assert sorted(shuffled) == sorted(order(order=Order.BY_CASE))


async def test_what_keeps_a_plan_from_being_run_is_said_with_its_place(session: Session) -> None:
    planned(
        session,
        cases=(Case(id="a", name="South"), Case(id="b", values={"city": "x"})),
        checks=(Matches(pattern="(a"),),
        budget=Budget(requests=0),
        variants=(variant("B", model=""),),
    )
    found = [(one.place, one.id, one.words) for one in await Inquiry(session).problems()]
    assert found == [
        ("variants", "B", "B · B has no model. Choose one."),
        ("cases", "a", "South has no value for {{city}}."),
        ("run", "", "A budget of 0 requests lets nothing be asked. Raise it, or leave it empty."),
        ("checks", "", "Regex: “(a” is no regular expression."),
    ]
    planned(session, cases=(), as_set=False)
    assert [one.place for one in await Inquiry(session).problems()] == ["cases", "variants"]


async def test_a_check_that_mentions_what_a_case_lacks_is_not_for_that_case(
    evaluations: Evaluations, session: Session
) -> None:
    known = Case(id="a", values={"city": "Oslo"}, expected="Oslo")
    other = Case(id="b", values={"city": "Rome"})
    runner: Runner = await evaluations.run(
        planned(session, cases=(known, other), checks=(Contains(text="{{expected}}"),))
    )
    assert {one.case: len(one.verdicts) for one in runner.answers.values()} == {"a": 1, "b": 0}


async def test_variants_that_ask_the_same_have_one_answer_between_them(
    evaluations: Evaluations, session: Session, gateway: DemoServer
) -> None:
    runner = await evaluations.run(planned(session, variants=(Variant(name="the same"),), repeats=2))
    count = len(runner.inquiry.cases) * 2
    assert len(asked(gateway)) == count
    assert runner.progress.total == runner.progress.done == count
    results = Results(runner.inquiry, runner.answers)
    for case in runner.inquiry.cases:
        first, other = (results.cell(case, column).answers for column in runner.inquiry.columns)
        assert first == other
        assert None not in first
