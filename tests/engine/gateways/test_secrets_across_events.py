"""A key that a gateway sends in pieces is masked in the window and in every file."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest

from playground.domain.errors import FailureKind
from playground.domain.transcript import Ending, Role, make_turn
from playground.engine.cassettes import cassette, har
from playground.engine.gateways.profiles import Profile, connection
from playground.engine.gateways.secrets import Secret
from playground.engine.inspect.frames import FrameIndex
from playground.engine.session.session import Session
from playground.gateway.client import GatewayClient
from playground.gateway.connection import Timeouts
from playground.gateway.redact import MASK
from playground.gateway.tape import Exchange
from tests.engine.exchanges import indexed
from tests.protocols.streams import data
from tests.support.fault_server import FaultServer, Step, head, hold, reset, send, sleep

KEY = "sk-canary+Zq7/Kw_2xVb.9Jt=Lm4"
FIRST, SECOND = KEY[:6], KEY[6:]


def event(protocol: str, text: str, index: int = 0) -> bytes:
    if protocol == "messages":
        delta = {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": text}}
        return data(delta, "content_block_delta")
    return data({"choices": [{"index": index, "delta": {"content": text}}]})


def end(protocol: str) -> bytes:
    if protocol == "messages":
        stop = data({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, "message_delta")
        return stop + data({"type": "message_stop"}, "message_stop")
    return data({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}) + b"data: [DONE]\n\n"


@pytest.fixture
async def make(server: FaultServer) -> AsyncIterator[Callable[[str], Session]]:
    clients: list[GatewayClient] = []

    def session(protocol: str) -> Session:
        profile = Profile(base_url=server.url, key_origin=server.url, retries=0)
        link = connection(profile, Secret(KEY), {})
        client = GatewayClient(link.model_copy(update={"timeouts": Timeouts(idle=2)}))
        clients.append(client)

        async def connect(_: str) -> GatewayClient:
            return client

        made = Session(connect, profile_id="p", protocol=protocol, model="m-1", profile_of=lambda _: profile)
        made.turns.add_turn(make_turn(Role.USER, "Which key?"))
        return made

    yield session
    for client in clients:
        await client.aclose()


def wire(server: FaultServer, *steps: Step) -> None:
    server.play(send(head()), *steps)


def kept(session: Session) -> Exchange:
    (exchange,) = session.exchanges.values()
    return exchange


def consistent(session: Session) -> FrameIndex:
    """The frames of the answer say what the turn says, and every character of it leads to one."""
    index = indexed(kept(session))
    turn = session.transcript.path[-1]
    assert [part.length for part in index.parts(0)] == [len(part.text) for part in turn.parts if part.kind == "text"]
    assert all(index.frames_of(0, 0, at, at + 1) for at in range(len(turn.text)))
    return index


@pytest.mark.parametrize("protocol", ["chat", "messages"])
async def test_key_in_several_events_is_masked_everywhere(
    protocol: str, server: FaultServer, make: Callable[[str], Session]
) -> None:
    session = make(protocol)
    texts = ["It is ", *(KEY[at : at + 6] for at in range(0, len(KEY), 6)), " indeed"]
    steps = [step for text in texts for step in (send(event(protocol, text)), sleep(0.005))]
    wire(server, *steps, send(end(protocol)))
    await session.run()
    turn = session.transcript.path[-1]
    assert turn.text == f"It is {MASK} indeed"
    assert turn.outcome is not None
    assert turn.outcome.ending is Ending.COMPLETE
    index = consistent(session)
    files = cassette.write([kept(session)]).decode() + har.write([kept(session)]).decode()
    frames = "".join(index.data(number, 100_000) for number in range(len(index)))
    for place in (files, frames, repr(kept(session))):
        assert FIRST not in place
        assert SECOND[:6] not in place
        assert MASK in place or repr(MASK.encode())[2:-1] in place
    assert len(index.frames_of(0, 0, 6, 10)) == 1, "the mask stands in one frame"
    times = [read.at for read in kept(session).reads]
    assert times == sorted(times)


@pytest.mark.parametrize("how", ["reset", "silence", "closed"])
async def test_text_held_back_at_a_failure_is_not_lost(
    how: str, server: FaultServer, make: Callable[[str], Session]
) -> None:
    session = make("chat")
    last = event("chat", " yes")
    rest = event("chat", "s")[:-6]
    ending = {"reset": [sleep(0.1), reset()], "silence": [hold()], "closed": []}[how]
    wire(server, send(event("chat", "Ja")), sleep(0.05), send(last), send(rest), *ending)
    await session.run()
    turn = session.transcript.path[-1]
    assert turn.text.startswith("Ja yes")
    assert turn.outcome is not None
    assert turn.outcome.failure is not None
    kinds = {"reset": FailureKind.CONNECTION, "silence": FailureKind.TIMEOUT_IDLE, "closed": FailureKind.CUT_OFF}
    assert turn.outcome.failure.kind is kinds[how]
    assert kept(session).body == event("chat", "Ja") + last + rest
    consistent(session)
