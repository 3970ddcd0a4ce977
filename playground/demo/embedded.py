"""The demo gateway inside the application: started when first asked for, ended with it."""

from __future__ import annotations

import threading

from playground.demo.server import DemoConfig, DemoServer


class Demo:
    """The embedded demo gateway, started when first asked for."""

    def __init__(self, config: DemoConfig) -> None:
        self._server = DemoServer(config)
        self._starting = threading.Lock()
        self._ended = False

    def start(self) -> str:
        """The base URL of the running server. Raises OSError when it cannot start, or was ended."""
        with self._starting:
            if self._ended:
                raise OSError("The demo gateway was ended with the application.")
            return self._server.base_url if self._server.running else self._server.start()

    def stop(self) -> None:
        """End it for good, with whatever it is sending; a start under way is waited for."""
        with self._starting:
            self._ended = True
            self._server.stop()

    @property
    def server(self) -> DemoServer:
        """The server itself, for tests that look at what arrived."""
        return self._server
