"""A saved experiment run in one of its variants, or in all of them at once."""

from __future__ import annotations

import io
import json
from itertools import product
from typing import Any

import pytest

from playground.demo.server import DemoConfig, DemoServer
from playground.engine.gateways.secrets import Secret
from playground.engine.headless.exit_codes import ExitCode
from playground.engine.headless.run import RunOptions, run_file
from playground.engine.headless.show import OutputError
from tests.engine.debugging import begin as spawned
from tests.engine.headless.runs import Desk, experiment
from tests.hostile.streams import delta
from tests.support.eventually import eventually
from tests.support.fault_server import FaultServer, head, hold, send

VARIANTS = [
    {"id": "v1", "name": "warm", "differences": {"parameters": {"chat": {"temperature": 1, "stream": None}}}},
    {"id": "v2", "differences": {"model": "demo-reasoner"}, "system": "Be long.", "gateway": "Elsewhere"},
    {"id": "v3", "name": "wrong", "differences": {"model": "no-such-model"}},
]


def saved(**fields: Any) -> dict[str, Any]:
    return {
        "experiment": 1,
        "id": "e",
        "model": "demo-chat",
        "parameters": {"chat": {"stream": True}},
        "draft": {"text": "Hello", "role": "user"},
        "variants": VARIANTS[:2],
        **fields,
    }


def bodies(demo: DemoServer) -> list[dict[str, Any]]:
    return [json.loads(request.body) for request in demo.requests if request.method == "POST"]


@pytest.mark.parametrize("name", ["B", " WARM "])
async def test_a_variant_is_run_by_its_name_or_its_letter(desk: Desk, demo: DemoServer, name: str) -> None:
    ended = await desk.run(saved(), variant=name)
    assert (ended.code, ended.err) == (ExitCode.OK, "")
    assert ended.out.strip()
    (body,) = bodies(demo)
    assert (body["model"], body["temperature"], "stream" in body) == ("demo-chat", 1, False)
    assert [message["content"] for message in body["messages"]] == ["Hello"]


async def test_its_own_system_turn_goes_out_and_another_gateway_is_spoken_of(desk: Desk, demo: DemoServer) -> None:
    ended = await desk.run(saved(), variant="C", as_json=True)
    assert ended.code == ExitCode.OK
    assert "C is set for the gateway “Elsewhere”" in ended.err
    (body,) = bodies(demo)
    assert [message["content"] for message in body["messages"]] == ["Be long.", "Hello"]
    assert (ended.json["model"], ended.json["complete"]) == ("demo-reasoner", True)


async def test_all_are_run_and_printed_the_experiment_as_set_first(desk: Desk, demo: DemoServer) -> None:
    ended = await desk.run(saved(), all_variants=True, as_json=True)
    assert ended.code == ExitCode.OK
    variants_json = ended.json["variants"]
    assert [(item["letter"], item["name"], item["model"]) for item in variants_json] == [
        ("A", "", "demo-chat"),
        ("B", "warm", "demo-chat"),
        ("C", "", "demo-reasoner"),
    ]
    assert variants_json[1]["differences"] == {"parameters": {"chat": {"temperature": 1, "stream": None}}}
    assert all(item["complete"] and item["content"] for item in variants_json)
    assert len(bodies(demo)) == 3


async def test_one_that_fails_is_named_and_the_others_are_printed(desk: Desk) -> None:
    ended = await desk.run(saved(variants=VARIANTS), all_variants=True, as_json=True)
    assert ended.code == ExitCode.HTTP
    assert [bool(item["content"]) for item in ended.json["variants"]] == [True, True, True, False]
    assert "playground: D · wrong: " in ended.err
    assert "playground: B" not in ended.err


async def test_unknown_variant_is_said_with_those_that_are_there(desk: Desk, demo: DemoServer) -> None:
    for content, name in product((saved(), experiment()), ("cold", "")):
        ended = await desk.run(content, variant=name)
        assert ended.code == ExitCode.BAD_INPUT
        assert f"There is no variant “{name}”. There is A" in ended.err
    assert bodies(demo) == []


async def test_two_of_one_name_are_told_apart_by_letters(desk: Desk, demo: DemoServer) -> None:
    twice = [VARIANTS[0], {"id": "v9", "name": "Warm"}]
    ended = await desk.run(saved(variants=twice), variant="warm")
    assert ended.code == ExitCode.BAD_INPUT
    assert "2 variants are called “warm”; name one by its letter." in ended.err
    assert bodies(demo) == []
    assert (await desk.run(saved(variants=twice), variant="C")).code == ExitCode.OK


async def test_interrupted_in_the_middle_each_has_what_came(desk: Desk) -> None:
    with FaultServer() as server:
        server.play(send(head()), send(delta({"content": "so far"})), hold())
        path = desk.write("saved.json", saved())
        running = spawned(desk.run_path(path, base_url=server.url, all_variants=True, as_json=True))
        await eventually(lambda: len(server.requests) == 3)
        running.cancel()
        ended = await running
    assert ended.code == ExitCode.INTERRUPTED
    assert [(item["letter"], item["complete"]) for item in ended.json["variants"]] == [(key, False) for key in "ABC"]
    assert ended.err.endswith("playground: Interrupted.\n")


async def test_where_nobody_reads_any_more_all_of_them_end(desk: Desk) -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError(32, "Broken pipe")

    path = desk.write("saved.json", saved())
    # None answers before all are asked, on a busy machine either.
    with DemoServer(DemoConfig(tokens_per_second=0, time_to_first_token=1, rate_limit=1_000_000)) as demo:
        variant_options = RunOptions(demo.base_url, key=Secret("k" * 12), retries=0, all_variants=True, as_json=True)
        with pytest.raises(OutputError):
            await run_file(path, variant_options, Gone(), io.StringIO())
        assert len(bodies(demo)) == 3
