"""The open streams of a demo server, seen from inside."""

from __future__ import annotations

from playground.demo.server import DemoServer


def open_streams(server: DemoServer) -> int:
    """Answers being generated now, streamed or in one piece."""
    return len(server._service.running.tasks) if server._service else 0
