"""Answers that are longer than what is saved of one while it arrives."""

from __future__ import annotations

import asyncio

from playground.domain.transcript import Role, make_turn
from playground.engine.gateways.profiles import Profile
from playground.engine.library.store.autosave import GROWING_LIMIT
from tests.engine.library.store.conftest import MakeWorkspace
from tests.support.eventually import eventually
from tests.support.fault_server import FaultServer, head, pause, send, sse, text_chunk

PIECE = "All of a long answer is kept. " * 1_000


async def test_long_answer_is_saved_in_part_while_it_arrives_and_whole_at_its_end(
    make_workspace: MakeWorkspace,
) -> None:
    count = GROWING_LIMIT // len(PIECE) + 20
    workspace = await make_workspace()
    session, store = workspace.current, workspace.store
    assert store is not None
    with FaultServer() as server:
        server.play(
            send(head(), sse(*[text_chunk(PIECE)] * count)),
            pause(),
            send(sse(text_chunk(" The end.", "stop"), "[DONE]")),
        )
        profile = workspace.gateways.store.add_profile(Profile(name="Long", base_url=server.url))
        session.change(profile_id=profile.id, model="m")
        session.turns.add_turn(make_turn(Role.USER, "Hello"))
        run = asyncio.get_running_loop().create_task(session.run())

        async def is_saved_in_part() -> bool:
            await store.flush()
            return len((await store.load(session.id)).turns[-1].text) == GROWING_LIMIT

        async def frames_are_saved() -> bool:
            await store.flush()
            exchange = await store.tape(session.id, next(iter(session.exchanges)))
            return exchange is not None and exchange.size > count * len(PIECE)

        await eventually(is_saved_in_part, "the beginning of the answer is saved")
        await eventually(frames_are_saved, "all frames are saved")
        server.go_on()
        await run
    await workspace.flush()
    text = (await store.load(session.id)).turns[-1].text
    assert text == PIECE * count + " The end."
