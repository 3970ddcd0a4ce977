"""Measure the event loop while a tool server writes its log as fast as it can and the page of messages shows it."""

from __future__ import annotations

from tests.benchmarks.registry import Figure, at_most
from tests.benchmarks.window import Pulse, Window, play
from tests.support import tool_servers

SECONDS, SHORT_SECONDS = 15, 4
LONGEST_MS = 300


def run(short: bool) -> list[Figure]:
    """Return the longest gap and the rate of messages."""
    seconds = SHORT_SECONDS if short else SECONDS

    async def measure(window: Window) -> list[Figure]:
        servers = window.app.workspace.tool_servers
        window.app.window.action("view.servers").trigger()
        server = servers.book.add(tool_servers.hostile("flood"))
        servers.book.confirm(server)
        await servers.start(server.id)
        await window.settle()
        before = servers.tape.count
        with Pulse() as pulse:
            await window.settle(seconds)
        return [
            at_most("event loop, longest gap", pulse.longest_ms, "ms", LONGEST_MS),
            Figure("event loop, p99 gap", pulse.p99_ms, "ms"),
            Figure("messages received", (servers.tape.count - before) / seconds, "1/s"),
        ]

    return play(measure)
