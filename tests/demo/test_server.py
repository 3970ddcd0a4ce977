"""Start, stop, pace and disconnected clients of the demo gateway."""

from __future__ import annotations

import asyncio
import threading
import time

import httpx
import pytest

from playground.demo.server import DemoConfig, DemoServer
from tests.demo.conftest import DemoClient
from tests.support.eventually import eventually
from tests.support.open_streams import open_streams

KEY = {"Authorization": "Bearer any-key"}


def body(prompt: str, stream: bool = True) -> dict[str, object]:
    return {"model": "demo-chat", "stream": stream, "messages": [{"role": "user", "content": prompt}]}


def test_server_starts_and_stops_again() -> None:
    server = DemoServer(DemoConfig())
    address = server.start()
    assert address.startswith("http://127.0.0.1:")
    assert address.endswith("/v1")
    assert server.start() == address == server.base_url
    assert httpx.get(f"{address}/models", headers=KEY).status_code == 200
    server.stop()
    server.stop()
    assert not server.running
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{address}/models", headers=KEY)
    again = server.start()
    assert httpx.get(f"{again}/models", headers=KEY).status_code == 200
    server.stop()


def test_port_in_use_is_reported(client: DemoClient) -> None:
    port = int(client.server.base_url.split(":")[2].split("/")[0])
    with pytest.raises(OSError, match=f"port {port}.*Choose another port"):
        DemoServer(DemoConfig(port=port)).start()
    with pytest.raises(OSError, match="cannot listen"):
        DemoServer(DemoConfig(port=70_000)).start()


def wait_for_streams(server: DemoServer, count: int) -> None:
    asyncio.run(eventually(lambda: open_streams(server) == count, f"{count} open streams"))


@pytest.mark.parametrize("prompt", ["!tps=20 !long=5000", "!long=50000", "!stall=600"])
def test_disconnect_from_a_stream_ends_it(client: DemoClient, prompt: str) -> None:
    with (
        httpx.Client(base_url=client.server.base_url, headers=KEY) as http,
        http.stream("POST", "/chat/completions", json=body(prompt)) as response,
    ):
        parts = response.iter_raw()  # a variable: the end of the iterator closes the connection
        next(parts)
        assert open_streams(client.server) == 1
    wait_for_streams(client.server, 0)


def test_disconnect_before_a_whole_answer_ends_it(client: DemoClient) -> None:
    prompt = body("!tps=20 !long=5000", stream=False)
    with httpx.Client(base_url=client.server.base_url, headers=KEY) as http, pytest.raises(httpx.ReadTimeout):
        http.post("/chat/completions", json=prompt, timeout=httpx.Timeout(20, read=0.4))
    wait_for_streams(client.server, 0)


def test_stop_ends_open_streams() -> None:
    server = DemoServer(DemoConfig(tokens_per_second=20, time_to_first_token=0))
    server.start()
    with httpx.Client(base_url=server.base_url, headers=KEY, timeout=60) as client:
        ended: list[BaseException] = []

        def read() -> None:
            try:
                client.post("/chat/completions", json=body("!long=5000"))
            except httpx.HTTPError as error:
                ended.append(error)

        reader = threading.Thread(target=read)
        reader.start()
        wait_for_streams(server, 1)
        server.stop()
        assert open_streams(server) == 0
        reader.join()
    assert isinstance(ended[0], httpx.RemoteProtocolError | httpx.ReadError)


def test_pace_of_a_stream_is_not_exceeded() -> None:
    """An answer may come later than its pace on a busy machine, never earlier."""
    with (
        DemoServer(DemoConfig(tokens_per_second=100, time_to_first_token=0.2)) as server,
        httpx.Client(base_url=server.base_url, headers=KEY) as client,
    ):
        begun = time.monotonic()
        request = {**body("Hello"), "max_tokens": 30}
        with client.stream("POST", "/chat/completions", json=request) as response:
            arrivals = [time.monotonic() - begun for line in response.iter_lines() if '"content":' in line]
        assert len(arrivals) == 31
        assert arrivals[0] >= 0.2
        assert arrivals[-1] >= 0.2 + 30 * 0.006
        begun = time.monotonic()
        client.post("/chat/completions", json={**body("!tps=50", stream=False), "max_tokens": 10})
        assert time.monotonic() - begun >= 0.3
        assert client.post("/chat/completions", json=body("!fast !long=1000")).text.endswith("[DONE]\n\n")
