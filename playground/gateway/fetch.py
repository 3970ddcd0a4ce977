"""Fetches one small file over https: no key, no cookie, no redirect, and no more than a few bytes of it are read."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

from playground.gateway.connection import Connection, Timeouts
from playground.gateway.outgoing import Outgoing
from playground.gateway.redact import Redactor
from playground.gateway.transfer import Transfer, TransferError, blank_exchange

SECONDS = 15.0


class FetchError(Exception):
    """The file could not be had; the text says why, for people."""


async def fetch_file(url: str, *, most: int) -> bytes:
    """The file at ``url``, of at most ``most`` bytes. Raises FetchError, also for an address that is not https."""
    if urlsplit(url).scheme != "https" or not urlsplit(url).hostname:
        raise FetchError("The address must begin with https://.")
    from playground.gateway.transport import make_client

    times = Timeouts(connect=SECONDS, first=SECONDS, idle=SECONDS, total=2 * SECONDS)
    made = Connection(base_url=url, timeouts=times, max_body_bytes=most, max_event_bytes=most)
    try:
        http = await asyncio.to_thread(make_client, made, url)
    except ValueError as error:
        raise FetchError(str(error)) from None
    redactor = Redactor(())
    request = Outgoing("GET", url, (("Accept", "application/json"),), b"")
    exchange = blank_exchange(redactor, request)
    transfer = Transfer(http, made, redactor, request, exchange)
    pieces: list[bytes] = []
    try:
        await transfer.start()
        status = exchange.status or 0
        if status != 200:
            raise FetchError(f"The server answered with HTTP {status}. Is the address right?")
        while (piece := await transfer.read_piece()) is not None:
            pieces.append(piece)
    except TransferError as error:
        raise FetchError(error.failure.message) from None
    finally:
        await transfer.aclose()
        await http.aclose()
    return b"".join(pieces)
