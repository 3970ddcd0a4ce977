"""Reading a turn again as cumulative text, over a real socket: an edit that undo takes back; the tape stays."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from itertools import accumulate

import pytest

from playground.domain.parts import Reasoning, Text
from playground.domain.transcript import Role, make_turn
from playground.engine.gateways.secrets import Secret
from playground.engine.session.session import Session
from playground.gateway.client import GatewayClient
from playground.gateway.connection import Connection
from tests.protocols.streams import DONE, call_chunk, chunk, fragment
from tests.support.fault_server import FaultServer, head, send

WORDS = ["The ", "cat ", "sat ", "on ", "the ", "mat."]
WHOLE = "".join(WORDS)
CALL = call_chunk(fragment('{"x":1}', index=0, name="f"))  # its id is made here
BODY = b"".join(
    [
        *(chunk({"reasoning_content": text}) for text in accumulate(WORDS)),
        *(chunk({"content": text}) for text in accumulate(WORDS)),
        CALL,
        chunk({}, "tool_calls"),
        DONE,
    ]
)


@pytest.fixture
async def make_session() -> AsyncIterator[Callable[[str], Session]]:
    """Makes a session that asks the gateway at an address."""
    clients: list[GatewayClient] = []

    def make(url: str) -> Session:
        client = GatewayClient(Connection(base_url=url, key=Secret("demo")))
        clients.append(client)

        async def connect(_profile_id: str) -> GatewayClient:
            return client

        return Session(connect, profile_id="p", model="m")

    yield make
    for client in clients:
        await client.aclose()


async def answered(session: Session) -> str:
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    await session.run()
    return session.transcript.path[-1].id


async def test_a_turn_is_read_without_repeats_and_undo_brings_them_back(make_session: Callable[[str], Session]) -> None:
    with FaultServer() as server:
        server.play(send(head(), BODY))
        session = make_session(server.url)
        turn_id = await answered(session)
    before = session.transcript.turns[turn_id]
    assert before.text == "".join(accumulate(WORDS))
    assert before.outcome is not None
    assert "cumulative_deltas" in dict(before.outcome.deviations)

    assert await session.read_as_cumulative(turn_id) == turn_id
    after = session.transcript.turns[turn_id]
    assert after.parts[:2] == (Reasoning(text=WHOLE, field="reasoning_content"), Text(text=WHOLE))
    assert after.calls == before.calls, "the call keeps the id that was made for it"
    assert after.outcome is not None
    assert "cumulative_deltas" not in dict(after.outcome.deviations)
    assert session.exchanges[after.outcome.exchange or ""].body == BODY, "the tape is unchanged"

    assert session.undo()
    assert session.transcript.turns[turn_id] == before
    assert session.redo()
    assert session.transcript.turns[turn_id] == after


async def test_a_turn_that_was_edited_or_whose_bytes_are_gone_is_not_read_again(
    make_session: Callable[[str], Session],
) -> None:
    with FaultServer() as server:
        server.play(send(head(), BODY))
        session = make_session(server.url)
        turn_id = await answered(session)
    session.turns.edit_text(turn_id, "My own words")
    with pytest.raises(ValueError, match="edited"):
        await session.read_as_cumulative(turn_id)
    assert session.undo()
    session.exchanges.limit = 0
    with pytest.raises(ValueError, match="no longer kept"):
        await session.read_as_cumulative(turn_id)
