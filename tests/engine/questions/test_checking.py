"""The verdict of a call while its schema is being checked."""

from __future__ import annotations

import asyncio

from playground.domain.parts import ToolCall
from playground.domain.transcript import Role, make_turn
from playground.engine.inspect.calls import CallIndex
from playground.engine.session.call_notes import CallVerdictCode
from playground.engine.session.changes import DebugChanged
from playground.engine.session.session import Session
from tests.hostile.shapes import property_of, tool


async def test_call_is_being_checked_until_its_verdict_comes(session: Session) -> None:
    schema = property_of({"pattern": "^(?=y)"})
    session.change(tools=(tool(schema),))
    call = ToolCall(id="c", name="tool", arguments='{"a": "xyz"}')
    session.turns.add_turn(make_turn(Role.ASSISTANT, "", call))
    changed = asyncio.Event()
    session.subscribe(lambda _change: changed.set(), DebugChanged)
    index = CallIndex(session)
    index.update_entries()
    assert [entry.verdict.code for entry in index.entries] == [CallVerdictCode.CHECKING]
    await asyncio.wait_for(changed.wait(), 20)
    index.update_entries()
    assert [entry.verdict.code for entry in index.entries] == [CallVerdictCode.MISFIT]
