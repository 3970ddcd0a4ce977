"""The sample experiments, each opened and run on the demo gateway over a socket."""

from __future__ import annotations

import json

import jsonschema
import pytest

from playground.domain.parts import Image
from playground.domain.transcript import Ending
from playground.engine.evaluation.inquiry import Inquiry
from playground.engine.gateways.offered import DEMO_ID, Gateways
from playground.engine.library.opening_files import open_sample
from playground.engine.session.session import Session
from playground.engine.tool_servers.acceptance import arriving, as_offered
from playground.engine.tool_servers.book import DEMO_ID as DEMO_SERVER
from playground.engine.tool_servers.book import ServerBook
from playground.engine.tool_servers.servers import Servers
from playground.engine.tool_servers.serving import Serving
from playground.jsonkit.reading import parse_json
from playground.ui.features.conversation.samples import SAMPLES, Sample


async def run(session: Session, action: str) -> Sample:
    """Open the sample in an experiment that is on another gateway, and run it to its end."""
    sample = next(one for one in SAMPLES if one.action == action)
    session.change(profile_id="gone")
    open_sample(session, sample.path, sample.title)
    assert session.settings.profile_id == DEMO_ID
    if session.settings.evaluation is None:
        await session.run()
    return sample


@pytest.fixture
def session(gateways: Gateways) -> Session:
    gateways.update(gateways.get(DEMO_ID).model_copy(update={"retries": 3}))
    return Session(gateways.client, profile_id=DEMO_ID)


async def test_streaming_arrives_in_many_pieces(session: Session) -> None:
    sample = await run(session, "sample.streaming")
    assert session.title == sample.title
    turn = session.transcript.path[-1]
    assert turn.outcome is not None
    assert turn.outcome.ending is Ending.COMPLETE
    exchange = next(iter(session.exchanges.values()))
    assert len(turn.text.split()) > 150
    assert exchange.body.count(b"data: ") > 100


async def test_reasoning_stands_apart(session: Session) -> None:
    await run(session, "sample.reasoning")
    turn = session.transcript.path[-1]
    assert turn.reasoning
    assert turn.text
    assert turn.outcome is not None
    assert turn.outcome.usage is not None
    assert turn.outcome.usage.reasoning


async def test_tools_are_called_twice_and_wait(session: Session) -> None:
    await run(session, "sample.tools")
    assert [call.name for _, call in session.debugger.waiting] == ["get_weather", "get_weather"]


async def test_a_real_server_answers_one_call_by_itself_and_the_other_when_it_is_told_to(gateways: Gateways) -> None:
    servers = Servers(ServerBook.passing(()), gateways.keys)
    try:
        serving = Serving(lambda: servers)
        session = Session(gateways.client, profile_id=DEMO_ID, serving=lambda: serving)
        sample = next(one for one in SAMPLES if one.action == "sample.servers")
        open_sample(session, sample.path, sample.title)
        ours = session.settings.tools
        live = await servers.start(DEMO_SERVER)
        assert ours == arriving((), live.server, live.tools, {}), "the sample has the tools that the server lists"
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


async def test_the_answer_follows_the_schema(session: Session) -> None:
    await run(session, "sample.schema")
    body = json.loads(next(iter(session.exchanges.values())).request_body)
    schema = body["response_format"]["json_schema"]["schema"]
    jsonschema.validate(parse_json(session.transcript.path[-1].text), schema)


async def test_the_picture_is_in_the_request(session: Session) -> None:
    await run(session, "sample.images")
    assert any(isinstance(part, Image) for part in session.transcript.path[0].parts)
    assert "360 × 220" in session.transcript.path[-1].text
    exchange = next(iter(session.exchanges.values()))
    assert b"data:image/png;base64," in exchange.request_body


async def test_errors_are_tried_again_and_the_text_stays(session: Session) -> None:
    await run(session, "sample.errors")
    statuses = [exchange.status for exchange in session.exchanges.values()]
    assert statuses == [503, 503, 200]
    turn = session.transcript.path[-1]
    assert turn.outcome is not None
    assert turn.outcome.failure is not None
    assert turn.text


async def test_the_evaluation_has_a_plan_that_can_be_run(session: Session) -> None:
    await run(session, "sample.evaluation")
    plan = session.settings.evaluation
    assert plan is not None
    assert await Inquiry(session).problems() == []
    assert len(Inquiry(session).jobs) == len(plan.cases) * 2 * plan.repeats
