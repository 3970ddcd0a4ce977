"""Streams one answer into a store and says how far it is: ``python -m tests…store.killed_stream PATH URL``.

It is killed from outside. Every few hundredths of a second it prints the time and how many reads have come.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

from playground.domain.transcript import Role, make_turn
from playground.engine.gateways.offered import Gateways
from playground.engine.gateways.profiles import ProfileStore
from playground.engine.gateways.secrets import Keys
from playground.engine.library.store import Store
from playground.engine.library.workspace import Workspace


async def stream(path: Path, url: str) -> None:
    """Ask once, and tell."""
    gateways = Gateways(ProfileStore(path.with_name("gateways.json")), Keys(), lambda: url)
    workspace = Workspace(gateways, Store(path))
    await workspace.start()
    session = workspace.current
    session.turns.add_turn(make_turn(Role.USER, "Go on. !long=20000 !tps=60"))
    run = asyncio.get_running_loop().create_task(session.run())
    while not run.done():
        reads = sum(len(exchange.reads) for exchange in session.exchanges.values())
        print(json.dumps([time.monotonic(), reads]), flush=True)
        await asyncio.sleep(0.03)


if __name__ == "__main__":
    asyncio.run(stream(Path(sys.argv[1]), sys.argv[2]))
