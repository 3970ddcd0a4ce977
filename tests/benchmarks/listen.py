"""Measure the proxy of Listen against a direct connection: first byte, CPU, many connections, a long recording."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Final

import httpx

from playground.engine.listen.exchanges import Listened
from playground.engine.listen.prefixes import PrefixIndex
from playground.engine.listen.recording import FolderRecorder, open_recording
from playground.engine.listen.summary import request_facts, whole_summary
from playground.gateway.redact import Redactor
from playground.gateway.tape import Exchange, Read
from tests.benchmarks.listen_proxy import ListenProxy
from tests.benchmarks.pacing import PacingServer
from tests.benchmarks.registry import Figure, at_least, at_most

REQUESTS, SHORT_REQUESTS = 300, 60
RATE: Final = 200  # tokens a second
SECONDS, SHORT_SECONDS = 15, 4
CONNECTIONS: Final = 32
RECORDED: Final = 1_000
OPENINGS: Final = 3
ADDED_MS, SHARE, OPEN_MS = 5.0, 10.0, 500.0
#: A conversation of 75 KB, the size of an agent's first request.
HISTORY: Final = [{"role": "user", "content": f"{number}: {'word ' * 500}"} for number in range(30)]


def run(short: bool) -> list[Figure]:
    """Return the figures of the proxy."""
    with tempfile.TemporaryDirectory() as name, PacingServer() as gateway:
        folder = Path(name)
        with ListenProxy(gateway.url, folder / "live") as proxy:
            figures = asyncio.run(_measure(gateway.url, proxy, short))
        return [*figures, _opening(folder / "long")]


async def _measure(direct: str, proxy: ListenProxy, short: bool) -> list[Figure]:
    through = f"{proxy.url}/v1"
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(
        timeout=120, limits=limits, headers={"Authorization": "Bearer any-key-of-a-program"}
    ) as client:
        waits: dict[str, list[float]] = {direct: [], through: []}
        for _ in range(SHORT_REQUESTS if short else REQUESTS):
            for base, times in waits.items():
                times.append((await _stream(client, base, f"paced-{RATE}-1"))[0])
        added = (statistics.median(waits[through]) - statistics.median(waits[direct])) * 1000
        seconds = SHORT_SECONDS if short else SECONDS
        before, begun = await asyncio.to_thread(proxy.cpu_seconds), time.perf_counter()
        _, size = await _stream(client, through, f"paced-{RATE}-{RATE * seconds}")
        share = (await asyncio.to_thread(proxy.cpu_seconds) - before) / (time.perf_counter() - begun) * 100
        model = f"paced-20-{20 * seconds}"
        _, expected = await _stream(client, direct, model)
        before, begun = await asyncio.to_thread(proxy.cpu_seconds), time.perf_counter()
        answers = await asyncio.gather(*(_stream(client, through, model) for _ in range(CONNECTIONS)))
        busy = (await asyncio.to_thread(proxy.cpu_seconds) - before) / (time.perf_counter() - begun) * 100
    assert size > RATE * seconds
    return [
        at_most("first byte, added by the proxy, p50", added, "ms", ADDED_MS),
        Figure("first byte, direct, p50", statistics.median(waits[direct]) * 1000, "ms"),
        at_most(f"CPU of the proxy at {RATE} tokens/s", share, "% of a core", SHARE),
        at_least(f"whole answers of {CONNECTIONS} at once", sum(s == expected for _, s in answers), "", CONNECTIONS),
        Figure(f"CPU of the proxy, {CONNECTIONS} × 20 tokens/s", busy, "% of a core"),
    ]


async def _stream(client: httpx.AsyncClient, base: str, model: str) -> tuple[float, int]:
    """Return the seconds until the first byte of an answer, and its size in bytes."""
    begun = time.perf_counter()
    first, size = 0.0, 0
    body = {"model": model, "stream": True, "messages": HISTORY}
    async with client.stream("POST", f"{base}/chat/completions", json=body) as response:
        async for data in response.aiter_raw():
            first = first or time.perf_counter() - begun
            size += len(data)
    return first, size


def _opening(folder: Path) -> Figure:
    """Return the time to open a recording of many exchanges, the best of several."""
    writer, prefixes, redactor = FolderRecorder(folder), PrefixIndex(), Redactor(())
    for number in range(1, RECORDED + 1):
        exchange = Exchange(
            id=f"{number:016x}",
            method="POST",
            url="https://gateway.example/v1/chat/completions",
            request_headers=(),
            request_body=b'{"model":"m","messages":[{"role":"user","content":"Hi"}]}',
            started_at=1.8e9,
            status=200,
            reads=[Read(0.1, b'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n')],
            ended=0.2,
            complete=True,
            protocol="chat",
        )
        listened = Listened(number, exchange, program="Claude Code", session=f"session-{number % 10}")
        summary = whole_summary(listened, request_facts(listened, prefixes), lambda _: None)
        writer.add(listened, summary, redactor)
    times = []
    for _ in range(OPENINGS):
        begun = time.perf_counter()
        assert len(open_recording(folder).summaries) == RECORDED
        times.append(time.perf_counter() - begun)
    return at_most(f"recording of {RECORDED} exchanges opens", min(times) * 1000, "ms", OPEN_MS)
