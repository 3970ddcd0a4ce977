"""Lanes of several gateways: each key goes to its own, and a failure leaves the other lanes alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from playground.domain.transcript import Role, make_turn
from playground.engine.compare.lanes import Lanes
from playground.engine.gateways.gateways import Gateways
from playground.engine.gateways.profiles import Profile
from playground.engine.gateways.secrets import Secret
from playground.engine.session.session import Session
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


@pytest.fixture
def servers() -> Iterator[list[FaultServer]]:
    with ExitStack() as stack:
        yield [stack.enter_context(FaultServer()) for _ in range(4)]


async def gateway(gateways: Gateways, server: FaultServer, key: str) -> str:
    """Add a gateway with a key of its own. Return its id."""
    profile = gateways.store.add_profile(Profile(name=key, base_url=server.url, retries=1))
    await gateways.keys.set(profile.id, profile.origin, Secret(key))
    gateways.update(profile.model_copy(update={"key_origin": profile.origin}))
    return profile.id


def carried(server: FaultServer) -> str:
    """Return the headers and bodies of all requests to a server."""
    return " ".join(f"{request.headers} {request.body!r}" for request in server.requests)


async def test_key_goes_to_its_own_gateway(gateways: Gateways, session: Session, servers: list[FaultServer]) -> None:
    plain, second, refusing, busy = servers
    plain.play(send(head(), CHAT))
    second.play(send(head(), MESSAGES))
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
    assert [request.target for request in second.requests] == ["/v1/messages"]
    for server, own in zip(servers, keys, strict=True):
        headers = carried(server)
        assert own in headers
        assert not [key for key in keys if key != own and key in headers]
