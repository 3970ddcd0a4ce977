"""A recording holds all exchanges of a run, and is read whatever happened to its files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from playground.domain.prices import Price
from playground.engine.cassettes.cassette import CassetteError, open_file
from playground.engine.listen.recording import INDEX, cassette_path, open_recording, read_listened
from tests.engine.listen.conftest import REQUEST, STREAM, MakeServer, ended, post
from tests.support.fault_server import FaultServer, head, keep, send, sse, whole

WITH_USAGE = sse(
    '{"id":"c","model":"m-2026","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t","type":"function",'
    '"function":{"name":"look","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1000000,'
    '"completion_tokens":10,"prompt_tokens_details":{"cached_tokens":900000}}}',
    "[DONE]",
)


async def record(listen: MakeServer, gateway: FaultServer, folder: Path, count: int = 3) -> None:
    gateway.play(send(head(), STREAM))
    server = await listen(folder=folder)
    for number in range(count):
        await post(server)
        await ended(server, number)
    await server.aclose()


async def test_recording_opens_with_rows_and_exchanges(
    listen: MakeServer, gateway: FaultServer, tmp_path: Path
) -> None:
    await record(listen, gateway, tmp_path)

    recording = open_recording(tmp_path)

    assert [row.number for row in recording.summaries] == [1, 2, 3]
    assert not recording.problems
    row = recording.summaries[1]
    assert (row.path, row.model, row.served_model, row.finish) == ("/v1/chat/completions", "m", "m", "stop")
    listened = read_listened(tmp_path, row)
    assert listened.exchange.body == STREAM
    assert listened.exchange.id == row.id
    assert listened.summary == row
    assert open_file(cassette_path(tmp_path, 2)).exchanges[0].body == STREAM  # any cassette reader can open it


async def test_row_has_facts_of_request_and_answer(listen: MakeServer, gateway: FaultServer) -> None:
    gateway.play(send(head(), WITH_USAGE))
    prices = {"m": Price(input=3, cached=0.3, output=15)}
    server = await listen(price_of=prices.get)
    body = json.dumps(
        {
            "model": "m",
            "stream": True,
            "messages": [{"role": "user", "content": "Hi"}],
            "tools": [{"type": "function", "function": {"name": "look"}}, {"type": "web_search"}],
        }
    ).encode()

    await post(server, "/v1/chat/completions", body, ("User-Agent", "OpenAI/Python 3.54.0"), ("session_id", "s-1"))

    row = (await ended(server)).summary
    assert row is not None
    assert (row.program, row.session, row.protocol) == ("OpenAI SDK (Python)", "s-1", "chat")
    assert (row.model, row.served_model, row.messages) == ("m", "m-2026", 1)
    assert (row.tools, row.calls, row.finish) == (("look", "web_search"), ("look",), "tool_calls")
    assert (row.input_tokens, row.cached_tokens, row.output_tokens) == (1_000_000, 900_000, 10)
    assert row.cost == pytest.approx(0.3 + 0.27 + 0.00015)
    assert row.first is not None
    assert row.duration is not None
    assert row.first <= row.duration


async def test_second_run_in_a_folder_continues_its_numbers(
    listen: MakeServer, gateway: FaultServer, tmp_path: Path
) -> None:
    await record(listen, gateway, tmp_path, 2)
    await record(listen, gateway, tmp_path, 1)

    assert [row.number for row in open_recording(tmp_path).summaries] == [1, 2, 3]


async def test_folder_in_which_another_process_records_is_refused(listen: MakeServer, tmp_path: Path) -> None:
    server = await listen(folder=tmp_path)

    with pytest.raises(OSError, match="another program records in this folder"):
        await listen(folder=tmp_path)

    await server.aclose()
    await listen(folder=tmp_path)


async def test_cassette_without_line_and_cut_line_are_recovered(
    listen: MakeServer, gateway: FaultServer, tmp_path: Path
) -> None:
    await record(listen, gateway, tmp_path)
    index = tmp_path / INDEX
    lines = index.read_bytes().splitlines(keepends=True)
    index.write_bytes(lines[0] + lines[1][:40])

    recording = open_recording(tmp_path)

    assert [row.number for row in recording.summaries] == [1, 2, 3]
    assert recording.summaries[2].model == "m"
    assert recording.problems == (f"1 line of {INDEX} could not be read.",)
    await record(listen, gateway, tmp_path, 1)
    assert [row.number for row in open_recording(tmp_path).summaries] == [1, 2, 3, 4]


async def test_row_without_cassette_is_reported(listen: MakeServer, gateway: FaultServer, tmp_path: Path) -> None:
    await record(listen, gateway, tmp_path, 2)
    cassette_path(tmp_path, 1).unlink()

    recording = open_recording(tmp_path)

    assert "1 exchange" in recording.problems[0]
    with pytest.raises(CassetteError):
        read_listened(tmp_path, recording.summaries[0])


def test_folder_without_recording_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(CassetteError):
            open_recording(folder)


async def test_folder_that_cannot_be_used_is_named(listen: MakeServer, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")

    with pytest.raises(OSError, match="cannot be used for a recording"):
        await listen(folder=file)


async def test_recording_that_fails_does_not_stop_the_proxy(
    listen: MakeServer, gateway: FaultServer, tmp_path: Path
) -> None:
    gateway.play(send(whole(200, "application/json", b"{}")), keep())
    folder = tmp_path / "recording"
    server = await listen(folder=folder)
    (folder / INDEX).unlink()
    (folder / INDEX).mkdir()

    first = await post(server)
    await ended(server)
    second = await post(server)

    assert (first.status, second.status) == (200, 200)
    assert str(folder) in server.problem


async def test_bodies_over_the_limit_of_memory_are_read_from_the_recording(
    listen: MakeServer, gateway: FaultServer, tmp_path: Path
) -> None:
    gateway.play(send(head(), STREAM))
    server = await listen(folder=tmp_path, max_memory=len(REQUEST) + len(STREAM) + 10)
    for number in range(3):
        await post(server)
        await ended(server, number)

    first = server.exchanges[0]

    assert first.exchange.dropped
    assert server.load(first).body == STREAM
    assert not server.exchanges[2].exchange.dropped
