"""Save experiments in the store named by the argument while its file may not grow, and after that. POSIX only."""

from __future__ import annotations

import asyncio
import resource
import signal
import sys
from pathlib import Path

from playground.engine.library.store import Store, StoreError
from tests.engine.library.store.test_store import simple
from tests.engine.library.store.test_trouble import long
from tests.support.eventually import eventually


async def main() -> None:
    store = Store(Path(sys.argv[1]))
    await store.open()
    store.save(simple("first", "Fits"))
    await store.flush()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, hard))
    for number in range(8):
        store.save(long(number))
    try:
        await store.flush()
    except StoreError as error:
        print("refused:", error)
    await asyncio.sleep(0)
    print("trouble:", store.status.trouble)
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    await store.flush()
    await eventually(lambda: not store.status.trouble)
    print("after:", len(await store.experiments()), repr(store.status.trouble))
    await store.close()


signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
asyncio.run(main())
