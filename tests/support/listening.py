"""The end of a server of asyncio's that tests have in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from inspect import CORO_CREATED, getcoroutinestate


async def stop_listening(server: asyncio.Server, own: Collection[asyncio.Task[None]] = ()) -> None:
    """Close a server behind the connections that it has accepted, and wait until they are let in.

    One whose task has not begun when a server is closed never gets a transport in CPython 3.11, and its socket is left
    open, to be reported in whichever test meets it. ``own`` are tasks that do not let in.
    """
    while any(map(_is_new, asyncio.all_tasks())):  # noqa: ASYNC110 - nothing tells of it
        await asyncio.sleep(0)
    server.close()
    if letting_in := asyncio.all_tasks() - {*own, asyncio.current_task()}:
        await asyncio.wait(letting_in, timeout=1)  # of a handshake that never ends, if need be


def _is_new(task: asyncio.Task[object]) -> bool:
    return getcoroutinestate(task.get_coro()) == CORO_CREATED  # type: ignore[arg-type]  # tasks here are of coroutines
