"""A cassette as an experiment: its conversation and exchanges, and runs against a replay server on loopback.

Runs use the same client as with any gateway. No key and no other network is used.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from playground.engine.cassettes.cassette import Cassette
from playground.engine.cassettes.playback_clock import PlaybackClock
from playground.engine.cassettes.server import ReplayServer
from playground.engine.cassettes.transcript import request_of, transcript_of
from playground.engine.gateways.profiles import Profile, Timeouts, connection
from playground.engine.session.changes import PathChanged, SettingsChanged
from playground.engine.session.session import Experiment, Session

if TYPE_CHECKING:
    from playground.engine.gateways.gateways import Gateways
    from playground.gateway.client import GatewayClient

#: Without limits, because a person may step through an answer frame by frame.
_NO_TIMEOUTS = Timeouts(first=None, idle=None, settle=None, total=None)


class CassettePlayer:
    """Replays ``cassette`` at the pace of ``clock``, which may be changed during an answer. Close it with ``aclose``.

    ``profile`` is its gateway profile; the address is set by the first run.
    """

    def __init__(self, cassette: Cassette) -> None:
        self.cassette = cassette
        self.clock = PlaybackClock()
        name = f"Cassette: {cassette.title}" if cassette.title else "Cassette"
        self.profile = Profile(name=name, timeouts=_NO_TIMEOUTS, retries=0)
        self._server = ReplayServer(cassette, self.clock)
        self._client: GatewayClient | None = None
        self._starting = asyncio.Lock()

    async def client(self) -> GatewayClient:
        """Return the client of the replay server, which the first call starts. Raises OSError if it cannot start."""
        from playground.gateway.client import GatewayClient

        async with self._starting:
            if self._client is None:
                url = await self._server.start()
                self.profile = self.profile.model_copy(update={"base_url": url})
                self._client = GatewayClient(connection(self.profile))
        return self._client

    def session(self, gateways: Gateways | None = None) -> Session:
        """Return a new experiment with the cassette's content. After a change of gateway it runs on ``gateways``."""
        session = Experiment(
            self._connect(gateways.client if gateways is not None else None),
            profile_id=self.profile.id,
            profile_of=self._profile_of(gateways),
        ).main
        exchanges = self.cassette.exchanges
        requests = (request_of(exchange) for exchange in reversed(exchanges))
        request = next((request for request in requests if request is not None), None)
        if request is not None:
            session.load(request, self.cassette.title)
            session.change(reasoning_return=request.reasoning_return)
        else:
            session.change(title=self.cassette.title)
        session.history.transcript = transcript_of(exchanges)
        for exchange in exchanges:
            session.exchanges.keep(exchange)
        session.observers.tell(PathChanged())
        session.observers.tell(SettingsChanged())
        return session

    async def aclose(self) -> None:
        """Close the server and its client."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()
        await self._server.aclose()

    def _connect(
        self, others: Callable[[str], Awaitable[GatewayClient]] | None
    ) -> Callable[[str], Awaitable[GatewayClient]]:
        async def connect(profile_id: str) -> GatewayClient:
            if others is None or profile_id == self.profile.id:
                return await self.client()
            return await others(profile_id)

        return connect

    def _profile_of(self, gateways: Gateways | None) -> Callable[[str], Profile]:
        def profile_of(profile_id: str) -> Profile:
            if gateways is None or profile_id == self.profile.id:
                return self.profile
            return gateways.get(profile_id)

        return profile_of
