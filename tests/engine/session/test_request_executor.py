"""A single request without a session: its turns, its timing and its tape."""

from __future__ import annotations

from playground.demo.server import DemoServer
from playground.domain.events import ReasoningDelta, TextDelta, ToolCallDelta
from playground.domain.prices import Asked
from playground.domain.request import Request
from playground.domain.transcript import Ending, Role, make_turn
from playground.engine.cassettes.replay import answers_of
from playground.engine.gateways.secrets import Secret
from playground.engine.session.request_executor import RequestExecutor, TimingMarks
from playground.gateway.client import GatewayClient
from playground.gateway.connection import Connection
from playground.protocols.protocol import get_protocol
from tests.engine.debugging import MODELS, WEATHER


async def test_received_turns_equal_those_read_from_the_tape(gateway: DemoServer) -> None:
    async with GatewayClient(Connection(base_url=gateway.base_url, key=Secret("demo"))) as client:
        for protocol, text, settings in (
            ("chat", "Weather in Lisbon and Oslo !broken=2", {}),
            ("messages", "Weather in Lisbon and Oslo", {}),
            ("chat", "Hello !fast", {"n": 3}),
            ("chat", "Hello", {"stream": False}),
        ):
            request = Request(
                protocol=protocol,
                model=MODELS[protocol],
                turns=(make_turn(Role.USER, text),),
                tools=(WEATHER,),
                parameters=get_protocol(protocol).parameters_type.begin(settings),
            )
            executor = RequestExecutor(request, Asked(model=request.model))
            await executor.execute(client)
            assert executor.exchange is not None
            received = executor.received
            outcome = received.outcome(Ending.COMPLETE, None, executor.exchange)
            turns = [received.turn(f"t{index}", index, outcome) for index in sorted(received.answer.choices)]
            assert len(turns) == settings.get("n", 1)
            for turn, replayed in zip(turns, answers_of(executor.exchange), strict=True):
                assert (turn.parts, turn.outcome) == (replayed.parts, replayed.outcome), text
                assert turn.outcome is not None
                assert len(turn.outcome.call_times) == len(turn.calls)


def test_timing_marks_are_the_first_of_each_kind_and_both_ends_of_a_call() -> None:
    marks = TimingMarks()
    marks.note_events([ReasoningDelta(0, "Let", "reasoning")], 0.5)
    marks.note_events([ReasoningDelta(0, "me", "reasoning")], 1.0)
    marks.note_events([ToolCallDelta(0, 7, name="a"), ToolCallDelta(0, 3, name="b")], 2.0)
    marks.note_events([TextDelta(1, "x"), ToolCallDelta(1, 0, name="c")], 3.0)
    marks.note_events([ToolCallDelta(0, 7, arguments="{}")], 4.0)
    assert (marks.first_reasoning, marks.first_content, marks.reasoning_end) == (0.5, 2.0, 2.0)
    assert [marks.call_times(choice) for choice in range(3)] == [((2.0, 4.0), (2.0, 2.0)), ((3.0, 3.0),), ()]
