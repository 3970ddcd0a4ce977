"""A cassette as an experiment: its conversation and exchanges, and runs that replay instead of asking anybody.

Runs go to a replay server on loopback, over the same client as any other, so everything else works as it always does.
No key is needed and no other network touched.
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

#: Nothing is too late: a person may step through an answer frame by frame.
_NO_HURRY = Timeouts(first=None, idle=None, settle=None, total=None)


class CassettePlayer:
    """Plays ``cassette``. ``clock`` says how fast, and may be changed while an answer runs. Close it with ``aclose``.

    ``profile`` stands for it among the gateways; its address is known once the first run began.
    """

    def __init__(self, cassette: Cassette) -> None:
        self.cassette = cassette
        self.clock = PlaybackClock()
        name = f"Cassette: {cassette.title}" if cassette.title else "Cassette"
        self.profile = Profile(name=name, timeouts=_NO_HURRY, retries=0)
        self._server = ReplayServer(cassette, self.clock)
        self._client: GatewayClient | None = None
        self._starting = asyncio.Lock()

    async def client(self) -> GatewayClient:
        """The client of the replay server, which is started when first asked for. Raises OSError when it cannot."""
        from playground.gateway.client import GatewayClient

        async with self._starting:
            if self._client is None:
                url = await self._server.start()
                self.profile = self.profile.model_copy(update={"base_url": url})
                self._client = GatewayClient(connection(self.profile))
        return self._client

    def session(self, gateways: Gateways | None = None) -> Session:
        """A new experiment with all that the cassette holds. After a change of gateway it runs on ``gateways``."""
        session = Experiment(
            self._connect(gateways.client if gateways is not None else None),
            profile_id=self.profile.id,
            profile_of=self._profile_of(gateways),
        ).main
        exchanges = self.cassette.exchanges
        request = next((found for one in reversed(exchanges) if (found := request_of(one)) is not None), None)
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
        """End the server and its client."""
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
