"""The proxy: a server on loopback that passes requests on to one gateway, byte for byte, and records them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from playground.engine.listen.exchanges import Listened
from playground.engine.listen.pauses import Breakpoints
from playground.gateway.connection import Connection


@dataclass(frozen=True, slots=True)
class ListenSettings:
    """``connection`` is the gateway, with its key if ``stored_key``; else the program's own key is passed on.

    ``port`` 0 lets the system choose. ``secret_path``: the address contains a random secret. ``folder``: where the
    exchanges are recorded, None to keep them in memory only.
    """

    connection: Connection
    stored_key: bool = True
    port: int = 0
    secret_path: bool = True
    folder: Path | None = None


class ListenServer:
    """Start and close it on the same event loop.

    ``exchanges`` grows by one for each request. ``changed`` is called on that loop whenever one of them changed.
    ``breakpoints`` and ``table`` may be replaced at any time.
    """

    def __init__(self, settings: ListenSettings, changed: Callable[[Listened], None] = lambda _: None) -> None:
        self.settings = settings
        self.exchanges: list[Listened] = []
        self.breakpoints = Breakpoints()
        self.base_url = ""  # without /v1, with the secret path
        self.started_at = 0.0
        self._changed = changed

    async def start(self) -> str:
        """Listen; return the address to give to programs, without ``/v1``. Raises OSError in words."""
        raise NotImplementedError

    async def aclose(self) -> None:
        """Close the port, end the exchanges under way and mark them."""
        raise NotImplementedError
