"""The bound on the memory of an experiment's tapes."""

from __future__ import annotations

from playground.domain.transcript import Role, make_turn
from playground.engine.gateways.gateways import Gateways
from playground.engine.library.workspace import Workspace
from playground.engine.session.experiment import Tapes
from playground.engine.session.session import Session
from playground.gateway.tape import Exchange, Read
from tests.engine.exchanges import exchange


def tape(name: str, size: int = 1000, *, ended: bool = True) -> Exchange:
    return exchange([(0.1, b"x" * size)], id=name, ended=ended, request_body=b"{}")


def test_oldest_bodies_are_dropped_beyond_the_limit() -> None:
    tapes = Tapes(limit=2500)
    exchanges = [tape(name) for name in "abc"]
    for entry in exchanges:
        tapes.keep(entry)
        tapes.keep(entry)
    assert [(entry.dropped, entry.size, len(entry.request_body)) for entry in exchanges] == [
        (1002, 0, 0),
        (0, 1000, 2),
        (0, 1000, 2),
    ]
    assert list(tapes) == ["a", "b", "c"]
    assert exchanges[0].status == 200
    assert tapes.bytes <= 2500
    tapes.keep(exchanges[0])
    assert tapes.bytes <= 2500
    tapes.limit = 0
    assert [entry.dropped for entry in exchanges] == [1002] * 3


def test_exchange_that_came_last_stays_until_the_next() -> None:
    tapes = Tapes(limit=100)
    running = tape("a", ended=False)
    tapes.keep(running)
    running.reads.append(Read(0.2, b"y"))
    running.ended = 0.2
    tapes.keep(running)
    assert running.dropped == 0
    tapes.keep(tape("b"))
    assert running.dropped == 1003


async def test_limit_of_a_workspace_holds_for_its_sessions(gateways: Gateways) -> None:
    workspace = Workspace(gateways)
    workspace.set_tape_limit(1)
    session: Session = workspace.current
    session.change(model="demo-chat")
    session.turns.add_turn(make_turn(Role.USER, "Hi"))
    await session.run()
    await session.run()
    first, last = session.exchanges.values()
    assert first.dropped > 100
    assert not last.dropped
    assert session.transcript.path[-1].text
    assert workspace.new().exchanges.limit == 1
