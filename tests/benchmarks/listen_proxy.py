"""The proxy of Listen in a process of its own, in front of the gateway that its argument names. Records in a folder."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

from pydantic import SecretStr

from playground.engine.listen.server import ListenServer, ListenSettings
from playground.gateway.connection import Connection
from tests.benchmarks.child import Child


class ListenProxy(Child):
    """The proxy's process. ``url`` is its address, without ``/v1``."""

    def __init__(self, gateway_url: str, folder: Path) -> None:
        super().__init__("tests.benchmarks.listen_proxy", gateway_url, str(folder))

    def cpu_seconds(self) -> float:
        """Return the CPU time of the process so far."""
        self.tell()
        return float(self.printed_line)


async def _serve(gateway_url: str, folder: Path) -> None:
    connection = Connection(base_url=gateway_url, key=SecretStr("sk-proj-benchmark-5f2d8c1a9e"))
    server = ListenServer(ListenSettings(connection, folder=folder))
    print(await server.start(), flush=True)
    while await asyncio.to_thread(sys.stdin.readline):
        print(time.process_time(), flush=True)
    await server.aclose()


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1], Path(sys.argv[2])))
