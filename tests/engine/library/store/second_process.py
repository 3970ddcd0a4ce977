"""Open the store named by the argument; print its mode, its titles and whether another window is named."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from playground.engine.library.store import Store


async def main() -> None:
    store = Store(Path(sys.argv[1]))
    status = await store.open()
    titles = [experiment.title for experiment in await store.experiments()]
    print(status.mode, titles, "another window" in status.words)
    await store.close()


asyncio.run(main())
