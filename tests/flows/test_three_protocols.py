"""The three protocols side by side: as lanes of an experiment, and as variants of an evaluation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from playground.domain.transcript import Role, make_turn
from playground.engine.compare.lanes import Lanes
from playground.engine.session.plan import Case
from playground.engine.session.session import Session
from tests.engine.debugging import WEATHER
from tests.flows.conftest import Person, flow
from tests.flows.pages.compare import ComparePage
from tests.flows.pages.evaluate import AT_ONCE, EvaluatePage, change_plan, plan_of

#: A model of the demo gateway for each protocol; it calls tools.
MODELS = {"chat": "demo-tools", "messages": "demo-messages", "responses": "demo-responses"}
PATHS = ["/v1/chat/completions", "/v1/messages", "/v1/responses"]


def set_protocols(lanes: Iterable[Session]) -> None:
    """Switch each lane to a protocol of its own, with a model for it."""
    for lane, (protocol, model) in zip(lanes, MODELS.items(), strict=True):
        lane.switch_protocol(protocol)
        lane.change(model=model)


@flow()
async def test_lanes_of_three_protocols_are_asked_together_and_answer_their_calls(person: Person) -> None:
    await person.do(lambda: person.session.change(tools=(WEATHER,)))
    compare = ComparePage(person)
    lanes = await compare.open(3)
    await person.do(lambda: set_protocols(lanes.all))
    await person.run("Weather in Oslo")
    for number in range(3):
        card = await compare.wait_for_call(number)
        await card.send_result(f"{number} degrees")
    await compare.wait_for_answers(4)
    assert sorted(post.path for post in person.posts[:3]) == PATHS
    for number, lane in enumerate(lanes.all):
        _, called, result, answer = lane.transcript.path
        assert [call.name for call in called.calls] == ["get_weather"]
        assert [item.text for item in result.results] == [f"{number} degrees"]
        assert f"{number} degrees" in answer.text
        assert answer.outcome is not None
        assert answer.outcome.failure is None
    first, second, third = (lane.losses for lane in compare.lanes)
    assert (first, second) == ("", "")
    assert third.startswith("1 thing may be taken differently: Tools: get_weather does not set strict")
    await person.run("Thanks")
    await compare.wait_for_answers(6)
    bodies: dict[str, Any] = {post.path: person.body(index) for index, post in enumerate(person.posts) if index > 5}
    assert [turn["role"] for turn in bodies[PATHS[0]]["messages"]] == ["user", "assistant", "tool", "assistant", "user"]
    assert len(bodies[PATHS[1]]["messages"]) == 5
    kinds = [item["type"] for item in bodies[PATHS[2]]["input"][1:-1] if item["type"] != "message"]
    assert kinds == ["reasoning", "function_call", "function_call_output", "reasoning"]


@flow()
async def test_answer_of_responses_goes_on_in_lanes_of_the_other_protocols(person: Person) -> None:
    await person.do(lambda: person.session.switch_protocol("responses"))
    await person.use_model("demo-responses")
    await person.run("What is tea?")
    await person.idle(2)
    compare = ComparePage(person)
    lanes = await compare.open(3)
    await person.do(lambda: set_protocols(lanes.all))
    await person.run("And coffee?")
    await compare.wait_for_answers(4)
    bodies: dict[str, Any] = {post.path: person.body(index) for index, post in enumerate(person.posts) if index}
    answer = person.path[1]
    assert bodies[PATHS[0]]["messages"][1]["content"] == answer.text
    assert bodies[PATHS[1]]["messages"][1]["content"] == answer.text
    assert [item.get("type") for item in bodies[PATHS[2]]["input"]][1:-1] == ["reasoning", "message"]


@flow(AT_ONCE)
async def test_variants_of_three_protocols_are_evaluated_together(person: Person) -> None:
    lanes = Lanes(person.session)
    await person.do(lambda: [lanes.add() for _ in range(2)])
    await person.do(lambda: set_protocols(lanes.all))
    page = await EvaluatePage.open(person)
    await page.press("Use my lanes")
    await person.until(lambda: len(plan_of(person).variants) == 2, "the lanes as variants")
    cases = tuple(Case(name=text, turns=(make_turn(Role.USER, text),)) for text in ("What is tea?", "What is rain?"))
    await change_plan(person, cases=cases, repeats=2)
    await page.run()
    assert (page.answers, page.failed) == (12, 0)
    assert sorted({post.path for post in person.posts}) == PATHS
    assert len(person.posts) == 12
    for column, model in enumerate(MODELS.values(), 1):
        details = await page.choose_answer(0, model, column)
        assert "What is tea?" in details.text
