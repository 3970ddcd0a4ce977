"""Starting, stopping, the pace, and a stop that reaches the server."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from email.utils import parsedate_to_datetime

import httpx
import pytest

from playground.demo.server import DemoConfig, DemoServer, serve_forever
from tests.demo.conftest import DemoClient
from tests.support.eventually import eventually
from tests.support.open_streams import open_streams
from tests.support.passes import shortest

KEY = {"Authorization": "Bearer any-key"}


def body(prompt: str, stream: bool = True) -> dict[str, object]:
    return {"model": "demo-chat", "stream": stream, "messages": [{"role": "user", "content": prompt}]}


def test_start_and_stop() -> None:
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


def test_each_answer_has_the_date_of_its_moment() -> None:
    with DemoServer(DemoConfig()) as server, httpx.Client(headers=KEY) as client:
        dates = []
        for pause in (0.0, 1.1):
            time.sleep(pause)
            before = int(time.time())
            answer = client.get(f"{server.base_url}/models")
            dates.append(parsedate_to_datetime(answer.headers["Date"]).timestamp())
            assert before <= dates[-1] <= time.time()
        assert dates[0] < dates[1]


def test_port_in_use(client: DemoClient) -> None:
    port = int(client.server.base_url.split(":")[2].split("/")[0])
    with pytest.raises(OSError, match=f"port {port}.*Choose another port"):
        DemoServer(DemoConfig(port=port)).start()
    with pytest.raises(OSError, match="cannot listen"):
        DemoServer(DemoConfig(port=70_000)).start()


@pytest.mark.parametrize("stream", [True, False])
def test_disconnect_is_noticed(stream: bool) -> None:
    with DemoServer(DemoConfig(tokens_per_second=20, time_to_first_token=0.05)) as server:
        client = httpx.Client(base_url=server.base_url, headers=KEY, timeout=20)

        def seconds() -> float:
            if stream:
                with client.stream("POST", "/chat/completions", json=body("!long=5000")) as response:
                    parts = response.iter_raw()  # kept: dropping the iterator closes the connection
                    next(parts)
                    assert open_streams(server) == 1
            else:
                impatient = httpx.Timeout(20, read=0.4)
                with pytest.raises(httpx.ReadTimeout):
                    client.post("/chat/completions", json=body("!long=5000", stream=False), timeout=impatient)
            begun = time.monotonic()
            asyncio.run(eventually(lambda: open_streams(server) == 0))
            return time.monotonic() - begun

        assert shortest(seconds, 0.5) < 0.5
        client.close()


def test_disconnect_while_flat_out(client: DemoClient) -> None:
    with (
        httpx.Client(base_url=client.server.base_url, headers=KEY) as http,
        http.stream("POST", "/chat/completions", json=body("!long=50000")) as response,
    ):
        parts = response.iter_raw()
        next(parts)
        assert open_streams(client.server) == 1  # held back by a reader that does not read
    asyncio.run(eventually(lambda: open_streams(client.server) == 0))


def test_disconnect_in_a_stall(client: DemoClient) -> None:
    with (
        httpx.Client(base_url=client.server.base_url, headers=KEY) as http,
        http.stream("POST", "/chat/completions", json=body("!stall=60")) as response,
    ):
        for line in response.iter_lines():
            if line.startswith(": keep-alive"):
                break
    asyncio.run(eventually(lambda: open_streams(client.server) == 0))


def test_stop_ends_open_streams() -> None:
    def seconds() -> float:
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
            asyncio.run(eventually(lambda: open_streams(server) == 1))
            begun = time.monotonic()
            server.stop()
            taken = time.monotonic() - begun
            assert open_streams(server) == 0
            reader.join()
        assert isinstance(ended[0], httpx.RemoteProtocolError | httpx.ReadError)
        return taken

    assert shortest(seconds, 1.5) < 1.5


def test_pace() -> None:
    with (
        DemoServer(DemoConfig(tokens_per_second=100, time_to_first_token=0.2)) as server,
        httpx.Client(base_url=server.base_url, headers=KEY) as client,
    ):
        found: list[tuple[float, float, float]] = []  # when the headers, the first and the last word came

        def seconds() -> float:
            begun = time.monotonic()
            request = {**body("Hello"), "max_tokens": 30}
            with client.stream("POST", "/chat/completions", json=request) as response:
                headers = time.monotonic() - begun
                arrivals = [time.monotonic() - begun for line in response.iter_lines() if '"content":' in line]
            assert len(arrivals) == 31
            found.append((headers, arrivals[0], arrivals[-1]))
            return max(headers / 0.15, arrivals[0] / 0.4, arrivals[-1] / 1.2)  # each against what it may take

        assert shortest(seconds, 1.0) < 1.0
        assert min(first for _, first, _ in found) >= 0.2
        assert min(last for _, _, last in found) >= 0.2 + 30 * 0.006

        def fast() -> float:
            begun = time.monotonic()
            answer = client.post("/chat/completions", json=body("!fast !long=1000"))
            assert answer.text.endswith("[DONE]\n\n")
            return time.monotonic() - begun

        assert shortest(fast, 1.0) < 1.0

        def at_fifty() -> float:
            begun = time.monotonic()
            client.post("/chat/completions", json={**body("!tps=50", stream=False), "max_tokens": 10})
            return time.monotonic() - begun

        assert 0.3 <= shortest(at_fifty, 1.0) < 1.0


def test_requests_are_kept(client: DemoClient) -> None:
    response = client.chat("Keep this: é", user="canary-user")
    kept = client.server.requests[-1]
    assert (kept.method, kept.path) == ("POST", "/v1/chat/completions")
    assert kept.body == response.request.content
    assert kept.header("authorization") == "Bearer any-key"
    assert "any-key" not in repr(kept)
    assert "canary" not in repr(kept)
    for _ in range(105):
        client.http.get("/models?x=1")
    assert len(client.server.requests) == 100
    assert client.server.requests[-1].path == "/v1/models?x=1"


def test_many_at_once(client: DemoClient) -> None:
    texts: list[str] = []

    def one(seed: int) -> None:
        with httpx.Client(base_url=client.server.base_url, headers=KEY, timeout=20) as http:
            texts.append(http.post("/chat/completions", json={**body("!long=200"), "seed": seed}).text)

    threads = [threading.Thread(target=one, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(texts) == 8
    assert all(text.endswith("[DONE]\n\n") for text in texts)
    asyncio.run(eventually(lambda: open_streams(client.server) == 0))


def test_serve_forever_on_interrupt_ends() -> None:
    command = [sys.executable, "-m", "tests.demo.interrupted_server"]
    process = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    assert (process.returncode, process.stderr) == (0, "")
    address, last = process.stdout.split()
    assert address.startswith("http://127.0.0.1:")
    assert last == "ended"


def test_serve_forever_on_an_impossible_port_raises() -> None:
    with pytest.raises(OSError, match="cannot listen"):
        serve_forever(DemoConfig(port=70_000), print)
