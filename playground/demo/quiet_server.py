"""Uvicorn's server without its clock, which looks at the date and for its end ten times a second."""

from __future__ import annotations

import asyncio
from typing import Any

import uvicorn


class QuietServer(uvicorn.Server):
    """Sleeps until there is something to answer. Answers carry the date of their moment."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._over = asyncio.Event()

    def end(self) -> None:
        """Take no more connections; called in the server's thread."""
        self.should_exit = True
        self._over.set()

    async def main_loop(self) -> None:
        """In the place of uvicorn's."""
        await self.on_tick(0)
        self.config.loaded_app = _Dated(self, self.config.loaded_app)  # for every connection that is made from now on
        if not self.should_exit:
            await self._over.wait()


class _Dated:
    """Has the date set before ``answers`` does: it stands in a list that the answer's head is made from later."""

    def __init__(self, server: uvicorn.Server, answers: Any) -> None:
        self._server = server
        self._answers = answers

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        state = self._server.server_state
        of_this_answer = state.default_headers
        await self._server.on_tick(0)
        of_this_answer[:] = state.default_headers
        await self._answers(scope, receive, send)
