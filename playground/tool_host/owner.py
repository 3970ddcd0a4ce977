"""What the streams of messages to one server need to know of it, and tell it."""

from __future__ import annotations

from collections import deque
from typing import Protocol

from playground.domain.tool_servers import ToolServer
from playground.tool_host.secrets import Mask
from playground.tool_host.tap import Tap


class Owner(Protocol):
    """Whoever opened the streams. ``secrets`` are by name: "env:NAME", "header:NAME"; ``signed_in`` is what the last
    sign-in gave. ``http_problem`` says with what a request was refused; ``signing`` that a person signs in now.
    """

    server: ToolServer
    secrets: dict[str, str]
    tap: Tap
    stderr: deque[str]
    mask: Mask
    signed_in: str
    signing: bool
    http_problem: str

    def log(self, level: str, logger: str, text: str) -> None:
        """A line for the log of the server."""

    def heard_error(self, line: str) -> None:
        """A line that its process wrote to its error output."""

    def ended(self, words: str) -> None:
        """The server is gone by itself."""

    def browse(self, url: str) -> None:
        """The person has to sign in on this page."""

    def keep(self, secret: str) -> None:
        """What a sign-in gave is to be kept."""

    def runs(self, group: int, on: bool) -> None:
        """A group of processes was started, or has ended."""
