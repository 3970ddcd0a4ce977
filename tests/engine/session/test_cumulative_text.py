"""Reading a turn again as cumulative text, over a real socket: an edit that undo takes back; the tape stays."""

from __future__ import annotations

from itertools import accumulate

import pytest

from playground.domain.parts import Reasoning, Text
from playground.domain.transcript import Role, make_turn
from playground.engine.session.session import Session
from tests.engine.session.conftest import Connect
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


async def answered(session: Session) -> str:
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    await session.run()
    return session.transcript.path[-1].id


async def test_turn_read_as_cumulative_has_no_repeats_until_undone(connect_to: Connect, server: FaultServer) -> None:
    server.play(send(head(), BODY))
    session = connect_to(server.url)
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

    session.turns.edit_text(turn_id, "My own words")
    with pytest.raises(ValueError, match="edited"):
        await session.read_as_cumulative(turn_id)
    assert session.undo()
    session.exchanges.limit = 0
    with pytest.raises(ValueError, match="no longer kept"):
        await session.read_as_cumulative(turn_id)
