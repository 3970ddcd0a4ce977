"""Text that is held back because a key may begin with it is not lost when an answer fails."""

from __future__ import annotations

import pytest

from playground.domain.errors import FailureKind
from playground.domain.transcript import Role, make_turn
from playground.engine.gateways.profiles import Profile, connection
from playground.engine.gateways.secrets import Secret
from playground.engine.session.session import Experiment
from playground.gateway.client import GatewayClient
from playground.gateway.connection import Timeouts
from tests.engine.exchanges import indexed
from tests.support.fault_server import FaultServer, Step, head, hold, reset, send, sleep, sse, text_chunk

KEY = "sk-canary+Zq7/Kw_2xVb.9Jt=Lm4"


@pytest.mark.parametrize(
    ("steps", "kind"),
    [
        ([sleep(0.1), reset()], FailureKind.CONNECTION),  # what is unread is lost with the connection
        ([hold()], FailureKind.TIMEOUT_IDLE),
        ([], FailureKind.CUT_OFF),
    ],
)
async def test_text_held_back_at_a_failure_is_not_lost(
    server: FaultServer, steps: list[Step], kind: FailureKind
) -> None:
    profile = Profile(base_url=server.url, key_origin=server.url, retries=0)
    timeouts = {"timeouts": Timeouts(idle=1)}
    client = GatewayClient(connection(profile, Secret(KEY), {}).model_copy(update=timeouts))

    async def connect(_: str) -> GatewayClient:
        return client

    session = Experiment(connect, profile_id="p", protocol="chat", model="m-1", profile_of=lambda _: profile).main
    session.turns.add_turn(make_turn(Role.USER, "Which key?"))
    body = sse(text_chunk("Ja"), text_chunk(" yes")) + sse(text_chunk("s"))[:-6]
    server.play(send(head()), send(body), *steps)
    await session.run()
    await client.aclose()
    turn = session.transcript.path[-1]
    assert turn.text.startswith("Ja yes")
    assert turn.outcome is not None
    assert turn.outcome.failure is not None
    assert turn.outcome.failure.kind is kind
    (exchange,) = session.exchanges.values()
    assert exchange.body == body
    index = indexed(exchange)
    assert [part.length for part in index.parts(0)] == [len(part.text) for part in turn.parts if part.kind == "text"]
    assert all(index.frames_of(0, 0, position, position + 1) for position in range(len(turn.text)))
