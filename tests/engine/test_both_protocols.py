"""One experiment on both protocols, streamed and not: the bodies that arrive at the gateway equal the golden files.

To renew the files after a meant change: run ``python -m tests.engine.test_both_protocols`` and read the difference.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from playground.demo.server import DemoServer
from playground.domain.parts import Image, ToolCall, ToolResult
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Ending, Role, Transcript, Turn, make_turn
from playground.engine.session.session import Experiment, Session
from playground.gateway.client import GatewayClient

GOLDEN = Path(__file__).parent / "golden"
#: A red PNG of one pixel.
PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
)
QUESTION = "What is in this picture, and how is the weather in Oslo?"
MODELS = {"chat": "demo-tools", "messages": "demo-messages"}


def experiment() -> Transcript:
    """Every role, an image, a call with its result and a picture in that, and a question to end with."""
    call = ToolCall(id="call_1", name="get_weather", arguments='{"city": "Oslo", "unit": "celsius"}')
    turn = Turn(id="t3", role=Role.ASSISTANT, parts=(*make_turn(Role.ASSISTANT, "I will look.").parts, call))
    return Transcript().append(
        make_turn(Role.SYSTEM, "Be brief."),
        make_turn(Role.DEVELOPER, "Answer in English."),
        make_turn(Role.USER, QUESTION, Image(url=PIXEL, detail="low")),
        turn,
        make_turn(Role.TOOL, "", ToolResult(call_id="call_1", text='{"temp": 4}', images=(Image(url=PIXEL),))),
        make_turn(Role.USER, "And in Lisbon?"),
    )


def tools() -> tuple[ToolDefinition, ...]:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]}},
        "required": ["city"],
    }
    return (
        ToolDefinition(name="get_weather", description="Current weather in a city.", parameters=schema),
        ToolDefinition(name="unused", description="Switched off.", parameters=schema, enabled=False),
    )


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("protocol", ["chat", "messages"])
async def test_the_same_experiment_runs_on_both(
    session: Session, gateway: DemoServer, protocol: str, streamed: bool
) -> None:
    session.change(protocol=protocol)
    session.change(model=MODELS[protocol])
    session.history.transcript = experiment()
    session.change(tools=tools())
    kind = type(session.settings.current)
    session.set_parameters(kind.from_wire({"temperature": 0.5, "stream": streamed}))
    await session.run()

    turn = session.transcript.path[-1]
    assert turn.outcome is not None
    assert turn.outcome.failure is None
    assert turn.outcome.ending is Ending.COMPLETE
    assert [call.name for call in turn.calls] == ["get_weather"]
    assert "Lisbon" in turn.calls[0].arguments
    arrived = json.loads(gateway.requests[-1].body)
    expected = json.loads((GOLDEN / f"{protocol}.json").read_text(encoding="utf-8"))
    assert arrived == {**expected, "stream": streamed}


def write() -> None:
    """Write the golden files from what the encoders give now."""
    from playground.protocols.protocol import get_protocol

    GOLDEN.mkdir(exist_ok=True)
    for name, model in MODELS.items():
        session = Experiment(_no_gateway, profile_id="p", protocol=name, model=model).main
        session.history.transcript = experiment()
        session.change(tools=tools())
        session.set_parameters(get_protocol(name).parameters_type.from_wire({"temperature": 0.5, "stream": True}))
        text = json.dumps(session.next_request.body(), indent=2, ensure_ascii=False)
        (GOLDEN / f"{name}.json").write_text(text + "\n", encoding="utf-8")


async def _no_gateway(_profile_id: str) -> GatewayClient:
    raise AssertionError("nothing is sent while golden files are written")


if __name__ == "__main__":
    write()
