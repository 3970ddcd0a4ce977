"""Lanes of several gateways and protocols: what goes to each, and that one which fails leaves the others alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from playground.domain.parts import Image, Reasoning, Text, ToolCall, ToolResult
from playground.domain.transcript import Ending, Outcome, Role, Turn, make_turn, new_id
from playground.engine.compare.lanes import Lanes
from playground.engine.compare.words import not_carried
from playground.engine.gateways.offered import Gateways
from playground.engine.gateways.profiles import Profile
from playground.engine.gateways.secrets import Secret
from playground.engine.session.session import Session
from tests.engine.debugging import WEATHER
from tests.hostile.streams import BEGIN, answer_with, block, grown, named
from tests.support.fault_server import FaultServer, head, send, whole

CHAT = answer_with("from chat")
MESSAGES = (
    BEGIN
    + block(0, type="text", text="")
    + grown({"type": "text_delta", "text": "from messages"})
    + named("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 1})
    + named("message_stop")
)
PNG = "data:image/png;base64,iVBORw0KGgo="


@pytest.fixture
def servers() -> Iterator[list[FaultServer]]:
    with ExitStack() as stack:
        yield [stack.enter_context(FaultServer()) for _ in range(4)]


async def gateway(gateways: Gateways, server: FaultServer, key: str) -> str:
    """A gateway with a key of its own. Returns its id."""
    made = gateways.store.add_profile(Profile(name=key, base_url=server.url, retries=1))
    await gateways.keys.set(made.id, made.origin, Secret(key))
    gateways.update(made.model_copy(update={"key_origin": made.origin}))
    return made.id


def carried(server: FaultServer) -> str:
    """All that a server was sent, headers and bodies."""
    return " ".join(f"{request.headers} {request.body!r}" for request in server.requests)


async def test_key_goes_to_its_own_gateway_and_a_refusal_holds_no_other_lane(
    gateways: Gateways, session: Session, servers: list[FaultServer]
) -> None:
    plain, other, refusing, busy = servers
    plain.play(send(head(), CHAT))
    other.play(send(head(), MESSAGES))
    refusing.play(send(whole(401, "application/json", b'{"error": {"message": "bad key"}}')))
    busy.play_next(send(whole(429, "application/json", b"{}", "Retry-After: 1")))
    busy.play(send(head(), CHAT))
    keys = [f"sk-canary-{number}-59ab3c1d" for number in range(4)]
    ids = [await gateway(gateways, server, key) for server, key in zip(servers, keys, strict=True)]
    session.change(profile_id=ids[0], model="m")
    lanes = Lanes(session)
    for key in ids[1:]:
        lanes.add().change(profile_id=key)
    lanes.add().change(profile_id="deleted meanwhile", model="no-such-model")  # it goes to the demo gateway, keyless
    lanes.all[1].switch_protocol("messages")
    lanes.write(make_turn(Role.USER, "Hello"))
    await lanes.run()
    ends = [lane.transcript.path[-1] for lane in lanes.all]
    assert [turn.text for turn in ends] == ["from chat", "from messages", "", "from chat", ""]
    assert [turn.outcome.failure.status for turn in ends if turn.outcome and turn.outcome.failure] == [401, 404]
    assert [request.target for request in other.requests] == ["/v1/messages"]
    for server, own in zip(servers, keys, strict=True):
        told = carried(server)
        assert own in told
        assert not [key for key in keys if key != own and key in told]


async def test_content_each_protocol_carries_is_sent_and_losses_are_listed(
    gateways: Gateways, session: Session, servers: list[FaultServer]
) -> None:
    chat, messages, *_ = servers
    chat.play(send(head(), CHAT))
    messages.play(send(head(), MESSAGES))
    session.change(profile_id=await gateway(gateways, chat, "sk-one-59ab3c1d"), model="m", tools=(WEATHER,))
    current = session.settings.current
    session.set_parameters(current.with_value("n", 2).with_value("tool_choice", "required"))
    lanes = Lanes(session)
    other = lanes.add()
    other.change(profile_id=await gateway(gateways, messages, "sk-two-59ab3c1d"))
    other.switch_protocol("messages")
    call = ToolCall(id="c1", name="get_weather", arguments='{"city": "Oslo", "unit": "celsius"}')
    thought = Reasoning(text="hm", field="thinking", signature="signed")
    outcome = Outcome(ending=Ending.COMPLETE)
    made = Turn(id=new_id(), role=Role.ASSISTANT, parts=(thought, Text(text="Let me look."), call), outcome=outcome)
    for turn in (
        make_turn(Role.USER, "Look", Image(url=PNG)),
        make_turn(Role.SYSTEM, "Be brief."),
        made,
        make_turn(Role.TOOL, "", ToolResult(call_id="c1", text="no such place", is_error=True)),
    ):
        session.turns.add_turn(turn)
    other.history.transcript = session.transcript
    said = " ".join(map(str, not_carried(other)))
    assert " n" in f" {said}"
    assert "system" in said
    assert not_carried(session) == []
    await lanes.run()
    (sent,), (there,) = ([request.json for request in server.requests] for server in (chat, messages))
    assert [message["role"] for message in sent["messages"]] == ["user", "system", "assistant", "tool"]
    assert (sent["n"], sent["tool_choice"]) == (2, "required")
    assert "n" not in there
    assert there["tool_choice"]["type"] == "any"
    assert "Be brief." in str(there["system"])
    kinds: list[Any] = [part for message in there["messages"] for part in message["content"]]
    by_kind = {part["type"]: part for part in kinds if isinstance(part, dict)}
    assert by_kind["image"]["source"]["data"] == "iVBORw0KGgo="
    assert by_kind["tool_use"]["input"] == {"city": "Oslo", "unit": "celsius"}
    assert by_kind["tool_result"]["is_error"] is True
    assert by_kind["thinking"]["signature"] == "signed"
    assert "signed" not in str(sent)
    session.switch_protocol("messages")
    other.switch_protocol("chat")
    lost = " ".join(map(str, not_carried(other)))
    assert "signature" in lost
    assert "error" in lost
