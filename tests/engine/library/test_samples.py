"""The sample experiments, each opened and run on the demo gateway over a socket."""

from __future__ import annotations

import json

import jsonschema

from playground.domain.transcript import Turn
from playground.engine.evaluation.resolved import ResolvedEvaluation
from playground.engine.gateways.gateways import DEMO_ID, Gateways
from playground.engine.library.opening_files import open_sample
from playground.engine.session.session import Experiment, Session
from playground.engine.tool_servers.calls import ServerToolCaller
from playground.engine.tool_servers.registry import DEMO_ID as DEMO_SERVER
from playground.engine.tool_servers.registry import ServerRegistry
from playground.engine.tool_servers.servers import Servers
from playground.engine.tool_servers.tools import as_offered, new_tools
from playground.gateway.tape import Exchange
from playground.jsonkit.reading import parse_json
from playground.ui.features.conversation.samples import SAMPLES


async def run(gateways: Gateways, name: str) -> tuple[Session, Turn, Exchange]:
    """Open the sample in an experiment that is on another gateway, run it, and return its last turn and exchange."""
    gateways.update(gateways.get(DEMO_ID).model_copy(update={"retries": 3}))
    session = Experiment(gateways.client, profile_id="gone").main
    sample = next(sample for sample in SAMPLES if sample.action == f"sample.{name}")
    open_sample(session, sample.path, sample.title)
    assert (session.title, session.settings.profile_id) == (sample.title, DEMO_ID)
    await session.run()
    return session, session.transcript.path[-1], list(session.exchanges.values())[-1]


async def test_each_sample_shows_what_it_is_for(gateways: Gateways) -> None:
    _, turn, exchange = await run(gateways, "streaming")
    assert len(turn.text.split()) > 150
    assert exchange.body.count(b"data: ") > 100
    _, turn, _ = await run(gateways, "reasoning")
    assert turn.reasoning
    assert turn.text
    session, _, _ = await run(gateways, "tools")
    assert [call.name for _, call in session.debugger.waiting] == ["get_weather", "get_weather"]
    _, turn, exchange = await run(gateways, "schema")
    schema = json.loads(exchange.request_body)["response_format"]["json_schema"]["schema"]
    jsonschema.validate(parse_json(turn.text), schema)
    _, turn, exchange = await run(gateways, "images")
    assert "360 × 220" in turn.text
    assert b"data:image/png;base64," in exchange.request_body
    session, turn, _ = await run(gateways, "errors")
    assert [exchange.status for exchange in session.exchanges.values()] == [503, 503, 200]
    assert turn.outcome is not None
    assert turn.outcome.failure is not None
    assert turn.text


async def test_sample_of_an_evaluation_has_a_plan_that_can_be_run(gateways: Gateways) -> None:
    session = Experiment(gateways.client, profile_id=DEMO_ID).main
    sample = next(sample for sample in SAMPLES if sample.action == "sample.evaluation")
    open_sample(session, sample.path, sample.title)
    plan = session.settings.evaluation
    assert plan is not None
    assert await ResolvedEvaluation(session).problems() == []
    assert len(ResolvedEvaluation(session).jobs) == len(plan.cases) * 2 * plan.repeats


async def test_a_real_server_answers_one_call_by_itself_and_the_other_when_it_is_told_to(gateways: Gateways) -> None:
    servers = Servers(ServerRegistry.temporary(()), gateways.keys)
    try:
        serving = ServerToolCaller(lambda: servers)
        session = Experiment(gateways.client, profile_id=DEMO_ID, serving=lambda: serving).main
        sample = next(item for item in SAMPLES if item.action == "sample.servers")
        open_sample(session, sample.path, sample.title)
        ours = session.settings.tools
        live = await servers.start(DEMO_SERVER)
        assert ours == new_tools((), live.server, live.tools, {}), "the sample has the tools that the server lists"
        servers.book.accept(DEMO_SERVER, map(as_offered, ours))
        await session.run()
        assert [call.name for _, call in session.debugger.waiting] == ["roll_dice"]
        ((turn_id, dice),) = session.debugger.waiting
        await session.debugger.ask(turn_id, dice.id)
        await session.debugger.step(turn_id, dice.id)
        assert not session.debugger.waiting
        clock, rolled = (result for turn in session.transcript.path for result in turn.results)
        assert json.loads(clock.text)["zone"]
        assert len(json.loads(rolled.text)["rolled"]) == 3
        assert clock.served is not None
        assert rolled.served is not None
        assert "roll_dice" in session.transcript.path[-1].text
    finally:
        await servers.close()
