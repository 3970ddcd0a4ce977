"""What the tests' servers do when they end."""

from __future__ import annotations

import asyncio
import socket

from tests.support.listening import _is_new, stop_listening


async def test_a_connection_that_comes_at_the_end_is_let_in_first() -> None:
    let_in: list[asyncio.StreamWriter] = []
    server = await asyncio.start_server(lambda _reader, writer: let_in.append(writer), "127.0.0.1", 0)
    with socket.create_connection(server.sockets[0].getsockname()):
        while not any(map(_is_new, asyncio.all_tasks())):  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0)
        await stop_listening(server)
        assert not server.is_serving()
        let_in[0].close()
        await let_in[0].wait_closed()
