"""Streams answers into a store and says how far it is: ``python -m tests…store.killed_stream PATH URL LANES``.

It is killed from outside. Now and then it prints the time and how many reads of each exchange have come.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

from playground.domain.transcript import Role, make_turn
from playground.engine.compare.lanes import Lanes
from playground.engine.gateways.gateways import Gateways
from playground.engine.gateways.profiles import ProfileStore
from playground.engine.gateways.secrets import Keys
from playground.engine.library.store import Store
from playground.engine.library.workspace import Workspace


async def stream(path: Path, url: str, count: int) -> None:
    """Ask once in so many lanes, and tell."""
    gateways = Gateways(ProfileStore(path.with_name("gateways.json")), Keys(), lambda: url)
    workspace = Workspace(gateways, Store(path))
    await workspace.start()
    session = workspace.current
    lanes = Lanes(session)
    for _ in range(1, count):
        lanes.add()
    lanes.write(make_turn(Role.USER, "Go on. !long=20000 !tps=60"))
    run = asyncio.get_running_loop().create_task(lanes.run())
    while not run.done():
        reads = {exchange.id: len(exchange.reads) for exchange in session.exchanges.values()}
        print(json.dumps([time.monotonic(), reads if len(reads) == count else {}]), flush=True)
        await asyncio.sleep(0.03)


if __name__ == "__main__":
    asyncio.run(stream(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
