"""Passes requests of other programs on to one gateway, over one pool of connections."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from playground.gateway.address import Address, resolve
from playground.gateway.connection import MEBIBYTE, Connection, Timeouts
from playground.gateway.prepared_request import PreparedRequest
from playground.gateway.redact import Redactor
from playground.gateway.tape import Exchange
from playground.gateway.transfer import Transfer

if TYPE_CHECKING:
    from playground.gateway.transport import Transport

#: The most bytes of one decoded answer that are recorded; the rest is passed on.
MAX_RECORDED: Final = 64 * MEBIBYTE


class Relay:
    """The connections to the gateway of ``connection``. ``open`` it before the first transfer.

    Only the time to connect is limited: the other program has time-outs of its own.
    """

    def __init__(self, connection: Connection) -> None:
        """Raises ValueError, in words, for an address that cannot be used."""
        self.address: Address = resolve(connection.base_url)
        patience = Timeouts(connect=connection.timeouts.connect, first=None, idle=None, settle=None, total=None)
        self.connection = connection.model_copy(update={"timeouts": patience, "max_body_bytes": MAX_RECORDED})
        self._transport: Transport | None = None

    async def open(self) -> None:
        """Load the client and the certificates. Raises ValueError, in words, for settings that cannot be used."""
        self._transport = await asyncio.to_thread(make_transport, self.connection, self.address.base)

    def transfer(self, request: PreparedRequest, redactor: Redactor, exchange: Exchange) -> Transfer:
        """Return the transfer of a request, which has not begun; it fills ``exchange``."""
        if self._transport is None:
            raise RuntimeError("open comes before the first transfer")
        return Transfer(self._transport, self.connection, redactor, request, exchange)

    async def aclose(self) -> None:
        """Close all connections, also those in use."""
        transport, self._transport = self._transport, None
        if transport is not None:
            await transport.aclose()


def make_transport(connection: Connection, base: str) -> Transport:
    """Return new connections to a base URL; call it in a thread, since it loads httpx. Raises ValueError in words."""
    from playground.gateway.transport import Transport

    return Transport(connection, base)
