"""The proxy in a thread of its own: few reports of many changes, errors in words, and an end."""

from __future__ import annotations

import asyncio
import ssl
import threading
from pathlib import Path

import pytest
import trustme
from pydantic import SecretStr

from playground.engine.listen.exchanges import EndedBy, Listened, Stage
from playground.engine.listen.server import ListenSettings
from playground.engine.listen.thread import ListenThread
from playground.gateway.connection import Connection
from tests.engine.listen.conftest import GATEWAY_KEY, REQUEST, STREAM, ended, post
from tests.support.fault_server import FaultServer, chunk, head, keep, send

AN_HOUR = 3600.0
COUNT = 20


def settings(gateway: FaultServer, **fields: object) -> ListenSettings:
    connection = Connection.model_validate({"base_url": gateway.url, "key": SecretStr(GATEWAY_KEY), **fields})
    return ListenSettings(connection)


async def test_many_changes_are_one_report(gateway: FaultServer) -> None:
    gateway.play(send(head(chunked=True)), *[send(chunk(b": ping\n\n"))] * 30, send(chunk(b"")), keep())
    reports: list[list[Listened]] = []
    threads: list[str] = []

    def report(changes: list[Listened]) -> None:
        reports.append(changes)
        threads.append(threading.current_thread().name)

    thread = ListenThread(settings(gateway), report, AN_HOUR)
    await asyncio.to_thread(thread.start)
    for number in range(COUNT):
        await post(thread.server)
        await ended(thread.server, number)
    await asyncio.to_thread(thread.stop)
    await asyncio.to_thread(thread.stop)

    assert [[listened.number for listened in changes] for changes in reports] == [list(range(1, COUNT + 1))]
    assert all(listened.stage is Stage.ENDED and listened.summary for listened in reports[0])
    assert threads == ["listen"]


async def test_port_in_use_is_raised_in_words(gateway: FaultServer) -> None:
    first = ListenThread(settings(gateway), lambda _: None)
    base = await asyncio.to_thread(first.start)
    port = int(base.split(":")[2].split("/")[0])
    second = ListenThread(ListenSettings(settings(gateway).connection, port=port), lambda _: None)

    with pytest.raises(OSError, match=f"Cannot listen on port {port}"):
        await asyncio.to_thread(second.start)

    await asyncio.to_thread(first.stop)
    assert "listen" not in [thread.name for thread in threading.enumerate()]


async def test_gateway_with_a_private_certificate_is_reached(tmp_path: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with FaultServer(context) as gateway:
        gateway.play(send(head(chunked=True)), send(chunk(STREAM)), send(chunk(b"")), keep())
        trusting = ListenThread(settings(gateway, ca_file=str(tmp_path / "ca.pem")), lambda _: None)
        doubting = ListenThread(settings(gateway), lambda _: None)
        for thread in (trusting, doubting):
            await asyncio.to_thread(thread.start)

        answer = await post(trusting.server, "/v1/chat/completions", REQUEST)
        refusal = await post(doubting.server, "/v1/chat/completions", REQUEST)
        listened = await ended(doubting.server)
        for thread in (trusting, doubting):
            await asyncio.to_thread(thread.stop)

    assert (answer.status, answer.body) == (200, STREAM)
    assert refusal.status == 502
    assert listened.ended_by is EndedBy.UPSTREAM
    assert listened.exchange.failure is not None
    assert "certificate" in listened.exchange.failure.message
