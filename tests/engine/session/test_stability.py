"""The same step many times over real sockets: counts, limits, stop, variants, export."""

from __future__ import annotations

import asyncio
import csv
import io

import pytest

from playground.demo.server import DemoConfig, DemoServer
from playground.domain.errors import RunRefusedError
from playground.domain.transcript import Role, make_turn
from playground.engine.gateways.secrets import Secret
from playground.engine.session.session import Session
from playground.engine.session.stability import (
    NO_CALL,
    Stability,
    Variant,
    quantile,
    sample,
    stability_csv,
    step_request,
)
from playground.gateway.client import GatewayClient
from playground.gateway.connection import Connection
from tests.engine.debugging import MODELS, THREE, WEATHER, Bench, begin, until
from tests.support.open_streams import open_streams


@pytest.fixture(params=["chat", "messages"])
def bench(request: pytest.FixtureRequest, session: Session, demo: DemoServer) -> Bench:
    session.change(protocol=request.param)
    session.change(model=MODELS[request.param])
    return Bench(session, demo)


async def test_a_step_is_counted_and_the_transcript_stays_as_it_is(bench: Bench) -> None:
    session = bench.session
    session.turns.add_turn(make_turn(Role.USER, "Weather in Lisbon and Oslo !broken=2"))
    before = session.transcript
    told: list[int] = []
    found = await sample(session, step_request(session), count=6, parallel=3, progress=lambda s: told.append(s.done))
    assert session.transcript is before
    assert told[0] == 0
    assert sorted(told) == told
    assert (found.done, found.total, found.stopped, found.running) == (6, 6, False, False)
    result = found.results[0]
    assert sum(count for _, count in result.answers()) == 6
    assert sum(count for _, count in result.calls()) == 12
    assert all("Lisbon" in label and " + " in label for label, _ in result.answers())
    assert result.fitting == (6, 12)
    low, middle, high = (result.seconds(share) for share in (0, 0.5, 1))
    assert low is not None
    assert middle is not None
    assert high is not None
    assert 0 < low <= middle <= high
    assert (result.first_content(0.5) or 0) <= high
    assert all(count > 0 for count in result.tokens)
    assert result.failures() == []
    assert len(bench.posts) == 6


async def test_the_step_that_led_to_a_turn_can_be_asked_again(bench: Bench) -> None:
    await bench.ask("Weather in Oslo")
    with pytest.raises(RunRefusedError, match="Every tool call needs a result"):
        step_request(bench.session)
    request = step_request(bench.session, bench.path[-1].id)
    found = await sample(bench.session, request, count=2, parallel=1)
    assert found.results[0].answers()[0][0].startswith("get_weather(")


async def test_two_variants_side_by_side(bench: Bench) -> None:
    session = bench.session
    session.turns.add_turn(make_turn(Role.USER, "Weather in Oslo"))
    none = "none" if session.settings.protocol == "chat" else {"type": "none"}
    other = WEATHER.model_copy(update={"name": "other_weather"})
    variants = [Variant(name="A", tools=(other,)), Variant(name="B", tool_choice=none)]
    found = await sample(session, step_request(session), variants, count=3, parallel=4)
    first, second = found.results
    assert [label.partition("(")[0] for label, _ in first.answers()] == ["other_weather"] * len(first.answers())
    assert second.answers() == [(NO_CALL, 3)]
    assert second.fitting == (0, 0)
    assert all(one.text for one in second.samples)
    rows = list(csv.DictReader(io.StringIO(stability_csv(found), newline="")))
    assert [(row["variant"], row["number"]) for row in rows] == [(v, str(n)) for v in "AB" for n in (1, 2, 3)]
    assert rows[0]["calls_fitting"] == "1"


async def test_failures_are_samples_too(bench: Bench) -> None:
    bench.session.turns.add_turn(make_turn(Role.USER, "Hello !429"))
    found = await sample(bench.session, step_request(bench.session), count=2)
    ((words, count),) = found.results[0].failures()
    assert count == 2
    assert words.startswith("429: Rate limit exceeded")
    assert found.results[0].seconds(0.5) is None
    assert "429: Rate limit" in stability_csv(found)


async def test_an_answer_with_a_hole_is_a_sample_that_failed(bench: Bench) -> None:
    bench.session.turns.add_turn(make_turn(Role.USER, "Hello !garble"))
    found = await sample(bench.session, step_request(bench.session), count=2)
    ((words, count),) = found.results[0].failures()
    assert count == 2
    assert words == "Part of the answer could not be read."


async def test_no_more_than_allowed_at_once_and_stop_keeps_what_came() -> None:
    with DemoServer(DemoConfig(tokens_per_second=40, time_to_first_token=0.05, rate_limit=1_000_000)) as slow:
        async with GatewayClient(Connection(base_url=slow.base_url, key=Secret("demo"))) as client:

            async def connect(_profile_id: str) -> GatewayClient:
                return client

            bench = Bench(Session(connect, profile_id="p", model="demo-tools"), slow)
            bench.session.turns.add_turn(make_turn(Role.USER, f"{THREE} !tps=400"))
            seen: list[Stability] = []
            most = 0
            work = begin(sample(bench.session, step_request(bench.session), count=20, parallel=3, progress=seen.append))
            await until(lambda: bool(seen) and seen[-1].done >= 2)
            most = open_streams(slow)
            seen[-1].stop()
            found = await work
            await until(lambda: open_streams(slow) == 0)
    assert found.stopped
    assert 2 <= found.done < 20
    assert most <= 3
    assert found.results[0].answers()


async def test_cancelling_from_outside_is_passed_on_and_keeps_what_came(bench: Bench) -> None:
    bench.session.turns.add_turn(make_turn(Role.USER, "Weather in Oslo !slow"))
    seen: list[Stability] = []
    work = begin(sample(bench.session, step_request(bench.session), count=4, progress=seen.append))
    await until(lambda: bool(seen))
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert (seen[-1].stopped, seen[-1].running) == (True, False)


async def test_what_cannot_be_asked_is_refused_before_anything_is_sent(bench: Bench) -> None:
    with pytest.raises(RunRefusedError, match="Write a message first"):
        step_request(bench.session)
    bench.session.turns.add_turn(make_turn(Role.USER, "Hello"))
    for count, parallel in ((0, 1), (21, 1), (1, 0)):
        with pytest.raises(ValueError, match="from 1 to 20"):
            await sample(bench.session, step_request(bench.session), count=count, parallel=parallel)
    assert bench.posts == []


def test_quantiles_lie_between_neighbours() -> None:
    assert quantile([], 0.5) is None
    assert quantile([3.0], 0.9) == 3.0
    assert quantile([4.0, 1.0, 2.0, 3.0], 0.5) == 2.5
    assert quantile([1.0, 2.0, 3.0], 1) == 3.0
