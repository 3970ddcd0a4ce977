"""A tool server floods while the window shows what it says: does the loop hold? And how long the first answer takes.

The server writes lines of its log as fast as its pipe takes them; the page of messages is in front, the dearest
to look at.
"""

from __future__ import annotations

import time

from playground.domain.tool_servers import ToolServer
from playground.engine.session.serving import Ticket
from tests.benchmarks.registry import Figure, at_most
from tests.benchmarks.window import Pulse, Window, play
from tests.support import tool_servers

SECONDS, SHORT_SECONDS = 15, 4


def run(short: bool) -> list[Figure]:
    """The figures of one run."""
    seconds = SHORT_SECONDS if short else SECONDS

    async def flooded(window: Window) -> tuple[float, float, Pulse, float]:
        first, again = await _answers(window)
        servers = window.app.workspace.tool_servers
        window.app.window.action("view.servers").trigger()
        before = servers.tape.count
        await _ready(window, tool_servers.hostile("flood"))
        await window.settle()
        with Pulse() as pulse:
            await window.settle(seconds)
        return first, again, pulse, (servers.tape.count - before) / seconds

    first, again, pulse, frames = play(flooded)
    return [
        at_most("event loop while one floods, p99 gap", pulse.p99_ms, "ms", 16),
        at_most("event loop while one floods, longest gap", pulse.longest_ms, "ms", 50),
        Figure("CPU of the window's process meanwhile", pulse.cpu_share, "% core"),
        Figure("messages told a second", frames, "1/s"),
        Figure("from nothing to the first answer", first * 1000, "ms"),
        Figure("an answer after that", again * 1000, "ms"),
    ]


async def _ready(window: Window, server: ToolServer) -> None:
    servers = window.app.workspace.tool_servers
    kept = servers.book.add(server)
    servers.book.confirm(kept)
    await servers.start(kept.id)


async def _answers(window: Window) -> tuple[float, float]:
    """Seconds of the first call, for which everything is started, and of one more, the best of many."""
    servers = window.app.workspace.tool_servers
    servers.book.add(server := tool_servers.hostile(id="plain", name="plain"))
    servers.book.confirm(server)
    took = []
    for _ in range(50):
        began = time.perf_counter()
        await servers.call(server.id, "echo", {"text": "x"}, Ticket())
        took.append(time.perf_counter() - began)
    return took[0], min(took[1:])
