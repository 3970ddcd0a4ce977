"""Start a stubborn tool server, print the number of the tool host, and wait to be killed: ``python -m … PIDS_FILE``."""

from __future__ import annotations

import asyncio
import sys

from playground.engine.gateways.secrets import Keys
from playground.engine.tool_servers.registry import ServerRegistry
from playground.engine.tool_servers.servers import Servers
from tests.engine.conftest import no_keyring
from tests.engine.tool_servers.conftest import hostile


async def main(pids: str) -> None:
    """Start the server and wait."""
    servers = Servers(
        ServerRegistry.temporary([hostile("stubborn", "parent", "--pids", pids)]), Keys(backend=no_keyring)
    )
    await servers.start("h")
    print(servers.host_pid, flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
