"""Everything that the window receives about one server: its state, tape, log, error output and sign-in."""

from __future__ import annotations

import asyncio
import time
from collections import deque

from playground.domain.tool_servers import ToolServer
from playground.jsonkit.values import JSON, JSONObject
from playground.tool_host.limits import KEPT_STDERR, LONGEST_ADDRESS, LONGEST_LOG, LONGEST_NAME
from playground.tool_host.outlet import Outlet
from playground.tool_host.tap import Mask, Tap

_MASK_MARGIN = 1_000  # characters behind a cut, so that a secret across the cut is recognized


class ServerReport:
    """Reports one server to the window, without its secrets.

    ``secrets`` are by name: "env:NAME", "header:NAME", "argument:NAME". ``saved_sign_in`` is the JSON that the last
    sign-in saved, or empty.
    """

    def __init__(self, server: ToolServer, secrets: dict[str, str], saved_sign_in: str, outlet: Outlet) -> None:
        self.server, self.secrets, self.saved_sign_in = server, secrets, saved_sign_in
        self.mask = Mask(secrets.values())
        self.tap = Tap(server.name, self.mask, lambda frame: outlet.frame(server.id, frame))
        self.state = "starting"  # as the window knows it
        self.end_reason = ""  # why the server ended by itself
        self.ended = asyncio.Event()  # set once ``end_reason`` is
        self.wakeup = asyncio.Event()  # set when the connection has something to do
        self.is_signing_in = False
        self.stderr: deque[str] = deque(maxlen=KEPT_STDERR)
        self._outlet = outlet

    def send(self, message: JSONObject) -> None:
        """Send the window a message about the server."""
        self._outlet.send({**message, "server": self.server.id})

    def send_latest(self, key: str, message: JSONObject) -> None:
        """Send a message soon, in place of earlier ones with the same key."""
        self._outlet.send_latest((key, self.server.id), {**message, "server": self.server.id})

    def set_state(self, state: str, **fields: JSON) -> None:
        """Report the state: "starting", "ready", "stopped" or "failed"."""
        self.state = state
        self.send({"is": "state", "state": state, **fields})

    def end(self, reason: str) -> None:
        """Report that the server ended by itself; the first reason counts."""
        self.end_reason = self.end_reason or self.mask.text(reason)
        self.ended.set()
        if self.state == "ready":  # at once: its process may take a while to exit
            self.set_state("failed", problem=self.end_reason)
        self.wakeup.set()

    def cut(self, text: str) -> str:
        """Return a text of the server, masked and cut to the length of a log line."""
        return self.mask.text(text[: LONGEST_LOG + _MASK_MARGIN])[:LONGEST_LOG]

    def log(self, level: str, logger: str, text: str) -> None:
        """Add a line to the log of the server."""
        line: JSONObject = {
            "at": time.time(),
            "level": level,
            "logger": self.mask.text(logger[: LONGEST_NAME + _MASK_MARGIN])[:LONGEST_NAME],
            "text": self.cut(text),
            "call": self.tap.only_ticket,
        }
        self._outlet.line(self.server.id, line)

    def add_stderr_line(self, line: str) -> None:
        """Report a line that the process wrote to its error output."""
        self.stderr.append(self.cut(line))
        self.send_latest("stderr", {"is": "stderr", "lines": list(self.stderr)})

    def open_browser(self, url: str) -> None:
        """Ask the window to open the sign-in page."""
        self.is_signing_in = True
        if len(url) <= LONGEST_ADDRESS and url.lower().startswith(("https://", "http://")):
            self.send({"is": "browser", "url": url})

    def save_sign_in(self, secret: str) -> None:
        """Ask the window to save the tokens of a sign-in, as JSON."""
        self.send({"is": "keep", "secret": secret})

    def set_process_group(self, group: int, *, runs: bool) -> None:
        """Report a started or ended process group: the window ends it should this process be killed."""
        self.send({"is": "runs", "group": group, "on": runs})
